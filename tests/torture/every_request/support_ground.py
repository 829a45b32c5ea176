# SPDX-License-Identifier: MIT
"""What the requests that fail stand on: a worker, a customer with a file, colleagues, and codes that nobody mailed."""

import base64
import functools
import hashlib
import hmac
import json
import re
import urllib.parse
import uuid

from support.accounts import fresh_email
from support.database import key
from support.members import USERS, Members, body

SIZE = 30_000
CODE = "135791"


def session_of(token):
    """The id of the session of an access token."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sid"]


def failed(answer, *right):
    """Whether a step of several has another answer than these, which is that of the whole then."""
    return answer is None or answer.status not in right


class Ground:
    """A worker, a customer, and a file of theirs; with `accounts` others can be made, and staff can ask."""

    def __init__(self, pool, account, ledger, accounts=None):
        self.pool, self.account, self.ledger = pool, account, ledger
        self.members = accounts and Members(accounts)
        self.token = account.token
        self.file = json.loads(pool.upload(ledger, self.token, SIZE).body)["id"]
        self.colleague = account.post(USERS, json=body(), status=200).json()["user"]["id"]
        self.link = self.refresh_token = self.device_mark = None
        self.refreshes = 0  # of the session of refresh_token

    def call(self, method, path, body=None, *, sent=b"", content_type=None, **more):
        """A request, with a body of JSON or with what is sent as it is; None when no whole answer came. A worker that
        ended before it took the connection leaves it in the queue, since the test holds the socket."""
        if body is not None:
            sent, content_type = json.dumps(body).encode(), "application/json"
        try:
            answer = self.pool.call(method, path, body=sent, content_type=content_type, timeout=60,
                                    **{"token": self.token, **more})
        except OSError:
            if self.pool.living():
                raise
            return None
        return answer if answer.ended else None

    def ask(self, method, path, body=None, headers=None):
        """A request of the internal staff's."""
        return self.call(method, path, body, token=self.staff.token, headers={"X-Reason": "a test", **(headers or {})})

    def upload(self):
        return self.pool.upload(self.ledger, self.token, SIZE)

    # ---- people: made through the stack's own workers, where nothing fails

    @property
    def staff(self):
        """The internal administrator."""
        return self.members.administrator

    def waiting(self, **more):
        """The id of a new colleague who has not come in yet."""
        self.members.database.lift_throttles()
        return self.account.post(USERS, json=body(**more), status=200).json()["user"]["id"]

    def member(self):
        """A new colleague who may come in."""
        self.members.database.lift_throttles()
        return self.members.active(self.account)

    @functools.cached_property
    def friend(self):
        """A colleague who may come in, always the same."""
        return self.member()

    @functools.cached_property
    def customer(self):
        """The id of another customer's organisation."""
        return self.members.accounts.sign_up()["organisation"]["id"]

    # ---- files

    @functools.cached_property
    def same_bytes(self):
        """The bytes of every file of the shelf."""
        return hashlib.sha512(self.file.encode()).digest()

    @functools.cached_property
    def shelf(self):
        """Ids of three files, all of the same bytes."""
        return [json.loads(self.pool.upload(self.ledger, self.token, SIZE, self.same_bytes).body)["id"]
                for _ in range(3)]

    # ---- codes

    @functools.cached_property
    def master(self):
        """The service's master secret."""
        with open(self.pool.stack.configuration, encoding="utf-8") as file:
            path = re.search(r"^secret_file = (.*)$", file.read(), re.MULTILINE)[1]
        with open(path, encoding="ascii") as file:
            return bytes.fromhex(file.read().strip())

    def hash_of(self, text):
        """What is kept of a code in place of it."""
        return hmac.new(self.master, text.encode(), hashlib.sha256).digest()

    def give_code(self, identity, purpose):
        """From now on CODE is the user's code, as if it had been mailed."""
        digest = self.hash_of(f"gatehouse code {uuid.UUID(identity).hex} {purpose} {CODE}")
        self.members.database.run(
            "INSERT INTO code (user_id, purpose, code_hash, expires_at) VALUES (%s, %s, %s, UTC_TIMESTAMP(3) + INTERVAL"
            " 1 HOUR) ON DUPLICATE KEY UPDATE code_hash = VALUES(code_hash), tries = 0", key(identity), purpose, digest)

    def give_change(self, member, changed):
        """The member has asked for another address, or has changed it and got a notice with CODE at the old one."""
        change, old = uuid.uuid4(), fresh_email("old") if changed else member.email
        self.members.database.run(
            "INSERT INTO email_change (id, user_id, number, old_email, old_key, old_verified, new_email, cancel_hash,"
            " changed_at, expires_at) VALUES (%s, %s, 1, %s, %s, TRUE, %s, %s, IF(%s, UTC_TIMESTAMP(3), NULL),"
            " UTC_TIMESTAMP(3) + INTERVAL 1 HOUR)", change.bytes, key(member.id), old, old,
            member.email if changed else fresh_email("new"), self.hash_of(f"gatehouse cancel {change.hex} {CODE}"),
            changed)


def second_page(path, call=Ground.call):
    """A kind that reads a list and goes on where its first page has ended; the first answer that is none of success."""

    def ask(ground):
        first = call(ground, "GET", path)
        if failed(first, 200):
            return first
        cursor = json.loads(first.body)["nextCursor"]
        assert cursor, f"{path} has one page"
        return call(ground, "GET", f"{path}&cursor={urllib.parse.quote(cursor)}")

    return ask
