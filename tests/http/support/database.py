# SPDX-License-Identifier: MIT
"""The stack's MariaDB, typed into directly, as an operator at the `mariadb` prompt would."""

import uuid

import pymysql
from pymysql.constants import SERVER_STATUS

DEADLOCK = 1213
DEADLOCKS_MOST = 20


class Database:
    """One autocommit connection that comes back by itself after a restart of the server."""

    def __init__(self, facts):
        self.facts = facts
        self.connection = None
        self.made = 0
        self.throttles = []  # the tables that count failed tries

    def run(self, sql, *values):
        """Runs one statement and returns its rows. One that is no part of a transaction leaves nothing when it meets a
        deadlock with the service, so it is run again, as an operator would."""
        for _ in range(DEADLOCKS_MOST):
            try:
                return self._run(sql, values)
            except pymysql.err.OperationalError as fault:
                if fault.args[0] != DEADLOCK:
                    break
                if self.connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
                    raise
            except pymysql.err.InterfaceError:
                break
        self.connection = None
        return self._run(sql, values)

    def _run(self, sql, values):
        if self.connection is None:
            self.connection = pymysql.connect(unix_socket=self.facts["socket"],
                                              user=self.facts["user"],
                                              database=self.facts["name"],
                                              autocommit=True,
                                              charset="utf8mb4")
        with self.connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()

    def fresh(self):
        """Another connection, for a transaction of the test's own; the caller closes it."""
        return pymysql.connect(unix_socket=self.facts["socket"], user=self.facts["user"], database=self.facts["name"],
                               charset="utf8mb4")

    def close(self):
        """Ends the connection; the next statement makes another."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def tables(self):
        """Names of all tables."""
        return [row[0] for row in self.run("SHOW TABLES")]

    def columns(self, table):
        """Names of a table's columns."""
        return [row[0] for row in self.run(f"SHOW COLUMNS FROM `{table}`")]

    def lift_throttles(self):
        """Forgets failed tries, so that no test trips over those of another."""
        self.throttles = self.throttles or [table for table in self.tables() if "throttle" in table]
        for table in self.throttles:
            self.run(f"DELETE FROM `{table}`")

    def waits(self):
        """The seconds for which each account that has failed too often has to wait, from its last failure on."""
        return [seconds for seconds, in self.run("SELECT TIMESTAMPDIFF(MICROSECOND, updated_at, locked_until) / 1000000"
                                                 " FROM throttle WHERE scope = 'account' AND locked_until IS NOT NULL")]

    def lengthen_waits(self):
        """Whoever has to wait now waits for a minute. The first wait lasts a second, and on a busy machine the next
        request may come later than that."""
        self.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 60 SECOND"
                 " WHERE scope = 'account' AND locked_until IS NOT NULL")

    def set_permissions(self, user_id, text):
        """Writes the user's own permissions field: patterns separated by spaces."""
        self.run("UPDATE `user` SET permissions = %s WHERE id = %s", text, key(user_id))

    def set_roles(self, user_id, roles):
        """Replaces the user's role ids."""
        self.run("DELETE FROM user_role WHERE user_id = %s", key(user_id))
        for role in roles:
            self.run("INSERT INTO user_role (user_id, role_id) VALUES (%s, %s)", key(user_id), role)

    def set_grants(self, user_id, text):
        """Leaves the user with exactly these patterns, and no role."""
        self.set_roles(user_id, [])
        self.set_permissions(user_id, text)

    def move(self, user_id, organisation_id):
        """Puts a user into another organisation."""
        self.run("UPDATE `user` SET organisation_id = %s WHERE id = %s", key(organisation_id), key(user_id))

    def make_role(self, permissions):
        """A new role with these permissions; returns its id."""
        self.made += 1
        role = f"test-{uuid.uuid4().hex[:8]}-{self.made}"
        self.run("INSERT INTO role (id, description) VALUES (%s, %s)", role, "made by a test")
        self.set_role(role, permissions)
        return role

    def set_role(self, role, permissions):
        """Replaces the permissions of a role."""
        self.run("DELETE FROM role_permission WHERE role_id = %s", role)
        for permission in permissions:
            self.run("INSERT INTO role_permission (role_id, permission) VALUES (%s, %s)", role, permission)

    def drop_role(self, role):
        """Removes a role and every grant of it."""
        self.run("DELETE FROM user_role WHERE role_id = %s", role)
        self.run("DELETE FROM role_permission WHERE role_id = %s", role)
        self.run("DELETE FROM role WHERE id = %s", role)


def key(identity):
    """An id's sixteen bytes, as the tables hold it."""
    return uuid.UUID(identity).bytes
