# SPDX-License-Identifier: MIT
"""The six-digit codes of the e-mails: single use, five wrong tries, one user, one purpose, one answer."""

import concurrent.futures
import hashlib

import pytest

from support.accounts import fresh_email, fresh_password
from support.client import shape
from support.database import key
from support.members import works

UNKNOWN = "01890000-0000-7000-8000-000000000000"
LIFE = {"confirm": 24 * 3600, "reset": 3600}
# Not six digits: refused as input or as a code that is not right, but never taken.
SPOILT = [
    "", "12345", "1234567", "abcdef", "12345a", "-12345", "+12345", "123 456", "123-456", "0x1234", "１２３４５６",
    "%%%%%%", "______", "' OR 1=1 --", "null"
]


class Confirmation:
    """A member who awaits confirmation; using the code confirms."""

    purpose = "confirm"
    path = "/customers/confirm-signup"

    def __init__(self, members, creator):
        self.members = members
        self.account = members.waiting(creator)
        self.code = self.account.code()

    def use(self, digits, username=None, **arguments):
        sent = {"username": username or self.account.id, "confirmationCode": digits}
        return self.members.api.post(self.path, json=sent, **arguments)

    def used(self):
        return self.members.user(self.account.id)["status"] == "active"

    def again(self):
        """Asks for another code and returns it."""
        count = len(self.members.letters(self.account.email, "confirm"))
        self.members.api.post("/customers/resend-confirmation",
                              json={"username": self.account.id},
                              status=200)
        return self.account.code(count + 1)


class Reset(Confirmation):
    """An active user who has asked for a reset; using the code sets another password."""

    purpose = "reset"
    path = "/customers/reset-password"

    def __init__(self, members, creator):
        self.members = members
        self.account = members.active(creator)
        self.code = members.reset_code(self.account)

    def use(self, digits, username=None, **arguments):
        sent = {
            "username": username or self.account.id, "confirmationCode": digits,
            "newPassword": arguments.pop("password", "Correct horse battery staple")
        }
        return self.members.api.post(self.path, json=sent, **arguments)

    def used(self):
        self.members.database.lift_throttles()
        return not works(self.account)

    def again(self):
        return self.members.reset_code(self.account)


@pytest.fixture(params=[Confirmation, Reset], ids=["confirm", "reset"])
def issued(request, members, owner):
    return request.param(members, owner)


def wrong(code, number=1):
    """The number-th code that is not this one."""
    return f"{(int(code) + number) % 1000000:06d}"


def spoil(issued, count, start=1):
    for number in range(start, start + count):
        issued.use(wrong(issued.code, number), status=400, code="code.mismatch")


def test_a_code_works_by_id_and_by_email_in_any_case(members, owner):
    for kind in (Confirmation, Reset):
        for spell in (str.upper, str.title):
            issued = kind(members, owner)
            body = issued.use(issued.code, username=spell(issued.account.email), status=200).json()
            assert body["status"] == "success" and issued.used()


def test_a_code_works_once(issued):
    issued.use(issued.code, status=200)
    issued.use(issued.code, status=400, code="code.mismatch")


def test_four_wrong_tries_leave_the_code_good(issued):
    spoil(issued, 4)
    issued.use(issued.code, status=200)
    assert issued.used()


def test_five_wrong_tries_spend_the_code(issued):
    spoil(issued, 5)
    issued.members.database.lift_throttles()
    issued.use(issued.code, status=400, code="code.mismatch")
    assert not issued.used()


def test_the_same_wrong_code_counts_each_time(issued):
    for _ in range(5):
        issued.use(wrong(issued.code), status=400, code="code.mismatch")
    issued.members.database.lift_throttles()
    issued.use(issued.code, status=400, code="code.mismatch")


