# SPDX-License-Identifier: MIT
"""Sessions one by one: what a list shows of them, ending one, ending the others, the same for a team member, and what
noting their use costs."""

import concurrent.futures
import contextlib
import pathlib
import random
import tempfile
import time
import uuid

import pytest

from support.client import anonymous, shape
from support.database import key
from support.members import USERS
from support.programs import system
from support.runs.effort import cases
from support.stack import wait_until

SESSIONS = "/customers/sessions"
MEMBERS = ["id", "createdAt", "lastUsedAt", "expiresAt", "clientAddress", "userAgent", "current"]
# Rounds of an ended session that every worker of two hosts is asked about.
ROUNDS = cases(25, 500)


@pytest.fixture()
def person(accounts):
    return accounts.customer()


@pytest.fixture()
def colleague(members, person):
    return members.active(person)


def sign_in(account, agent=None):
    """The tokens of a new session, begun with this User-Agent."""
    headers = {} if agent is None else {"User-Agent": agent}
    body = {"username": account.email, "password": account.password}
    return account.api.post("/customers/login", json=body, headers=headers, status=200).json()["tokens"]


def listed(api, tokens, path=SESSIONS):
    reply = api.get(path, token=tokens["accessToken"], status=200).json()
    assert list(reply) == ["items"]
    return reply["items"]


def current(api, tokens):
    return next(item for item in listed(api, tokens) if item["current"])


def begun_by(database, person, agent):
    """The id of the session that was begun with this User-Agent. A request that asks for it would be a use of the
    session, which is noted behind the reply, at any moment from then on."""
    rows = database.run("SELECT id FROM session WHERE user_id = %s AND user_agent = %s", key(person.id), agent)
    return str(uuid.UUID(bytes=rows[0][0]))


def opens(api, tokens):
    reply = api.get("/customers/me", token=tokens["accessToken"], status={200, 401})
    assert reply.status_code == 200 or reply.json()["code"] == "auth.tokenRevoked"
    return reply.status_code == 200


def refreshes(api, tokens, database):
    reply = api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status={200, 401})
    database.lift_throttles()
    return reply.status_code == 200


def end(api, tokens, session, **arguments):
    return api.delete(f"{SESSIONS}/{session}", token=tokens["accessToken"], **arguments)


# ---- the list --------------------------------------------------------------------------------------------------------


def test_a_list_shows_each_session_and_which_is_the_askers(api, person):
    first, second = sign_in(person, "First/1"), sign_in(person, "Second/2")
    items = listed(api, second)
    assert all(list(item) == MEMBERS for item in items)
    assert [item["userAgent"] for item in items[:2]] == ["Second/2", "First/1"]
    assert [item["current"] for item in items].count(True) == 1 and items[0]["current"]
    assert current(api, first)["userAgent"] == "First/1"
    assert all(item["createdAt"] <= item["lastUsedAt"] < item["expiresAt"] for item in items)
    assert len({item["id"] for item in items}) == len(items) == 3
    assert {item["clientAddress"] for item in items} == {"127.0.0.1"}


@pytest.mark.web_server
def test_the_address_is_the_one_that_the_web_server_sees(api, person):
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Client-IP"):
        body = {"username": person.email, "password": person.password}
        tokens = api.post("/customers/login", json=body, headers={name: "203.0.113.9"}, status=200).json()["tokens"]
        assert current(api, tokens)["clientAddress"] == "127.0.0.1"


@pytest.mark.web_server
@pytest.mark.parametrize("sent, shown", [
    ("A" * 500, "A" * 200),
    ("é" * 150 + "日" * 150, "é" * 150 + "日" * 50),
    ("Browser/1   (x)\u00a0\u3000", "Browser/1   (x)"),
    ("Brow\u200bser\u202e/1\ufeff", "Browser/1"),
    ("\u2800\u3164", None),
    ("😀" * 300, "😀" * 200),
    ("<script>alert(1)</script>'\"%s", "<script>alert(1)</script>'\"%s"),
    ("", None),
])
def test_the_user_agent_has_200_characters_that_are_seen(api, person, sent, shown):
    assert current(api, sign_in(person, sent.encode()))["userAgent"] == shown


