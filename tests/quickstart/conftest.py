# SPDX-License-Identifier: MIT
"""A quick start of a test's own: $GATEHOUSE_BUILD_DIRECTORY is the build that all of them share; $GATEHOUSE_IS_BUILT is
not empty where it is up to date."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = TOP / "tools" / "quickstart"
PORTS = TOP / "tools" / "lib" / "quickstart" / "ports.py"
ENVIRONMENT = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin",
               "GATEHOUSE_TEST_PORTS": os.environ.get("GATEHOUSE_TEST_PORTS", "")}


def pytest_sessionstart():
    # Whoever ends us by a signal has the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


class Quickstart:
    """One state folder and the program that runs it."""

    def __init__(self, folder):
        self.state = folder / "state"
        self.port = free_port()
        self.builds = not os.environ.get("GATEHOUSE_IS_BUILT")

    def command(self, *options):
        """The command line for this state folder."""
        return [str(PROGRAM), "--state", str(self.state), "--port", str(self.port), "--no-install",
                "--build-directory", os.environ["GATEHOUSE_BUILD_DIRECTORY"],
                f"--configure-arguments={os.environ.get('GATEHOUSE_CONFIGURE_ARGUMENTS', '')}",
                *([] if self.builds else ["--no-build"]), *options]

    def run(self, *options, environment=None, timeout=1800):
        """Runs it to its end without a terminal; the result has returncode, stdout and stderr. The first to start
        builds all, where that was not done before."""
        return subprocess.run(self.command(*options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment or ENVIRONMENT, text=True, timeout=timeout,
                              check=False)

    def start(self, *options, environment=None):
        """--background, which must succeed."""
        done = self.run("--background", *options, environment=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def stop(self):
        """--stop, which must succeed."""
        done = self.run("--stop")
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def facts(self):
        """quickstart.json as it is now."""
        return json.loads((self.state / "quickstart.json").read_text())

    def pid(self, name):
        """The recorded process of that name."""
        return self.facts()["pids"][name]

    def kill(self, name):
        """SIGKILL to it; waits until another one is recorded in its place."""
        old = self.pid(name)
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: self.facts()["pids"].get(name, old) != old, 60, f"another {name}")

    def kill_supervisor(self):
        """SIGKILL to the one process that ends the others; waits until it has gone."""
        pid = self.pid("quickstart")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in self.processes(), 60, "the supervisor's end")

    def processes(self):
        """Every process whose command line or environment names the state folder: {pid: command}."""
        word, found = os.fsencode(self.state), {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    command = (entry / "cmdline").read_bytes()
                    if word in command or word in (entry / "environ").read_bytes():
                        found[int(entry.name)] = command.replace(b"\0", b" ").decode()
                except OSError:
                    pass
        return found


def free_port():
    """A port of the loopback address that nobody has, nor gets by chance."""
    return int(subprocess.run([PORTS], stdout=subprocess.PIPE, text=True, check=True).stdout)


def wait_until(question, seconds, what):
    """Polls question() until it answers something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"after {seconds} s still waiting for {what}"
        time.sleep(0.05)


@pytest.fixture
def folder():
    """A folder with a short path, for the sockets' sake."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="q", dir=os.environ.get("TMPDIR", "/tmp")))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def quickstart(folder):
    """A state folder; whatever runs in it at the end of the test is ended."""
    made = Quickstart(folder)
    yield made
    made.run("--stop")
    for pid in made.processes():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def another(folder):
    """A second one beside it."""
    path = folder / "another"
    path.mkdir()
    made = Quickstart(path)
    yield made
    made.run("--stop")
