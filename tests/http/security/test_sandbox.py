# SPDX-License-Identifier: MIT
"""What a running worker and job runner has given up, and that it is told."""

import ctypes
import json
import pathlib
import re

import pytest

from support import readiness
from support.programs import operator


def status(pid, name):
    return re.search(rf"(?m)^{name}:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]


def walls(stack):
    """What `gatehousectl check` says of the sandbox: ok, or what is missing."""
    items = json.loads(operator.run(stack, "check", "--json", status=None).stdout)["items"]
    return next(one for one in items if one["part"] == "sandbox")


CREATE_RULESET, VERSION = 444, 1


def landlock():
    """The version of Landlock that this kernel offers to any process, and that is used; 0: none."""
    number = ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
    return number if number >= 2 else 0


def told_by(logs, pid, message):
    """What a process has told of itself, the newest line of this message."""
    lines = [json.loads(line[line.index(b"{"):]) for line in logs.find({}, message)]
    return [line for line in lines if line["pid"] == pid and line["message"] == message][-1]


@pytest.mark.web_server
def test_every_worker_and_job_runner_has_its_walls(stack, api):
    readiness.ready(api)
    filtered = walls(stack)["state"] != "warning"
    pids = stack.workers() + stack.pids_named("jobs")
    assert len(pids) >= 2
    for pid in pids:
        assert status(pid, "NoNewPrivs") == "1"
        assert not filtered or status(pid, "Seccomp") == "2"


@pytest.mark.web_server
def test_every_worker_and_job_runner_has_landlock_and_each_sniffer_as_well(stack, api, logs):
    """Nothing in /proc shows Landlock. Each process has logged what the kernel let it raise."""
    readiness.ready(api)
    offered, filtered = landlock(), walls(stack)["state"] != "warning"
    workers, runners = stack.workers(), stack.pids_named("jobs")
    assert workers and runners
    for pid in workers + runners:
        told = told_by(logs, pid, "the sandbox is up")
        assert (told["landlock"], told["ports"]) == (offered, offered >= 4)
        assert told["systemCalls"] or not filtered
    for pid in workers:
        told = told_by(logs, pid, "the sniffer is ready")
        assert told["landlock"] == offered
        assert told["systemCalls"] or not filtered


def test_the_walls_that_the_kernel_lacks_are_told(stack):
    told = walls(stack)
    assert told["state"] in ("ok", "note", "warning")
    assert told["state"] == "ok" or "sandbox is not whole" in json.dumps(told)
