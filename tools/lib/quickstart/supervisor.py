# SPDX-License-Identifier: MIT
"""Starts services in order, restarts what dies, ends them in the reverse order."""

import dataclasses
import os
import pathlib
import signal
import time

import layout as layouts
import output
from problem import Interrupted, Problem
from processes import start_time

# A service that dies is started again at once, then after growing waits, from the beginning when it lived this long.
SHORTEST_WAIT, LONGEST_WAIT, STEADY_AFTER = 0.1, 1.0, 10.0
# How often it is looked whether what is kept dead may live again.
HELD_SECONDS = 0.1
# Before the first readiness, dying this often means that it will not work.
START_ATTEMPTS = 4


@dataclasses.dataclass
class Service:
    """A program to keep running. `ending`: the signals that end it, each with the seconds it has to go."""

    name: str
    log: pathlib.Path
    arguments: list
    ending: tuple = ((signal.SIGTERM, 10),)
    prefix: tuple = ()  # options for setpriv
    environment: dict = None
    batch: bool = False  # see processes.take_turns()
    folder: pathlib.Path = None  # the state folder unless given
    rest: float = 0.0  # the least wait in seconds between a death and the next start
    pid: int = None
    started: float = 0.0
    wait: float = 0.0
    deaths: int = 0


class Supervisor:
    """The services of one state folder."""

    def __init__(self, layout, processes):
        self.layout = layout
        self.processes = processes
        self.services = []
        self.facts = None
        self.more_facts = dict
        self.say = output.say

    def add(self, service):
        """Starts a service, to be kept running from now on."""
        self.services.append(service)
        self.start(service)

    def pids_of(self, prefix):
        """The processes of the services whose names begin so, by the rest of the name."""
        return {service.name.removeprefix(prefix): service.pid for service in self.services
                if service.name.startswith(prefix)}

    def start(self, service):
        service.pid = self.processes.start(service.arguments, service.log, prefix=service.prefix,
                                           folder=service.folder, environment=service.environment, batch=service.batch)
        service.started = time.monotonic()
        self.record()

    def record(self):
        """Writes down which processes are ours, for --stop and for quickstart.json."""
        running = {service.name: service.pid for service in self.services if service.pid}
        layouts.write_json(self.layout.pids, {name: [pid, start_time(pid)] for name, pid in running.items()})
        if self.facts is not None:
            self.facts["pids"] = {"quickstart": os.getpid(), **running}
            layouts.write_json(self.layout.facts, self.facts | self.more_facts())

    def publish(self, facts, more_facts=dict):
        """Writes quickstart.json, and keeps its pids true from now on, also in what more_facts() adds."""
        self.facts, self.more_facts = facts, more_facts
        self.record()

    def tend(self, seconds):
        """Waits a while and starts again what died meanwhile."""
        dead = [service for service in self.services if service.pid is None]
        due = [HELD_SECONDS if self.is_held(service) else service.started + service.wait - time.monotonic()
               for service in dead]
        self.processes.pause(max(0, min([seconds, *due])))
        for service in self.services:
            status = self.processes.exit_status(service.pid) if service.pid else None
            if status is not None:
                self.bury(service, status)
            if (service.pid is None and time.monotonic() >= service.started + service.wait and
                    not self.is_held(service)):
                self.start(service)

    def is_held(self, service):
        """Whether somebody keeps it dead: by a file of its name in the folder `hold`."""
        return (self.layout.hold / service.name).exists()

    def bury(self, service, status):
        """Notes that a service died: what is left of it goes too, and the next start waits its turn."""
        self.processes.end_group(service.pid)
        lived = time.monotonic() - service.started
        growing = 0.0 if lived > STEADY_AFTER else min(LONGEST_WAIT, max(SHORTEST_WAIT, 2 * service.wait))
        service.wait = max(growing, service.rest)
        service.deaths += 1
        service.pid, service.started = None, time.monotonic()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        self.say(f"{service.name} {how}; starting it again")

    def await_answer(self, service, question, seconds, what):
        """Tends the services until question() is true; a Problem when that takes long or the service keeps dying."""
        deadline = time.monotonic() + seconds
        deaths = service.deaths
        while not question():
            self.tend(0.1)
            if service.deaths - deaths >= START_ATTEMPTS:
                raise Problem(f"{service.name} does not start; the end of {service.log}:\n{output.tail(service.log)}")
            if time.monotonic() > deadline:
                raise Problem(f"{what} after {seconds} seconds; the end of {service.log}:\n{output.tail(service.log)}")

    def forever(self):
        """Tends the services until somebody asks for the end."""
        try:
            while True:
                self.tend(5)
        except Interrupted:
            pass

    def end(self):
        """Ends every service, the last one first."""
        while self.services:
            service = self.services.pop()
            if service.pid is not None:
                self.processes.end(service.pid, service.ending)
        self.layout.pids.unlink(missing_ok=True)
