# SPDX-License-Identifier: MIT
"""Customers and users for the tests, made the way a customer is made: sign-up, e-mail, first login."""

import itertools
import time
import uuid

from support import mail

RUN = uuid.uuid4().hex[:8]
NUMBER = itertools.count(1)
# Access tokens live 900 s; a token is renewed well before that.
TOKEN_AGE_SECONDS = 600


def fresh_email(word="owner"):
    """An address that no run has used."""
    return f"{word}.{RUN}.{next(NUMBER)}@example.com"


def fresh_password(word="Correct horse"):
    """A password that the rules allow."""
    return f"{word} {uuid.uuid4().hex}"


class Account:
    """A user who can sign in. token is an access token that is fresh enough."""

    def __init__(self, api, user, organisation, password):
        self.api = api
        self.user = user
        self.organisation = organisation
        self.password = password
        self.tokens = None
        self.born = 0.0

    @property
    def id(self):
        return self.user["id"]

    @property
    def email(self):
        return self.user["email"]

    def login(self, **more):
        """A new session of its own; returns the reply's body."""
        body = {"username": self.email, "password": self.password, **more}
        return self.api.post("/customers/login", json=body, status=200).json()

    def session(self):
        """The tokens of another new session."""
        return self.login()["tokens"]

    @property
    def token(self):
        self.sign_in(TOKEN_AGE_SECONDS)
        return self.tokens["accessToken"]

    def sign_in(self, seconds=TOKEN_AGE_SECONDS / 2):
        """Signs in, unless the token is younger than that: no sign-in of ours then falls into what comes next."""
        if self.tokens is None or time.monotonic() - self.born > seconds:
            self.tokens = self.session()
            self.born = time.monotonic()

    def get(self, path, **arguments):
        return self.api.get(path, token=self.token, **arguments)

    def post(self, path, **arguments):
        return self.api.post(path, token=self.token, **arguments)

    def put(self, path, **arguments):
        return self.api.put(path, token=self.token, **arguments)

    def patch(self, path, **arguments):
        return self.api.patch(path, token=self.token, **arguments)

    def delete(self, path, **arguments):
        return self.api.delete(path, token=self.token, **arguments)


class Administrator(Account):
    """The internal administrator that the quick start made."""

    def __init__(self, api, credentials):
        super().__init__(api, {"email": credentials["username"]}, None, credentials["password"])
        me = api.get("/customers/me", token=self.token, status=200).json()
        self.user, self.organisation = me["user"], me["organisation"]


def invitation(**more):
    """A sign-up body that passes; None values leave a member out."""
    body = {
        "organisation": {"name": f"Test {RUN} {next(NUMBER)} Ltd"}, "email": fresh_email(),
        "firstName": "Olive", "lastName": "Owner", "phone": "+442071838750", **more
    }
    return {name: value for name, value in body.items() if value is not None}


class Invited:
    """An owner who has the e-mail but has not signed in yet."""

    def __init__(self, reply, message, web_url):
        self.user = reply["user"]
        self.organisation = reply["organisation"]
        self.message = message
        self.link = mail.link(message, f"{web_url}/first-login")
        self.temporary = mail.temporary_password(message)

    @property
    def id(self):
        return self.user["id"]

    @property
    def email(self):
        return self.user["email"]

    def credentials(self, **more):
        """A login body with the temporary password."""
        return {"username": self.email, "password": self.temporary, **more}


class Accounts:
    """Makes accounts. secrets collects every password and token text that must never be found in a log."""

    def __init__(self, api, stack, mailbox, database):
        self.api = api
        self.stack = stack
        self.mailbox = mailbox
        self.database = database
        self.administrator = Administrator(api, stack.admin)
        self.secrets = {stack.admin["password"]}

    def sign_up(self, **more):
        """Creates a customer; returns the reply's body."""
        body = invitation(**more)
        return self.api.post("/customers/signup", token=self.administrator.token, json=body,
                             status=200).json()

    def invited(self, **more):
        """A customer whose owner holds the e-mail with the temporary password."""
        reply = self.sign_up(**more)
        message = self.mailbox.wait(reply["user"]["email"])
        invited = Invited(reply, message, self.stack.web_url)
        self.secrets.add(invited.temporary)
        return invited

    def customer(self, **more):
        """A customer whose owner has signed in for the first time and is active."""
        invited = self.invited(**more)
        password = fresh_password()
        body = self.api.post("/customers/login", json=invited.credentials(newPassword=password),
                             status=200).json()
        account = Account(self.api, body["user"], invited.organisation, password)
        account.tokens, account.born = body["tokens"], time.monotonic()
        self.secrets.update(
            [password, *(body["tokens"][name] for name in ("accessToken", "idToken", "refreshToken"))])
        return account

    def user_with(self, permissions, organisation_id=None):
        """A user of an organisation of its own, or of the given one, with exactly these patterns and no
        role."""
        account = self.customer()
        if organisation_id:
            self.database.move(account.id, organisation_id)
        self.database.set_grants(account.id, permissions)
        return account
