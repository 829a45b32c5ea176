# SPDX-License-Identifier: MIT
"""Every path that sets a password keeps the same rules (docs/accounts.md, "Passwords"), and what setting one
does to sessions, status and mailbox."""

import concurrent.futures
import json
import pathlib

import pytest

from support import mail, members as team
from support.accounts import fresh_email, fresh_password
from support.client import anonymous, failing
from support.members import USERS, works

ROWS = json.loads((pathlib.Path(__file__).parent / "passwords.json").read_text(encoding="utf-8"))
REFUSED = [row for row in ROWS if "refused" in row]
ALLOWED = [row for row in ROWS if "refused" not in row]
FIRST, LAST = "Wilhelmina-Josephine", "Featherstonehaugh"
NAMES = {"firstName": FIRST, "lastName": LAST}


def literal(row, email):
    """The row's password as JSON text, for the user with this address."""
    if "raw" in row:
        return row["raw"]
    text = row.get("repeat", ["", 0])[0] * row.get("repeat", ["", 0])[1] + row.get("password", "")
    for mark, value in (("{email}", email), ("{EMAIL}", email.upper()), ("{first}", FIRST),
                        ("{first lower}", FIRST.lower()), ("{last}", LAST), ("{LAST}", LAST.upper())):
        text = text.replace(mark, value)
    return json.dumps(text)


def send(api, path, token, body, password, name, **arguments):
    """Posts the body with one more member whose value is JSON text as it is."""
    head = json.dumps(body)[:-1]
    text = f"{head}{', ' if body else ''}{json.dumps(name)}: {password}}}"
    return api.post(path,
                    token=token,
                    data=text.encode(),
                    headers={"Content-Type": "application/json"},
                    **arguments)


class FirstLogin:
    """The newPassword of a first login."""

    name = "newPassword"

    def __init__(self, members, owner):
        self.members = members
        self.invited = members.accounts.invited(email=fresh_email(FIRST.lower()), **NAMES)
        self.id, self.email = self.invited.id, self.invited.email

    def set(self, password, **arguments):
        return send(self.members.api, "/customers/login", None, self.invited.credentials(), password,
                    self.name, **arguments)

    def unchanged(self):
        self.members.api.post("/customers/login",
                              json=self.invited.credentials(),
                              status=400,
                              code="auth.newPasswordRequired")


class Creation:
    """The password of a team member to be created."""

    name = "password"

    def __init__(self, members, owner):
        self.members = members
        self.owner = owner
        self.email = fresh_email(FIRST.lower())
        self.id = None

    def set(self, password, **arguments):
        sent = team.body(email=self.email, password=None, **NAMES)
        reply = send(self.members.api, USERS, self.owner.token, sent, password, self.name, **arguments)
        if reply.status_code == 200:
            self.members.administrator.post("/customers/admin-confirm-signup",
                                            json={"username": self.email},
                                            status=200)
        return reply

    def unchanged(self):
        assert not self.members.database.run("SELECT 1 FROM `user` WHERE email = %s", self.email)


class Active:
    """An active user whose password stays unless the path sets another."""

    def __init__(self, members, owner):
        self.members = members
        self.account = members.active(owner, email=fresh_email(FIRST.lower()), **NAMES)
        self.id, self.email = self.account.id, self.account.email

    def unchanged(self):
        assert works(self.account)


class Change(Active):
    """The newPassword of change-password."""

    name = "newPassword"

    def set(self, password, **arguments):
        return send(self.members.api, "/customers/change-password", self.account.token,
                    {"password": self.account.password}, password, self.name, **arguments)


class Reset(Active):
    """The newPassword of reset-password."""

    name = "newPassword"

    def __init__(self, members, owner):
        super().__init__(members, owner)
        self.code = members.reset_code(self.account)

    def set(self, password, **arguments):
        return send(self.members.api, "/customers/reset-password", None,
                    {"username": self.email, "confirmationCode": self.code}, password, self.name, **arguments)


class AdminSet(Active):
    """The permanent password of admin-set-password."""

    name = "password"

    def set(self, password, **arguments):
        return send(self.members.api, "/customers/admin-set-password", self.members.administrator.token,
                    {"username": self.email, "permanent": True}, password, self.name, **arguments)


PATHS = [FirstLogin, Creation, Change, Reset, AdminSet]


@pytest.fixture(scope="module", params=PATHS, ids=[path.__name__ for path in PATHS])
def path(request):
    return request.param


@pytest.fixture(scope="module")
def setter(path, members, owner):
    """One account a path, for all passwords that are refused."""
    return path(members, owner)


def test_the_table_is_as_long_as_promised():
    names = [row["name"] for row in ROWS]
    assert len(set(names)) == len(names) >= 40 and len(ALLOWED) >= 15


