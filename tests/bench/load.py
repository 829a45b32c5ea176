# SPDX-License-Identifier: MIT
"""Drives one target for a while with wrk and reads what came of it."""

import dataclasses
import json
import pathlib
import resource
import subprocess
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
        path, token = (file and file.read_text(encoding="ascii").split("\n", 1)[0] for file in (self.paths, self.tokens))
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

    def drive(self, stack, connections, seconds):
        """One round. Returns requests a second, processor microseconds a request (of the servers and the load generator
        together), latencies in microseconds by percentile, and what went wrong."""
        before = stack.busy() + own_children()
        arguments = ["wrk", "-t", "2" if connections > 32 else "1", "-c", str(connections), "-d", f"{seconds}s",
                     "--timeout", "10s", "-s", str(self.script), self.url, "--", str(self.paths), str(self.tokens or "-"),
                     str(self.next_token)]
        said = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              stdin=subprocess.DEVNULL).stdout
        lines = [line for line in said.splitlines() if line.startswith("{")]
        if not lines:
            raise Trouble(f"wrk said nothing about {self.name}: {said[-500:]}")
        found = json.loads(lines[-1])
        busy = stack.busy() + own_children() - before
        if self.fresh:
            self.next_token += found["requests"] + 2 * connections
        return {"rate": found["requests"] / (found["microseconds"] / 1e6),
                "processor": busy * 1e6 / max(1, found["requests"]), "latency": found["latency"],
                "requests": found["requests"],
                "refused": found["refused"], "broken": found["broken"]}


def own_children():
    """Processor seconds of the programs that we have run and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
