# SPDX-License-Identifier: MIT
"""The audit trail: every event of accounts and authorisation leaves one row that says who did what to whom,
from where, in which request and when; GET /system/audit finds it."""

import json
import re
import time
import uuid

import pytest

from support import mail, members as team
from support.accounts import fresh_email, fresh_password, invitation
from support.database import key
from support.members import USERS
from support.stack import wait_until

AUDIT = "/system/audit"
ITEM = {
    "id", "at", "action", "organisationId", "userId", "targetType", "targetId", "clientAddress", "requestId",
    "outcome", "details"
}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
UNKNOWN = "01890000-0000-7000-8000-000000000000"


class Scene:
    """A customer with a member, and calls whose request id is known."""

    def __init__(self, accounts, members):
        self.accounts = accounts
        self.members = members
        self.api = accounts.api
        self.administrator = members.administrator
        self.owner = accounts.customer()
        self.mark = None

    def call(self, path, sent, token=None, method="POST", **arguments):
        """A call that carries the mark of the event."""
        return self.api.call(method,
                             path,
                             token=token,
                             json=sent,
                             headers={"X-Request-Id": self.mark},
                             **arguments)

    def active(self):
        return self.members.active(self.owner)

    def login(self, account, password=None, **more):
        return self.call("/customers/login",
                         {"username": account.email, "password": password or account.password, **more})


def items(administrator, **filters):
    """Every row that the trail gives, all pages."""
    found, cursor = [], None
    while True:
        parameters = {"limit": "100", **filters, **({"cursor": cursor} if cursor else {})}
        body = administrator.get(AUDIT, params=parameters, status=200).json()
        assert set(body) == {"items", "nextCursor"}
        found += body["items"]
        cursor = body["nextCursor"]
        if cursor is None:
            return found


# ---- the events: each does something and answers (actor, target, organisation) ---------------------------


def customer_create(scene):
    reply = scene.call("/customers/signup", invitation(), scene.administrator.token, status=200).json()
    return scene.administrator.id, {reply["user"]["id"],
                                    reply["organisation"]["id"]}, reply["organisation"]["id"]


def user_create(scene):
    reply = scene.call(USERS, team.body(), scene.owner.token, status=200).json()
    return scene.owner.id, reply["user"]["id"], scene.owner.organisation["id"]


def user_confirm(scene):
    member = scene.members.waiting(scene.owner)
    scene.call("/customers/confirm-signup", {"username": member.id, "confirmationCode": member.code()},
               status=200)
    return member.id, member.id, scene.owner.organisation["id"]


def user_admin_confirm(scene):
    member = scene.members.waiting(scene.owner)
    scene.call("/customers/admin-confirm-signup", {"username": member.id},
               scene.administrator.token,
               status=200)
    return scene.administrator.id, member.id, scene.owner.organisation["id"]


def resend_confirmation(scene):
    member = scene.members.waiting(scene.owner)
    scene.call("/customers/resend-confirmation", {"username": member.email}, status=200)
    return {member.id, None}, member.id, scene.owner.organisation["id"]


def resend_invitation(scene):
    invited = scene.accounts.invited()
    scene.call("/customers/resend-confirmation", {"username": invited.email}, status=200)
    scene.accounts.secrets.add(mail.temporary_password(scene.members.letter(invited.email, "first-login", 2)))
    return {invited.id, None}, invited.id, invited.organisation["id"]


def login(scene):
    member = scene.active()
    assert scene.login(member).status_code == 200
    return member.id, member.id, scene.owner.organisation["id"]


def first_login(scene):
    invited = scene.accounts.invited()
    sent = invited.credentials(newPassword=fresh_password())
    scene.call("/customers/login", sent, status=200)
    return invited.id, invited.id, invited.organisation["id"]


def login_failed(scene):
    member = scene.active()
    scene.login(member, "not the password")
    return {member.id, None}, member.id, scene.owner.organisation["id"]