@pytest.mark.parametrize("row", REFUSED, ids=[row["name"] for row in REFUSED])
def test_a_password_against_the_rules_is_refused_on_every_path(setter, row):
    password = literal(row, setter.email)
    reply = setter.set(password, status=400)
    code = reply.json()["code"]
    if row["refused"] == "either":
        assert code in ("password.policy", "request.invalid")
    else:
        assert code == row["refused"], reply.text
    if code != "request.malformed":
        assert set(failing(reply)) == {setter.name}
    if "password" in row and len(row["password"]) > 3:
        assert json.loads(password) not in reply.text, "the reply repeats the password"


def test_refused_passwords_have_changed_nothing(setter):
    setter.unchanged()


@pytest.mark.parametrize("row", ALLOWED, ids=[row["name"] for row in ALLOWED])
def test_any_unicode_of_12_to_128_characters_is_taken_on_every_path(api, members, owner, path, row):
    setter = path(members, owner)
    text = json.loads(literal(row, setter.email))
    setter.set(literal(row, setter.email), status=200)
    sent = {"username": setter.email, "password": text}
    assert api.post("/customers/login", json=sent, status=200).json()["user"]["status"] == "active"
    # Never cut short: the last character counts.
    sent["password"] = text[:-1] + ("y" if text[-1] != "y" else "z")
    api.post("/customers/login", json=sent, status=401, code="auth.credentials")


# ---- change-password ------------------------------------------------------------------------------------


def change(account, password, new, **arguments):
    return account.post("/customers/change-password",
                        json={"password": password, "newPassword": new},
                        **arguments)


@pytest.fixture()
def member(members, owner):
    return members.active(owner)


def test_a_changed_password_is_the_only_one(member):
    new = fresh_password()
    body = change(member, member.password, new, status=200).json()
    assert set(body) == {"status", "message"} and body["status"] == "success"
    assert works(member, new) and not works(member)


def test_a_wrong_current_password_is_a_400_that_names_it_and_changes_nothing(member):
    reply = change(member, "not the password", fresh_password(), status=400, code="request.invalid")
    assert failing(reply) == {"password": {"mismatch"}}
    assert works(member)
    # The session goes on.
    member.get("/customers/me", status=200)


def test_changing_needs_a_token_and_both_passwords(api, member):
    sent = {"password": member.password, "newPassword": fresh_password()}
    api.post("/customers/change-password", json=sent, status=401, code="auth.tokenMissing")
    for body, paths in (({}, {"password",
                              "newPassword"}), ({"password": 1,
                                                 "newPassword": None}, {"password", "newPassword"}),
                        ({**sent, "username": member.email}, {"username"})):
        member.post("/customers/change-password", json=body, status=400, code="request.invalid", paths=paths)
    assert works(member)


def test_two_changes_at_once_leave_one_password(api, member):
    sessions = [member.session() for _ in range(4)]
    passwords = [fresh_password() for _ in sessions]

    def work(number):
        sent = {"password": member.password, "newPassword": passwords[number]}
        return api.post("/customers/change-password", token=sessions[number]["accessToken"],
                        json=sent).status_code

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(work, range(4)))
    assert answers.count(200) == 1 and set(answers) <= {200, 400, 401}, answers
    assert [works(member, password) for password in passwords] == [answer == 200 for answer in answers]


# ---- forgotten and reset --------------------------------------------------------------------------------


def test_a_forgotten_password_is_reset_with_the_code_of_the_mail(api, members, stack, member):
    reply = api.post("/customers/forgotten-password", json={"username": member.email.upper()}, status=200)
    assert set(reply.json()) == {"status", "message"} and reply.json()["status"] == "success"
    message = members.letter(member.email, "reset")
    assert mail.link(message, f"{stack.web_url}/reset") == f"{stack.web_url}/reset?id={member.id}"
    new = fresh_password()
    sent = {"username": member.id, "confirmationCode": mail.code(message), "newPassword": new}
    body = api.post("/customers/reset-password", json=sent, status=200).json()
    assert set(body) == {"status", "message"} and body["status"] == "success"
    assert works(member, new) and not works(member)


def test_asking_for_a_reset_alone_changes_nothing(members, member):
    tokens = member.session()
    before = members.snapshot(member.id)
    members.reset_code(member)
    assert members.snapshot(member.id) == before
    member.api.get("/customers/me", token=tokens["accessToken"], status=200)
    assert works(member)


def test_forgotten_answers_everyone_alike(api, members, accounts, owner, member):
    disabled = members.active(owner)
    members.set_status(disabled.id, "disabled")
    names = [
        member.email, member.id,
        member.email.upper(),
        accounts.invited().email,
        members.waiting(owner).id, disabled.email,
        fresh_email("nobody"), "01890000-0000-7000-8000-000000000000", "nobody"
    ]
    replies = [
        api.post("/customers/forgotten-password", json={"username": name}, status=200) for name in names
    ]
    assert len({anonymous(reply) for reply in replies}) == 1


