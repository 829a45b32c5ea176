# SPDX-License-Identifier: MIT
"""The HAProxy of a cluster, asked through its administrator's socket."""

import socket

PATIENCE = 10


def command(path, text):
    """What HAProxy answers to a command."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(path)
        connection.sendall(text.encode() + b"\n")
        found = b""
        while part := connection.recv(65536):
            found += part
    return found.decode()


def stat(path):
    """The rows of its statistics about the servers of the backend `hosts`, by name."""
    lines = command(path, "show stat").lstrip("# ").splitlines()
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","))) for line in lines[1:] if line]
    return {row["svname"]: row for row in rows
            if row["pxname"] == "hosts" and row["svname"] not in ("BACKEND", "FRONTEND")}
