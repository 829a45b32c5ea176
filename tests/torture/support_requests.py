# SPDX-License-Identifier: MIT
"""The kinds of requests in which each step fails once."""

import json

from support.members import USERS, body

SIZE = 30_000


class Ground:
    """A worker, a customer, and a file of theirs."""

    def __init__(self, pool, account, ledger):
        self.pool, self.account, self.ledger = pool, account, ledger
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

# What they are answered with when nothing fails, other than 200.
USUAL = {"a wrong body": 400, "upload in pieces": 204}
