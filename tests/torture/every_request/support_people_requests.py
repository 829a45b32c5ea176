# SPDX-License-Identifier: MIT
"""Kinds of requests about people that take more than one line: accounts, sessions, organisations."""

import json

from support.accounts import fresh_password
from support.members import USERS, body

from support_ground import CODE, failed, session_of

# A session has at most 8,192 refresh tokens.
REFRESHES = 4096


# ---- sessions


def log_in(ground):
    return ground.call("POST", "/customers/login", {"username": ground.account.email,
                                                    "password": ground.account.password})


def log_in_on_device(ground):
    """On a device that becomes known with the first sign-in."""
    answer = ground.call("POST", "/customers/login", {
        "username": ground.account.email, "password": ground.account.password, "deviceMark": ground.device_mark or ""})
    if not failed(answer, 200):
        ground.device_mark = json.loads(answer.body)["deviceMark"]
    return answer


def log_in_first(ground):
    """The first login of who was invited, with a temporary password."""
    invited, temporary = ground.waiting(password=None), fresh_password()
    ground.staff.post("/customers/admin-set-password", json={"username": invited, "password": temporary}, status=200)
    return ground.call("POST", "/customers/login", token=None, body={
        "username": invited, "password": temporary, "newPassword": fresh_password()})


def refresh(ground):
    """The tokens of a session are renewed. A token whose answer was lost is sent again, which gives the same ones."""
    if ground.refresh_token is None or ground.refreshes == REFRESHES:
        answer = log_in(ground)
        if failed(answer, 200):
            return answer
        ground.refresh_token, ground.refreshes = json.loads(answer.body)["tokens"]["refreshToken"], 0
    ground.refreshes += 1
    answer = ground.call("POST", "/customers/refresh", {"refreshToken": ground.refresh_token})
    if not failed(answer, 200):
        ground.refresh_token = json.loads(answer.body)["tokens"]["refreshToken"]
    return answer


def log_out(body):
    """A kind in which a colleague ends sessions."""
    return lambda ground: ground.call("POST", "/customers/logout", body, token=ground.friend.session()["accessToken"])


def end_session(ground):
    """One's own, which is not that of the request."""
    return ground.call("DELETE", f"/customers/sessions/{session_of(ground.account.session()['accessToken'])}")


def end_session_of_friend(ground):
    session = session_of(ground.friend.session()["accessToken"])
    return ground.call("DELETE", f"{USERS}/{ground.friend.id}/sessions/{session}")


# ---- members


def erase(ground):
    member = ground.member()
    ground.account.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    return ground.call("POST", f"{USERS}/{member.id}/erase")


def change_grants(ground):
    path = f"{USERS}/{ground.friend.id}"
    ground.account.patch(path, json={"roles": ["inv-manage"], "permissions": []}, status=200)
    return ground.call("PATCH", path, {"roles": ["log-manage"], "permissions": ["cus:file:r"]})


def disable(ground):
    path = f"{USERS}/{ground.friend.id}"
    ground.account.patch(path, json={"status": "active"}, status=200)
    ground.friend.session()
    return ground.call("PATCH", path, {"status": "disabled"})


def confirm_sign_up(ground):
    identity = ground.waiting()
    ground.give_code(identity, "confirm")
    return ground.call("POST", "/customers/confirm-signup", token=None, body={
        "username": identity, "confirmationCode": CODE})


# ---- passwords and addresses


def change_password(ground):
    member = ground.member()
    return ground.call("POST", "/customers/change-password", token=member.token, body={
        "password": member.password, "newPassword": member.password + " and more"})


def set_password(ground):
    return ground.ask("POST", "/customers/admin-set-password", {
        "username": ground.waiting(), "password": "chosen by an administrator"})


def reset_password(ground):
    ground.members.database.lift_throttles()
    ground.give_code(ground.friend.id, "reset")
    return ground.call("POST", "/customers/reset-password", token=None, body={
        "username": ground.friend.id, "confirmationCode": CODE, "newPassword": fresh_password()})


def ask_for_mail(path):
    """A request that sends the customer a mail, of which there may be few."""

    def ask(ground):
        ground.members.database.lift_throttles()
        return ground.call("POST", path, {"username": ground.account.email}, token=None)

    return ask


def change_address(ground):
    member = ground.member()
    return ground.call("POST", "/customers/change-email", token=member.token, body={
        "newEmail": body()["email"], "password": member.password})


def confirm_address(ground):
    member = ground.member()
    ground.give_change(member, changed=False)
    ground.give_code(member.id, "email")
    return ground.call("POST", "/customers/confirm-email", {"confirmationCode": CODE}, token=member.token)


def cancel_address(ground):
    member = ground.member()
    ground.give_change(member, changed=True)
    return ground.call("POST", "/customers/cancel-email", token=None, body={
        "username": member.id, "confirmationCode": CODE})


# ---- organisations


def change_services(ground):
    path = f"/customers/organisations/{ground.customer}"
    ground.staff.patch(path, json={"services": ["inventory"], "status": "active"}, status=200)
    return ground.ask("PATCH", path, {"services": ["logistics"]})


def disable_customer(ground):
    path = f"/customers/organisations/{ground.customer}"
    ground.staff.patch(path, json={"status": "active"}, status=200)
    return ground.ask("PATCH", path, {"status": "disabled"})
