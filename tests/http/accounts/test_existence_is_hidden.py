# SPDX-License-Identifier: MIT
"""Nobody learns from the bytes or from the time of an answer whether an account exists."""

import random
import time

import pytest

from support.client import shape
from support.database import key
from support.members import USERS
from support.programs import crash
from support.runs import effort, timing

pytestmark = pytest.mark.alone

UNKNOWN = "01890000-0000-7000-8000-000000000000"
NOBODY = "nobody.at.all@example.com"


@pytest.fixture(scope="module", autouse=True)
def unhampered(stack):
    if stack.web_server != "nginx":
        pytest.skip("the worker's times are measured once, behind nginx")
    if crash.sanitized(stack):
        pytest.skip("a worker with sanitizers takes times that say nothing")


@pytest.fixture(scope="module")
def known(accounts, members, owner):
    """An account of each state."""
    confirmed, disabled, erased = members.active(owner), members.active(owner), members.active(owner)
    members.reset_code(confirmed)
    for person in (disabled, erased):
        owner.patch(f"{USERS}/{person.id}", json={"status": "disabled"}, status=200)
    owner.post(f"{USERS}/{erased.id}/erase", status=200)
    closed = accounts.customer()
    members.administrator.patch(f"/customers/organisations/{closed.organisation['id']}", json={"status": "disabled"},
                                status=200)
    spent, without = members.waiting(owner), members.active(owner)
    members.database.run("UPDATE code SET tries = 5 WHERE user_id = %s", key(spent.id))
    return {
        "active": confirmed, "awaiting first login": accounts.invited(),
        "awaiting confirmation": members.waiting(owner), "disabled": disabled, "spent code": spent,
        "without a code": without, "erased": erased, "organisation disabled": closed
    }


def login(name):
    return "/customers/login", {"username": name, "password": "not the password"}


def forgotten(name):
    return "/customers/forgotten-password", {"username": name}


def resend(name):
    return "/customers/resend-confirmation", {"username": name}


def confirm(name):
    return "/customers/confirm-signup", {"username": name, "confirmationCode": "000000"}


def reset(name):
    return "/customers/reset-password", {
        "username": name, "confirmationCode": "000000", "newPassword": "Correct horse battery staple"
    }


# Of somebody who was erased nothing is left that could be found by the address, so that is timed in a full run only.
ERASED = ("erased", ) if effort.FULL else ()

# What is asked, how many pairs a round takes, and the states for which the answer must take as long as for
# nobody. A code that is waiting makes a wrong one no slower, and a mail that is due makes asking no slower.
CASES = [(login, 40, ("active", "awaiting first login", "awaiting confirmation", "disabled", "organisation disabled",
                      *ERASED)),
         (forgotten, 150, ("active", "disabled", "organisation disabled")),
         (resend, 150, ("active", "awaiting confirmation", "awaiting first login")),
         (confirm, 150, ("active", )), (reset, 150, ("disabled", "organisation disabled", *ERASED))]

# The same by the ranks of 400 pairs and more, which tell hundredths of a millisecond: where something waits that a
# write is due for. timing.not_told_apart() tells how often it errs.
RANKED = [(login, "active"), (forgotten, "active"), (resend, "awaiting confirmation"),
          (confirm, "awaiting confirmation"), (confirm, "spent code"), (reset, "active"), (reset, "without a code")]


def forget(database, identity):
    """Takes back what the last try counted, so that the next one finds the same state."""
    database.lift_throttles()
    database.run("DELETE FROM mail_allowance WHERE user_id = %s", key(identity))
    database.run("UPDATE code SET tries = 0 WHERE user_id = %s AND tries < 5", key(identity))


def timed(api, ask, name):
    """Seconds that one request takes, on a connection that is open already; the checks of the client come
    after the clock has stopped."""
    path, body = ask(name)
    began = time.perf_counter()
    reply = api.session.post(api.stack.url(path), json=body, timeout=30)
    return time.perf_counter() - began, reply


def one_round(api, database, ask, pairs, account):
    """The seconds of one round's requests, of the known name and of the unknown one. Which comes first is left to
    chance: workers take turns, and an order that repeats would give each name workers of its own."""
    seen = {account.email: [], NOBODY: []}
    for _ in range(pairs):
        for name in random.sample(list(seen), 2):
            forget(database, account.id)
            seconds, reply = timed(api, ask, name)
            assert reply.status_code in (200, 400, 401), reply.text
            seen[name].append(seconds)
    return seen.values()


@pytest.mark.slow
@pytest.mark.parametrize("ask, pairs, state",
                         [(ask, pairs, state) for ask, pairs, states in CASES for state in states],
                         ids=[f"{ask.__name__}-{state}" for ask, _, states in CASES for state in states])
