# SPDX-License-Identifier: MIT
"""The kinds of requests in which each step fails once."""

import base64
import json

from support.accounts import invitation
from support.members import USERS, Members, body

SIZE = 30_000


class Ground:
    """A worker, a customer, and a file of theirs; with `accounts` others can be made, and staff can ask."""

    def __init__(self, pool, account, ledger, accounts=None):
        self.pool, self.account, self.ledger = pool, account, ledger
        self.members = accounts and Members(accounts)
        self.token = account.token
        self.file = json.loads(pool.upload(ledger, self.token, SIZE).body)["id"]
        self.colleague = account.post(USERS, json=body(), status=200).json()["user"]["id"]
        self.link = self.refresh_token = None

    def call(self, method, path, body=None, **more):
        """A request, with a body of JSON; None when no whole answer came. A worker that ended before it took the
        connection leaves it in the queue, since the test holds the socket."""
        sent = b"" if body is None else json.dumps(body).encode()
        try:
            answer = self.pool.call(method, path, body=sent, timeout=10,
                                    content_type=None if body is None else "application/json",
                                    **{"token": self.token, **more})
        except OSError:
            if self.pool.living():
                raise
            return None
        return answer if answer.ended else None

    def ask(self, method, path, body=None):
        """A request of the internal staff's."""
        return self.call(method, path, body, token=self.members.administrator.token, headers={"X-Reason": "a test"})

    def waiting(self, **more):
        """The id of a new colleague who has not come in yet."""
        self.members.database.lift_throttles()
        return self.account.post(USERS, json=body(**more), status=200).json()["user"]["id"]

    def upload(self):
        return self.pool.upload(self.ledger, self.token, SIZE)

    def resume(self):
        """An upload by tus that is made and taken back; the answer to the first request that fails."""
        headers = {"Tus-Resumable": "1.0.0"}
        made = self.call("POST", "/system/uploads", headers={
            **headers, "Upload-Length": "10",
            "Upload-Metadata": "bucket ZmlsZXM=,type bWlzYw==,filename YS50eHQ="})
        if made is None or made.status != 201:
            return made
        return self.call("DELETE", "/system/uploads/" + made.headers["Location"].rpartition("/")[2], headers=headers)


def log_in(ground):
    return ground.call("POST", "/customers/login", {"username": ground.account.email,
                                                    "password": ground.account.password})


def refresh(ground):
    """The tokens of a session are renewed. A token whose answer was lost is sent again, which gives the same ones."""
    if ground.refresh_token is None:
        ground.refresh_token = json.loads(log_in(ground).body)["tokens"]["refreshToken"]
    answer = ground.call("POST", "/customers/refresh", {"refreshToken": ground.refresh_token})
    if answer is not None and answer.status == 200:
        ground.refresh_token = json.loads(answer.body)["tokens"]["refreshToken"]
    return answer


def archive(ground):
    """A file that is archived and restored; the answer to the first request that fails. Where nobody could tell whether
    it was archived, it may be so already."""
    for action in ("archive", "restore"):
        answer = ground.call("POST", f"/system/files/{action}", {"ids": [ground.file]})
        if answer is None or answer.status not in (200, 409):
            break
    return answer


def open_link(ground):
    """A link to the file, made once, is opened."""
    if ground.link is None:
        made = ground.call("POST", f"/system/files/{ground.file}/link", {"expiresIn": 600})
        ground.link = json.loads(made.body)["url"].rpartition("/")[2]
    return ground.call("GET", f"/system/links/{ground.link}", token=None)


REQUESTS = {
    "login": log_in,
    "own account": lambda ground: ground.call("GET", "/customers/me"),
    "change of the own account": lambda ground: ground.call("PATCH", "/customers/me", {"firstName": "Olive"}),
    "people": lambda ground: ground.call("GET", f"{USERS}?search=o"),
    "decision": lambda ground: ground.call("POST", "/customers/authorise", {
        "userId": ground.account.id, "permissions": ["cus:file:r", "inv:part:w"]}),
    "sessions": lambda ground: ground.call("GET", "/customers/sessions"),
    "files": lambda ground: ground.call("GET", "/system/files?limit=5&sort=largest"),
    "upload": Ground.upload,
    "upload in pieces": Ground.resume,
    "download": lambda ground: ground.call("GET", f"/system/files/{ground.file}"),
    "change of a file": lambda ground: ground.call("PATCH", f"/system/files/{ground.file}", {"tags": ["one", "two"]}),
    "link": lambda ground: ground.call("POST", f"/system/files/{ground.file}/link", {"expiresIn": 60}),
    "audit trail": lambda ground: ground.call("GET", "/customers/organisation/audit?limit=5"),
    "a wrong body": lambda ground: ground.call("PATCH", "/customers/me", {"firstName": 7, "x": [{}]}),
}

MORE_REQUESTS = {
    "refresh": refresh,
    "archive": archive,
    "opening of a link": open_link,
    "links": lambda ground: ground.call("GET", f"/system/files/{ground.file}/links"),
    "a colleague": lambda ground: ground.call("GET", f"{USERS}/{ground.colleague}"),
    "why a colleague may": lambda ground: ground.call("GET", f"{USERS}/{ground.colleague}/permissions"),
    "sessions of a colleague": lambda ground: ground.call("GET", f"{USERS}/{ground.colleague}/sessions"),
    "change of a colleague": lambda ground: ground.call("PATCH", f"{USERS}/{ground.colleague}", {"lastName": "Grey"}),
    "a change foreseen": lambda ground: ground.call("POST", "/customers/authorise/simulate", {
        "userId": ground.colleague, "roles": []}),
    "roles": lambda ground: ground.call("GET", "/customers/roles"),
    "catalogue": lambda ground: ground.call("GET", "/customers/permissions"),
    "organisation": lambda ground: ground.call("GET", "/customers/organisation"),
    "change of the organisation": lambda ground: ground.call("PATCH", "/customers/organisation", {"name": "Example"}),
    "file information": lambda ground: ground.call("GET", f"/system/files/{ground.file}/info"),
    "limits": lambda ground: ground.call("GET", "/system/limits"),
    "readiness": lambda ground: ground.call("GET", "/system/health/ready"),
    "public keys": lambda ground: ground.call("GET", "/.well-known/jwks.json"),
}


