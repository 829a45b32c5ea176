# SPDX-License-Identifier: MIT
"""gatehousectl, run as the operator runs it."""

import os
import subprocess


def run(stack, *arguments, status=0, configuration=None, environment=None, timeout=120):
    """Runs a command to its end and returns what it wrote on the standard output. status None: whatever it is;
    the result then has returncode, stdout and stderr. What looks into the cache runs as its owner."""
    command = [str(stack.ctl), "--config", str(configuration or stack.configuration), *arguments]
    done = subprocess.run(stack.as_workers(command) if arguments[0] == "cache" else command,
                          stdin=subprocess.DEVNULL,
                          capture_output=True,
                          env={**os.environ, **(environment or {})},
                          text=True,
                          timeout=timeout,
                          check=False)
    if status is None:
        return done
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def lines_about(text, identity):
    """The lines that name an id."""
    return [line for line in text.splitlines() if identity in line]
