# SPDX-License-Identifier: MIT
"""Calls that come out of order change nothing: each state of an account takes the steps that
docs/accounts.md gives it, and no other."""

import pytest

from support.accounts import fresh_email, fresh_password
from support.members import USERS

UNKNOWN = "01890000-0000-7000-8000-000000000000"


class World:
    """One account in one state, and who may act on it."""

    def __init__(self, members, owner, account):
        self.members = members
        self.owner = owner
        self.api = members.api
        self.administrator = members.administrator
        self.account = account
        self.id = account.id
        self.email = account.email

    def post(self, path, status, code, **sent):
        self.api.post(f"/customers/{path}", json=sent, status=status, code=code)

    def login(self, status, code, **sent):
        self.post("login", status, code, username=self.email, **sent)

    def confirm(self, text):
        self.post("confirm-signup", 400, "code.mismatch", username=self.id, confirmationCode=text)

    def reset(self, text):
        self.post("reset-password",
                  400,
                  "code.mismatch",
                  username=self.id,
                  confirmationCode=text,
                  newPassword=fresh_password())

    def admin_confirm(self, code):
        self.administrator.post("/customers/admin-confirm-signup",
                                json={"username": self.id},
                                status=409,
                                code=code)

    def set_status(self, word, status, code):
        self.owner.patch(f"{USERS}/{self.id}", json={"status": word}, status=status, code=code)


def sent_code(world):
    """The code of the member's confirmation mail."""
    return world.account.code()


def wrong_code(world):
    return f"{(int(world.account.code()) + 1) % 1000000:06d}"


CASES = [
    # (name, state, the call; it fails unless it is answered as docs/accounts.md says)
    ("confirm before a code was sent", "invited", lambda w: w.confirm("123456")),
    ("confirm with the temporary password", "invited",
     lambda w: w.post("confirm-signup",
                      400, {"code.mismatch", "request.invalid"},
                      username=w.id,
                      confirmationCode=w.account.temporary)),
    ("reset before the first login", "invited", lambda w: w.reset("123456")),
    ("an administrator confirms who awaits the first login", "invited",
     lambda w: w.admin_confirm({"user.state", "user.alreadyConfirmed"})),
    ("enable who awaits the first login", "invited", lambda w: w.set_status("active", 409, "user.state")),
    ("disable who awaits the first login", "invited", lambda w: w.set_status("disabled", 409, "user.state")),
    ("log in with the temporary password only", "invited",
     lambda w: w.login(400, "auth.newPasswordRequired", password=w.account.temporary)),
    ("log in before confirmation", "waiting",
     lambda w: w.login(401, "auth.userUnconfirmed", password=w.account.password)),
    ("set a new password before confirmation", "waiting",
     lambda w: w.login({400, 401}, {"auth.userUnconfirmed", "request.invalid"},
                       password=w.account.password,
                       newPassword=fresh_password())),
    ("confirm with a wrong code", "waiting", lambda w: w.confirm(wrong_code(w))),
    ("reset with the confirmation code", "waiting", lambda w: w.reset(sent_code(w))),
    ("reset without having asked, before confirmation", "waiting", lambda w: w.reset("123456")),
    ("enable who awaits confirmation", "waiting", lambda w: w.set_status("active", 409, "user.state")),
    ("disable who awaits confirmation", "waiting", lambda w: w.set_status("disabled", 409, "user.state")),
    ("reset without having asked", "active", lambda w: w.reset("123456")),
    ("confirm twice", "active", lambda w: w.confirm("123456")),
    ("an administrator confirms who is active", "active", lambda w: w.admin_confirm("user.alreadyConfirmed")),
    ("a new password at the login with a lasting one", "active",
     lambda w: w.login(400, "request.invalid", password=w.account.password, newPassword=fresh_password())),
    ("ask for the confirmation mail when active", "active",
     lambda w: w.api.post("/customers/resend-confirmation", json={"username": w.id}, status=200)),
    ("send an active user back to waiting", "active",
     lambda w: w.set_status("awaiting-confirmation", 400, "request.invalid")),
    ("send an active user back to the first login", "active",
     lambda w: w.set_status("awaiting-first-login", 400, "request.invalid")),
    ("send an active user to provisioning", "active",
     lambda w: w.set_status("provisioning", 400, "request.invalid")),
    ("create the same address again", "active", lambda w: w.owner.post(
        USERS,
        json={"email": w.email, "password": fresh_password(), "firstName": "A", "lastName": "B"},
        status=409,
        code="user.exists")),
    ("log in when disabled", "disabled",
     lambda w: w.login(401, "auth.userDisabled", password=w.account.password)),
    ("reset without having asked, disabled", "disabled", lambda w: w.reset("123456")),
    ("confirm when disabled", "disabled", lambda w: w.confirm("123456")),
    ("an administrator confirms who is disabled", "disabled",
     lambda w: w.admin_confirm({"user.state", "user.alreadyConfirmed"})),
    ("ask for the confirmation mail when disabled", "disabled",
     lambda w: w.api.post("/customers/resend-confirmation", json={"username": w.id}, status=200)),
    ("create the address of a disabled user again", "disabled", lambda w: w.owner.post(
        USERS,
        json={"email": w.email, "password": fresh_password(), "firstName": "A", "lastName": "B"},
        status=409,
        code="user.exists")),
]