def test_known_and_unknown_names_take_as_long(api, database, known, ask, pairs, state):
    timing.take_as_long(lambda: one_round(api, database, ask, pairs, known[state]))


@pytest.mark.slow
@pytest.mark.parametrize("ask, state", RANKED, ids=[f"{ask.__name__}-{state}" for ask, state in RANKED])
def test_ranks_do_not_tell_known_names_from_unknown_ones(api, database, known, ask, state):
    timing.not_told_apart(lambda pairs: one_round(api, database, ask, pairs, known[state]))


def lock_out(api, database, *names):
    """Wrong passwords until each name has to wait, and a wait that outlasts the test."""
    database.lift_throttles()
    for name in names:
        path, body = login(name)
        while api.post(path, json=body, status={401, 429}).status_code == 401:
            pass
    database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 15 MINUTE WHERE scope = 'account'")


def locked_round(api, pairs, account):
    """The seconds of a round's logins of two names that have to wait. What is refused so is not counted."""
    seen = {account.email: [], NOBODY: []}
    for _ in range(pairs):
        for name in random.sample(list(seen), 2):
            seconds, reply = timed(api, login, name)
            assert reply.status_code == 429, reply.text
            seen[name].append(seconds)
    return seen.values()


@pytest.mark.slow
@pytest.mark.parametrize("state", ["active", "disabled"])
def test_names_that_are_locked_out_take_as_long(api, database, known, state):
    lock_out(api, database, known[state].email, NOBODY)
    timing.take_as_long(lambda: locked_round(api, 100, known[state]))
    timing.not_told_apart(lambda pairs: locked_round(api, pairs, known[state]))


def test_names_that_are_locked_out_get_the_same_bytes(api, database, known):
    shapes = {}
    names = {state: account.email for state, account in known.items()}
    for state, name in {**names, "active by id": known["active"].id, "unknown": NOBODY, "unknown id": UNKNOWN}.items():
        lock_out(api, database, name)
        path, body = login(name)
        status, headers, said = shape(api.post(path, json=body, status=429))
        assert 898 <= int(headers.pop("retry-after")) <= 900
        shapes[state] = status, headers, said
    assert all(one == shapes["unknown"] for one in shapes.values()), shapes


@pytest.mark.parametrize("first, second, z", [([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], -2.611), ([3, 1], [2, 4], -0.775),
                                              ([1, 1, 2], [1, 2, 2], -0.745), ([7, 7], [7, 7], 0)])
def test_the_ranks_are_those_of_the_textbook(first, second, z):
    assert timing.mann_whitney_z(first, second) == pytest.approx(z, abs=0.001)
    assert timing.mann_whitney_z(second, first) == pytest.approx(-z, abs=0.001)


def at_rest(source, slower):
    """Requests of a machine at rest: some 1.6 ms, nine of ten within 2.2 ms; one kind takes `slower` seconds more."""

    def one_round(pairs):
        seconds = [0.0014 + 0.00022 * source.lognormvariate(0, 1) for _ in range(2 * pairs)]
        return seconds[:pairs], [one + slower for one in seconds[pairs:]]

    return one_round


def test_the_ranks_see_a_difference_that_medians_hide():
    source = random.Random(14)
    for slower in (0.0001, -0.0001):
        for _ in range(20):
            one_round = at_rest(source, slower)
            timing.take_as_long(lambda: one_round(400))
            with pytest.raises(pytest.fail.Exception):
                timing.not_told_apart(one_round)


def test_the_ranks_find_nothing_where_there_is_nothing():
    source = random.Random(15)
    rounds = []

    def counted(pairs):
        rounds.append(pairs)
        return at_rest(source, 0)(pairs)

    for _ in range(400):
        timing.not_told_apart(counted)
    # Chance alone makes a second round necessary in one case of 22.
    assert rounds.count(400) == 400 and 5 <= rounds.count(800) <= 40, rounds.count(800)


@pytest.mark.parametrize("ask", [login, forgotten, resend, confirm, reset], ids=lambda ask: ask.__name__)
def test_known_and_unknown_names_get_the_same_bytes(api, database, known, ask):
    shapes = {}
    names = {state: account.email for state, account in known.items()}
    names.update({f"{state} by id": account.id for state, account in known.items()})
    names.update({"unknown": NOBODY, "unknown id": UNKNOWN, "no address": "nobody"})
    for state, name in names.items():
        database.lift_throttles()
        path, body = ask(name)
        shapes[state] = shape(api.post(path, json=body))
    assert all(one == shapes["unknown"] for one in shapes.values()), shapes