def test_a_user_agent_that_is_no_text_is_shown_as_far_as_it_is_one(api, person):
    assert current(api, sign_in(person, b"Brow\xff\xfeser/\xe2\x82"))["userAgent"] == "Browser/"


def test_a_session_from_before_shows_what_is_known(api, person, database):
    sign_in(person, "First/1")
    session = begun_by(database, person, "First/1")
    other = sign_in(person)
    database.run("UPDATE session SET last_used_at = NULL, client_address = NULL, user_agent = NULL WHERE id = %s",
                 key(session))
    item = next(item for item in listed(api, other) if item["id"] == session)
    assert (item["lastUsedAt"], item["clientAddress"], item["userAgent"]) == (item["createdAt"], None, None)


def test_a_list_has_the_hundred_that_were_used_last(api, person, database):
    tokens = sign_in(person)
    for number in range(120):
        database.run("INSERT INTO session (id, user_id, expires_at, last_used_at) VALUES (%s, %s, UTC_TIMESTAMP(3) + "
                     "INTERVAL 1 DAY, UTC_TIMESTAMP(3) - INTERVAL %s MINUTE)", uuid.uuid4().bytes, key(person.id),
                     number + 1)
    times = [item["lastUsedAt"] for item in listed(api, tokens)]
    assert len(times) == 100 and times == sorted(times, reverse=True)


def test_a_list_is_stable_while_sessions_come_and_go(api, person, database):
    """Whatever is written meanwhile: who was there all the time is in every list, once."""
    tokens = sign_in(person)
    stay = {current(api, sign_in(person))["id"] for _ in range(5)} | {current(api, tokens)["id"]}

    def churn(number):
        session = current(api, sign_in(person))["id"]
        if number % 2:
            end(api, tokens, session, status=200)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        work = [pool.submit(churn, number) for number in range(24)]
        while not all(part.done() for part in work):
            ids = [item["id"] for item in listed(api, tokens)]
            assert len(ids) == len(set(ids)) and stay <= set(ids)
        for part in work:
            part.result()


@pytest.mark.parametrize("query", ["limit=10", "cursor=x", "userId=1", "all"])
def test_a_list_takes_no_parameters(api, person, query):
    api.get(f"{SESSIONS}?{query}", token=person.token, status=400, code="request.invalid")


# ---- ending ----------------------------------------------------------------------------------------------------------


def test_one_session_ends_and_no_other(api, person, database):
    here, there, bystander = sign_in(person), sign_in(person), sign_in(person)
    session = current(api, there)["id"]
    end(api, here, session, status=200)
    assert not opens(api, there) and not refreshes(api, there, database)
    assert opens(api, here) and opens(api, bystander) and refreshes(api, bystander, database)
    assert session not in [item["id"] for item in listed(api, here)]


def test_the_current_session_may_end_itself(api, person, database):
    tokens = sign_in(person)
    end(api, tokens, current(api, tokens)["id"], status=200)
    assert not opens(api, tokens) and not refreshes(api, tokens, database)


def test_what_is_no_open_session_of_ones_own_is_unknown(api, person, other, database):
    here, ended, expired = sign_in(person), sign_in(person), sign_in(person)
    ids = [current(api, tokens)["id"] for tokens in (ended, expired)]
    end(api, here, ids[0], status=200)
    database.run("UPDATE session SET expires_at = UTC_TIMESTAMP(3) WHERE id = %s", key(ids[1]))
    theirs = sign_in(other)
    ids.append(current(api, theirs)["id"])
    unknown = shape(end(api, here, str(uuid.uuid4()), status=400, code="session.unknown", paths=["id"]))
    for identity in ids:
        assert shape(end(api, here, identity, status=400)) == unknown
    assert opens(api, theirs)


