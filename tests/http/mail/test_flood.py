# SPDX-License-Identifier: MIT
"""Whoever asks for mails, or makes accounts that are mailed to, is bounded for all workers together; and a mail with a
code waits for no other job."""

import uuid

import pytest

from support import mail, members as team, parallel
from support.accounts import fresh_email, invitation
from support.client import anonymous
from support.database import key
from support.members import USERS, retry_after
from support.stack import wait_until

MAILS, MAIL_SECONDS = 30, 300
ACCOUNTS, CUSTOMERS, HOUR = 100, 1000, 3600


def uses(database, scope):
    return [row[0] for row in database.run("SELECT failures FROM throttle WHERE scope = %s", scope)]


# ---- asking for mails -----------------------------------------------------------------------------------


def ask(api, number, name):
    path = ("forgotten-password", "resend-confirmation")[number % 2]
    return api.post(f"/customers/{path}", json={"username": name}, status={200, 429})


@pytest.mark.parametrize("known", [True, False], ids=["a user", "a name that nobody has"])
def test_an_address_asks_thirty_times_and_then_waits(api, member, known):
    name = member.email if known else fresh_email("nobody")
    replies = [ask(api, number, name) for number in range(MAILS + 4)]
    assert [reply.status_code for reply in replies] == [200] * MAILS + [429] * 4
    for reply in replies[MAILS:]:
        assert reply.json()["code"] == "rate.limited" and 0 < retry_after(reply) <= MAIL_SECONDS


def test_the_refusal_is_the_same_for_every_name(api, member):
    for number in range(MAILS):
        ask(api, number, fresh_email("nobody"))
    refused = [ask(api, 0, name) for name in (member.email, member.id, fresh_email("nobody"), str(uuid.uuid4()))]
    assert len({anonymous(reply) for reply in refused}) == 1 and parallel.count(refused) == {429: 4}


def questions(database):
    """How many questions have been taken. The job runner adds other rows at any time."""
    return database.run("SELECT COUNT(*) FROM outbox WHERE kind IN ('forgotten', 'resend')")[0][0]


def test_of_a_hundred_questions_at_once_exactly_thirty_are_taken(api, database):
    name = fresh_email("nobody")
    before = questions(database)
    assert parallel.count(parallel.run(lambda number: ask(api, number, name), range(100), 24)) == {200: MAILS, 429: 70}
    assert questions(database) == before + MAILS
    assert uses(database, "mail") == [MAILS]


def test_when_the_five_minutes_are_over_it_may_ask_again(api, database):
    for number in range(MAILS):
        ask(api, number, fresh_email("nobody"))
    database.run("UPDATE throttle SET since = since - INTERVAL 290 SECOND WHERE scope = 'mail'")
    assert retry_after(api.post("/customers/forgotten-password", json={"username": "x"}, status=429)) <= 10
    database.run("UPDATE throttle SET since = since - INTERVAL 10 SECOND WHERE scope = 'mail'")
    api.post("/customers/forgotten-password", json={"username": "x"}, status=200)


def test_who_asked_too_often_can_sign_in(api, member):
    for number in range(MAILS + 1):
        ask(api, number, member.email)
    assert team.works(member)


# ---- making accounts ------------------------------------------------------------------------------------


@pytest.fixture()
def nearly(database):
    """Makes one account, and lets its maker have made so many in this hour."""

    def set_uses(number, make):
        database.lift_throttles()
        make()
        assert database.run("SELECT COUNT(*) FROM throttle WHERE scope = 'organisation'")[0][0] == 1
        database.run("UPDATE throttle SET failures = %s WHERE scope = 'organisation'", number)

    return set_uses


def test_of_parallel_creations_exactly_as_many_as_may_be_are_made(customer, members, database, nearly):
    nearly(ACCOUNTS - 6, lambda: members.waiting(customer))
    replies = parallel.run(lambda _: customer.post(USERS, json=team.body(), status={200, 429}), range(16), 16)
    assert parallel.count(replies) == {200: 6, 429: 10}
    for reply in replies:
        if reply.status_code == 429:
            assert reply.json()["code"] == "rate.limited" and HOUR - 600 < retry_after(reply) <= HOUR
    made = database.run("SELECT COUNT(*) FROM `user` WHERE organisation_id = %s", key(customer.organisation["id"]))
    assert made[0][0] == 1 + 1 + 6 and uses(database, "organisation") == [ACCOUNTS]