def login_failed_unconfirmed(scene):
    member = scene.members.waiting(scene.owner)
    assert scene.login(member).status_code == 401
    return {member.id, None}, member.id, scene.owner.organisation["id"]


def login_failed_disabled(scene):
    member = scene.active()
    scene.members.set_status(member.id, "disabled")
    assert scene.login(member).status_code == 401
    return {member.id, None}, member.id, scene.owner.organisation["id"]


def login_failed_unknown(scene):
    scene.call("/customers/login", {"username": fresh_email("nobody"), "password": "not the password"},
               status=401)
    return None, None, None


def logout(scene):
    member = scene.active()
    scene.call("/customers/logout", {}, member.token, status=200)
    return member.id, member.id, scene.owner.organisation["id"]


def logout_everywhere(scene):
    member = scene.active()
    scene.call("/customers/logout", {"everywhere": True}, member.token, status=200)
    return member.id, member.id, scene.owner.organisation["id"]


def change_password(scene):
    member = scene.active()
    sent = {"password": member.password, "newPassword": fresh_password()}
    scene.call("/customers/change-password", sent, member.token, status=200)
    return member.id, member.id, scene.owner.organisation["id"]


def change_password_failed(scene):
    member = scene.active()
    sent = {"password": "not the password", "newPassword": fresh_password()}
    scene.call("/customers/change-password", sent, member.token, status=400)
    return member.id, member.id, scene.owner.organisation["id"]


def forgotten_password(scene):
    member = scene.active()
    scene.call("/customers/forgotten-password", {"username": member.email}, status=200)
    return {member.id, None}, member.id, scene.owner.organisation["id"]


def reset_password(scene):
    member = scene.active()
    code = scene.members.reset_code(member)
    scene.call("/customers/reset-password",
               {"username": member.id, "confirmationCode": code, "newPassword": fresh_password()},
               status=200)
    return {member.id, None}, member.id, scene.owner.organisation["id"]


def set_temporary_password(scene):
    member = scene.active()
    scene.call("/customers/admin-set-password", {"username": member.id, "password": fresh_password()},
               scene.administrator.token,
               status=200)
    return scene.administrator.id, member.id, scene.owner.organisation["id"]


def set_password(scene):
    member = scene.active()
    sent = {"username": member.id, "password": fresh_password(), "permanent": True}
    scene.call("/customers/admin-set-password", sent, scene.administrator.token, status=200)
    return scene.administrator.id, member.id, scene.owner.organisation["id"]


def patched(scene, sent, account=None):
    member, account = scene.active(), account or scene.owner
    scene.call(f"{USERS}/{member.id}", sent, account.token, method="PATCH", status=200)
    return account.id, member.id, scene.owner.organisation["id"]


def update(scene):
    return patched(scene, {"firstName": "Renamed"})


def update_roles(scene):
    return patched(scene, {"roles": ["inv-manage"]})


def update_permissions(scene):
    return patched(scene, {"permissions": ["cus:file:r"]})


def disable(scene):
    return patched(scene, {"status": "disabled"})


def enable(scene):
    member = scene.active()
    scene.owner.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    scene.call(f"{USERS}/{member.id}", {"status": "active"}, scene.owner.token, method="PATCH", status=200)
    return scene.owner.id, member.id, scene.owner.organisation["id"]


def crossing(scene):
    member = scene.active()
    scene.call(f"{USERS}/{member.id}", None, scene.administrator.token, method="GET", status=200)
    return scene.administrator.id, member.id, scene.owner.organisation["id"]


def crossing_list(scene):
    path = f"{USERS}?organisationId={scene.owner.organisation['id']}"
    scene.call(path, None, scene.administrator.token, method="GET", status=200)
    return scene.administrator.id, scene.owner.organisation["id"], scene.owner.organisation["id"]


def crossing_patch(scene):
    return patched(scene, {"firstName": "Renamed"}, scene.administrator)


