# SPDX-License-Identifier: MIT
"""Workers remember good sessions by a mark beside the user: every change still reaches every session of the user at the
next request, whoever makes it and whatever happens beside it."""

import base64
import concurrent.futures
import json
import threading

import pymysql
import pytest

from support.database import Database, key
from support.members import USERS
from support.programs import operator

OFF, ON = "disabled", "active"
BOUNDS = {"logins": 60, "refreshes": 150, "reads": 300, "changes": 150, "patches": 30}


@pytest.fixture()
def person(accounts, members, database):
    """Somebody of an organisation of their own. No job is left to do, which might find them disabled and end their
    sessions."""
    account = accounts.customer()
    members.await_jobs()
    yield account
    database.run("UPDATE organisation SET status = 'active' WHERE id = %s", key(account.organisation["id"]))


def answers(api, sessions):
    """Status and code that each session gets."""
    replies = [api.get("/customers/me", token=session["accessToken"]) for session in sessions]
    return {(reply.status_code, reply.json().get("code")) for reply in replies}


GOOD, REVOKED = {(200, None)}, {(401, "auth.tokenRevoked")}


def test_a_state_typed_at_the_prompt_holds_for_every_session_at_once(api, person, database):
    sessions = [person.session() for _ in range(3)]
    organisation = key(person.organisation["id"])
    for _ in range(10):
        database.run("UPDATE user SET status = %s WHERE id = %s", OFF, key(person.id))
        assert answers(api, sessions) == REVOKED
        database.run("UPDATE user SET status = %s WHERE id = %s", ON, key(person.id))
        assert answers(api, sessions) == GOOD
        database.run("UPDATE organisation SET status = %s WHERE id = %s", OFF, organisation)
        assert answers(api, sessions) == REVOKED
        database.run("UPDATE organisation SET status = %s WHERE id = %s", ON, organisation)
        assert answers(api, sessions) == GOOD


def test_roles_typed_at_the_prompt_hold_for_every_session_at_once(api, person, database):
    sessions = [person.session() for _ in range(3)]
    role = database.make_role(["cus:file:r"])
    try:
        for _ in range(10):
            for roles, status in (([], 403), ([role], 200)):
                database.set_grants(person.id, "")
                database.set_roles(person.id, roles)
                for session in sessions:
                    api.get("/system/files", token=session["accessToken"], status=status)
            database.run("UPDATE role_permission SET permission = 'inv:*:r' WHERE role_id = %s", role)
            for session in sessions:
                api.get("/system/files", token=session["accessToken"], status=403)
            database.run("UPDATE role_permission SET permission = 'cus:file:r' WHERE role_id = %s", role)
    finally:
        database.drop_role(role)


@pytest.mark.parametrize("change", [
    "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE user_id = %s",
    "UPDATE session SET expires_at = UTC_TIMESTAMP(3) WHERE user_id = %s",
    "UPDATE session SET user_id = UNHEX(MD5('nobody')) WHERE user_id = %s",
    "DELETE FROM session WHERE user_id = %s",
    "DELETE FROM principal WHERE user_id = %s",
],
                         ids=["ended", "expired", "of somebody else", "gone", "of nobody"])
def test_a_session_that_opens_nothing_is_revoked(api, person, stack, database, change):
    sessions = [person.session() for _ in range(2)]
    assert answers(api, sessions) == GOOD
    database.run(change, key(person.id))
    assert answers(api, sessions) == REVOKED
    if "principal" in change:
        operator.run(stack, "migrate")
        assert answers(api, sessions) == GOOD


def test_a_session_given_to_somebody_else_is_revoked_for_its_token(api, person, other, database):
    session = person.session()
    database.run("UPDATE session SET user_id = %s WHERE user_id = %s", key(other.id), key(person.id))
    assert answers(api, [session]) == REVOKED


def test_sessions_cannot_be_emptied_behind_the_triggers(api, person, database):
    session = person.session()
    with pytest.raises(pymysql.err.MySQLError):
        database.run("TRUNCATE session")
    assert answers(api, [session]) == GOOD


# ---- all at once -----------------------------------------------------------------------------------------------------


