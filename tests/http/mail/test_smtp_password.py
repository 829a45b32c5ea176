# SPDX-License-Identifier: MIT
"""The mail server's password is changed while the job runner is in use: no restart, no mail lost, none given up."""

import uuid

import pytest

from mail.support_smtp_server import Server, runner_of
from support.programs import crash
from support.stack import wait_until

USER = "gatehouse@example.org"
ROUNDS = 3


def secret():
    return f"mail-{uuid.uuid4().hex}"


def rotate(server, file):
    """As an operator would: at the mail server, then in the file; nobody has told the runner yet."""
    server.password = secret()
    new = file.with_name("password.new")
    new.touch(mode=0o600)
    new.write_text(server.password + "\n")
    new.rename(file)


def letter_to(api, account):
    """Something that is told by mail."""
    api.post("/customers/forgotten-password", json={"username": account.email}, status=200)
    return account.email


@pytest.fixture()
def began(database):
    return database.run("SELECT COALESCE(MAX(id), 0) FROM outbox")[0][0]


def dead(database, began):
    return database.run("SELECT COUNT(*) FROM outbox WHERE id > %s AND status = 'dead'", began)[0][0]


@pytest.mark.fault
def test_the_mail_password_is_changed_without_a_restart_and_the_old_one_is_not_used_again(
        stack, api, administrator, accounts, members, database, began, tmp_path):
    members.await_jobs()
    people = [accounts.customer() for _ in range(ROUNDS + 1)]
    members.await_jobs()
    with Server(USER, secret()) as server, crash.paused_jobs(stack), runner_of(stack, server, tmp_path) as (runner,
                                                                                                            file):
        server.wait(letter_to(api, people[0]))
        for person in people[1:]:
            old = server.password
            rotate(server, file)
            administrator.post("/system/cache", json={"secrets": True}, status=200)
            mark = len(server.tried)
            server.wait(letter_to(api, person))
            assert old not in server.tried[mark:] and server.tried[-1] == server.password
        assert runner.poll() is None
        assert dead(database, began) == 0
    log = (tmp_path / "log").read_text()
    assert "job runner started" in log and "mail-" not in log and log.count("job runner started") == 1


@pytest.mark.fault
def test_a_mail_that_met_the_old_password_waits_and_goes_out(
        stack, api, administrator, accounts, members, database, began, tmp_path):
    members.await_jobs()
    first, person = accounts.customer(), accounts.customer()
    members.await_jobs()
    with Server(USER, secret()) as server, crash.paused_jobs(stack), runner_of(stack, server, tmp_path) as (_, file):
        server.wait(letter_to(api, first))
        rotate(server, file)
        mark = len(server.tried)
        address = letter_to(api, person)
        # The runner has the old password, and nobody has told it.
        wait_until(lambda: len(server.tried) > mark, 60, "a try with the old password")
        assert server.messages(address) == []
        administrator.post("/system/cache", json={"secrets": True}, status=200)

        def sent():
            # What failed waits for half a minute; the test does not.
            database.run("UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) WHERE id > %s AND status = 'waiting'"
                         " AND last_error IS NOT NULL AND next_attempt_at > UTC_TIMESTAMP(3)", began)
            return server.messages(address)

        wait_until(sent, 60, "the mail", pause=0.5)
        assert dead(database, began) == 0
