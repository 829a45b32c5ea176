# SPDX-License-Identifier: MIT
"""A session of a remote provider that begins here while all sessions of its user are ended: whatever the order, a
token from before the end opens nothing afterwards. Two hosts do the two at once, and the tests force the order."""

import concurrent.futures
import contextlib
import json
import types
import uuid

import pymysql
import pytest

from providers import support_remote as remote
from providers.support_front import Front
from providers.test_cognito import PASSWORDS, Place
from providers.test_faults import SIGNS
from support.programs import system
from support.stack import wait_until

REVOKED = {"status": 401, "code": "auth.tokenRevoked"}
# A sign-in that waits has five seconds, which a machine that is busy with other things may need for the end alone.
ROUNDS = 5
# Whoever asks the server for its transactions more often is told what it said the last time.
PAUSE = 0.2


class Site:
    """Two workers, `here` and `there`, whose provider is behind a front."""

    def __init__(self, host, pool, front, workers, prefix):
        self.host, self.front, self.sign = host, front, SIGNS[pool.kind.name]
        self.here, self.there = (Place(host, pool, worker, prefix) for worker in workers)

    def prepare(self):
        self.admin = self.here.login(remote.ADMIN, PASSWORDS["admin"])["tokens"]["accessToken"]
        email, password = "member@gatehouse.example", PASSWORDS["member"]
        body = {"email": email, "password": password, "firstName": "Mia", "lastName": "Member"}
        made = self.here.ask("POST", "/customers/organisations/users", body, token=self.admin)["user"]["id"]
        self.here.ask("POST", "/customers/admin-confirm-signup", {"username": made}, token=self.admin)
        self.person = types.SimpleNamespace(email=email, id=made, password=password, key=uuid.UUID(made).bytes)

        # Of strangers, and so many that the server finds a person's sessions by their key: it would meet the row of
        # held() on its way through all.
        self.host.rows("INSERT INTO session (id, user_id, expires_at) SELECT UNHEX(MD5(seq)), UNHEX(MD5(-seq)),"
                       " UTC_TIMESTAMP(3) + INTERVAL 1 DAY FROM seq_1_to_2000")
        # So that it knows how many they are.
        self.host.rows("ANALYZE TABLE session")

    def token(self):
        return self.here.login(self.person.email, self.person.password)["tokens"]["accessToken"]

    def open_sessions(self):
        return {row[0] for row in self.host.rows("SELECT id FROM session WHERE user_id = %s AND ended_at IS NULL",
                                                 self.person.key)}

    def status(self):
        ((status, ), ) = self.host.rows("SELECT status FROM user WHERE id = %s", self.person.key)
        return status

    def set_password(self):
        """Internal staff give the person another password, which ends all sessions."""
        self.person.password = f"chosen by staff {uuid.uuid4()}"
        body = {"username": self.person.id, "password": self.person.password, "permanent": True}
        self.here.ask("POST", "/customers/admin-set-password", body, token=self.admin)

    def token_from_elsewhere(self):
        """An access token of a session that has no row here, as a sign-in page of the provider gives it, and the id of
        the session."""
        # A token of the very second of an end is refused, too.
        self.host.rows("UPDATE outside_account SET tokens_from = tokens_from - INTERVAL 1 MINUTE")
        before = self.open_sessions()
        token = self.token()
        (session, ) = self.open_sessions() - before
        self.host.rows("DELETE FROM session WHERE id = %s", session)
        self.host.rows("DELETE FROM outside_session WHERE session_id = %s", session)
        return token, session

    def waiting(self):
        """How many transactions wait for a lock."""
        return self.host.rows("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")[0][0]

    @contextlib.contextmanager
    def locked(self, statement, *values):
        """What the statement locks stays locked meanwhile; nothing of it remains."""
        locker = pymysql.connect(unix_socket=str(self.host.socket), user=self.host.stack.database["user"],
                                 database="gatehouse")
        with locker, locker.cursor() as cursor:
            cursor.execute(statement, values)
            yield
            locker.rollback()

    def held(self, session):
        """Whoever makes the session's row waits meanwhile."""
        return self.locked("INSERT INTO session (id, user_id, expires_at) VALUES (%s, %s, UTC_TIMESTAMP(3))", session,
                           uuid.uuid4().bytes)


@pytest.fixture(scope="module", params=["cognito", "keycloak"])
def site(request, stack, tmp_path_factory):
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")
    folder = tmp_path_factory.mktemp("provider")
    with contextlib.ExitStack() as started:
        pool = started.enter_context(remote.pool(remote.KINDS[request.param], folder))
        front = Front(folder, pool.port)
        started.callback(front.close)
        host = started.enter_context(remote.host(stack, pool, PASSWORDS["admin"], front.url, front.authority))
        facts = types.SimpleNamespace(worker_program=stack.worker_program, configuration=str(host.configuration),
                                      base_url=stack.base_url, as_workers=list)
        # Each has a cache of its own, as on two hosts.
        workers = [started.enter_context(system.worker(facts, cache_file=folder / f"cache-{number}"))
                   for number in range(2)]
        found = Site(host, pool, front, workers, stack.prefix)
        found.prepare()
        yield found


