# SPDX-License-Identifier: MIT
"""Looks at readiness whose parts have time to answer. With the usual deadline of three seconds a part that a busy
machine does not come to is called down, or is warned of."""

import json

from support.programs import system
from support.stack import wait_until

# The longest deadline that the service takes.
LONG = 60
# A look with it may take as long, and what comes before and after it.
PATIENCE = 90


def worker(stack, **settings):
    """A worker of the test's own that has time for each look."""
    return system.worker(stack, health_deadline_seconds=LONG, **settings)


def ready(api):
    """What the stack says, which is ready; it has the usual deadline, and may need another look."""

    def look():
        reply = api.get("/system/health/ready", status={200, 500})
        return reply.json() if reply.status_code == 200 else None

    return wait_until(look, PATIENCE, "the service to be ready")


def ask(asked, stack):
    """The answer of a test's own worker, and its body."""
    answer = asked.call("GET", stack.prefix + "/system/health/ready", timeout=PATIENCE)
    return answer, json.loads(answer.body)
