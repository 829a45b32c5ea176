# SPDX-License-Identifier: MIT
"""What the tests of a real Ceph share. GATEHOUSE_QUICKSTART names the quickstart.json of `tools/quickstart --store
ceph`. They use the client of tests/http and the load of tests/cluster."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster"), str(HERE.parent / "http")]
sys.dont_write_bytecode = True

from support.accounts import Accounts  # noqa: E402
from support.client import Api  # noqa: E402
from support.connections import ask  # noqa: E402
from support.database import Database  # noqa: E402
from support.mail import Mailbox  # noqa: E402
from support.openapi import Document  # noqa: E402
from support.runs.seed import pytest_terminal_summary, seeded  # noqa: E402, F401
from support_ceph import Ceph  # noqa: E402
from support_fixtures import figures, full, pytest_sessionstart, stack  # noqa: E402, F401

PEOPLE = 6


@pytest.fixture(scope="session")
def ceph(stack):
    """The store; at the end of the session nothing is kept dead."""
    made = Ceph(stack)
    yield made
    made.heal()


@pytest.fixture(autouse=True)
def whole(ceph):
    """Each test begins and leaves with all parts running, and with all copies."""
    ceph.await_whole()
    yield
    ceph.heal()


@pytest.fixture(scope="session")
def accounts(stack):
    document = Document(ask("GET", stack.url("/system/openapi.json")).json())
    database = Database(stack.database)
    database.lift_throttles()
    return Accounts(Api(stack, document), stack, Mailbox(stack.mail), database)


@pytest.fixture(scope="session")
def people(accounts):
    """Who reads and uploads while something breaks."""
    return [accounts.customer() for _ in range(PEOPLE)]
