#!/usr/bin/python3 -I
# SPDX-License-Identifier: MIT
"""A port of the loopback address for a server that is started in a moment, and perhaps again later. Run by itself it
prints one.

The port lies below those that the kernel gives to outgoing connections. An outgoing connection could hold one of these
when the server binds it; and a client that connects to one of these before the server listens may connect to itself.

Programs of one test run draw ports that they bind later. The folder that the variable GATEHOUSE_TEST_PORTS names has a
file for each port that one of them has drawn, and no other program gets it."""

import os
import pathlib
import random
import socket

HOST = "127.0.0.1"
LOWEST, HIGHEST = 10000, 65535
OUTGOING = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
ENOUGH = 1000
TRIES = 1000


def free_port(address=HOST):
    """A port of the address that nobody has at the moment."""
    first = first_outgoing()
    end = first if first >= LOWEST + ENOUGH else HIGHEST + 1
    for _ in range(TRIES):
        port = random.randrange(LOWEST, end)
        if claim(port) and is_free(port, address):
            return port
    raise OSError(f"no port of {address} from {LOWEST} to {end - 1} could be had")


def is_free(port, address=HOST, again=False):
    """Whether nobody has the port. `again`: as for a server that had it before, whose last connections may linger."""
    with socket.socket() as probe:
        if again:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
            return True
        except OSError:
            return False


def claim(port):
    """Whether no other program of the test run has drawn the port. Outside a test run nobody asks."""
    folder = os.environ.get("GATEHOUSE_TEST_PORTS", "")
    if not os.path.isdir(folder):
        return True
    try:
        os.close(os.open(os.path.join(folder, str(port)), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return True
    except FileExistsError:
        return False


def take_ports(kept, address=HOST, names=("port",)):
    """The ports of a server by their names: those that it had before, as far as they are free, else new ones. `kept`:
    what it had, which is changed to what it has now."""
    for name in names:
        if name not in kept or not is_free(kept[name], address, again=True):
            kept[name] = free_port(address)
    return kept


def first_outgoing():
    """The lowest port that the kernel chooses by itself."""
    try:
        return int(OUTGOING.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 32768


if __name__ == "__main__":
    print(free_port())