@pytest.mark.parametrize("identity", ["x", "0", "current", "all", "01980A6E-52C1-7C44-8F3D-3A0B6F1D2E77", "..%2F"])
def test_a_malformed_id_is_said_to_be_one(api, person, identity):
    end(api, {"accessToken": person.token}, identity, status=400, code="request.invalid", paths=["id"])


def test_the_others_end_and_this_one_stays(api, person, database):
    here, others = sign_in(person), [sign_in(person) for _ in range(3)]
    api.post("/customers/logout", token=here["accessToken"], json={"others": True}, status=200)
    assert opens(api, here) and refreshes(api, here, database)
    assert not any(opens(api, tokens) or refreshes(api, tokens, database) for tokens in others)
    assert [item["current"] for item in listed(api, here)] == [True]


def test_everywhere_and_others_exclude_each_other(api, person):
    tokens = sign_in(person)
    api.post("/customers/logout", token=tokens["accessToken"], json={"others": True, "everywhere": True}, status=400,
             code="request.invalid", paths=["others"])
    assert opens(api, tokens)


def test_two_who_end_one_session_at_once_end_it_once(api, person, database):
    tokens = [sign_in(person) for _ in range(6)]
    session = current(api, sign_in(person))["id"]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(lambda one: end(api, one, session, status={200, 400}).status_code, tokens))
    assert sorted(codes) == [200, 400, 400, 400, 400, 400]
    rows = database.run("SELECT COUNT(*) FROM audit WHERE action = 'session.end' AND target_id = %s", session)
    assert rows[0][0] == 1


# ---- team members ----------------------------------------------------------------------------------------------------


def of(account):
    return f"{USERS}/{account.id}/sessions"


def test_an_owner_lists_and_ends_the_sessions_of_a_member(api, person, colleague, database):
    one, two, three = (sign_in(colleague, f"Member/{number}") for number in range(3))
    items = listed(api, person.tokens, of(colleague))
    assert {item["userAgent"] for item in items} >= {"Member/0", "Member/1", "Member/2"}
    assert not any(item["current"] for item in items)
    person.delete(f"{of(colleague)}/{current(api, one)['id']}", status=200)
    assert not opens(api, one) and opens(api, two) and not refreshes(api, one, database)
    person.delete(of(colleague), status=200)
    assert not opens(api, two) and not opens(api, three) and not refreshes(api, three, database)
    assert listed(api, person.tokens, of(colleague)) == []
    person.delete(of(colleague), status=200)


def test_a_session_of_another_member_is_unknown_below_this_one(api, person, colleague, members):
    third = members.active(person)
    tokens = sign_in(third)
    session = current(api, tokens)["id"]
    reply = person.delete(f"{of(colleague)}/{session}", status=400, code="session.unknown", paths=["sessionId"])
    assert anonymous(reply) == anonymous(person.delete(f"{of(colleague)}/{uuid.uuid4()}", status=400))
    assert opens(api, tokens)


def test_ones_own_sessions_are_reached_as_a_members(api, person):
    here, there = sign_in(person), sign_in(person)
    items = listed(api, here, of(person))
    assert [item["current"] for item in items].count(True) == 1
    api.delete(f"{of(person)}/{current(api, there)['id']}", token=here["accessToken"], status=200)
    assert not opens(api, there)
    api.delete(of(person), token=here["accessToken"], status=200)
    assert not opens(api, here)


