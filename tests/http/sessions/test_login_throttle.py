# SPDX-License-Identifier: MIT
"""Guessing is slowed down for accounts and for addresses, by all workers together
(docs/accounts.md, "Waits after failures")."""

import socket
import subprocess
import time

import pytest

from support import parallel
from support.accounts import fresh_email, fresh_password
from support.client import Api, anonymous, failing
from support.members import retry_after, works

FREE = 5
ADDRESS_FREE = 30
ADDRESS_SECONDS = 300
LONGEST = 900
WRONG = "not the password"
UNKNOWN = "01890000-0000-7000-8000-000000000000"


def guess(api, name, password=WRONG, **arguments):
    return api.post("/customers/login", json={"username": name, "password": password}, **arguments)


def is_a_minute(told):
    """Whether a wait that was lengthened to a minute is told as such, some of which may be over."""
    return 30 < told <= 60


@pytest.fixture()
def member(members, owner):
    return members.active(owner)


@pytest.fixture()
def let_waits_end(database):
    """Lets every wait that is running end now, as if the time had passed."""

    def end():
        database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND"
                     " WHERE locked_until IS NOT NULL")

    return end


@pytest.fixture()
def forget_address(database):
    """Forgets what is counted for client addresses, so that only accounts are looked at."""
    return lambda: database.run("DELETE FROM throttle WHERE scope = 'address'")


@pytest.fixture()
def elsewhere(stack, document):
    """A client at an address of its own, of the loopback network."""
    return Api(stack, document, address="127.0.0.77")


# ---- accounts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False], ids=["a user", "a name that nobody has"])
def test_five_failures_are_answered_as_such_and_then_there_is_a_wait(api, database, member, known):
    name = member.email if known else fresh_email("nobody")
    replies = [guess(api, name, status=401, code="auth.credentials") for _ in range(FREE)]
    assert len({anonymous(reply) for reply in replies}) == 1
    assert database.waits() == [1]
    database.lengthen_waits()
    assert is_a_minute(retry_after(guess(api, name, status=429, code="rate.limited")))


def test_known_and_unknown_names_are_throttled_alike(api, database, member):
    seen = []
    for name in (member.email, member.id, fresh_email("nobody"), "nobody", UNKNOWN):
        database.lift_throttles()
        replies = [guess(api, name) for _ in range(FREE)]
        waits = database.waits()
        database.lengthen_waits()
        refused = [guess(api, name, status=429) for _ in range(3)]
        assert all(is_a_minute(retry_after(reply)) for reply in refused)
        assert not any("Retry-After" in reply.headers for reply in replies)
        seen.append((waits, [(reply.status_code, anonymous(reply)) for reply in replies + refused]))
    assert all(one == seen[0] for one in seen), seen


def test_the_right_password_is_refused_alike_meanwhile(api, members, member):
    members.fail_logins(member.email, FREE)
    members.database.lengthen_waits()
    wrong = guess(api, member.email, status=429)
    right = guess(api, member.email, member.password, status=429)
    assert anonymous(right) == anonymous(wrong) and "eyJ" not in right.text


def test_after_the_wait_the_right_password_works(api, members, member):
    members.fail_logins(member.email, FREE - 1)
    began = time.monotonic()
    members.fail_logins(member.email, 1)
    reply = guess(api, member.email, member.password)
    if reply.status_code == 429:
        time.sleep(retry_after(reply))
        reply = guess(api, member.email, member.password)
    assert reply.status_code == 200 and time.monotonic() - began > 1


def test_each_failure_after_a_wait_doubles_it(api, members, member, let_waits_end, forget_address):
    members.fail_logins(member.email, FREE)
    for number in range(12):
        wait = min(2**number, LONGEST)
        assert members.database.waits() == [wait]
        if wait < 60:
            members.database.lengthen_waits()
        told = retry_after(guess(api, member.email, status=429))
        assert max(wait, 60) - 30 < told <= max(wait, 60)
        let_waits_end()
        forget_address()
        guess(api, member.email, status=401, code="auth.credentials")


