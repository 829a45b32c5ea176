# SPDX-License-Identifier: MIT
"""The database accounts: the workers' one can do what their statements need and nothing more; gatehousectl has
another."""

import configparser
import pathlib
import re

import pymysql
import pytest

from support.programs import operator

DENIED = {1142, 1143, 1044, 1370}

REFUSED = (
    "UPDATE audit SET action = 'x'",
    "DELETE FROM audit",
    "INSERT INTO role (id, description) VALUES ('x', 'x')",
    "UPDATE role SET description = 'x'",
    "DELETE FROM role",
    "INSERT INTO role_permission (role_id, permission) VALUES ('owner', '*:*:a')",
    "UPDATE role_permission SET permission = '*:*:a'",
    "DELETE FROM role_permission",
    "INSERT INTO principal (user_id) VALUES (REPEAT('x', 16))",
    "UPDATE principal SET roles = '5:admin'",
    "DELETE FROM principal",
    "UPDATE change_version SET roles = ''",
    "DELETE FROM change_version",
    "UPDATE identity_signing_key SET public_key = ''",
    "UPDATE organisation SET id = REPEAT('x', 16)",
    "UPDATE organisation_people SET people = 0",
    "DELETE FROM organisation_people",
    "DELETE FROM file",
    "UPDATE schema_migration SET done = 0",
    "UPDATE settings SET version = 1",
    "DELETE FROM principal_repair",
    "TRUNCATE audit",
    "DROP TRIGGER principal_user_insert",
    "CREATE TABLE x (a INT)",
)


def setting(stack, section, name):
    parser = configparser.RawConfigParser(inline_comment_prefixes=(" ;", " #"))
    parser.read(stack.configuration, encoding="utf-8")
    return parser[section][name]


@pytest.fixture
def worker(stack):
    """A connection as the workers have it."""
    connection = pymysql.connect(unix_socket=stack.database["socket"],
                                 user=setting(stack, "database", "user"),
                                 password=pathlib.Path(setting(stack, "database", "password_file")).read_text().strip(),
                                 database=stack.database["name"])
    yield connection
    connection.rollback()
    connection.close()


@pytest.mark.parametrize("sql", REFUSED)
def test_the_workers_account_cannot_rewrite_what_it_need_not(worker, sql):
    with worker.cursor() as cursor, pytest.raises(pymysql.err.MySQLError) as refusal:
        cursor.execute(sql)
    assert refusal.value.args[0] in DENIED, refusal.value


def test_the_workers_account_reads_and_adds_what_it_needs(worker):
    with worker.cursor() as cursor:
        for table in ("audit", "role", "role_permission", "principal", "user", "file"):
            cursor.execute(f"SELECT COUNT(*) FROM {table}")
        cursor.execute("INSERT INTO audit (id, action, outcome) VALUES (REPEAT('x', 16), 'test', 'success')")
        cursor.execute("UPDATE change_version SET version = version WHERE id = 1")


def test_the_rights_that_are_printed_are_those_that_are_granted(stack, worker):
    def plain(line):
        return line.rstrip(";").replace("`", "").replace("'", "")

    printed = {plain(line) for line in operator.run(stack, "grants").splitlines()}
    with worker.cursor() as cursor:
        cursor.execute("SHOW GRANTS")
        granted = {plain(row[0]) for row in cursor.fetchall()}
    rows = {line for line in granted if not line.startswith("GRANT USAGE ")}

    def rights(lines):
        found = {}
        for line in lines:
            words, place = line[len("GRANT "):].split(" ON ")
            found[place] = {(right, frozenset(columns.replace(" ", "").split(",")))
                            for right, columns in re.findall(r"([A-Z]+)(?: \(([^)]*)\))?", words)}
        return found

    assert len(printed) > 20 and rights(printed) == rights(rows)


def test_migrate_takes_away_what_an_older_version_granted(stack, database):
    account = f"'{setting(stack, 'database', 'user')}'@'localhost'"
    database.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON `{stack.database['name']}`.* TO {account}")
    try:
        done = operator.run(stack, "check", status=None)
        assert done.returncode == 1 and "rights more than it needs" in done.stdout, done.stdout
    finally:
        operator.run(stack, "migrate")
    assert "accounts       ok" in operator.run(stack, "check")


def test_check_says_so_where_one_account_does_everything(stack):
    text = operator.run(stack, "check", environment={"GATEHOUSE_DATABASE_ADMIN_USER": setting(stack, "database",
                                                                                              "user")},
                        status=None).stdout
    assert "one database account for everything" in text
    assert "one database account" not in operator.run(stack, "check")


def test_check_says_so_where_the_other_account_lets_nobody_in(stack):
    done = operator.run(stack, "check", environment={"GATEHOUSE_DATABASE_ADMIN_USER": "nobody_at_all"}, status=None)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nobody_at_all could not be used, so the triggers were not tried" in done.stdout
    assert re.search(r"error 1045|error 1698", done.stdout), done.stdout


@pytest.mark.parametrize("command", [("purge", "--older-than", "36500"), ("purge", "--older-than", "36500", "--audit")])
def test_operator_commands_name_the_account_that_they_need(stack, command):
    done = operator.run(stack, *command, environment={"GATEHOUSE_DATABASE_ADMIN_USER": "nobody_at_all"}, status=None)
    assert done.returncode == 1 and "nobody_at_all" in done.stderr and "admin_user" in done.stderr, done.stderr
    operator.run(stack, *command)