def test_each_ended_session_is_a_row_of_the_audit_trail(api, person, colleague, administrator, database):
    here, there, more = sign_in(person), sign_in(person), sign_in(person)
    ids = [current(api, tokens)["id"] for tokens in (there, more)]
    end(api, here, ids[0], status=200)
    api.post("/customers/logout", token=here["accessToken"], json={"others": True}, status=200)
    theirs = [current(api, sign_in(colleague))["id"] for _ in range(2)]
    api.delete(of(colleague), token=here["accessToken"], status=200)
    rows = {row["targetId"]: row
            for row in administrator.get("/system/audit", params={"action": "session.end", "userId": person.id,
                                                                  "limit": 100}, status=200).json()["items"]}
    reasons = {ids[0]: "user", ids[1]: "others", theirs[0]: "administrator", theirs[1]: "administrator"}
    for session, reason in reasons.items():
        row = rows[session]
        assert (row["targetType"], row["outcome"]) == ("session", "success")
        assert row["organisationId"] == person.organisation["id"]
        owner = person.id if reason in ("user", "others") else colleague.id
        assert row["details"] == {"userId": owner, "reason": reason}
    others = administrator.get("/system/audit", params={"action": "user.logoutOthers", "userId": person.id}, status=200)
    assert len(others.json()["items"]) == 1


# ---- what a use costs ------------------------------------------------------------------------------------------------


def noted(database, session):
    return database.run("SELECT last_used_at, user_agent FROM session WHERE id = %s", key(session))[0]


def age(database, session, seconds):
    database.run("UPDATE session SET last_used_at = last_used_at - INTERVAL %s SECOND WHERE id = %s", seconds,
                 key(session))


@contextlib.contextmanager
def counted_updates(database):
    """Counts what is written to the rows of sessions, by a trigger of the test's own."""
    database.run("CREATE TABLE IF NOT EXISTS test_session_writes (id BINARY(16) NOT NULL, number INT AUTO_INCREMENT, "
                 "PRIMARY KEY (number)) ENGINE = InnoDB")
    database.run("CREATE TRIGGER test_session_writes AFTER UPDATE ON session FOR EACH ROW "
                 "INSERT INTO test_session_writes (id) VALUES (NEW.id)")
    try:
        yield lambda session: database.run("SELECT COUNT(*) FROM test_session_writes WHERE id = %s",
                                           key(session))[0][0]
    finally:
        database.run("DROP TRIGGER test_session_writes")
        database.run("DROP TABLE test_session_writes")


def test_a_use_is_noted_after_a_minute_with_the_address_and_program_of_then(api, person, database):
    tokens = sign_in(person, "First/1")
    session = begun_by(database, person, "First/1")
    age(database, session, 61)
    before = noted(database, session)

    def used():
        # Each worker asks again only when it knows a note to be a minute old: one that has not seen the session yet.
        api.get("/customers/me", token=tokens["accessToken"], headers={"User-Agent": "Second/2"}, status=200)
        return noted(database, session) != before

    wait_until(used, 90, "a worker to note the use", 0.05)
    when, agent = noted(database, session)
    assert when > before[0] and agent == "Second/2"


def test_a_refresh_is_a_use(api, person, database):
    tokens = sign_in(person, "First/1")
    session = begun_by(database, person, "First/1")
    age(database, session, 61)
    before = noted(database, session)

    def used():
        nonlocal tokens
        body = {"refreshToken": tokens["refreshToken"]}
        tokens = api.post("/customers/refresh", json=body, status=200).json()["tokens"]
        return noted(database, session) != before

    wait_until(used, 90, "a worker to note the use", 0.05)


@pytest.mark.fault
def test_no_more_than_one_write_a_minute_and_session(api, person, database, stack):
    """Five hundred requests of one session on all workers of two hosts write its row once, at most once a minute."""
    tokens = sign_in(person)
    session = current(api, tokens)["id"]
    with counted_updates(database) as writes, two_hosts(stack) as hosts:
        started = time.monotonic()
        age(database, session, 61)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for number in range(500):
                pool.submit(ask, random.choice(hosts), tokens, number)
        wait_until(lambda: writes(session) > 1, 90, "one of them to note the use", 0.05)
        minutes = 1 + (time.monotonic() - started) // 60
        # The first write is the test's own.
        assert writes(session) - 1 <= minutes
        opens(api, tokens)


