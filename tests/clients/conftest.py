# SPDX-License-Identifier: MIT
"""Fixtures of the tests of the clients in clients/, against a stack that tools/quickstart has started.

GATEHOUSE_QUICKSTART names its quickstart.json, GATEHOUSE_API_CLIENTS the folder that tools/lib/emulators/fetch has
filled with OpenAPI Generator, TypeScript and what the Python client stands on, GATEHOUSE_DOCUMENT_LINT that with
Spectral and Redocly CLI."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
PROGRAMS = pathlib.Path(os.environ.get("GATEHOUSE_API_CLIENTS", ""))
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "clients" / "python" / "src"), str(PROGRAMS / "python"), str(HERE),
                str(HERE.parent / "http")]

from gatehouse_client import Gatehouse  # noqa: E402
from gatehouse_client.models import NewOrganisation, NewUser, SignupRequest, UsernameRequest  # noqa: E402

from support import mail  # noqa: E402
from support.runs.seed import pytest_terminal_summary, seeded  # noqa: E402, F401
from support.stack import Stack  # noqa: E402
from support_break import Breaker  # noqa: E402
from support_names import fresh_email, fresh_password  # noqa: E402


def pytest_sessionstart(session):
    # Whoever ends us by a signal has the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if session.config.option.collectonly:
        return
    for name in ("GATEHOUSE_QUICKSTART", "GATEHOUSE_API_CLIENTS", "GATEHOUSE_DOCUMENT_LINT"):
        if not os.path.exists(os.environ.get(name, "")):
            pytest.exit(f"{name} must name what is there; it is {os.environ.get(name)!r}", returncode=2)


@pytest.fixture(scope="session")
def programs():
    return PROGRAMS


@pytest.fixture(scope="session")
def stack():
    return Stack(os.environ["GATEHOUSE_QUICKSTART"])


@pytest.fixture(scope="session")
def administrator(stack):
    """Internal staff, signed in."""
    client = Gatehouse(stack.base_url)
    client.sign_in(**stack.admin)
    return client


class Person:
    """Somebody of an organisation: who, and a client that is signed in."""

    def __init__(self, stack, email, password):
        self.email = email
        self.password = password
        self.client = Gatehouse(stack.base_url)


@pytest.fixture(scope="session")
def mailbox(stack):
    return mail.Mailbox(stack.mail)


@pytest.fixture(scope="session")
def invited(administrator, mailbox):
    """Makes a customer; returns the owner's address and temporary password."""

    def make():
        email = fresh_email()
        administrator.accounts.create_customer(SignupRequest(
            organisation=NewOrganisation(name="Clients Ltd"), email=email, first_name="Olive", last_name="Owner"))
        return email, mail.temporary_password(mailbox.wait(email))
    return make


@pytest.fixture(scope="session")
def new_owner(stack, invited):
    """Makes a customer whose owner is signed in."""

    def make():
        email, temporary = invited()
        owner = Person(stack, email, fresh_password())
        owner.client.sign_in(email, temporary, owner.password)
        return owner
    return make


@pytest.fixture(scope="session")
def owner(new_owner):
    """The owner of a customer; tests that use it leave the session and the password as they are."""
    return new_owner()


@pytest.fixture(scope="session")
def member(stack, owner, administrator):
    """Somebody of the same organisation without any permission."""
    person = Person(stack, fresh_email("member"), fresh_password())
    owner.client.accounts.create_user(NewUser(
        email=person.email, password=person.password, first_name="Max", last_name="Member"))
    confirm(administrator, person)
    person.client.sign_in(person.email, person.password)
    return person


def confirm(administrator, person):
    """The address is confirmed without a code."""
    administrator.accounts.admin_confirm_signup(UsernameRequest(username=person.email))


@pytest.fixture(scope="session")
def compiled(programs, tmp_path_factory):
    """The TypeScript client as its package holds it."""
    out = tmp_path_factory.mktemp("compiled") / "dist"
    done = subprocess.run([programs / "node_modules" / ".bin" / "tsc", "--project", TOP / "clients" / "typescript",
                           "--outDir", out], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout
    return out


@pytest.fixture()
def breaker(stack):
    """Stands between a client and the service, and breaks connections."""
    with Breaker(stack.host, stack.port) as between:
        yield between
