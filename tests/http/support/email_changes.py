# SPDX-License-Identifier: MIT
"""Changes of e-mail addresses, step by step, for the tests of them."""

from support import mail
from support.accounts import fresh_email
from support.database import key
from support.stack import wait_until

CHANGE, CONFIRM, CANCEL = "/customers/change-email", "/customers/confirm-email", "/customers/cancel-email"
SUBJECT_OF_CODE = "Confirm your new e-mail address for Gatehouse"


def ask(account, address, password=None, **arguments):
    """Asks for another address."""
    return account.post(CHANGE, json={"newEmail": address, "password": password or account.password}, **arguments)


def confirm(account, digits, **arguments):
    return account.post(CONFIRM, json={"confirmationCode": digits}, **arguments)


def cancel(api, identity, digits, **arguments):
    return api.post(CANCEL, json={"username": identity, "confirmationCode": digits}, **arguments)


def codes_to(mailbox, address):
    """The mails with the code to a new address."""
    return [message for message in mailbox.messages(address) if message["Subject"] == SUBJECT_OF_CODE]


def code_to(mailbox, address, count=1):
    """The code of the count-th of them."""
    found = wait_until(lambda: codes_to(mailbox, address)[count - 1:count], mail.PATIENCE_SECONDS,
                       f"code number {count} to {address}")
    return mail.code(found[0])


def notice_to(members, address, count=1):
    """The code of the count-th notice to an old address."""
    return mail.code(members.letter(address, "cancel-email", count))


def changed(members, account, address=None):
    """Changes the account's address; returns the old one and the code of the notice."""
    old, new = account.email, address or fresh_email("new")
    notices = len(members.letters(old, "cancel-email"))
    asked = len(codes_to(members.mailbox, new))
    ask(account, new, status=200)
    account.user = confirm(account, code_to(members.mailbox, new, asked + 1), status=200).json()["user"]
    return old, notice_to(members, old, notices + 1)


def signs_in(api, username, password):
    reply = api.post("/customers/login", json={"username": username, "password": password}, status={200, 401})
    assert reply.status_code == 200 or reply.json()["code"] == "auth.credentials", reply.text
    return reply.status_code == 200


def expire(database, identity):
    """A day passes for the user's changes."""
    database.run("UPDATE email_change SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
                 key(identity))
