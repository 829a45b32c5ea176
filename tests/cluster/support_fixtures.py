# SPDX-License-Identifier: MIT
"""The fixtures of tests that break a running whole: of a cluster, of a real Ceph."""

import os
import signal

import pytest
from support.stack import Stack
from support_figures import Figures


def pytest_sessionstart():
    # Whoever ends us by a signal has the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def full():
    """Whether the long variants are asked for (tools/test full)."""
    return bool(os.environ.get("GATEHOUSE_TEST_FULL"))


@pytest.fixture(scope="session")
def stack():
    """What the quick start has started."""
    return Stack(os.environ["GATEHOUSE_QUICKSTART"])


@pytest.fixture(scope="session")
def figures():
    """Where tests write what they have measured; printed at once and at the end."""
    made = Figures()
    yield made
    made.tell()
