# SPDX-License-Identifier: MIT
"""What a running worker and job runner has given up, and that it is told."""

import json
import pathlib
import re

import pytest

from support.programs import operator


def status(pid, name):
    return re.search(rf"(?m)^{name}:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]


def walls(stack):
    """What `gatehousectl check` says of the sandbox: ok, or what is missing."""
    items = json.loads(operator.run(stack, "check", "--json", status=None).stdout)["items"]
    return next(one for one in items if one["part"] == "sandbox")


@pytest.mark.web_server
def test_every_worker_and_job_runner_has_its_walls(stack, api):
    api.get("/system/health/ready", status=200)
    filtered = walls(stack)["state"] != "warning"
    pids = stack.workers() + stack.pids_named("jobs")
    assert len(pids) >= 2
    for pid in pids:
        assert status(pid, "NoNewPrivs") == "1"
        assert not filtered or status(pid, "Seccomp") == "2"


def test_the_walls_that_the_kernel_lacks_are_told(stack):
    told = walls(stack)
    assert told["state"] in ("ok", "note", "warning")
    assert told["state"] == "ok" or "sandbox is not whole" in json.dumps(told)
