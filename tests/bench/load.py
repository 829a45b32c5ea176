# SPDX-License-Identifier: MIT
"""Drives one target for a while with wrk, or with send.c where it uploads, and reads what came of it."""

import dataclasses
import json
import pathlib
import resource
import subprocess
import urllib.parse
import urllib.request

from stack import Trouble

SCRIPT = pathlib.Path(__file__).with_name("load.lua")


@dataclasses.dataclass
class Target:
    """Something that answers requests. `paths`: a file of lines, each a path to GET or "POST path body"; `fresh`: every
    request takes a token of the file that no request had yet."""

    name: str
    url: str
    paths: pathlib.Path
    tokens: pathlib.Path = None
    fresh: bool = False
    next_token: int = 0
    script: pathlib.Path = SCRIPT

    def look(self):
        """One request, whose answer must be a JSON object: whoever answers errors fast must not win."""
        path, token = (file and file.read_text(encoding="ascii").split("\n", 1)[0]
                       for file in (self.paths, self.tokens))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        body = None
        if path.startswith("POST "):
            _, path, body = path.split(" ", 2)
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, body and body.encode("utf-8"), headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                if not isinstance(json.load(answer), dict):
                    raise ValueError("not an object")
        except (OSError, ValueError) as error:
            raise Trouble(f"{self.name} does not answer as it should: {error}") from None

    def command(self, stack, connections, seconds):
        """The load generator, with its arguments."""
        return ["wrk", "-t", "2" if connections > 32 else "1", "-c", str(connections), "-d", f"{seconds}s",
                "--timeout", "10s",
                "-s", str(self.script), self.url, "--", str(self.paths), str(self.tokens or "-"), str(self.next_token)]

    def drive(self, stack, connections, seconds):
        """One round. Returns requests a second, processor microseconds a request (of the servers and the load generator
        together), the load generator's share of them, latencies in microseconds by percentile, and what went wrong."""
        before, driven = stack.busy(), own_children()
        arguments = self.command(stack, connections, seconds)
        said = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              stdin=subprocess.DEVNULL).stdout
        lines = [line for line in said.splitlines() if line.startswith("{")]
        if not lines:
            raise Trouble(f"{pathlib.Path(arguments[0]).name} said nothing about {self.name}: {said[-500:]}")
        found = json.loads(lines[-1])
        generator = own_children() - driven
        busy = stack.busy() - before + generator
        if self.fresh:
            self.next_token += found["requests"] + 2 * connections
        return {"rate": found["requests"] / (found["microseconds"] / 1e6),
                "processor": busy * 1e6 / max(1, found["requests"]), "generator": generator / busy,
                "latency": found["latency"], "requests": found["requests"],
                "refused": found["refused"], "broken": found["broken"]}


@dataclasses.dataclass
class Sender(Target):
    """Something that takes uploads. `paths`: a file with one request as client.raw() makes it; `payload`: the file
    whose bytes it carries, but for the first 32."""

    payload: pathlib.Path = None

    def command(self, stack, connections, seconds):
        place = urllib.parse.urlsplit(self.url)
        return [str(stack.build / "tests" / "bench" / "send"), place.hostname, str(place.port), str(connections),
                str(seconds), str(self.paths), str(self.payload)]


def own_children():
    """Processor seconds of the programs that we have run and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
