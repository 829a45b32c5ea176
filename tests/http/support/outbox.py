# SPDX-License-Identifier: MIT
"""Jobs of the outbox that nobody does."""

import contextlib
import uuid

import pymysql

from support.stack import wait_until


@contextlib.contextmanager
def held_job(stack, database):
    """A job that becomes due and that no runner takes, because a transaction of ours holds it; a cursor of that
    transaction, and the job's kind."""
    kind = "test-" + uuid.uuid4().hex[:8]
    holder = pymysql.connect(unix_socket=stack.database["socket"],
                             user=stack.database["user"],
                             database=stack.database["name"],
                             autocommit=False)

    def hold(cursor):
        database.run("DELETE FROM outbox WHERE kind = %s", kind)
        database.run("INSERT INTO outbox (kind, payload, next_attempt_at)"
                     " VALUES (%s, '', UTC_TIMESTAMP(3) + INTERVAL 3 SECOND)", kind)
        holder.rollback()
        cursor.execute("SELECT id FROM outbox WHERE kind = %s AND status = 'waiting' FOR UPDATE", (kind, ))
        return cursor.rowcount == 1

    try:
        with holder.cursor() as cursor:
            wait_until(lambda: hold(cursor), 60, "a job that is held before it is due")
            yield holder, cursor, kind
    finally:
        holder.rollback()
        holder.close()
        database.run("DELETE FROM outbox WHERE kind = %s", kind)