def test_parallel_guesses_cannot_go_round_the_five(issued, database):
    """Sixty wrong guesses at once over all workers spend the code; no more than five of them are checked."""
    guesses = [wrong(issued.code, number) for number in range(1, 60)]
    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        replies = list(pool.map(issued.use, guesses))
    assert {reply.status_code for reply in replies} <= {400, 429}
    assert all(reply.json()["code"] in ("code.mismatch", "rate.limited") for reply in replies)
    database.lift_throttles()
    issued.use(issued.code, status=400, code="code.mismatch")
    rows = database.run("SELECT tries FROM code WHERE user_id = %s", key(issued.account.id))
    assert not rows or rows[0][0] <= 5
    assert not issued.used()


def test_the_right_code_in_parallel_works_once(issued):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = sorted(reply.status_code for reply in pool.map(lambda _: issued.use(issued.code), range(8)))
    assert answers[0] == 200 and answers.count(200) == 1 and set(answers[1:]) == {400}, answers
    assert issued.used()


def test_a_new_code_voids_the_old_and_starts_its_tries_afresh(issued):
    old = issued.code
    spoil(issued, 4)
    issued.code = issued.again()
    if old != issued.code:
        issued.use(old, status=400, code="code.mismatch")
        spoil(issued, 3)
    else:
        spoil(issued, 4)
    issued.use(issued.code, status=200)


def test_a_spent_code_is_replaced_by_asking_again(issued):
    spoil(issued, 5)
    issued.members.database.lift_throttles()
    issued.code = issued.again()
    issued.use(issued.code, status=200)
    assert issued.used()


def test_the_life_of_a_code_is_what_the_guide_says(issued, database):
    rows = database.run(
        "SELECT TIMESTAMPDIFF(SECOND, created_at, expires_at) FROM code WHERE user_id = %s AND purpose = %s",
        key(issued.account.id), issued.purpose)
    assert abs(rows[0][0] - LIFE[issued.purpose]) <= 2


def test_an_expired_code_is_worth_nothing(issued, database):
    database.run("UPDATE code SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
                 key(issued.account.id))
    issued.use(issued.code, status=400, code="code.mismatch")
    assert not issued.used()


def test_a_code_that_is_about_to_expire_still_works(issued, database):
    database.run("UPDATE code SET expires_at = UTC_TIMESTAMP(3) + INTERVAL 20 SECOND WHERE user_id = %s",
                 key(issued.account.id))
    issued.use(issued.code, status=200)


def test_a_code_belongs_to_one_user(members, owner):
    for kind in (Confirmation, Reset):
        mine, theirs = kind(members, owner), kind(members, owner)
        if mine.code == theirs.code:
            theirs.code = theirs.again()
        mine.use(theirs.code, status=400, code="code.mismatch")
        theirs.use(mine.code, status=400, code="code.mismatch")
        assert not mine.used() and not theirs.used()
        mine.use(mine.code, status=200)
        theirs.use(theirs.code, status=200)


def test_a_confirmation_code_resets_nothing(members, owner):
    issued = Confirmation(members, owner)
    sent = {"username": issued.account.id, "confirmationCode": issued.code, "newPassword": fresh_password()}
    members.api.post("/customers/reset-password", json=sent, status=400, code="code.mismatch")
    issued.use(issued.code, status=200)
    assert works(issued.account)


def test_a_reset_code_confirms_nothing(members, owner):
    issued = Reset(members, owner)
    database = members.database
    database.run("UPDATE `user` SET status = 'awaiting-confirmation', email_verified = 0 WHERE id = %s",
                 key(issued.account.id))
    sent = {"username": issued.account.id, "confirmationCode": issued.code}
    members.api.post("/customers/confirm-signup", json=sent, status=400, code="code.mismatch")
    user = members.user(issued.account.id)
    assert user["status"] == "awaiting-confirmation" and user["emailVerified"] is False


@pytest.mark.parametrize("text", SPOILT, ids=range(len(SPOILT)))
def test_what_is_no_code_is_never_taken(members, spare, text):
    for path in ("confirm-signup", "reset-password"):
        sent = {"username": spare.id, "confirmationCode": text}
        if path == "reset-password":
            sent["newPassword"] = fresh_password()
        reply = members.api.post(f"/customers/{path}", json=sent, status=400)
        assert reply.json()["code"] in ("request.invalid", "code.mismatch")


