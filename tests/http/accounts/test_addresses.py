# SPDX-License-Identifier: MIT
"""E-mail addresses: spellings of one are one account, and what nobody sees is refused."""

import itertools
import pathlib
import re
import unicodedata
import uuid

import pytest

from support.accounts import RUN, fresh_password, invitation
from support.programs import operator

NUMBER = itertools.count(1)
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "upgrading.md"


def word():
    return f"{RUN}.{next(NUMBER)}"


def wide(text):
    """The ASCII letters and signs in their full width."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def spellings():
    w = word()
    accent = f"élan.{w}@example.com"
    domain = f"ann.{w}@bücher.example.com"
    return [
        (accent, [accent.upper(), unicodedata.normalize("NFD", accent), f"ÉLAN.{w}@EXAMPLE.com", wide(accent)]),
        (f"straße.{w}@example.com", [f"STRASSE.{w}@example.com", f"strasse.{w}@example.com",
                                     f"STRAẞE.{w}@example.com"]),
        (f"istanbul.{w}@example.com", [f"ISTANBUL.{w}@example.com", wide(f"istanbul.{w}@example.com")]),
        (domain, [f"ann.{w}@xn--bcher-kva.example.com", domain.upper(), unicodedata.normalize("NFD", domain),
                  f"ann.{w}＠bücher．example。com"]),
    ]


@pytest.mark.parametrize("which", range(4))
def test_spellings_are_one_account(api, accounts, database, which):
    kept, others = spellings()[which]
    owner = accounts.customer(email=kept)
    assert owner.email == kept
    for other in others:
        reply = api.post("/customers/login", json={"username": other, "password": owner.password}, status=200)
        assert reply.json()["user"]["id"] == owner.id, other
        reply = api.post("/customers/signup", token=accounts.administrator.token, json=invitation(email=other),
                         status=409, code="user.exists")
        reply = api.post("/customers/organisations/users", token=owner.token, status=409, code="user.exists", json={
            "email": other, "password": fresh_password(), "firstName": "A", "lastName": "B"})
    assert database.run("SELECT COUNT(*) FROM user WHERE email_key = (SELECT email_key FROM user WHERE email = %s)",
                        kept)[0][0] == 1


def test_other_letters_are_another_account(api, accounts):
    w = word()
    pairs = [("ı{}@example.com", "i{}@example.com"), ("İ2{}@example.com", "I2{}@example.com"),
             ("a{}@straße.example.com", "a{}@strasse.example.com"), ("а3{}@example.com", "a3{}@example.com")]
    for pair in pairs:
        first, second = (accounts.sign_up(email=email.format(w))["user"]["id"] for email in pair)
        assert first != second, pair


@pytest.mark.parametrize("letter", ["\u3164", "\u034f", "\u180e", "\U000e0041", "\u202e", "\u200b", "\u2066", "\ufe0f",
                                    "\ue000", "\u0378", "\u2800", "\u00ad", "\uffa0"])
def test_what_nobody_sees_is_refused(api, accounts, letter):
    for email in (f"a{letter}b@example.com", f"ab@exa{letter}mple.com"):
        reply = api.post("/customers/signup", token=accounts.administrator.token, json=invitation(email=email),
                         status=400, code="request.invalid")
        assert [(e["path"], e["code"]) for e in reply.json()["validation"]] == [("email", "format")]
        assert "nobody sees" in reply.json()["validation"][0]["message"]
        api.post("/customers/login", json={"username": email, "password": "whatever it is"}, status={400, 401})


@pytest.mark.parametrize("email", ["a@xn--a.de", "a@mün chen.de", "a@mün_chen.de", "a@☃.example", "a@münchen..de",
                                   "ﷺ" * 20 + "@example.com"])
def test_a_domain_that_cannot_be_is_refused(api, accounts, email):
    reply = api.post("/customers/signup", token=accounts.administrator.token, json=invitation(email=email), status=400,
                     code="request.invalid")
    assert [e["path"] for e in reply.json()["validation"]] == ["email"]


def test_a_letter_goes_to_the_address_as_typed(accounts, mailbox):
    w = word()
    invited = accounts.invited(email=f"Ann.{w}@BÜCHER.example.com")
    assert invited.email == f"ann.{w}@bücher.example.com"
    assert invited.message["To"] == f"ann.{w}@xn--bcher-kva.example.com"


def test_all_spellings_are_one_in_the_throttle(api, database):
    w = word()
    names = [f"nobody.é.{w}@example.com", f"NOBODY.É.{w}@example.com", f"nobody.e\u0301.{w}@example.com",
             wide(f"nobody.é.{w}@example.com"), f"Nobody.É.{w}@EXAMPLE.com", f"nobody.é.{w}@example．com"]
    database.lift_throttles()
    for name in names[:5]:
        api.post("/customers/login", json={"username": name, "password": "not the right one"}, status=401,
                 code="auth.credentials")
    database.lengthen_waits()
    api.post("/customers/login", json={"username": names[5], "password": "not the right one"}, status=429,
             code="rate.limited")
    database.lift_throttles()


def test_forgotten_and_resend_find_every_spelling(api, accounts, mailbox):
    w = word()
    owner = accounts.customer(email=f"é.{w}@example.com")
    api.post("/customers/forgotten-password", json={"username": f"É.{w}@EXAMPLE.COM"}, status=200)
    assert "new Gatehouse password" in mailbox.wait(owner.email, count=2)["Subject"]
    invited = accounts.invited(email=f"ö.{w}@example.com")
    api.post("/customers/resend-confirmation", json={"username": f"o\u0308.{w}@example.com"}, status=200)
    mailbox.wait(invited.email, count=2)


def test_a_search_finds_every_spelling(accounts):
    w = word()
    owner = accounts.customer(email=f"Øre.{w}@bücher.example.com")
    for part in ("øre", "ØRE", f"ØRE.{w}".upper(), "xn--bcher", "bücher", "BÜCHER", wide("re.")):
        items = owner.get("/customers/organisations/users", params={"search": part}, status=200).json()["items"]
        assert [item["id"] for item in items] == [owner.id], part


@pytest.fixture()
def ctl(stack):
    return lambda *arguments: operator.run(stack, *arguments, status=None)


def statements_of_the_guide(identity, address):
    """What docs/upgrading.md has the operator say to MariaDB."""
    text = GUIDE.read_text(encoding="utf-8")
    (block, ) = re.findall(r"(?s)```sql\n(.*?)```", text[text.index("## Accounts that have one address"):])
    assert block.count("other@example.org") == 2
    block = block.replace("0190c3f2-0000-7000-8000-000000000000", identity).replace("other@example.org", address)
    return [statement for statement in block.split(";") if statement.strip()]


def test_migrate_names_collisions_and_changes_nothing(accounts, database, ctl, api):
    w = word()
    owner = accounts.customer(email=f"é.{w}@example.com")
    old = uuid.uuid4()
    database.run("INSERT INTO user (id, organisation_id, email, first_name, last_name, status) SELECT %s, "
                 "organisation_id, %s, 'A', 'B', 'disabled' FROM user WHERE email = %s", old.bytes,
                 f"É.{w}@example.com", owner.email)
    try:
        done = ctl("migrate")
        assert done.returncode == 1 and "Nothing was changed" in done.stderr
        for line in (f"{old}  É.{w}@example.com", f"{owner.id}  é.{w}@example.com"):
            assert line in done.stderr
        assert database.run("SELECT email_key FROM user WHERE id = %s", old.bytes)[0][0] == f"É.{w}@example.com"
        # Nobody is kept out meanwhile.
        api.post("/customers/login", json={"username": owner.email, "password": owner.password}, status=200)
        for statement in statements_of_the_guide(owner.id, f"Ü.{w}@example.com"):
            database.run(statement)
        done = ctl("migrate")
        assert done.returncode == 0, done.stderr
        assert database.run("SELECT email_key FROM user WHERE id = %s", old.bytes)[0][0] == f"é.{w}@example.com"
        login = {"username": f"ü.{w}@example.com", "password": owner.password}
        assert api.post("/customers/login", json=login, status=200).json()["user"]["id"] == owner.id
    finally:
        database.run("DELETE FROM user WHERE id = %s", old.bytes)


def test_the_operator_names_an_account_in_any_spelling(accounts, ctl):
    w = word()
    accounts.customer(email=f"é.{w}@example.com")
    assert ctl("unlock", f"É.{w}@EXAMPLE.com").returncode == 0
    done = ctl("create-admin", "--email", f"É.{w}@example.com")
    assert done.returncode == 1 and "belongs to another account" in done.stderr
    done = ctl("create-admin", "--email", f"a\u3164{w}@example.com")
    assert done.returncode == 1 and "nobody sees" in done.stderr