def test_the_second_wait_is_two_seconds_by_the_clock(api, members, member):
    members.fail_logins(member.email, FREE)
    time.sleep(1.05)
    began = time.monotonic()
    guess(api, member.email, status=401)
    answered = time.monotonic()
    for pause in (0, 1.2):
        time.sleep(pause)
        early = guess(api, member.email, member.password)
        # On a machine that stood still meanwhile the wait may be over already.
        assert early.status_code == 429 and retry_after(early) <= 2 or time.monotonic() - began > 2, early.text
    time.sleep(max(0.0, 2.05 - (time.monotonic() - answered)))
    guess(api, member.email, member.password, status=200)


def test_tries_within_the_wait_neither_count_nor_lengthen_it(api, members, member, let_waits_end):
    members.fail_logins(member.email, FREE)
    let_waits_end()
    guess(api, member.email, status=401)
    members.database.lengthen_waits()
    counted = "SELECT failures, locked_until FROM throttle WHERE scope = 'account'"
    before = members.database.run(counted)
    waits = [retry_after(guess(api, member.email, status=429)) for _ in range(25)]
    assert waits == sorted(waits, reverse=True) and is_a_minute(waits[0])
    assert members.database.run(counted) == before
    let_waits_end()
    # Those tries have not counted for the address either: 5 + 1 + 25 would be too many.
    guess(api, member.email, status=401)
    assert members.database.waits() == [4]


def test_a_success_starts_afresh(api, members, member, let_waits_end):
    members.fail_logins(member.email, FREE - 1)
    guess(api, member.email, member.password, status=200)
    members.fail_logins(member.email, FREE)
    assert members.database.waits() == [1]
    let_waits_end()
    guess(api, member.email, status=401)
    let_waits_end()
    guess(api, member.email, member.password, status=200)
    members.fail_logins(member.email, FREE)
    assert members.database.waits() == [1]


def test_email_in_any_spelling_and_id_count_as_one(api, database, member):
    spellings = [member.email, member.email.upper(), member.email.title(), member.id, member.email.swapcase()]
    for name in spellings:
        guess(api, name, status=401)
    database.lengthen_waits()
    for name in spellings:
        guess(api, name, status=429)
    database.lift_throttles()
    name = fresh_email("nobody")
    for spell in (str.lower, str.upper, str.title, str.swapcase, str.capitalize):
        guess(api, spell(name), status=401)
    database.lengthen_waits()
    guess(api, name, status=429)


def test_one_account_does_not_slow_down_another(api, members, owner, member):
    members.fail_logins(member.email, FREE)
    members.database.lengthen_waits()
    guess(api, member.email, status=429)
    assert works(members.active(owner))
    assert works(owner)


def test_a_session_goes_on_while_its_account_is_throttled(api, members, member):
    tokens = member.session()
    members.fail_logins(member.email, FREE)
    members.database.lengthen_waits()
    guess(api, member.email, status=429)
    api.get("/customers/me", token=tokens["accessToken"], status=200)
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=200)


def change(account, token, password, **arguments):
    sent = {"password": password, "newPassword": fresh_password()}
    return account.api.post("/customers/change-password", token=token, json=sent, **arguments)


def test_a_wrong_current_password_counts_as_a_failed_login(api, members, member):
    token = member.session()["accessToken"]
    for _ in range(3):
        assert failing(change(member, token, WRONG, status=400)) == {"password": {"mismatch"}}
    members.fail_logins(member.email, FREE - 3)
    members.database.lengthen_waits()
    guess(api, member.email, member.password, status=429)
    change(member, token, WRONG, status=429, code="rate.limited")
    change(member, token, member.password, status=429, code="rate.limited")
    members.database.lift_throttles()
    assert works(member)


