# SPDX-License-Identifier: MIT
"""The job runner sends a mail and cannot tell the database at once: a mail that was sent is not sent again, and one
that was not is tried again before its lease ends."""

import contextlib
import uuid

import pymysql
import pytest

from mail.support_smtp_server import Server, runner_of
from support.programs import crash
from support.stack import wait_until

USER = "gatehouse@example.org"
KEPT = "the outbox could not be told the outcome of a job; it is told later"


class Holder:
    """Takes the lock of the one mail that is being sent, when the mail server has it for the first time, and keeps it
    until it is told; `answer` is what the mail server says then."""

    def __init__(self, stack, database, answer):
        self.database, self.answer = database, answer
        self.began = database.run("SELECT COALESCE(MAX(id), 0) FROM outbox")[0][0]
        self.connection = pymysql.connect(unix_socket=stack.database["socket"],
                                          user=stack.database["user"],
                                          database=stack.database["name"],
                                          autocommit=False)
        self.number = None

    def hold(self):
        if self.number is not None:
            return None
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT id FROM outbox WHERE id > %s AND kind = 'mail' AND attempts = 1 AND status = "
                           "'waiting'",
                           (self.began, ))
            self.number = cursor.fetchone()[0]
            cursor.execute("SELECT id FROM outbox WHERE id = %s FOR UPDATE", (self.number, ))
        return self.answer

    def let_go(self):
        self.connection.rollback()

    def row(self):
        """(status, attempts) of the mail."""
        return self.database.run("SELECT status, attempts FROM outbox WHERE id = %s", self.number)[0]


@contextlib.contextmanager
def letter(stack, api, accounts, members, database, folder, answer):
    """A mail whose report met a lock that is gone by now: the holder, the mail server and the address."""
    account = accounts.customer()
    members.await_jobs()
    holder = Holder(stack, database, answer)
    with contextlib.closing(holder.connection), Server(USER, uuid.uuid4().hex, holder.hold) as server, \
            crash.paused_jobs(stack), runner_of(stack, server, folder):
        api.post("/customers/forgotten-password", json={"username": account.email}, status=200)
        server.wait(account.email)
        wait_until(lambda: KEPT in (folder / "log").read_text(), 60, "the report to be put off")
        assert holder.row() == ("waiting", 1)
        holder.let_go()
        yield holder, server, account.email


@pytest.mark.fault
def test_a_mail_that_was_sent_is_done_soon_and_sent_once(stack, api, accounts, members, database, tmp_path):
    with letter(stack, api, accounts, members, database, tmp_path, "250 taken") as (holder, server, address):
        # A second attempt would be a second mail.
        wait_until(lambda: holder.row() != ("waiting", 1), 60, "the report")
        assert holder.row() == ("done", 1)
        assert len(server.messages(address)) == 1


@pytest.mark.fault
def test_a_mail_that_was_not_sent_is_tried_again_before_its_lease_ends(stack, api, accounts, members, database,
                                                                       tmp_path):
    with letter(stack, api, accounts, members, database, tmp_path, "451 later") as (holder, server, address):
        wait_until(lambda: holder.row() == ("done", 2), 60, "the next attempt")
        assert len(server.messages(address)) == 2
