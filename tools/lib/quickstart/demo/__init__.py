# SPDX-License-Identifier: MIT
"""--demo: a customer with people, roles and forty files, made over HTTP as a client makes them."""

import http.client
import json
import uuid

import configuration
from demo import files
from output import say
from problem import Problem

DOMAIN = "grain.example"
CUSTOMER = "Example Grain Ltd"
OWNER = ("olivia", "Olivia", "Owner")
# Address, first and last name, roles, permissions. The last one is invited and has not signed in.
PEOPLE = (
    ("walter", "Walter", "Warehouse", ["inv-manage"], []),
    ("lena", "Lena", "Logistics", ["log-manage"], []),
    ("carl", "Carl", "Clerk", [], ["cus:file:w", "cus:user:r"]),
    ("ada", "Ada", "Auditor", [], ["cus:file:r"]),
    ("nina", "Nina", "Newcomer", [], ["cus:file:r"]),
)
INVITED = "nina"
# Those who upload, in turn.
UPLOADERS = ("olivia", "walter", "lena", "carl")
LINKED = 3
SECONDS = 60


def address(name):
    """The e-mail address of somebody."""
    return f"{name}@{DOMAIN}"


def make(chosen, layout):
    """Makes what is not there yet, so that a start that was broken off is made whole. Returns what a person needs."""
    password = layout.secret("demo-password")
    facts = {"username": address(OWNER[0]), "password": password}
    made = layout.secrets / "demo-made"
    if not made.exists():
        say("Making the example customer")
        Demo(chosen, layout, password).make()
        made.touch(mode=0o600)
    return facts


class Demo:
    """The requests, each of which may have been made by an earlier start."""

    def __init__(self, chosen, layout, password):
        self.port = chosen.port
        self.password = password
        self.tokens = {}
        self.administrator = self.sign_in(configuration.ADMINISTRATOR, layout.secret("administrator-password"))

    def make(self):
        """Customer, people, files, links."""
        self.ask("POST", "/customers/signup", self.administrator, {
            "organisation": {"name": CUSTOMER}, "email": address(OWNER[0]), "firstName": OWNER[1],
            "lastName": OWNER[2], "phone": "+441632960101", "services": ["inventory", "logistics"]}, "user.exists")
        self.ask("POST", "/customers/admin-set-password", self.administrator, {
            "username": address(OWNER[0]), "password": self.password, "permanent": True})
        owner = self.token(OWNER[0])
        for name, first, last, roles, permissions in PEOPLE:
            self.add_person(owner, name, first, last, roles, permissions)
        for number, one in enumerate(files.all_files()):
            self.upload(self.token(UPLOADERS[number % len(UPLOADERS)]), one)
        newest = self.ask("GET", f"/system/files?limit={LINKED}", owner)["items"]
        for record in newest:
            if not self.ask("GET", f"/system/files/{record['id']}/links", owner)["items"]:
                self.ask("POST", f"/system/files/{record['id']}/link", owner, {})

    def add_person(self, owner, name, first, last, roles, permissions):
        """A member; all but the invited one may sign in with the password of the demo."""
        body = {"email": address(name), "firstName": first, "lastName": last, "roles": roles,
                "permissions": permissions}
        if name == INVITED:
            self.ask("POST", "/customers/organisations/users", owner, body, "user.exists")
            return
        self.ask("POST", "/customers/organisations/users", owner, {**body, "password": self.password}, "user.exists")
        self.ask("POST", "/customers/admin-confirm-signup", self.administrator, {"username": address(name)},
                 "user.alreadyConfirmed")

    def sign_in(self, username, password):
        """An access token."""
        return self.ask("POST", "/customers/login", None, {"username": username, "password": password})["tokens"][
            "accessToken"]

    def token(self, name):
        """The access token of one of the people."""
        if name not in self.tokens:
            self.tokens[name] = self.sign_in(address(name), self.password)
        return self.tokens[name]

    def upload(self, token, one):
        """A file with its type and tags."""
        fields = [("bucket", one.bucket), ("type", one.type), *(("tags", tag) for tag in one.tags)]
        border = uuid.uuid4().hex
        parts = b"".join(f'--{border}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
                         for name, value in fields)
        parts += (f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{one.name}"\r\n'
                  f"Content-Type: {one.content_type}\r\n\r\n").encode() + one.data + f"\r\n--{border}--\r\n".encode()
        self.send("POST", "/system/files", token, parts, f"multipart/form-data; boundary={border}", "file.duplicate")

    def ask(self, method, path, token, body=None, *accepted):
        """A request with a JSON body; the parsed reply. The error codes that mean that it was made before are fine."""
        data = None if body is None else json.dumps(body).encode()
        return self.send(method, path, token, data, "application/json" if data else None, *accepted)

    def send(self, method, path, token, data, content_type, *accepted):
        """One request; whatever else is answered is a Problem."""
        headers = {"Content-Type": content_type} if content_type else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection(configuration.HOST, self.port, timeout=SECONDS)
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            answer = json.loads(reply.read() or b"{}")
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Problem(f"The example customer could not be made: {method} {path}: {error}") from None
        finally:
            connection.close()
        if reply.status >= 300 and answer.get("code") not in accepted:
            raise Problem(f"The example customer could not be made: {method} {path} is answered with {reply.status}: "
                          f"{answer.get('code')} {answer.get('message')}")
        return answer