@pytest.fixture(scope="module")
def team(accounts):
    """The customer whose users the calls are about."""
    return accounts.customer()


@pytest.fixture(scope="module")
def standing(accounts, members, team):
    """Makes the world of a state; one account a state serves all cases, since none may change it."""
    made = {}

    def world(state):
        if state not in made:
            if state == "invited":
                account = accounts.invited()
                members.database.move(account.id, team.organisation["id"])
            elif state == "waiting":
                account = members.waiting(team)
            else:
                account = members.active(team)
            if state == "disabled":
                team.patch(f"{USERS}/{account.id}", json={"status": "disabled"}, status=200)
            made[state] = World(members, team, account)
        return made[state]

    return world


def test_the_table_is_as_long_as_promised():
    names = [name for name, _, _ in CASES]
    assert len(set(names)) == len(names) >= 12


@pytest.mark.parametrize("state, call", [(state, call) for _, state, call in CASES],
                         ids=[name for name, _, _ in CASES])
def test_out_of_order_changes_nothing(members, standing, state, call):
    world = standing(state)
    # What was guessed wrong in another case has spent no code.
    members.database.run("UPDATE code SET tries = 0")
    members.await_jobs()
    before = members.snapshot(world.id)
    count = len(members.mailbox.messages(world.email))
    call(world)
    assert members.snapshot(world.id) == before
    assert len(members.mails(world.email)) == count


@pytest.mark.parametrize("username", [UNKNOWN, "nobody", "nobody@example.com"])
def test_steps_of_an_account_that_was_never_created_create_nothing(api, database, username):
    tables = ("SELECT id FROM `user`", "SELECT id FROM identity_account")
    before = [set(database.run(table)) for table in tables]
    for path, status in (("confirm-signup", 400), ("reset-password", 400), ("resend-confirmation", 200),
                         ("forgotten-password", 200), ("login", 401)):
        sent = {"username": username}
        if status == 400:
            sent["confirmationCode"] = "123456"
        if path == "reset-password":
            sent["newPassword"] = fresh_password()
        if path == "login":
            sent["password"] = fresh_password()
        api.post(f"/customers/{path}", json=sent, status=status)
    # The job runner may remove what other tests have broken off.
    assert [set(database.run(table)) - rows for table, rows in zip(tables, before)] == [set(), set()]


def test_a_confirmation_code_confirms_once(api, members, team):
    member = members.waiting(team)
    code = member.code()
    member.confirm(code, status=200)
    before = members.snapshot(member.id)
    member.confirm(code, status=400, code="code.mismatch")
    assert members.snapshot(member.id) == before


@pytest.mark.parametrize("state", ["invited", "waiting", "disabled"])
def test_forgotten_and_reset_never_activate_who_waits_or_is_disabled(accounts, members, team, state):
    account = accounts.invited() if state == "invited" else members.waiting(team)
    if state == "disabled":
        members.set_status(account.id, "disabled")
    before = members.user(account.id)
    count = len(members.mails(account.email))
    members.api.post("/customers/forgotten-password", json={"username": account.email}, status=200)
    for message in members.mails(account.email)[count:]:
        # Where a code was sent at all, using it must not open the account.
        found = [line for line in message.get_body(("plain", )).get_content().split("\n") if line.isdigit()]
        password = fresh_password()
        members.api.post("/customers/reset-password",
                         json={"username": account.id, "confirmationCode": found[0], "newPassword": password},
                         status={200, 400})
        members.api.post("/customers/login",
                         json={"username": account.email, "password": password},
                         status={400, 401})
    after = members.user(account.id)
    assert {**after, "updatedAt": None} == {**before, "updatedAt": None}


def test_a_disabled_and_enabled_user_is_as_before(api, members, team):
    member = members.active(team, roles=["inv-manage"], permissions=["log:truck:r"])
    before = members.user(member.id)
    path = f"{USERS}/{member.id}"
    assert team.patch(path, json={"status": "disabled"}, status=200).json()["user"]["status"] == "disabled"
    login = {"username": member.email, "password": member.password}
    api.post("/customers/login", json=login, status=401, code="auth.userDisabled")
    api.post("/customers/login",
             json=dict(login, password="not the password"),
             status=401,
             code="auth.credentials")
    assert team.patch(path, json={"status": "active"}, status=200).json()["user"]["status"] == "active"
    after = api.post("/customers/login", json=login, status=200).json()["user"]
    changing = {"updatedAt": None, "lastLoginAt": None}
    assert {**after, **changing} == {**before, **changing}
    assert after["lastLoginAt"] > after["createdAt"]


def test_nobody_changes_their_own_status(members, team):
    team.sign_in()
    for status in ("disabled", "active"):
        before = members.snapshot(team.id)
        team.patch(f"{USERS}/{team.id}", json={"status": status}, status=409, code="user.self")
        assert members.snapshot(team.id) == before


def test_an_address_that_is_not_there_gets_no_mail(api, members):
    for path in ("forgotten-password", "resend-confirmation"):
        address = fresh_email("nobody")
        api.post(f"/customers/{path}", json={"username": address}, status=200)
        assert members.mails(address) == []
