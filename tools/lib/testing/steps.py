# SPDX-License-Identifier: MIT
"""Programs that are run for a job: their output goes to a log of their own, their end is waited for, and whatever is
still running when the run ends is ended with it."""

import os
import pathlib
import signal
import subprocess
import threading
import time

import failures
import priorities

LIMIT_SECONDS = 2700
ENDING_SECONDS = 60
TAIL_LINES = 200
KEPT = ("HOME", "PATH", "USER", "LOGNAME", "TERM", "CI", "http_proxy", "https_proxy", "no_proxy")
# Compilers by these names remember what they have compiled; the cache stays for the next run.
CCACHE = pathlib.Path("/usr/lib/ccache")
CCACHE_SIZE = "1G"
PLACES = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


class Step:
    """How one program went."""

    def __init__(self, name, log):
        self.name = name
        self.log = log
        self.kind = ""
        self.began = 0.0
        self.status = None
        self.why = ""
        self.stack_logs = None
        self.seconds = self.processor = 0.0
        self.passed = self.failed = self.skipped = 0

    @property
    def good(self):
        """Whether it ended well and reported no failure."""
        return self.status == 0 and not self.failed


class Steps:
    """All programs of a run."""

    def __init__(self, chosen, temporary, disk):
        self.logs = chosen.out / "log"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.temporary = temporary
        self.disk = disk
        self.began = time.monotonic()
        self.ended = []
        self.gave_up = False
        self.ending = False
        self.lock = threading.Lock()
        self.here = threading.local()  # .job: kind and priority of that which this thread carries out
        self.running = set()  # their process ids
        # What the caller's environment holds must not change what is built and tested: Debian's own programs first.
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment = {**kept, "PATH": f"{PLACES}:{kept.get('PATH', '')}".rstrip(":"), "LC_ALL": "C.UTF-8",
                            "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": temporary,
                            "GATEHOUSE_TEST_PYCACHE": f"{temporary}/pycache",
                            "GATEHOUSE_TEST_PORTS": f"{temporary}/ports"}
        os.makedirs(self.environment["GATEHOUSE_TEST_PORTS"], exist_ok=True)
        if CCACHE.is_dir():
            self.environment |= {"PATH": f"{CCACHE}:{self.environment['PATH']}", "CCACHE_MAXSIZE": CCACHE_SIZE,
                                 "CCACHE_DIR": str(pathlib.Path.home() / ".cache" / "gatehouse" / "ccache")}

    def run(self, name, arguments, folder=None, environment=None, limit=LIMIT_SECONDS):
        """Runs a program to its end; the result is not told before note()."""
        step, child = self.start(name, arguments, folder, environment)
        self.wait(step, child, limit)
        return step

    def start(self, name, arguments, folder=None, environment=None):
        """Starts a program in a process group of its own; wait() collects it."""
        step = Step(name, self.logs / f"{name.replace(' ', '-')}.log")
        step.began = time.monotonic()
        step.kind, priority = getattr(self.here, "job", ("build", priorities.ORDINARY))
        with self.lock:
            if self.ending:
                raise SystemExit
            with open(step.log, "wb") as output:
                child = subprocess.Popen([*priorities.lowered(priority), *map(str, arguments)], cwd=folder,
                                         stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                         process_group=0, env={**self.environment, **(environment or {})})
            self.running.add(child.pid)
        return step, child

    def wait(self, step, child, limit):
        """Waits until the program ends; one that takes longer than the limit is ended, and has failed."""
        timer = threading.Timer(limit, self.stop, (child, step, limit))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        with self.lock:
            self.running.discard(child.pid)
        child.returncode = os.waitstatus_to_exitcode(status)
        step.status = child.returncode
        step.seconds = time.monotonic() - step.began
        step.processor = usage.ru_utime + usage.ru_stime

    def stop(self, child, step, limit):
        """Ends a program that takes too long."""
        step.why = f"it took longer than {limit:.0f} seconds"
        end_group(child.pid, ENDING_SECONDS)

    def note(self, step):
        """Tells how a step went, and counts it."""
        with self.lock:
            self.ended.append(step)
            word = "ok    " if step.good else "FAILED"
            print(f"[{time.monotonic() - self.began:5.0f} s] {word} {step.name}: {figures(step)}", flush=True)
            if not step.good:
                found = failures.read(step.log)
                if found:
                    print(f"---- the failed tests in {step.log}\n{found}")
                if step.stack_logs:
                    print(f"---- the logs of its stack will be in {step.stack_logs}")
                print(f"---- the end of {step.log}\n{tail(step.log)}\n----", flush=True)
        return step

    def end_all(self):
        """Ends whatever still runs; nothing new is started."""
        with self.lock:
            self.ending = True
            pids = list(self.running)
        threads = [threading.Thread(target=end_group, args=(pid, ENDING_SECONDS)) for pid in pids]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def end_group(pid, seconds):
    """Asks a process group to end, and kills what is left of it after the given seconds."""
    deadline = time.monotonic() + seconds
    number = signal.SIGTERM
    while True:
        try:
            os.killpg(pid, number)
        except (ProcessLookupError, PermissionError):
            return
        while time.monotonic() < deadline:
            time.sleep(0.1)
            try:
                os.killpg(pid, 0)
            except (ProcessLookupError, PermissionError):
                return
        if number == signal.SIGKILL:
            return
        number, deadline = signal.SIGKILL, time.monotonic() + 5


def figures(step):
    """Counts, seconds and processor seconds, and what was wrong."""
    counts = [f"{number} {word}" for number, word in ((step.passed, "passed"), (step.failed, "failed"),
                                                      (step.skipped, "skipped")) if number]
    parts = [", ".join(counts), f"{step.seconds:.0f} s", f"{step.processor:.0f} s of processor"]
    if step.status != 0 or step.why:
        parts.append(step.why or f"status {step.status}")
    return "; ".join(part for part in parts if part)


def tail(path):
    """The last lines of a log."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])
