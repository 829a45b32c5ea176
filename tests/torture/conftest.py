# SPDX-License-Identifier: MIT
"""What the torture tests share: the running stack, a clean table of files, a customer.

They use the client, the FastCGI client and the accounts of tests/http.
"""

import os
import pathlib
import signal
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))
sys.path.insert(0, str(HERE))

from support.accounts import Accounts  # noqa: E402
from support.client import Api  # noqa: E402
from support.connections import ask  # noqa: E402
from support.database import Database  # noqa: E402
from support.mail import Mailbox  # noqa: E402
from support.openapi import Document  # noqa: E402
from support.runs.seed import pytest_terminal_summary, seeded  # noqa: E402, F401
from support.stack import Stack  # noqa: E402
from support_ledger import Ledger  # noqa: E402


def pytest_sessionstart():
    # Whoever ends us by a signal has the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def stack():
    return Stack(os.environ["GATEHOUSE_QUICKSTART"])


@pytest.fixture(scope="session")
def database(stack):
    return Database(stack.database)


@pytest.fixture(scope="session")
def accounts(stack, database):
    document = Document(ask("GET", stack.url("/system/openapi.json")).json())
    database.lift_throttles()
    return Accounts(Api(stack, document), stack, Mailbox(stack.mail), database)


@pytest.fixture(scope="session")
def library():
    """preload/faults.c as a library to preload."""
    path = os.environ.get("GATEHOUSE_FAULTS")
    assert path and os.path.exists(path), "GATEHOUSE_FAULTS must name the library made from preload/faults.c"
    return path


@pytest.fixture()
def account(accounts, stack, database):
    """A new customer, the only one with files."""
    clear(stack, database)
    yield accounts.customer()
    clear(stack, database)


def clear(stack, database):
    """No rows of files and no bytes, so that each test answers for its own."""
    database.run("DELETE FROM file_tag")
    database.run("DELETE FROM file")
    for path in stack.blob_files():
        os.unlink(path)


@pytest.fixture()
def ledger():
    return Ledger()
