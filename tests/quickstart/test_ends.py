# SPDX-License-Identifier: MIT
"""What ends tools/quickstart or one of its programs: what comes back, and what is left."""

import os
import pty
import signal
import subprocess

import pytest

from conftest import ENVIRONMENT, wait_until
from test_life import ask, signs_in


def test_it_restarts_what_dies(quickstart):
    quickstart.start()
    for name in ("nginx", "workers", "login", "jobs", "mariadb"):
        quickstart.kill(name)
        wait_until(lambda: ask(quickstart, "GET", "/system/health/ready")[0] == 200, 60, f"readiness after {name}")
        # Another pool than the one that tells of readiness.
        wait_until(lambda: signs_in(quickstart), 60, f"a login after {name}")
    quickstart.stop()
    assert not quickstart.processes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_everything(quickstart, number):
    quickstart.start()
    os.kill(quickstart.pid("quickstart"), number)
    wait_until(lambda: not quickstart.processes(), 60, "the end")


def test_a_killed_supervisor_leaves_nothing_and_does_not_hinder_the_next_start(quickstart):
    quickstart.start()
    quickstart.kill_supervisor()
    quickstart.start()
    assert signs_in(quickstart)
    quickstart.kill_supervisor()
    quickstart.stop()
    assert not quickstart.processes()


def test_ctrl_c_at_the_terminal_ends_everything(quickstart):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(quickstart.command()[0], quickstart.command(), ENVIRONMENT)
    said = b""
    while b"For programs" not in said:
        said += os.read(terminal, 4096)
    assert signs_in(quickstart)
    os.write(terminal, b"\x03")
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass  # the terminal's other end is closed
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert not quickstart.processes()


def test_interrupting_a_start_ends_what_it_has_started(quickstart):
    with subprocess.Popen(quickstart.command("--background"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=ENVIRONMENT) as starting:
        while b"Starting the database" not in (line := starting.stdout.readline()):
            assert line, "it ended before the database was started"
        starting.terminate()
        starting.stdout.read()
        assert starting.wait(60) != 0
    wait_until(lambda: not quickstart.processes(), 60, "the end")
