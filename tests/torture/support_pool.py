# SPDX-License-Identifier: MIT
"""Workers of a test's own, several on one socket, each of which may be killed."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading

from support.stack import wait_until
from support.wire import fastcgi_client


class Pool:
    """gatehouse.fcgi processes on one listening socket; `settings` as for support.system.worker."""

    def __init__(self, stack, count, environment=None, **settings):
        self.stack = stack
        self.count = count
        self.folder = tempfile.TemporaryDirectory(prefix="gatehouse-pool-")
        self.path = os.path.join(self.folder.name, "worker.sock")
        self.log = pathlib.Path(self.folder.name) / "workers.log"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
        self.environment |= {f"GATEHOUSE_{name.upper()}": str(value) for name, value in settings.items()}
        self.environment |= environment or {}
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(128)
        self.processes = []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()
        self.listener.close()
        said = self.log.read_text(errors="replace")
        self.folder.cleanup()
        report = re.search(r"ERROR: (Address|Leak)Sanitizer|runtime error:", said)
        assert report is None, f"a sanitizer's report: {said[report.start():][:2000]}"

    def start(self):
        """Starts the workers and waits until one answers."""
        with open(self.log, "ab") as errors:
            self.processes = [
                subprocess.Popen([self.stack.worker_program(), "--config", self.stack.configuration],
                                 stdin=self.listener,
                                 stdout=errors, stderr=errors, env=self.environment, cwd=self.folder.name)
                for _ in range(self.count)
            ]
        wait_until(self.answers, 30, f"workers to start; they wrote {self.log.read_text(errors='replace')[-2000:]}")

    def freeze(self):
        """SIGSTOP, all of them."""
        for process in self.processes:
            process.send_signal(signal.SIGSTOP)

    def kill(self):
        """kill -9, all of them; who waits for an answer learns that there will be none."""
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
        for process in self.processes:
            process.wait(20)
        self.processes = []
        self.drop_waiting()

    def end(self):
        """SIGTERM, all of them: a worker that ends in order looks for leaks, and writes what gcov has counted."""
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGCONT)
        try:
            for process in self.processes:
                process.wait(60)
        finally:
            self.kill()

    def drop_waiting(self):
        """Closes the connections that no worker has accepted: their clients would wait for the next start."""
        self.listener.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.listener.accept()[0].close()
        self.listener.setblocking(True)

    def living(self):
        """How many run."""
        return sum(process.poll() is None for process in self.processes)

    def answers(self):
        """Whether a null request is answered."""
        assert self.living(), f"no worker lives: {self.log.read_text(errors='replace')[-2000:]}"
        try:
            # One question. The worker would answer one that was given up as well, in the midst of what a test counts.
            return self.call("GET", "/system/health/live", timeout=60).status == 200
        except (OSError, fastcgi_client.socket.timeout):
            return False

    def call(self, method, uri, *, token=None, body=b"", content_type=None, timeout=60.0, headers=None):
        """One request; returns a fastcgi_client.Answer."""
        headers = dict(headers or {}, **({"Authorization": f"Bearer {token}"} if token else {}))
        parameters = fastcgi_client.environment(method, self.stack.prefix + uri, body=body, content_type=content_type,
                                                headers=headers)
        with fastcgi_client.Connection(self.path, timeout) as connection:
            return connection.request(parameters, body)

    def upload(self, ledger, token, size, data=None):
        """One upload, noted in the ledger; returns the answer, None when there was none."""
        name, body, content_type = ledger.new(size, data)
        try:
            answer = self.call("POST", "/system/files", token=token, body=body, content_type=content_type)
        except OSError as fault:
            ledger.lost(name, fault)
            return None
        if not answer.ended or not answer.body:
            ledger.lost(name, "the worker left in the middle")
            return None
        ledger.answered(name, answer.status, answer.body)
        return answer

    def no_worker_hangs(self):
        """As many null requests at once as there are workers, each answered soon."""
        statuses = []

        def ask():
            statuses.append(self.call("GET", "/system/health/live", timeout=30).status)

        threads = [threading.Thread(target=ask) for _ in range(2 * self.count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * (2 * self.count), f"null requests were answered {statuses}"
        assert self.living() == self.count, "a worker has left"
