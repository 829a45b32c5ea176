# SPDX-License-Identifier: MIT
"""What all of them have in common: fetched once, a port of its own that stays, a folder for its data."""

import http.client
import os

from layout import write
from output import say, tail
from ports import free_port, is_free
from problem import Problem

HOST = "127.0.0.1"
# What the clients of package registries need of the caller's environment.
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def status_of(path, address, port):
    """The status of a GET; None: nobody answers."""
    connection = http.client.HTTPConnection(address, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Provider:
    """One provider of a state folder. A class of its own tells how it is started, set up and named in
    gatehouse.conf."""

    emulator = None  # its folder in tools/lib/emulators, and `emulator` in quickstart.json
    packages = ()  # groups of tools/lib/packages.txt
    seconds = 120  # how long it may take until it answers

    def __init__(self, chosen, layout, processes):
        self.layout = layout
        self.processes = processes
        self.folder = chosen.build_directory / "emulators"
        self.home = self.folder / self.emulator
        self.data = layout.providers / self.emulator
        self.fetcher = chosen.top / "tools" / "lib" / "emulators" / "fetch"
        self.port = None

    @property
    def url(self):
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def fetch(self):
        """Puts the program there, unless it is."""
        log = self.layout.log / "fetch.log"
        log.unlink(missing_ok=True)
        say(f"Fetching {self.emulator}, unless it is there")
        environment = self.processes.environment | {name: os.environ[name] for name in PROXIES if name in os.environ}
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if self.processes.run([self.fetcher, self.emulator, self.folder], log, environment=environment) != 0:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or [f"{self.fetcher} failed."]
            raise Problem(f"{lines[-1]}\n{tail(log)}")

    def start(self, supervisor):
        """Starts it and waits until it answers, then has it set up."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.port = self.take_port()
        say(f"Starting {self.emulator}")
        service = self.service()
        supervisor.add(service)
        supervisor.await_answer(service, self.answers, self.seconds, f"{self.emulator} does not answer")

    def take_port(self):
        """A port that was free at the first start and is kept: tokens name it. Another one when it is taken now."""
        kept = self.data / "port"
        if kept.exists():
            port = int(kept.read_text(encoding="ascii"))
            if is_free(port, again=True):
                return port
        port = free_port()
        write(kept, f"{port}\n")
        return port

    def get(self, path):
        """The status of a GET; None: nobody answers."""
        return status_of(path, HOST, self.port)

    def gatehousectl(self, *arguments):
        """Runs the operator's program; returns what it says. That of a failure is the Problem."""
        log = self.layout.log / "provider-setup.log"
        log.unlink(missing_ok=True)
        command = [self.layout.gatehousectl, "--config", self.layout.configuration, *arguments]
        if self.processes.run(command, log) != 0:
            raise Problem(f"gatehousectl {arguments[0]} failed:\n{tail(log)}")
        return log.read_text(encoding="utf-8")

    def service(self):
        """How it runs (supervisor.Service)."""
        raise NotImplementedError

    def answers(self):
        """Whether it takes requests now."""
        raise NotImplementedError

    def set_up(self):
        """Makes what Gatehouse needs there, and finds what an earlier start made. gatehouse.conf is written already,
        with values() of before, and is written again afterwards."""
        raise NotImplementedError

    def values(self):
        """Its lines of gatehouse.conf as {(section, name): value}; before set_up() some may stand for what is to
        come."""
        raise NotImplementedError