class Storm:
    """What many clients, an administrator and a prompt do to one user at a time."""

    def __init__(self, api, database, administrator, person):
        self.api = api
        self.facts = database.facts
        self.administrator = administrator
        self.person = person
        self.statuses = []
        self.tokens = []
        self.lock = threading.Lock()

    def note(self, reply):
        with self.lock:
            self.statuses.append((reply.status_code, reply.json().get("code")))
        return reply

    def login(self):
        """The tokens; None where the user may not come in."""
        reply = self.note(self.api.post("/customers/login", json={"username": self.person.email,
                                                                  "password": self.person.password}))
        if reply.status_code != 200:
            return None
        with self.lock:
            self.tokens.append(reply.json()["tokens"]["accessToken"])
        return reply.json()["tokens"]

    def log_in_and_out(self):
        for turn in range(BOUNDS["logins"]):
            tokens = self.login()
            if tokens is not None:
                self.note(self.api.post("/customers/logout", token=tokens["accessToken"],
                                        json={"everywhere": turn % 8 == 7}))

    def refresh(self):
        tokens = None
        for _ in range(BOUNDS["refreshes"]):
            tokens = tokens or self.login()
            if tokens is not None:
                reply = self.note(self.api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}))
                tokens = reply.json()["tokens"] if reply.status_code == 200 else None

    def read(self):
        tokens = None
        for _ in range(BOUNDS["reads"]):
            tokens = tokens or self.login()
            if tokens is not None and self.note(self.api.get("/customers/me",
                                                             token=tokens["accessToken"])).status_code != 200:
                tokens = None

    def patch(self):
        for turn in range(BOUNDS["patches"]):
            sent = ({"status": OFF}, {"status": ON}, {"roles": ["owner", "inv-manage"]}, {"roles": ["owner"]})[turn % 4]
            self.note(self.administrator.patch(f"{USERS}/{self.person.id}", json=sent))

    def type(self):
        prompt = Database(self.facts)
        user, organisation = key(self.person.id), key(self.person.organisation["id"])
        lines = (("UPDATE user SET status = 'disabled' WHERE id = %s", user),
                 ("UPDATE user SET permissions = 'cus:file:r', status = 'active' WHERE id = %s", user),
                 ("INSERT IGNORE INTO user_role (user_id, role_id, position) VALUES (%s, 'log-manage', 3)", user),
                 ("UPDATE organisation SET status = 'disabled' WHERE id = %s", organisation),
                 ("DELETE FROM user_role WHERE user_id = %s AND role_id = 'log-manage'", user),
                 ("UPDATE organisation SET status = 'active' WHERE id = %s", organisation),
                 ("DELETE FROM throttle WHERE %s IS NOT NULL", user))
        for turn in range(BOUNDS["changes"]):
            try:
                prompt.run(*lines[turn % len(lines)])
            except pymysql.err.OperationalError as error:
                assert error.args[0] in (1205, 1213), error  # the prompt is told of a deadlock
        prompt.close()


def session_of(token):
    """The id of the session that a token names, as the database writes it."""
    payload = token.split(".")[1]
    return key(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sid"])


def test_a_storm_on_one_user_fails_no_request_and_leaves_the_truth(api, person, database, administrator, stack,
                                                                   members):
    storm = Storm(api, database, administrator, person)
    parts = [storm.log_in_and_out, storm.log_in_and_out, storm.refresh, storm.read, storm.patch, storm.type]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for part in [pool.submit(part) for part in parts]:
            part.result()
    assert {status for status in storm.statuses if status[0] >= 500} == set()
    assert {200, 401} <= {status for status, _ in storm.statuses}
    database.run("UPDATE organisation SET status = 'active' WHERE id = %s", key(person.organisation["id"]))
    database.run("UPDATE user SET status = 'active' WHERE id = %s", key(person.id))
    # The job runner ends the sessions of whom it finds disabled.
    members.await_jobs()
    assert "permissions    ok" in operator.run(stack, "check")
    truth = dict(database.run("SELECT id, ended_at IS NULL AND expires_at > UTC_TIMESTAMP(3) FROM session WHERE "
                              "user_id = %s",
                              key(person.id)))
    for token in storm.tokens:
        reply = api.get("/customers/me", token=token)
        assert (reply.status_code == 200) == bool(truth.get(session_of(token))), reply.text
