# SPDX-License-Identifier: MIT
"""Fixtures of the tests in a real browser: Debian's Chromium, driven by Playwright, against a stack that
tools/quickstart has started.

GATEHOUSE_QUICKSTART names its quickstart.json, GATEHOUSE_PLAYWRIGHT the folder that tools/lib/emulators/fetch has
filled with Playwright and axe-core, GATEHOUSE_PICTURES (if set) the folder that keeps pictures of each screen, those of
all widths in both themes where GATEHOUSE_PICTURES_OF is "everything". The people of the tests, and the mails that they
get, are made as in tests/http.
"""

import os
import pathlib
import signal
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
# A test run has a folder for what Python has compiled, so that not each of its processes compiles the cases again.
sys.pycache_prefix = os.environ.get("GATEHOUSE_TEST_PYCACHE")
sys.dont_write_bytecode = not sys.pycache_prefix
sys.path[:0] = [str(HERE.parent / "http"), str(HERE)]
sys.path.append(os.environ.get("GATEHOUSE_PLAYWRIGHT", ""))

from playwright.sync_api import expect, sync_playwright  # noqa: E402

from support.accounts import Accounts  # noqa: E402
from support.client import Api  # noqa: E402
from support.connections import ask  # noqa: E402
from support.database import Database  # noqa: E402
from support.logs import Logs  # noqa: E402
from support.mail import Mailbox  # noqa: E402
from support.members import Members  # noqa: E402
from support.openapi import Document  # noqa: E402
from support.runs import sharing  # noqa: E402
from support.runs.seed import pytest_terminal_summary, seeded  # noqa: E402, F401
from support.stack import Stack  # noqa: E402
from support_screen import Screens  # noqa: E402
from support_visit import PATIENCE_MS, Visit  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
# --no-sandbox: root has none. The rest keeps the browser from asking anybody but the page's own host.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")


def pytest_sessionstart(session):
    expect.set_options(timeout=PATIENCE_MS)
    # Whoever ends us by a signal has the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if session.config.option.collectonly:
        return
    for name in ("GATEHOUSE_QUICKSTART", "GATEHOUSE_PLAYWRIGHT"):
        if not os.path.exists(os.environ.get(name, "")):
            pytest.exit(f"{name} must name what is there; it is {os.environ.get(name)!r}", returncode=2)


def pytest_runtestloop(session):
    """Runs the cases of this process' share; None lets pytest run all of them."""
    if not os.environ.get("GATEHOUSE_TEST_SHARE") or session.config.option.collectonly or session.testsfailed:
        return None
    sharing.run(session)
    return True


@pytest.fixture(scope="session")
def stack():
    return Stack(os.environ["GATEHOUSE_QUICKSTART"])


@pytest.fixture(scope="session")
def database(stack):
    return Database(stack.database)


@pytest.fixture(scope="session")
def logs(stack):
    return Logs(stack.logs)


@pytest.fixture(autouse=True)
def fresh_throttle(database):
    """No test is answered 429 for what another test got wrong."""
    database.lift_throttles()


@pytest.fixture(scope="session")
def accounts(stack, database):
    document = Document(ask("GET", stack.url("/system/openapi.json")).json())
    database.lift_throttles()
    return Accounts(Api(stack, document), stack, Mailbox(stack.mail), database)


@pytest.fixture(scope="session")
def members(accounts):
    return Members(accounts)


@pytest.fixture(scope="session")
def owner(accounts):
    """The owner of a customer; tests that use it leave its rights and its password as they are."""
    return accounts.customer()


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests, with a new profile of its own."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def screens(tmp_path_factory):
    """Looks at screens, and keeps their pictures."""
    folder = os.environ.get("GATEHOUSE_PICTURES") or tmp_path_factory.mktemp("pictures")
    axe = pathlib.Path(os.environ["GATEHOUSE_PLAYWRIGHT"]) / "node_modules" / "axe-core" / "axe.min.js"
    return Screens(pathlib.Path(folder), axe.read_text(encoding="utf-8"))


def watched(*facts):
    """Makes browsers of people: each has cookies and storage of its own. What none of them may do is looked for at the
    end."""
    made = []

    def visit(**options):
        made.append(Visit(*facts, **options))
        return made[-1]
    yield visit
    faults = [fault for one in made for fault in one.end()]
    assert not faults, "\n".join(faults)


@pytest.fixture()
def visits(browser, stack, logs, accounts):
    """Browsers of people for one test."""
    yield from watched(browser, stack, logs, accounts.secrets)


@pytest.fixture(scope="module")
def visits_of_file(browser, stack, logs, accounts):
    """Browsers of people that all tests of a file share: whoever is signed in there stays so."""
    yield from watched(browser, stack, logs, accounts.secrets)


@pytest.fixture()
def visit(visits):
    """The browser of one person."""
    return visits()
