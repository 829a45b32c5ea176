# SPDX-License-Identifier: MIT
"""A running service for the tests of one job: a quick start in the foreground, so that what it and all its children
used is known at its end."""

import itertools
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import counts

READY_SECONDS = 300
REPORT = re.compile(r"ERROR: (Address|Leak)Sanitizer|runtime error:")
REPORT_LINES = 100
numbers = itertools.count(1)


class Stack:
    """with Stack(...) as stack: stack.ready tells whether it came up; its folder goes at the end."""

    def __init__(self, chosen, steps, where, options):
        self.chosen = chosen
        self.steps = steps
        self.where = where
        self.options = options
        self.state = f"{steps.temporary}/s{next(numbers)}"  # short, for the sockets' sake
        self.facts = f"{self.state}/quickstart.json"
        self.kept = chosen.out / "log" / f"state-{where.replace(' ', '-')}"  # its logs, when it has ended
        self.ready = False
        self.started = None

    def __enter__(self):
        here = self.chosen.top / "tools"
        port = subprocess.run([here / "lib" / "quickstart" / "ports.py"], stdout=subprocess.PIPE, text=True, check=True,
                              env=self.steps.environment)
        self.step, self.child = self.steps.start(f"stack {self.where}", [
            here / "quickstart", "--state", self.state, "--port", port.stdout.strip(), *self.options,
            "--build-directory", self.chosen.out / "quickstart", f"--configure-arguments={self.chosen.configure}",
            "--no-build"])
        self.waiter = threading.Thread(target=self.steps.wait, args=(self.step, self.child, 7200))
        self.waiter.start()
        deadline = time.monotonic() + READY_SECONDS
        while self.waiter.is_alive() and time.monotonic() < deadline and not os.path.exists(self.facts):
            time.sleep(0.1)
        self.ready = os.path.exists(self.facts)
        return self

    def __exit__(self, *_):
        came_up = self.ready and self.waiter.is_alive()
        if self.waiter.is_alive():
            os.kill(self.child.pid, signal.SIGTERM)
        self.waiter.join()
        self.step.status = 0 if came_up and self.step.status in (0, 130) else self.step.status or 1
        shutil.rmtree(self.kept, ignore_errors=True)
        if os.path.isdir(f"{self.state}/log"):
            shutil.copytree(f"{self.state}/log", self.kept, dirs_exist_ok=True)
        found = sanitizer_reports(self.kept)
        if found:
            self.step.status, self.step.why = 1, "a sanitizer reported"
            with open(self.step.log, "a", encoding="utf-8") as log:
                log.write(found)
        counts.one(self.step)
        self.steps.note(self.step)
        shutil.rmtree(self.state, ignore_errors=True)

    def environment(self):
        """What tests find the stack by."""
        return {"GATEHOUSE_QUICKSTART": self.facts, **sanitizer_options()}


def sanitizer_options():
    """For builds with a sanitizer, as the quick start has it: what a short program leaves to its end is no leak that
    matters."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=0")}


def sanitizer_reports(folder):
    """What a sanitizer found in a process of the stack shows in its log, whatever the client saw."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        first = next((number for number, line in enumerate(lines) if REPORT.search(line)), None)
        if first is not None:
            found += [f"{path}:", *lines[first:first + REPORT_LINES]]
    return "\n".join(found)