# ---- admin-set-password ---------------------------------------------------------------------------------


def admin_set(administrator, account, password, **more):
    arguments = {name: more.pop(name) for name in ("status", "code", "paths") if name in more}
    sent = {"username": account.email, "password": password, **more}
    return administrator.post("/customers/admin-set-password", json=sent, **(arguments or {"status": 200}))


def test_a_set_password_must_be_changed_at_the_next_login(api, members, administrator, member):
    temporary, new = fresh_password("Temporary"), fresh_password()
    body = admin_set(administrator, member, temporary).json()
    assert set(body) == {"status", "message"} and body["status"] == "success"
    assert not works(member) and members.user(member.id)["status"] == "active"
    sent = {"username": member.email, "password": temporary}
    api.post("/customers/login",
             json=sent,
             status=400,
             code="auth.newPasswordRequired",
             paths={"newPassword"})
    api.post("/customers/login", json={**sent, "newPassword": temporary}, status=400, paths={"newPassword"})
    reply = api.post("/customers/login", json={**sent, "newPassword": new}, status=200).json()
    assert reply["user"]["status"] == "active" and reply["tokens"]
    assert works(member, new) and not works(member, temporary)


def test_a_set_password_is_temporary_for_seven_days(members, database, administrator, member):
    admin_set(administrator, member, fresh_password())
    rows = database.run(
        "SELECT password_temporary, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), password_expires_at)"
        " FROM identity_account WHERE username = %s", member.email)
    assert rows[0][0] == 1 and abs(rows[0][1] - 7 * 86400) <= 10


def test_a_permanent_one_is_good_at_once(api, administrator, member):
    new = fresh_password()
    admin_set(administrator, member, new, permanent=True)
    assert works(member, new) and not works(member)
    sent = {"username": member.email, "password": new, "newPassword": fresh_password()}
    api.post("/customers/login", json=sent, status=400, code="request.invalid", paths={"newPassword"})


@pytest.mark.parametrize("state", ["invited", "waiting", "disabled"])
def test_setting_a_temporary_password_leaves_the_status_and_the_marks(accounts, members, owner, administrator,
                                                                      state):
    account = accounts.invited() if state == "invited" else members.waiting(owner)
    if state == "disabled":
        members.set_status(account.id, "disabled")
    before = members.user(account.id)
    admin_set(administrator, account, fresh_password())
    after = members.user(account.id)
    # Whoever is invited has another temporary password now, with a time of its own.
    changing = {"updatedAt": None, "invitationExpiresAt": None}
    assert {**after, **changing} == {**before, **changing}
    assert (after["invitationExpiresAt"] is not None) == (state == "invited")


def test_who_awaits_the_first_login_comes_in_with_the_set_password(api, accounts, administrator):
    invited = accounts.invited()
    temporary = fresh_password("Temporary")
    admin_set(administrator, invited, temporary)
    api.post("/customers/login",
             json=invited.credentials(newPassword=fresh_password()),
             status=401,
             code="auth.credentials")
    sent = {"username": invited.email, "password": temporary, "newPassword": fresh_password()}
    assert api.post("/customers/login", json=sent, status=200).json()["user"]["status"] == "active"


def test_setting_one_for_nobody_is_unknown(administrator):
    for username in (fresh_email("nobody"), "01890000-0000-7000-8000-000000000000", "nobody"):
        sent = {"username": username, "password": fresh_password()}
        administrator.post("/customers/admin-set-password", json=sent, status=400, code="user.unknown")


def test_setting_one_takes_the_id_and_the_email_in_any_case(administrator, member):
    for username in (member.id, member.email.upper()):
        new = fresh_password()
        sent = {"username": username, "password": new, "permanent": True}
        administrator.post("/customers/admin-set-password", json=sent, status=200)
        assert works(member, new)


def test_setting_one_needs_an_administrator(members, owner, nobody, member):
    before = members.snapshot(member.id)
    for account in (owner, nobody, member):
        sent = {"username": member.id, "password": fresh_password(), "permanent": True}
        if account is member:
            account.token  # Signs in before the snapshot is compared.
            before = members.snapshot(member.id)
        reply = account.post("/customers/admin-set-password", json=sent, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:user:a"
    assert members.snapshot(member.id) == before


@pytest.mark.parametrize(
    "body, paths", [({}, {"username", "password"}),
                    ({"username": "a", "password": "b", "permanent": "yes"}, {"permanent"}),
                    ({"username": 1, "password": [], "status": "x"}, {"username", "password", "status"})])
def test_every_failing_path_of_setting_one_is_named(administrator, body, paths):
    administrator.post("/customers/admin-set-password", json=body, status=400, paths=paths)
