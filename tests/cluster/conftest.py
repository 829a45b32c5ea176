# SPDX-License-Identifier: MIT
"""What the tests of a cluster share: the running cluster, its parts, accounts.

They use the client and the accounts of tests/http. GATEHOUSE_QUICKSTART names the quickstart.json of a cluster.
"""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from support.accounts import Accounts  # noqa: E402
from support.client import Api  # noqa: E402
from support.connections import ask  # noqa: E402
from support.mail import Mailbox  # noqa: E402
from support.members import Members  # noqa: E402
from support.openapi import Document  # noqa: E402
from support.runs.seed import pytest_terminal_summary, seeded  # noqa: E402, F401
from support_cluster import Cluster  # noqa: E402
from support_fixtures import figures, full, pytest_sessionstart, stack  # noqa: E402, F401


@pytest.fixture(scope="session")
def cluster(stack):
    """All parts; at the end of the session nothing is kept dead."""
    made = Cluster(stack)
    yield made
    made.heal()


@pytest.fixture(autouse=True)
def whole(cluster):
    """Each test begins and leaves with all parts running."""
    cluster.await_whole()
    yield
    cluster.heal()


@pytest.fixture(scope="session")
def database(cluster):
    """The database that the workers use when nothing is broken."""
    return cluster.databases[0]


@pytest.fixture(scope="session")
def document(stack):
    return Document(ask("GET", stack.url("/system/openapi.json")).json())


@pytest.fixture(scope="session")
def accounts(stack, database, document):
    database.lift_throttles()
    return Accounts(Api(stack, document), stack, Mailbox(stack.mail), database)


@pytest.fixture(scope="session")
def members(accounts):
    return Members(accounts)


@pytest.fixture(autouse=True)
def fresh_throttle(whole, database):
    """No test is answered 429 for what another test got wrong."""
    assert whole is None
    database.lift_throttles()


@pytest.fixture()
def customer(accounts):
    """A new customer of the test's own."""
    return accounts.customer()


@pytest.fixture()
def hosts(cluster, document):
    """A client for each host, past HAProxy."""
    return [Api(host, document) for host in cluster.hosts]
