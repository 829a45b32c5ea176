#!/usr/bin/python3 -I
# SPDX-License-Identifier: MIT
"""A port of the loopback address for a server that is started in a moment, and perhaps again later. Run by itself it
prints one.

The port lies below those that the kernel gives to outgoing connections. An outgoing connection could hold one of these
when the server binds it; and a client that connects to one of these before the server listens may connect to itself."""

import pathlib
import random
import socket

HOST = "127.0.0.1"
LOWEST, HIGHEST = 10000, 65535
OUTGOING = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
ENOUGH = 1000
TRIES = 1000


def free_port():
    """A port that nobody has at the moment."""
    first = first_outgoing()
    end = first if first >= LOWEST + ENOUGH else HIGHEST + 1
    for _ in range(TRIES):
        port = random.randrange(LOWEST, end)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
                return port
            except OSError:
                pass
    raise OSError(f"no port of {HOST} from {LOWEST} to {end - 1} could be had")


def first_outgoing():
    """The lowest port that the kernel chooses by itself."""
    try:
        return int(OUTGOING.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 32768


if __name__ == "__main__":
    print(free_port())