def test_a_right_current_password_starts_afresh(api, members, member):
    token = member.session()["accessToken"]
    members.fail_logins(member.email, FREE - 1)
    change(member, token, member.password, status=200)
    members.fail_logins(member.email, FREE)


def test_a_refused_new_password_is_no_failed_login(api, member):
    token = member.session()["accessToken"]
    for _ in range(FREE + 3):
        api.post("/customers/change-password",
                 token=token,
                 json={"password": member.password, "newPassword": "too short"},
                 status=400,
                 code="password.policy")
    assert works(member)


def test_wrong_temporary_passwords_count_too(api, accounts, database):
    invited = accounts.invited()
    for number in range(FREE):
        body = {"username": invited.email, "password": WRONG}
        if number % 2:
            body["newPassword"] = fresh_password()
        api.post("/customers/login", json=body, status=401, code="auth.credentials")
    database.lengthen_waits()
    for body in (invited.credentials(), invited.credentials(newPassword=fresh_password())):
        api.post("/customers/login", json=body, status=429, code="rate.limited")


def test_a_temporary_password_without_a_new_one_is_no_failure(api, accounts):
    invited = accounts.invited()
    for _ in range(FREE + 3):
        api.post("/customers/login", json=invited.credentials(), status=400, code="auth.newPasswordRequired")
    api.post("/customers/login", json=invited.credentials(newPassword=fresh_password()), status=200)


# ---- parallel tries -------------------------------------------------------------------------------------


@pytest.mark.web_server
@pytest.mark.parametrize("known", [True, False], ids=["a user", "a name that nobody has"])
def test_of_200_wrong_guesses_at_once_exactly_five_are_answered_as_such(api, member, known):
    address = member.email if known else fresh_email("nobody")
    names = [address, address.upper(), address.title()] + ([member.id] if known else [])
    began = time.monotonic()
    replies = parallel.run(lambda number: guess(api, names[number % len(names)]), range(200))
    found = parallel.count(replies)
    # Where the machine is so slow that waits end while guesses are under way, each lets one more through.
    ended = sum(2**n - 1 <= time.monotonic() - began for n in range(1, 10))
    assert FREE <= found[401] <= FREE + ended and found[401] + found[429] == 200, found
    assert {reply.json()["code"] for reply in replies} == {"auth.credentials", "rate.limited"}


def test_guesses_at_login_and_change_password_at_once_are_five_together(api, member):
    token = member.session()["accessToken"]

    def work(number):
        return guess(api, member.email) if number % 2 else change(member, token, WRONG)

    began = time.monotonic()
    found = parallel.count(parallel.run(work, range(60)))
    ended = sum(2**n - 1 <= time.monotonic() - began for n in range(1, 10))
    assert FREE <= found.get(401, 0) + found.get(400, 0) <= FREE + ended, found
    assert sum(found.values()) == 60 and set(found) <= {400, 401, 429}, found


def test_the_right_password_does_not_slip_through_among_parallel_guesses(api, members, member):
    """Within the wait even a burst of right ones is refused, each of them."""
    members.fail_logins(member.email, FREE)
    members.database.lengthen_waits()
    replies = parallel.run(lambda _: guess(api, member.email, member.password), range(30))
    assert parallel.count(replies) == {429: 30}


def test_ten_right_logins_at_once_all_succeed_even_after_four_failures(api, members, member):
    members.fail_logins(member.email, FREE - 1)
    assert parallel.count(parallel.run(lambda _: guess(api, member.email, member.password), range(10))) == {200: 10}


# ---- what lifts it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spell", [lambda one: one.email, lambda one: one.email.upper(), lambda one: one.id],
                         ids=["e-mail", "e-mail in capitals", "id"])
