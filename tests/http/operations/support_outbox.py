# SPDX-License-Identifier: MIT
"""Jobs of the outbox that nobody does."""

import contextlib
import uuid

import pymysql

from support.stack import wait_until


@contextlib.contextmanager
def held_job(stack, database):
    """A job that becomes due and that no runner takes, because a transaction of ours holds its row, and no other:
    a runner that cannot write what has become of a job leaves it for the two minutes of its lease. That
    transaction's connection, and a cursor of it; the job's number."""
    kind = "test-" + uuid.uuid4().hex[:8]
    numbers = []
    holder = pymysql.connect(unix_socket=stack.database["socket"],
                             user=stack.database["user"],
                             database=stack.database["name"],
                             autocommit=False)

    def hold(cursor):
        database.run("INSERT INTO outbox (kind, payload, next_attempt_at)"
                     " VALUES (%s, '', UTC_TIMESTAMP(3) + INTERVAL 3 SECOND)", kind)
        numbers.append(database.run("SELECT MAX(id) FROM outbox WHERE kind = %s", kind)[0][0])
        holder.rollback()
        cursor.execute("SELECT id FROM outbox WHERE id = %s AND status = 'waiting' FOR UPDATE", (numbers[-1], ))
        return cursor.rowcount == 1

    try:
        with holder.cursor() as cursor:
            wait_until(lambda: hold(cursor), 60, "a job that is held before it is due")
            yield holder, cursor, numbers[-1]
    finally:
        holder.rollback()
        holder.close()
        for number in numbers:
            database.run("DELETE FROM outbox WHERE id = %s", number)
