# SPDX-License-Identifier: MIT
"""A worker of the test's own: the same program on the same database, with settings changed through the
environment.

It listens on a socket in a temporary folder, given to it as file descriptor 0 just as spawn-fcgi gives it,
and is spoken to with the FastCGI client. So a test can break what it likes (a full disk, a database that is
not there) without breaking it for others.
"""

import contextlib
import os
import resource
import socket
import subprocess
import tempfile
import urllib.parse

from support.stack import wait_until
from support.wire import fastcgi_client


class Worker:
    """One gatehouse.fcgi process and the way to it."""

    def __init__(self, process, path, log):
        self.process = process
        self.path = path
        self.log = log
        self.doomed = False  # it may have ended before it is asked: see crash.py

    def connect(self, timeout=15.0):
        """A FastCGI connection to the worker."""
        return fastcgi_client.Connection(self.path, timeout)

    def call(self, method, uri, *, token=None, body=b"", content_type=None, headers=None, timeout=30.0):
        """One request; returns a fastcgi_client.Answer."""
        headers = dict(headers or {})
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        parameters = fastcgi_client.environment(method,
                                                uri,
                                                body=body,
                                                content_type=content_type,
                                                headers=headers)
        try:
            with self.connect(timeout) as connection:
                return connection.request(parameters, body)
        except ConnectionRefusedError:
            if not self.doomed:
                raise
            return fastcgi_client.Answer(b"", b"", False, None, None)


@contextlib.contextmanager
def worker(stack, limits=(), count=1, pool="worker", **settings):
    """Starts a worker with settings such as files_directory="/tmp/x" (section_name=value); limits are
    (RLIMIT, value) pairs. With a count so many share the socket, and the first stands for all. The socket is called as
    the pool."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    for name, value in settings.items():
        environment[f"GATEHOUSE_{name.upper()}"] = str(value)

    def prepare():
        for what, value in limits:
            resource.setrlimit(what, (value, value))

    with tempfile.TemporaryDirectory(prefix="gatehouse-worker-") as folder:
        path = os.path.join(folder, pool + ".sock")
        log = os.path.join(folder, "stderr.log")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, open(log, "wb") as errors:
            listener.bind(path)
            listener.listen(128)
            processes = [
                subprocess.Popen(stack.as_workers([stack.worker_program(), "--config", stack.configuration]),
                                 stdin=listener,
                                 stdout=errors,
                                 stderr=errors,
                                 env=environment,
                                 cwd=folder,
                                 preexec_fn=prepare) for _ in range(count)
            ]
        try:
            started = Worker(processes[0], path, log)
            prefix = urllib.parse.urlsplit(settings.get("service_base_url", stack.base_url)).path
            wait_until(lambda: _answers(started, prefix), 60,
                       f"the test's own worker to answer; it wrote: {_read(log)}")
            yield started
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _answers(started, prefix):
    assert started.process.poll(
    ) is None, f"the worker left with {started.process.returncode}: {_read(started.log)}"
    try:
        # One question. The worker would answer one that was given up as well, later, and count it.
        return started.call("GET", f"{prefix}/system/health/live", timeout=60).status == 200
    except OSError:
        return False


def _read(path):
    with open(path, "r", encoding="utf-8", errors="replace") as file:
        return file.read()[-2000:]