def test_a_row_that_somebody_holds_delays_no_request(api, person, database):
    tokens = sign_in(person)
    session = current(api, tokens)["id"]
    age(database, session, 100)
    database.run("BEGIN")
    try:
        database.run("UPDATE session SET expires_at = expires_at WHERE id = %s", key(session))
        started = time.monotonic()
        for _ in range(20):
            assert opens(api, tokens)
        assert time.monotonic() - started < 20
    finally:
        database.run("ROLLBACK")


# ---- every worker and host -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def two_hosts(stack):
    """The stack's own workers, and two of another host, as functions that ask with a token."""
    prefix = stack.prefix

    def through(worker):
        return lambda token: worker.call("GET", f"{prefix}/customers/me", token=token).status

    with contextlib.ExitStack() as started:
        folder = started.enter_context(contextlib.closing(Folder()))
        settings = {"cache_file": folder.path / "cache", "metrics_file": folder.path / "metrics"}
        workers = [started.enter_context(system.worker(stack, **settings)) for _ in range(2)]
        yield [through(worker) for worker in workers]


class Folder:
    """A folder of a host's own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gatehouse-host-")
        self.path = pathlib.Path(self.folder.name)

    def close(self):
        self.folder.cleanup()


def ask(host, tokens, _):
    assert host(tokens["accessToken"]) == 200


def test_an_ended_session_opens_nothing_on_any_worker_of_two_hosts(api, person, colleague, stack):
    """Rounds of: a session is used on every worker of both hosts, it ends in one of the ways, and the next request of
    each worker is refused."""
    picked = random.Random(16)
    person.sign_in()
    stale = 0

    def end_as_own(tokens, session):
        end(api, spare, session, status=200)

    def end_as_the_others(tokens, session):
        api.post("/customers/logout", token=spare["accessToken"], json={"others": True}, status=200)

    def end_as_owner(tokens, session):
        person.delete(f"{of(colleague)}/{session}", status=200)

    def end_itself(tokens, session):
        end(api, tokens, session, status=200)

    with two_hosts(stack) as hosts, concurrent.futures.ThreadPoolExecutor(8) as pool:
        here = [lambda token: api.get("/customers/me", token=token).status_code] * 4
        spare = sign_in(colleague)
        for number in range(ROUNDS):
            tokens = sign_in(colleague)
            session = current(api, tokens)["id"]
            asked = here + hosts
            assert set(pool.map(lambda host: host(tokens["accessToken"]), asked)) == {200}
            (end_as_own, end_as_owner, end_itself, end_as_the_others)[number % 4](tokens, session)
            picked.shuffle(asked)
            stale += sum(status != 401 for status in pool.map(lambda host: host(tokens["accessToken"]), asked))
    assert stale == 0, f"{stale} of {ROUNDS * 6} requests with an ended session were served"


# ---- how many there are ----------------------------------------------------------------------------------------------


def test_a_sign_in_beyond_the_limit_ends_the_session_that_was_unused_for_longest(api, person, database, stack):
    agents = [f"Numbered/{number}" for number in range(4)]
    sessions = [sign_in(person, agent) for agent in agents]
    ids = [begun_by(database, person, agent) for agent in agents]
    for session, seconds in zip(ids, (4000, 9000, 2000, 1000)):
        age(database, session, seconds)
    body = f'{{"username": "{person.email}", "password": "{person.password}"}}'.encode()
    # The owner's first session, which the fixture has begun, is the youngest.
    with system.worker(stack, limits_sessions_per_user=4) as worker:
        answer = worker.call("POST", f"{stack.prefix}/customers/login", body=body, content_type="application/json")
        assert answer.status == 200
    assert [opens(api, tokens) for tokens in sessions] == [False, False, True, True]
    assert opens(api, person.tokens)
    rows = database.run("SELECT COUNT(*) FROM audit WHERE action = 'session.end' AND user_id = %s AND details LIKE %s",
                        key(person.id), '%"limit"%')
    assert rows[0][0] == 2