@pytest.fixture(scope="module")
def spare(members, owner):
    """A member who stays unconfirmed."""
    return members.waiting(owner)


def test_a_refused_new_password_does_not_spend_the_code(members, owner):
    issued = Reset(members, owner)
    for _ in range(7):
        issued.use(issued.code,
                   password="too short",
                   status=400,
                   code="password.policy",
                   paths={"newPassword"})
    for password in ("123456789012", issued.account.email):
        issued.use(issued.code, password=password, status=400, code="password.policy", paths={"newPassword"})
    assert works(issued.account)
    issued.use(issued.code, status=200)
    assert works(issued.account, "Correct horse battery staple")


def test_refused_new_passwords_and_wrong_codes_do_not_add_up(members, owner):
    issued = Reset(members, owner)
    for number in range(4):
        issued.use(wrong(issued.code, number + 1), status=400, code="code.mismatch")
        issued.use(issued.code, password="too short", status=400, code="password.policy")
    issued.use(issued.code, status=200)


def test_a_bad_password_with_a_wrong_code_tells_nothing_about_the_user(members, owner):
    issued = Reset(members, owner)
    for password in ("too short", "123456789012"):
        known = issued.use(wrong(issued.code), password=password, status=400)
        unknown = issued.use(wrong(issued.code),
                             username=fresh_email("nobody"),
                             password=password,
                             status=400)
        assert shape(known) == shape(unknown)
    # The rule about one's own name needs the user: it is not told to who does not have the code.
    own = issued.use(wrong(issued.code), password=issued.account.email, status=400)
    assert own.json()["code"] == "code.mismatch"


def test_wrong_expired_spent_unknown_and_never_asked_are_one_answer(members, owner, database):
    for kind in (Confirmation, Reset):
        issued, expired, spent = kind(members, owner), kind(members, owner), kind(members, owner)
        database.run("UPDATE code SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
                     key(expired.account.id))
        spent.use(spent.code, status=200)
        disabled = kind(members, owner)
        members.set_status(disabled.account.id, "disabled")
        asked_nothing = members.active(owner)
        shapes = {
            "wrong": shape(issued.use(wrong(issued.code))),
            "expired": shape(expired.use(expired.code)),
            "spent": shape(spent.use(spent.code)),
            "unknown": shape(issued.use("123456", username=fresh_email("nobody"))),
            "unknown id": shape(issued.use("123456", username=UNKNOWN)),
            "no address": shape(issued.use("123456", username="nobody")),
            "never asked": shape(issued.use("123456", username=asked_nothing.id)),
            "disabled": shape(disabled.use(wrong(disabled.code))),
        }
        assert all(one == shapes["wrong"] for one in shapes.values()), (kind.purpose, shapes)
        assert shapes["wrong"][0] == 400


def test_no_code_stands_in_the_database_in_a_form_that_can_be_guessed_from_it(issued, database):
    """A plain digest of six digits is looked up in a second; only a keyed one keeps the code."""
    identity = key(issued.account.id)
    texts = [issued.code.encode()]
    for salt in (b"", identity, issued.account.id.encode(), issued.account.email.encode()):
        for text in (salt + issued.code.encode(), issued.code.encode() + salt,
                     salt + b":" + issued.code.encode()):
            for name in ("md5", "sha1", "sha256", "sha512"):
                digest = hashlib.new(name, text)
                texts += [digest.digest(), digest.hexdigest().encode()]
    rows = database.run("SELECT * FROM code WHERE user_id = %s", identity)
    assert rows
    for row in rows:
        for value in row:
            data = value if isinstance(value, bytes) else str(value).encode()
            assert data not in texts


def test_a_reset_needs_a_new_password_and_names_every_failing_path(api):
    for body, paths in (({}, {"username", "confirmationCode", "newPassword"}),
                        ({"username": 1, "confirmationCode": 2, "newPassword": 3,
                          "password": "x"}, {"username", "confirmationCode", "newPassword", "password"})):
        api.post("/customers/reset-password", json=body, status=400, code="request.invalid", paths=paths)