def test_the_operator_lifts_it(api, stack, members, member, spell):
    bystander = fresh_email("nobody")
    for name in (member.email, bystander):
        members.fail_logins(name, FREE)
        members.database.lengthen_waits()
        guess(api, name, status=429)
    done = subprocess.run([stack.ctl, "--config", stack.configuration, "unlock",
                           spell(member)],
                          capture_output=True,
                          text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    guess(api, member.email, member.password, status=200)
    members.database.run("DELETE FROM throttle WHERE scope = 'address'")
    members.fail_logins(member.email, FREE)


def test_the_operator_is_told_when_there_is_no_such_user(stack):
    done = subprocess.run([stack.ctl, "--config", stack.configuration, "unlock",
                           fresh_email("nobody")],
                          capture_output=True,
                          text=True,
                          timeout=120)
    assert done.returncode != 0 and done.stderr.strip()


def test_a_proven_reset_lifts_it(api, members, member):
    code = members.reset_code(member)
    members.fail_logins(member.email, FREE)
    members.database.lengthen_waits()
    guess(api, member.email, status=429)
    new = fresh_password()
    sent = {"username": member.email, "confirmationCode": code, "newPassword": new}
    api.post("/customers/reset-password", json=sent, status=200)
    guess(api, member.email, new, status=200)


def test_asking_for_a_reset_or_failing_it_lifts_nothing(api, members, member):
    code = members.reset_code(member)
    members.fail_logins(member.email, FREE)
    members.database.lengthen_waits()
    sent = {
        "username": member.email, "confirmationCode": f"{(int(code) + 1) % 1000000:06d}",
        "newPassword": fresh_password()
    }
    api.post("/customers/reset-password", json=sent, status=400, code="code.mismatch")
    api.post("/customers/forgotten-password", json={"username": member.email}, status=200)
    guess(api, member.email, member.password, status=429)


# ---- addresses ------------------------------------------------------------------------------------------


def bad_refresh(api, number):
    return api.post("/customers/refresh", json={"refreshToken": f"{number:043d}"}, headers=forged(number))


def bad_confirmation(api, number):
    return api.post("/customers/confirm-signup",
                    json={"username": fresh_email("nobody"), "confirmationCode": f"{number:06d}"},
                    headers=forged(number))


def bad_reset(api, number):
    return api.post("/customers/reset-password",
                    json={
                        "username": fresh_email("nobody"), "confirmationCode": f"{number:06d}",
                        "newPassword": "Correct horse battery staple"
                    },
                    headers=forged(number))


def bad_login(api, number):
    return api.post("/customers/login",
                    json={"username": fresh_email("nobody"), "password": WRONG},
                    headers=forged(number))


WAYS = {"login": bad_login, "refresh": bad_refresh, "confirm": bad_confirmation, "reset": bad_reset}


def forged(number):
    """Headers by which a client claims another address each time."""
    address = f"203.0.113.{number % 250}"
    return {
        "X-Forwarded-For": f"{address}, 198.51.100.{number % 250}", "X-Real-IP": address,
        "Forwarded": f"for={address}", "Client-IP": address, "True-Client-IP": address,
        "CF-Connecting-IP": address, "X-Client-IP": address, "Remote-Addr": address
    }


@pytest.mark.web_server
@pytest.mark.parametrize("ways", [["login"], ["refresh"], ["confirm"], ["reset"],
                                  list(WAYS)],
                         ids=["login", "refresh", "confirm", "reset", "all together"])
def test_an_address_has_thirty_failures_whatever_it_claims_to_be(elsewhere, ways):
    for number in range(ADDRESS_FREE):
        reply = WAYS[ways[number % len(ways)]](elsewhere, number)
        assert reply.status_code in (400, 401), f"failure {number + 1}: {reply.status_code} {reply.text}"
    for number in range(4):
        for way in WAYS.values():
            reply = way(elsewhere, number)
            assert reply.status_code == 429 and reply.json()["code"] == "rate.limited"
            assert ADDRESS_SECONDS - 60 <= retry_after(reply) <= ADDRESS_SECONDS


def test_wrong_current_passwords_count_for_the_address(elsewhere, members, member):
    token = member.session()["accessToken"]
    sent = {"password": WRONG, "newPassword": fresh_password()}
    for _ in range(FREE):
        elsewhere.post("/customers/change-password", token=token, json=sent, status=400)
    for number in range(ADDRESS_FREE - FREE):
        assert bad_login(elsewhere, number).status_code == 401
    assert bad_login(elsewhere, 0).status_code == 429


@pytest.mark.web_server
def test_another_address_is_not_held_up(api, elsewhere, member):
    for number in range(ADDRESS_FREE):
        bad_login(elsewhere, number)
    guess(elsewhere, member.email, member.password, status=429)
    guess(api, member.email, member.password, status=200)


def test_successes_do_not_start_an_address_afresh(elsewhere, member):
    """Else whoever has an account guesses for ever."""
    for number in range(ADDRESS_FREE):
        assert bad_login(elsewhere, number).status_code == 401
        if number % 5 == 0:
            guess(elsewhere, member.email, member.password, status=200)
    assert bad_login(elsewhere, 0).status_code == 429


def test_an_address_is_let_in_again_when_its_five_minutes_are_over(elsewhere, database, member):
    for number in range(ADDRESS_FREE):
        bad_login(elsewhere, number)
    assert bad_login(elsewhere, 0).status_code == 429
    database.run("UPDATE throttle SET since = since - INTERVAL 301 SECOND, updated_at = updated_at"
                 " - INTERVAL 301 SECOND, locked_until = locked_until - INTERVAL 301 SECOND"
                 " WHERE scope = 'address'")
    guess(elsewhere, member.email, member.password, status=200)
    for number in range(ADDRESS_FREE):
        assert bad_login(elsewhere, number).status_code == 401
    assert bad_login(elsewhere, 0).status_code == 429


def test_old_failures_of_an_address_do_not_count(elsewhere, database):
    for number in range(ADDRESS_FREE - 1):
        bad_login(elsewhere, number)
    database.run("UPDATE throttle SET since = since - INTERVAL 301 SECOND WHERE scope = 'address'")
    for number in range(ADDRESS_FREE):
        assert bad_login(elsewhere, number).status_code == 401
    assert bad_login(elsewhere, 0).status_code == 429


@pytest.mark.web_server
def test_parallel_failures_of_an_address_are_thirty(elsewhere):
    found = parallel.count(parallel.run(lambda number: bad_login(elsewhere, number), range(90)))
    assert found == {401: ADDRESS_FREE, 429: 90 - ADDRESS_FREE}


def test_what_is_no_try_does_not_count_for_an_address(elsewhere, member):
    for _ in range(ADDRESS_FREE + 5):
        elsewhere.post("/customers/login", json={}, status=400)
        elsewhere.post("/customers/login",
                       data=b"{",
                       headers={"Content-Type": "application/json"},
                       status=400)
        elsewhere.get("/customers/me", status=401)
        # These have a bound of their own (mail/test_flood.py).
        elsewhere.post("/customers/forgotten-password", json={"username": "nobody"}, status={200, 429})
    guess(elsewhere, member.email, member.password, status=200)


def test_names_that_nobody_has_leave_no_name_in_the_table(api, database):
    name = fresh_email("nobody")
    guess(api, name, status=401)
    rows = database.run("SELECT * FROM throttle")
    assert rows and not [value for row in rows for value in row if name in str(value)]


@pytest.mark.web_server
def test_the_address_of_the_elsewhere_client_is_really_another(elsewhere, database):
    """The tests above prove something only when the web server sees two addresses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.77", 0))
    bad_login(elsewhere, 1)
    first = {row[0] for row in database.run("SELECT subject FROM throttle WHERE scope = 'address'")}
    database.lift_throttles()
    bad_login(Api(elsewhere.stack, elsewhere.document), 1)
    second = {row[0] for row in database.run("SELECT subject FROM throttle WHERE scope = 'address'")}
    assert first and second and not first & second
