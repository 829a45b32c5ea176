# SPDX-License-Identifier: MIT
"""Fixtures of the HTTP tests. They run against a stack that tools/quickstart has started;
GATEHOUSE_QUICKSTART names its quickstart.json. Every reply passes the rules of support/client.py before a
test sees it."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

# A test run has a folder for what Python has compiled, so that not each of its processes compiles the cases again.
sys.pycache_prefix = os.environ.get("GATEHOUSE_TEST_PYCACHE")
sys.dont_write_bytecode = not sys.pycache_prefix

from support import files, samples  # noqa: E402
from support.accounts import Accounts  # noqa: E402
from support.client import Api  # noqa: E402
from support.connections import ask  # noqa: E402
from support.database import Database  # noqa: E402
from support.days import one_day  # noqa: E402, F401
from support.logs import Logs  # noqa: E402
from support.mail import Mailbox  # noqa: E402
from support.members import Members  # noqa: E402
from support.openapi import Document  # noqa: E402
from support.programs import crash  # noqa: E402
from support.runs import deviations, sharing  # noqa: E402
from support.runs.seed import pytest_terminal_summary, seeded  # noqa: E402, F401
from support.stack import Stack  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]


def pytest_sessionstart(session):
    # Whoever ends us by a signal has the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if session.config.option.collectonly:
        return
    path = os.environ.get("GATEHOUSE_QUICKSTART")
    if not path or not os.path.exists(path):
        pytest.exit(f"GATEHOUSE_QUICKSTART must name the quickstart.json of a running stack; it is {path!r}",
                    returncode=2)


def pytest_collection_modifyitems(items):
    items.sort(key=sharing.order)
    deviations.skip_what_cannot_run(items, emulator())


def pytest_runtestloop(session):
    """Runs the cases of this process' share; None lets pytest run all of them."""
    if not os.environ.get("GATEHOUSE_TEST_SHARE") or session.config.option.collectonly or session.testsfailed:
        return None
    sharing.run(session)
    return True


def emulator():
    """What stands for the identity provider; None: the embedded one, or no stack at all."""
    path = os.environ.get("GATEHOUSE_QUICKSTART")
    return Stack(path).emulator if path and os.path.exists(path) else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    deviations.compare(item, call, outcome.get_result(), emulator())


@pytest.fixture(scope="session")
def stack():
    return Stack(os.environ["GATEHOUSE_QUICKSTART"])


@pytest.fixture(scope="session")
def document(stack):
    reply = ask("GET", stack.url("/system/openapi.json"))
    assert reply.status_code == 200, f"openapi.json: {reply.status_code} {reply.text[:300]}"
    return Document(reply.json())


@pytest.fixture(scope="session")
def api(stack, document):
    return Api(stack, document)


@pytest.fixture(scope="session")
def database(stack):
    return Database(stack.database)


@pytest.fixture(scope="session")
def mailbox(stack):
    return Mailbox(stack.mail)


@pytest.fixture(scope="session")
def logs(stack):
    return Logs(stack.logs)


@pytest.fixture(scope="session")
def log_start(logs):
    """Where every log file ended before the first test."""
    return logs.mark()


@pytest.fixture(autouse=True)
def fresh_throttle(database):
    """No test is answered 429 for what another test got wrong."""
    database.lift_throttles()


@pytest.fixture(scope="session")
def accounts(api, stack, mailbox, database, log_start):
    assert log_start is not None
    database.lift_throttles()
    return Accounts(api, stack, mailbox, database)


@pytest.fixture(scope="session")
def members(accounts):
    return Members(accounts)


@pytest.fixture(scope="session")
def administrator(accounts):
    return accounts.administrator


@pytest.fixture(scope="session")
def owner(accounts):
    """The owner of a customer; tests that use it leave its roles, permissions, status and password as they
    are."""
    return accounts.customer()


@pytest.fixture(scope="session")
def other(accounts):
    """The owner of another customer."""
    return accounts.customer()


@pytest.fixture(scope="session")
def nobody(accounts):
    """An active user who holds no permission at all."""
    return accounts.user_with("")


@pytest.fixture()
def customer(accounts):
    """A new customer of the test's own."""
    return accounts.customer()


@pytest.fixture(scope="session")
def subject(accounts):
    """A user whose grants each test sets for itself."""
    return accounts.user_with("")


@pytest.fixture(scope="module")
def boss(accounts):
    """The owner of a customer of the module's own."""
    return accounts.customer()


@pytest.fixture()
def member(members, boss):
    """An active member of that customer, of the test's own."""
    return members.active(boss)


@pytest.fixture(scope="module")
def keeper(accounts):
    """A customer of the module's own, for files that other modules shall not see in their lists."""
    return accounts.customer()


@pytest.fixture()
def stored(keeper):
    """A PNG just uploaded: (record, bytes)."""
    data = samples.picture()
    return files.upload(keeper, data, "picture.png", bucket="images", kind="image"), data


@pytest.fixture()
def nothing_kept(stack, keeper):
    """Fails when the test left a new file behind, on the disk or in the list."""
    blobs, rows = stack.blob_files(), [item["id"] for item in files.listed(keeper, status="all")]
    yield
    assert stack.blob_files().keys() == blobs.keys(), "bytes were left behind in the blob directory"
    assert [item["id"] for item in files.listed(keeper, status="all")] == rows, "a record was left behind"


@pytest.fixture(scope="session")
def killable(stack):
    """Skips where a test that kills programs in the middle of their work would show nothing."""
    if stack.web_server != "nginx":
        pytest.skip("what a crash leaves does not depend on the web server; it is looked at behind nginx")
    if crash.sanitized(stack):
        pytest.skip("a worker with sanitizers takes no preloaded library")


@pytest.fixture(scope="session")
def kill_library(stack, tmp_path_factory):
    """The library that ends a program at its N-th message to the database."""
    if crash.sanitized(stack):
        pytest.skip("a worker with sanitizers takes no preloaded library")
    return crash.build(tmp_path_factory.mktemp("library"))


@pytest.fixture()
def doom(stack, kill_library, tmp_path):
    """Programs of the test's own that can be ended so."""
    return crash.Crash(stack, kill_library, tmp_path)


@pytest.fixture()
def small_disk(tmp_path):
    """A file system of 4 MiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    mount = tmp_path / "disk"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", str(mount)], check=True)
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


@pytest.fixture(scope="session")
def promtool():
    """Path of promtool."""
    run = subprocess.run([TOP / "tools" / "lib" / "promtool"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()
