# SPDX-License-Identifier: MIT
"""Random numbers that a failed run can be given again: GATEHOUSE_TEST_SEED=N. A conftest.py imports all of it.

Each test begins with the seed of the run and its own name, so the numbers do not depend on the tests before it.
"""

import os
import random

import pytest

SEED = int(os.environ.get("GATEHOUSE_TEST_SEED") or random.SystemRandom().getrandbits(32))


@pytest.fixture(autouse=True)
def seeded(request):
    """Random numbers of this test's own."""
    random.seed(f"{SEED} {request.node.nodeid}")


def pytest_terminal_summary(terminalreporter):
    """After a failure: the seed, and where the stack has written its logs."""
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"random numbers: GATEHOUSE_TEST_SEED={SEED}")
        terminalreporter.write_line(f"the stack: {os.environ.get('GATEHOUSE_QUICKSTART')}")
