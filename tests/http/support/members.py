# SPDX-License-Identifier: MIT
"""Team members for the tests, and what the account flows leave in the database."""

from support import mail
from support.accounts import Account, fresh_email, fresh_password
from support.database import key
from support.stack import wait_until

USERS = "/customers/organisations/users"
STATUSES = ("awaiting-first-login", "awaiting-confirmation", "active", "disabled")
MEMBERS = {
    "id", "organisationId", "email", "phone", "firstName", "lastName", "roles", "permissions", "status",
    "emailVerified", "phoneVerified", "createdAt", "updatedAt", "locale", "lastLoginAt", "invitationExpiresAt",
    "lockedUntil"
}
# A table's rows about one user; what no call may change is compared over all of them. When a row of the
# embedded provider was last touched is its own business, and so is when the user signed in.
STATE = {
    "user": "SELECT id, organisation_id, email, email_key, phone, first_name, last_name, permissions, status, "
    "email_verified, phone_verified, provider_subject, created_at, updated_at, locale FROM `user` WHERE id = %s",
    "user_role": "SELECT role_id FROM user_role WHERE user_id = %s ORDER BY role_id",
    "identity_account": "SELECT id, username, password_version, password_temporary, password_expires_at, "
    "status, enabled, email_verified, phone, phone_verified, permissions FROM identity_account "
    "WHERE id = %s",
    "session": "SELECT id, ended_at FROM session WHERE user_id = %s ORDER BY id",
}


def body(**more):
    """A member creation that passes; None values leave a member out."""
    values = {
        "email": fresh_email("member"), "password": fresh_password(), "firstName": "Mia",
        "lastName": "Member", **more
    }
    return {name: value for name, value in values.items() if value is not None}


class Waiting(Account):
    """A member who has been sent a code and has not confirmed yet."""

    def __init__(self, members, user, organisation, password):
        super().__init__(members.api, user, organisation, password)
        self.members = members

    def message(self, count=1):
        """The count-th mail with a code to the member."""
        return self.members.letter(self.email, "confirm", count)

    def code(self, count=1):
        """The code of the count-th mail."""
        return mail.code(self.message(count))

    def confirm(self, digits=None, **arguments):
        """Confirms with this code, or with the one of the first mail."""
        sent = {"username": self.id, "confirmationCode": digits or self.code()}
        return self.api.post("/customers/confirm-signup", json=sent, **arguments)


class Members:
    """Makes team members through the interface."""

    def __init__(self, accounts):
        self.accounts = accounts
        self.api = accounts.api
        self.mailbox = accounts.mailbox
        self.database = accounts.database
        self.administrator = accounts.administrator

    def waiting(self, creator, **more):
        """A member of the creator's organisation who awaits confirmation."""
        sent = body(**more)
        user = creator.post(USERS, json=sent, status=200).json()["user"]
        self.accounts.secrets.add(sent["password"])
        return Waiting(self, user, creator.organisation, sent["password"])

    def active(self, creator, **more):
        """A member whom the administrator has confirmed, so that no mail need be waited for."""
        member = self.waiting(creator, **more)
        self.administrator.post("/customers/admin-confirm-signup", json={"username": member.id}, status=200)
        member.user = self.user(member.id)
        return member

    def holding(self, creator, permissions):
        """An active member with exactly these permissions and no role, written into the row."""
        member = self.active(creator)
        self.database.set_grants(member.id, permissions)
        return member

    def user(self, identity):
        """The user as the administrator sees it."""
        return self.administrator.get(f"{USERS}/{identity}", status=200).json()["user"]

    def letters(self, address, page):
        """The mails to an address that link to a page: first-login, confirm or reset."""
        start = f"{self.accounts.stack.web_url}/{page}?id="
        return [
            message for message in self.mailbox.messages(address) if any(
                line.startswith(start) for line in mail.lines(message))
        ]

    def letter(self, address, page, count=1):
        """Waits for the count-th of them."""
        return wait_until(lambda: self.letters(address, page)[count - 1:count], mail.PATIENCE_SECONDS,
                          f"mail number {count} with a link to {page} for {address}")[0]

    def reset_code(self, account):
        """Asks for a reset and returns the code of the newest mail."""
        count = len(self.letters(account.email, "reset"))
        self.api.post("/customers/forgotten-password", json={"username": account.email}, status=200)
        return mail.code(self.letter(account.email, "reset", count + 1))

    def snapshot(self, identity):
        """Everything that the database says of a user, once the provider's copy is what our row says."""
        wait_until(
            lambda: not self.database.run(
                "SELECT 1 FROM outbox WHERE user_id = %s AND kind = 'sync' AND status = 'waiting'", key(identity)),
            mail.PATIENCE_SECONDS, "the job runner to bring the provider's copy of the user in line", 0.02)
        return {table: self.database.run(sql, key(identity)) for table, sql in STATE.items()}

    def set_status(self, identity, status):
        """Writes the status into the row, as an operator would."""
        self.database.run("UPDATE `user` SET status = %s WHERE id = %s", status, key(identity))

    def await_jobs(self):
        """Waits until no mail and no other job is waiting to be done."""
        wait_until(
            lambda: self.database.run("SELECT COUNT(*) FROM outbox WHERE status = 'waiting'")[0][0] == 0,
            mail.PATIENCE_SECONDS, "the job runner to have nothing left to do", 0.02)

    def mails(self, address):
        """All mails to an address once nothing is waiting to be sent."""
        self.await_jobs()
        return self.mailbox.messages(address)

    def fail_logins(self, name, count):
        """Wrong logins that are all answered as such."""
        for _ in range(count):
            self.api.post("/customers/login",
                          json={"username": name, "password": "not the password"},
                          status=401,
                          code="auth.credentials")


def works(account, password=None):
    """Whether the password signs the account in; fails on an answer that is neither yes nor no."""
    reply = account.api.post("/customers/login",
                             json={"username": account.email, "password": password or account.password},
                             status={200, 401})
    assert reply.status_code == 200 or reply.json()["code"] == "auth.credentials", reply.text
    return reply.status_code == 200


def retry_after(reply):
    """The seconds of Retry-After."""
    return int(reply.headers["Retry-After"])
