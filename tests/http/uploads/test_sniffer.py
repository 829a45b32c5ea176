# SPDX-License-Identifier: MIT
"""The process that examines the bytes of files: it has nothing but its walls, and when it dies or hangs, that costs one
upload."""

import ctypes
import fcntl
import json
import os
import pathlib
import re
import signal
import sys
import termios
import threading

import pytest

from support import files, multipart, readiness, samples
from support.programs import crash, operator, system
from support.stack import wait_until

KEEPER, SNIFFER = "sniffer-keeper", "sniffer"


def of_process(pid, name):
    return re.search(rf"(?m)^{name}:\s*(\S+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]


def sniffer_of(worker):
    """The pids of a worker's keeper and sniffer, once both are there."""

    def found():
        for keeper in crash.children(worker):
            for sniffer in crash.children(keeper):
                if (of_process(keeper, "Name"), of_process(sniffer, "Name")) == (KEEPER, SNIFFER):
                    return keeper, sniffer
        return None

    return wait_until(found, 20, f"the sniffer of worker {worker}")


def ended(pid):
    """Whether a process is gone, or is only still in the list."""
    try:
        return of_process(pid, "State") == "Z"
    except OSError:
        return True


def stop(sniffer):
    """It stands still on return: until the signal is taken, it may take one question more."""
    os.kill(sniffer, signal.SIGSTOP)
    assert crash.stand_still([sniffer])


PIDFD_GETFD = 438


def asked(sniffer):
    """Whether a question lies in the socket of a sniffer that stands still."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(sniffer)
    try:
        for one in pathlib.Path(f"/proc/{sniffer}/fd").iterdir():
            if not os.readlink(one).startswith("socket"):
                continue
            copy = libc.syscall(PIDFD_GETFD, process, int(one.name), 0)
            assert copy >= 0, os.strerror(ctypes.get_errno())
            waiting = fcntl.ioctl(copy, termios.FIONREAD, b"\0" * 4)
            os.close(copy)
            return int.from_bytes(waiting, sys.byteorder) > 0
    finally:
        os.close(process)
    raise AssertionError("the sniffer has no socket")


def send(worker, stack, account, data, timeout=30):
    """Uploads straight to one worker."""
    mark = multipart.boundary()
    body = multipart.encode(files.form(data, f"{samples.word()}.bin"), mark)
    return worker.call("POST", stack.prefix + "/system/files", token=account.token, body=body,
                       content_type=multipart.content_type(mark), timeout=timeout)


def sends(worker, stack, account):
    answer = send(worker, stack, account, samples.noise(100))
    assert answer.status == 200, answer.body


@pytest.mark.web_server
def test_every_worker_has_a_sniffer_with_nothing_but_its_walls(stack, api):
    readiness.ready(api)
    items = operator.run(stack, "check", "--json", status=None).stdout
    filtered = re.search(r'"part":\s*"sandbox",\s*"state":\s*"warning"', items) is None
    for worker in stack.workers():
        for pid in sniffer_of(worker):
            assert of_process(pid, "NoNewPrivs") == "1"
            assert not filtered or of_process(pid, "Seccomp") == "2"
        keeper, sniffer = sniffer_of(worker)
        opened = {one.name: os.readlink(one) for one in pathlib.Path(f"/proc/{sniffer}/fd").iterdir()}
        if crash.sanitized(stack):  # a sanitizer speaks on stderr
            del opened["2"]
        assert [one.split(":")[0] for one in opened.values()] == ["socket"], opened
        assert pathlib.Path(f"/proc/{sniffer}/environ").read_bytes().strip(b"\0") == b""
        limits = pathlib.Path(f"/proc/{sniffer}/limits").read_text()
        for name in ("open files", "file size", "processes", "core file size"):
            assert re.search(rf"Max {name} +0 +0 ", limits), name
        assert re.search("Max cpu time +60 +60 ", limits)
        assert crash.sanitized(stack) or re.search(rf"Max data size +{64 << 20} ", limits)


def test_a_sniffer_killed_while_idle_costs_nothing(stack, keeper):
    with system.worker(stack) as worker:
        _, sniffer = sniffer_of(worker.process.pid)
        os.kill(sniffer, signal.SIGKILL)
        wait_until(lambda: ended(sniffer), 20, "the sniffer to end")
        sends(worker, stack, keeper)
        assert sniffer_of(worker.process.pid)[1] != sniffer


def test_a_sniffer_killed_at_work_costs_one_upload(stack, keeper, logs):
    mark = logs.mark()
    with system.worker(stack) as worker:
        _, sniffer = sniffer_of(worker.process.pid)
        stop(sniffer)
        answers = []
        upload = threading.Thread(
            target=lambda: answers.append(send(worker, stack, keeper, samples.noise(20_000))))
        upload.start()
        wait_until(lambda: asked(sniffer), 20, "the worker to ask its sniffer")
        os.kill(sniffer, signal.SIGKILL)
        upload.join(30)
        assert [(answer.status, json.loads(answer.body)["code"]) for answer in answers] == [(500, "internal")]
        told = "the sniffer was lost: it ended (status 0, signal 9)"
        wait_until(lambda: logs.find(mark, told), 20, "a line of the log")
        sends(worker, stack, keeper)


def test_a_sniffer_that_hangs_costs_one_upload(stack, keeper):
    with system.worker(stack) as worker:
        _, sniffer = sniffer_of(worker.process.pid)
        stop(sniffer)
        answer = send(worker, stack, keeper, samples.noise(100))
        assert (answer.status, json.loads(answer.body)["code"]) == (500, "internal")
        wait_until(lambda: ended(sniffer), 20, "the sniffer to be ended")
        sends(worker, stack, keeper)


def test_a_worker_without_its_keeper_ends(stack, keeper):
    with system.worker(stack) as worker:
        watched, sniffer = sniffer_of(worker.process.pid)
        os.kill(watched, signal.SIGKILL)
        wait_until(lambda: ended(sniffer), 20, "the sniffer to end with its keeper")
        answer = send(worker, stack, keeper, samples.noise(100))
        assert (answer.status, json.loads(answer.body)["code"]) == (500, "internal")
        assert worker.process.wait(20) == 0


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_both_end_with_the_worker(stack, end):
    with system.worker(stack) as worker:
        both = sniffer_of(worker.process.pid)
        worker.process.send_signal(end)
        worker.process.wait(20)
        for pid in both:
            wait_until(lambda pid=pid: ended(pid), 20, "the worker's processes to end with it")


def test_a_signal_to_all_processes_costs_no_upload(stack, keeper):
    """systemd sends one to every process of a service that stops, and the worker still ends its request."""
    with system.worker(stack) as worker:
        both = sniffer_of(worker.process.pid)
        for pid in both:
            for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
                os.kill(pid, one)
        sends(worker, stack, keeper)
        assert sniffer_of(worker.process.pid) == both


def test_without_the_sandbox_it_is_a_process_of_its_own_as_well(stack, keeper):
    with system.worker(stack, service_sandbox="false") as worker:
        _, sniffer = sniffer_of(worker.process.pid)
        assert of_process(sniffer, "Seccomp") == of_process(os.getpid(), "Seccomp")
        sends(worker, stack, keeper)
        os.kill(sniffer, signal.SIGKILL)
        wait_until(lambda: ended(sniffer), 20, "the sniffer to end")
        sends(worker, stack, keeper)


def test_check_tries_a_sniffer(stack):
    assert '"part": "sniffer"' in operator.run(stack, "check", "--json", status=None).stdout.replace('":"', '": "')