def test_what_is_refused_does_not_count(customer, members, database, nearly):
    taken = members.waiting(customer)
    nearly(ACCOUNTS - 1, lambda: members.waiting(customer))
    customer.post(USERS, json=team.body(email=taken.email), status=409, code="user.exists")
    customer.post(USERS, json=team.body(password="short"), status=400)
    customer.post(USERS, json=team.body(firstName="a/b"), status=400)
    members.waiting(customer)
    customer.post(USERS, json=team.body(), status=429, code="rate.limited")
    customer.post(USERS, json=team.body(password="short"), status=400)
    assert uses(database, "organisation") == [ACCOUNTS]


def test_a_list_of_addresses_cannot_be_asked_for_accounts_elsewhere(customer, other, members, database, nearly):
    """Not as long as accounts may be made, and not when none may be made any more: the answers are the same then."""
    def create(address):
        return customer.post(USERS, json=team.body(email=address), status={200, 409, 429})

    nearly(1, lambda: members.waiting(customer))
    told = [create(other.email) for _ in range(ACCOUNTS + 3)]
    assert [reply.status_code for reply in told] == [409] * ACCOUNTS + [429] * 3
    free = create(fresh_email("free"))
    assert anonymous(free) == anonymous(told[-1]) and free.json()["code"] == "rate.limited"
    assert sorted(uses(database, "organisation")) == [1, ACCOUNTS]
    nearly(ACCOUNTS, lambda: members.waiting(customer))
    refused = [create(address) for address in (other.email, fresh_email("free"))]
    assert [reply.status_code for reply in refused] == [429, 429] and anonymous(refused[0]) == anonymous(refused[1])


def test_another_organisation_and_customers_are_counted_apart(customer, other, accounts, members, administrator,
                                                              nearly):
    nearly(ACCOUNTS, lambda: members.waiting(customer))
    customer.post(USERS, json=team.body(), status=429)
    members.waiting(other)
    nearly(CUSTOMERS, accounts.invited)
    members.waiting(other)
    reply = administrator.post("/customers/signup", json=invitation(), status=429, code="rate.limited")
    assert HOUR - 600 < retry_after(reply) <= HOUR
    # Internal staff's own team is counted apart from the customers that they make.
    administrator.post(USERS, json=team.body(), status=200)


# ---- what is sent first ---------------------------------------------------------------------------------


def test_a_mail_with_a_code_waits_for_none_of_thousands_of_other_jobs(members, boss, database):
    member = members.active(boss)
    members.await_jobs()
    kind = f"test-{uuid.uuid4().hex[:8]}"
    database.run(
        "INSERT INTO outbox (kind, priority, payload) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
        " WHERE i < 1000) SELECT %s, 2, '' FROM n JOIN (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) three", kind)
    try:
        member.api.post("/customers/forgotten-password", json={"username": member.email}, status=200)
        # From the answer on: others are done while the question is committed, which may take long.
        answered = database.run("SELECT UTC_TIMESTAMP(3)")[0][0]
        asked = database.run("SELECT MAX(created_at) FROM outbox WHERE kind = 'forgotten'")[0][0]
        sent = wait_until(
            lambda: database.run(
                "SELECT MAX(finished_at) FROM outbox WHERE kind = 'mail' AND status = 'done' AND user_id = %s AND "
                "created_at >= %s",
                key(member.id), asked)[0][0], mail.PATIENCE_SECONDS, "the mail to be reported")
        between = database.run("SELECT COUNT(*) FROM outbox WHERE kind = %s AND finished_at BETWEEN %s AND %s", kind,
                               answered, sent)[0][0]
        # Those that were done while the mail was made and sent: one each, and some to spare.
        assert between <= 50, f"{between} of 3000 other jobs were done before the mail"
    finally:
        database.run("DELETE FROM outbox WHERE kind = %s", kind)