def end_by_logout(site, token):
    site.here.ask("POST", "/customers/logout", {"everywhere": True}, token=token)


def end_the_others(site, token):
    site.here.ask("POST", "/customers/logout", {"others": True}, token=token)


def end_by_staff(site, _token):
    site.here.ask("DELETE", f"/customers/organisations/users/{site.person.id}/sessions", token=site.admin)


def end_by_disabling(site, _token):
    """And enabled again: what is open then must not be from before."""
    for status in ("disabled", "active"):
        site.here.ask("PATCH", f"/customers/organisations/users/{site.person.id}", {"status": status}, token=site.admin)


@pytest.mark.parametrize("end", [end_by_logout, end_the_others, end_by_staff, end_by_disabling],
                         ids=lambda end: end.__name__)
def test_a_token_that_is_first_seen_during_the_end_opens_nothing_afterwards(site, end):
    """The end comes when the token has been found good and its session is not a row yet."""
    token, session = site.token_from_elsewhere()
    own = site.token()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        with site.held(session):
            # It is good or refused, by who comes first.
            seen = pool.submit(site.there.worker.call, "GET", site.there.prefix + "/customers/me", token=token)
            wait_until(lambda: site.waiting() == 1 or seen.done(), 60, "the token to begin a session", PAUSE)
            assert not seen.done(), seen.result()
            ended = pool.submit(end, site, own)
            wait_until(lambda: site.waiting() > 1 or ended.done(), 60, "the end to be over or to wait", PAUSE)
        seen.result()
        ended.result()
    for place in (site.there, site.here):
        place.ask("GET", "/customers/me", token=token, **REVOKED)
    assert session not in site.open_sessions()


def test_a_token_that_is_first_seen_before_the_end_works_until_then(site):
    """What the test above would miss: a service that lets no session from elsewhere begin."""
    token, session = site.token_from_elsewhere()
    site.there.ask("GET", "/customers/me", token=token)
    assert session in site.open_sessions()
    end_by_logout(site, site.token())
    site.there.ask("GET", "/customers/me", token=token, **REVOKED)


def test_who_is_disabled_has_no_session_left_in_the_same_transaction(site):
    """A worker that is killed behind it has shut the person out, and somebody else may enable the person at once: what
    the provider has opened before must not open anything then."""
    token, session = site.token_from_elsewhere()
    path = f"/customers/organisations/users/{site.person.id}"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with site.locked("SELECT tokens_from FROM outside_account WHERE user_id = %s FOR UPDATE", site.person.key):
            disabling = pool.submit(site.here.ask, "PATCH", path, {"status": "disabled"}, token=site.admin)
            wait_until(lambda: site.waiting() == 1 or disabling.done(), 60, "the end of the sessions to wait", PAUSE)
            assert not disabling.done(), disabling.result()
            assert site.status() == "active"
        disabling.result()
    assert site.status() == "disabled"
    site.there.ask("GET", "/customers/me", token=token, **REVOKED)
    site.here.ask("PATCH", path, {"status": "active"}, token=site.admin)
    site.there.ask("GET", "/customers/me", token=token, **REVOKED)
    assert session not in site.open_sessions()


def sign_in_during(site, end):
    """The status and body of a sign-in whose answer from the provider comes after `end`, and how often the provider
    was asked."""
    for _ in range(ROUNDS):
        asked = site.front.count(site.sign.login)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with site.front.meets({"kind": "late"}, only=site.sign.login):
                body = json.dumps({"username": site.person.email, "password": site.person.password}).encode()
                login = pool.submit(site.there.worker.call, "POST", site.there.prefix + "/customers/login", body=body,
                                    content_type="application/json")
                wait_until(lambda: site.front.waiting == 1 or login.done(), 60, "the provider to be asked")
                end(site)
        reply = login.result()
        if reply.status != 500:
            return reply.status, json.loads(reply.body), site.front.count(site.sign.login) - asked
    raise AssertionError(f"{ROUNDS} sign-ins have failed: {reply.body}")


def test_a_password_that_is_replaced_during_a_sign_in_begins_no_session(site):
    status, reply, asked = sign_in_during(site, Site.set_password)
    assert status == 401 and asked >= 2, reply
    assert site.open_sessions() == set()
    site.token()


def test_a_sign_in_during_the_end_of_all_sessions_is_one_after_it(site):
    own = site.token()
    status, reply, asked = sign_in_during(site, lambda site: end_by_staff(site, own))
    assert (status, asked) == (200, 2), reply
    site.here.ask("GET", "/customers/me", token=reply["tokens"]["accessToken"])
    site.here.ask("GET", "/customers/me", token=own, **REVOKED)