def crossing_authorise(scene):
    member = scene.active()
    scene.call("/customers/authorise", {"permission": "cus:file:r", "userId": member.id},
               scene.administrator.token,
               status=200)
    return scene.administrator.id, member.id, scene.owner.organisation["id"]


EVENTS = [(customer_create, "customer.create", "success"), (user_create, "user.create", "success"),
          (user_confirm, "user.confirm", "success"), (user_admin_confirm, "user.adminConfirm", "success"),
          (resend_confirmation, "user.resendConfirmation", "success"),
          (resend_invitation, "user.resendInvitation", "success"), (login, "user.login", "success"),
          (first_login, "user.login", "success"), (login_failed, "user.loginFailed", "failure"),
          (login_failed_unconfirmed, "user.loginFailed", "failure"),
          (login_failed_disabled, "user.loginFailed", "failure"),
          (login_failed_unknown, "user.loginFailed", "failure"), (logout, "user.logout", "success"),
          (logout_everywhere, "user.logoutEverywhere", "success"),
          (change_password, "user.changePassword", "success"),
          (change_password_failed, r"user\.(changePassword|loginFailed|changePasswordFailed)", "failure"),
          (forgotten_password, "user.forgottenPassword", "success"),
          (reset_password, "user.resetPassword", "success"),
          (set_temporary_password, "user.setTemporaryPassword", "success"),
          (set_password, "user.setPassword", "success"), (update, "user.update", "success"),
          (update_roles, "user.update", "success"), (update_permissions, "user.update", "success"),
          (disable, r"user\.(disable|update)", "success"), (enable, r"user\.(enable|update)", "success"),
          (crossing, "access.crossOrganisation", "success"),
          (crossing_list, "access.crossOrganisation", "success"),
          (crossing_patch, "access.crossOrganisation", "success"), (crossing_patch, "user.update", "success"),
          (crossing_authorise, "access.crossOrganisation", "success")]


@pytest.fixture(scope="module")
def scene(accounts, members):
    return Scene(accounts, members)


def allowed(expected, value):
    """Whether a value is the expected one, or one of a set."""
    return value in expected if isinstance(expected, set) else value == expected


@pytest.mark.parametrize("event, action, outcome",
                         EVENTS,
                         ids=[f"{event.__name__}: {action}" for event, action, _ in EVENTS])
def test_an_event_leaves_one_row_that_tells_all_about_it(scene, event, action, outcome):
    scene.mark = f"audit-{uuid.uuid4()}"
    began = time.time()
    actor, target, organisation = event(scene)

    def rows():
        found = [
            one for one in items(scene.administrator, since=stamp(began - 1))
            if one["requestId"] == scene.mark
        ]
        return [one for one in found if re.fullmatch(action, one["action"])]

    found = wait_until(rows, 60, f"a row {action} of the request {scene.mark}")
    assert len(found) == 1, found
    row = found[0]
    assert set(row) == ITEM and row["outcome"] == outcome and isinstance(row["details"], dict)
    assert allowed(actor, row["userId"]) and allowed(target, row["targetId"]), row
    assert row["targetType"] in (("user", "organisation") if row["targetId"] else (None, "user"))
    assert row["organisationId"] == organisation
    assert row["clientAddress"] == "127.0.0.1"
    assert TIME.match(row["at"]) and began - 2 <= seconds(row["at"]) <= time.time() + 2


