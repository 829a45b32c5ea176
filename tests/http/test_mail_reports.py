# SPDX-License-Identifier: MIT
"""A mail that was sent is not sent again because the database could not be told of it at once."""

import contextlib
import uuid

import pymysql
import pytest

from support import crash
from support.mailserver import Server, runner_of
from support.stack import wait_until

USER = "gatehouse@example.org"
KEPT = "the outbox will be told later"


class Holder:
    """Takes the lock of the one mail that is being sent, when the mail server has it, and keeps it until it is told."""

    def __init__(self, stack, database):
        self.began = database.run("SELECT COALESCE(MAX(id), 0) FROM outbox")[0][0]
        self.connection = pymysql.connect(unix_socket=stack.database["socket"],
                                          user=stack.database["user"],
                                          database=stack.database["name"],
                                          autocommit=False)
        self.number = None

    def hold(self):
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT id FROM outbox WHERE id > %s AND kind = 'mail' AND attempts = 1 AND status = 'waiting'",
                           (self.began, ))
            self.number = cursor.fetchone()[0]
            cursor.execute("SELECT id FROM outbox WHERE id = %s FOR UPDATE", (self.number, ))

    def let_go(self):
        self.connection.rollback()


@pytest.mark.fault
def test_a_mail_whose_report_met_a_lock_is_sent_once_and_done_soon(stack, api, accounts, members, database, tmp_path):
    account = accounts.customer()
    members.settle()
    holder = Holder(stack, database)
    with contextlib.closing(holder.connection), Server(USER, uuid.uuid4().hex, holder.hold) as server, \
            crash.paused_jobs(stack), runner_of(stack, server, tmp_path):
        api.post("/customers/forgotten-password", json={"username": account.email}, status=200)
        server.wait(account.email)
        wait_until(lambda: KEPT in (tmp_path / "log").read_text(), 60, "the report to be put off")
        assert database.run("SELECT status FROM outbox WHERE id = %s", holder.number)[0][0] == "waiting"
        holder.let_go()

        def row():
            return database.run("SELECT status, attempts FROM outbox WHERE id = %s", holder.number)[0]

        # A second attempt would be a second mail.
        wait_until(lambda: row() != ("waiting", 1), 60, "the report")
        assert row() == ("done", 1)
        assert len(server.messages(account.email)) == 1