def sign_out(ground):
    return ground.call("POST", "/customers/logout", {}, token=ground.account.session()["accessToken"])


def new_session(ground):
    """The id of another session of the customer's."""
    part = ground.account.session()["accessToken"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sid"]


def erase(ground):
    member = ground.members.active(ground.account)
    ground.account.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    return ground.call("POST", f"{USERS}/{member.id}/erase")


def change_password(ground):
    member = ground.members.active(ground.account)
    return ground.call("POST", "/customers/change-password", token=member.token, body={
        "password": member.password, "newPassword": member.password + " and more"})


def set_password(ground):
    return ground.ask("POST", "/customers/admin-set-password", {
        "username": ground.waiting(), "password": "chosen by an administrator"})


def ask_for_mail(path):
    """A request that sends the customer a mail, of which there may be few."""

    def ask(ground):
        ground.members.database.lift_throttles()
        return ground.call("POST", path, {"username": ground.account.email}, token=None)

    return ask


def change_address(ground):
    ground.members.database.lift_throttles()
    member = ground.members.active(ground.account)
    return ground.call("POST", "/customers/change-email", token=member.token, body={
        "newEmail": body()["email"], "password": member.password})


def archive_one(ground):
    answer = ground.call("DELETE", f"/system/files/{ground.file}")
    if answer is None or answer.status not in (200, 409):
        return answer
    return ground.call("POST", f"/system/files/{ground.file}/restore")


def revoke_link(ground):
    ground.account.post(f"/system/files/{ground.file}/link", json={"expiresIn": 600}, status=200)
    links = ground.account.get(f"/system/files/{ground.file}/links", status=200).json()["items"]
    return ground.call("DELETE", f"/system/files/{ground.file}/links/{links[0]['id']}")


def send_a_piece(ground):
    """An upload by tus that is made, gets its first half, is looked at and taken back; the first answer that is none of
    success."""
    headers = {"Tus-Resumable": "1.0.0"}
    made = ground.call("POST", "/system/uploads", headers={
        **headers, "Upload-Length": "10", "Upload-Metadata": "bucket ZmlsZXM=,type bWlzYw==,filename YS50eHQ="})
    if made is None or made.status != 201:
        return made
    path = "/system/uploads/" + made.headers["Location"].rpartition("/")[2]
    sent = ground.pool.call("PATCH", path, token=ground.token, body=b"first", timeout=10,
                            content_type="application/offset+octet-stream", headers={**headers, "Upload-Offset": "0"})
    if sent.status != 204:
        return sent
    looked = ground.call("HEAD", path, headers=headers)
    if looked is None or looked.status != 200:
        return looked
    return ground.call("DELETE", path, headers=headers)


# All others: those that use up what they are made with, and those of internal staff.
OTHER_REQUESTS = {
    "sign-up": lambda ground: ground.ask("POST", "/customers/signup", invitation()),
    "creation of a colleague": lambda ground: ground.call("POST", USERS, body()),
    "invitation again": lambda ground: ground.call("POST", f"{USERS}/{ground.waiting(password=None)}/resend"),
    "unlocking": lambda ground: ground.call("POST", f"{USERS}/{ground.colleague}/unlock"),
    "erasing": erase,
    "confirmation by an administrator": lambda ground: ground.ask("POST", "/customers/admin-confirm-signup", {
        "username": ground.waiting()}),
    "code again": ask_for_mail("/customers/resend-confirmation"),
    "forgotten password": ask_for_mail("/customers/forgotten-password"),
    "change of the password": change_password,
    "password by an administrator": set_password,
    "change of the address": change_address,
    "logout": sign_out,
    "end of a session": lambda ground: ground.call("DELETE", f"/customers/sessions/{new_session(ground)}"),
    "end of a colleague's sessions": lambda ground: ground.call("DELETE", f"{USERS}/{ground.colleague}/sessions"),
    "organisations": lambda ground: ground.ask("GET", "/customers/organisations?limit=5"),
    "an organisation": lambda ground: ground.ask(
        "GET", f"/customers/organisations/{ground.account.organisation['id']}"),
    "change of an organisation": lambda ground: ground.ask(
        "PATCH", f"/customers/organisations/{ground.account.organisation['id']}", {"quotaFiles": 1000}),
    "archive of one file": archive_one,
    "revocation of a link": revoke_link,
    "a piece of an upload": send_a_piece,
    "everybody's audit trail": lambda ground: ground.ask("GET", "/system/audit?limit=5"),
    "cache": lambda ground: ground.ask("GET", "/system/cache"),
    "eviction": lambda ground: ground.ask("POST", "/system/cache", {"prefixes": ["jwks:"]}),
    "settings": lambda ground: ground.ask("GET", "/system/settings"),
    "change of the settings": lambda ground: ground.ask("PUT", "/system/settings", {
        "logging": {"level": "info", "filter": ""}}),
    "versions of the settings": lambda ground: ground.ask("GET", "/system/settings/history?limit=5"),
    "hosts": lambda ground: ground.ask("GET", "/system/stats"),
}

# What they are answered with when nothing fails, other than 200.
USUAL = {"a wrong body": 400, "upload in pieces": 204, "a piece of an upload": 204}
