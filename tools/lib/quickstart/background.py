# SPDX-License-Identifier: MIT
"""--background: the same start in a process of its own, which this one waits for until the service is ready."""

import os
import signal
import sys

import start
from output import complain
from problem import Problem, sentence

READY = b"\0ready\n"


def run(chosen):
    """Returns 0 when the service is ready and left behind, 1 when it could not be started."""
    layout = start.prepare(chosen)
    lock = layout.take()
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os._exit(leave(chosen, layout, lock, write_end))
    os.close(write_end)
    lock.close()
    return wait(child, read_end)


def leave(chosen, layout, lock, write_end):
    """The process that stays: says what it does into the pipe until all is ready, into its log from then on."""
    os.setsid()
    silence = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silence, 0)
    os.dup2(write_end, 1)
    os.dup2(write_end, 2)
    os.close(write_end)

    def on_ready():
        os.write(1, READY)
        log = os.open(layout.log / "quickstart.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)

    try:
        status = start.serve(chosen, layout, lock, on_ready)
    except Problem as problem:
        complain(problem)
        status = 1
    except OSError as error:
        complain(sentence(error, chosen.state))
        status = 1
    sys.stdout.flush()
    return status


def wait(child, read_end):
    """Passes on what the other process says until it is ready or gone. Ctrl-C and the like end it too."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGTERM))
    with os.fdopen(read_end, "rb") as lines:
        for line in lines:
            if line == READY:
                return 0
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) or 1