def stamp(moment):
    """RFC 3339 of seconds since the epoch."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03d}Z"


def seconds(text):
    """Seconds since the epoch of an RFC 3339 time in UTC."""
    return time.mktime(time.strptime(text[:19] + "UTC",
                                     "%Y-%m-%dT%H:%M:%S%Z")) - time.timezone + int(text[20:23]) / 1000


def test_a_changed_grant_says_what_was_granted(scene):
    """Who reads the trail must see what a user got, not only that something was changed."""
    for sent in ({"roles": ["log-manage"]}, {"permissions": ["inv:pallet:w"]}):
        scene.mark = f"audit-{uuid.uuid4()}"
        patched(scene, sent)
        row = next(one for one in items(scene.administrator, action="user.update", limit="100")
                   if one["requestId"] == scene.mark)
        text = json.dumps(row["details"])
        assert next(iter(sent.values()))[0] in text, text


def test_a_reused_refresh_token_is_in_the_trail(scene, database):
    member = scene.active()
    tokens = member.session()
    spent = {"refreshToken": tokens["refreshToken"]}
    newest = scene.api.post("/customers/refresh", json=spent, status=200).json()["tokens"]
    scene.api.post("/customers/refresh", json={"refreshToken": newest["refreshToken"]}, status=200)
    database.run(
        "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 60 SECOND WHERE spent_at IS NOT NULL")
    scene.mark = f"audit-{uuid.uuid4()}"
    scene.call("/customers/refresh", spent, status=401)
    rows = [
        row for row in items(scene.administrator, action="session.reuse") if row["requestId"] == scene.mark
    ]
    assert len(rows) == 1 and rows[0]["userId"] == member.id and rows[0]["outcome"] == "failure"


def test_refused_calls_leave_no_row_of_success(scene):
    member = scene.active()
    scene.mark = f"audit-{uuid.uuid4()}"
    scene.call(f"{USERS}/{member.id}", {"roles": ["admin"]}, scene.owner.token, method="PATCH", status=403)
    scene.call(USERS, team.body(email=member.email), scene.owner.token, status=409)
    scene.call("/customers/confirm-signup", {"username": member.id, "confirmationCode": "123456"}, status=400)
    scene.call("/customers/admin-set-password", {"username": member.id, "password": "short"},
               scene.administrator.token,
               status=400)
    found = [
        row for row in items(scene.administrator, organisationId=scene.owner.organisation["id"])
        if row["requestId"] == scene.mark and row["outcome"] == "success"
    ]
    assert [row["action"] for row in found if row["action"] != "access.crossOrganisation"] == []


def test_every_action_in_the_trail_is_documented(document, database):
    parameters = document.operation("GET", AUDIT)["parameters"]
    schema = next(
        document.resolve(one)["schema"] for one in parameters if document.resolve(one)["name"] == "action")
    listed = set(document.resolve(schema)["enum"])
    assert {"customer.create", "user.login", "user.loginFailed", "user.update", "access.crossOrganisation"
            } <= listed
    written = {row[0] for row in database.run("SELECT DISTINCT action FROM audit")}
    assert written <= listed, written - listed
    assert all(re.fullmatch(r"[a-z]+\.[a-zA-Z]+", action) for action in listed)


def test_no_password_and_no_code_is_in_the_trail(scene, database):
    member = scene.members.waiting(scene.owner)
    code = member.code()
    member.confirm(code, status=200)
    scene.members.reset_code(member)
    for row in database.run("SELECT details FROM audit"):
        # A size or another number may be the same as the code, which is a text.
        details = json.loads(row[0], parse_int=lambda number: "a number")
        assert details is not None
        assert not [secret for secret in scene.accounts.secrets if secret in row[0]]
        assert not re.search(rf"\b{code}\b", json.dumps(details))


def test_a_try_within_a_wait_leaves_no_row(api, database, members, owner):
    """It is refused unseen. If it left one, anybody could fill the trail at no cost."""
    member = members.active(owner)
    query = "SELECT details FROM audit WHERE action = 'user.loginFailed' AND user_id = %s"

    def guess(password, **arguments):
        api.post("/customers/login", json={"username": member.email, "password": password}, **arguments)

    def codes():
        return [json.loads(details)["code"] for details, in database.run(query, key(member.id))]

    members.fail_logins(member.email, 5)
    database.lengthen_waits()
    for password in ("not the password", member.password, "nor is this one"):
        guess(password, status=429, code="rate.limited")
    assert codes() == ["auth.credentials"] * 5
    database.lift_throttles()
    guess("not the password", status=401, code="auth.credentials")
    assert codes() == ["auth.credentials"] * 6
