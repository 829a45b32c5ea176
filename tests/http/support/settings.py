# SPDX-License-Identifier: MIT
"""The system settings document: reading, changing, and putting it back."""

import contextlib
import subprocess

PATH = "/system/settings"
HISTORY = "/system/settings/history"
QUIET = {"level": "info", "filter": ""}


def get(account):
    """The logging member of the document."""
    return account.get(PATH, status=200).json()["logging"]


def put(account, etag=None, status=200, **logging):
    """Changes the members given; returns the reply."""
    headers = {} if etag is None else {"If-Match": etag}
    return account.put(PATH, json={"logging": logging}, headers=headers, status=status)


def history(account, **parameters):
    """Every version that the history gives, all pages."""
    found, cursor = [], None
    while True:
        asked = {"limit": "100", **parameters, **({"cursor": cursor} if cursor else {})}
        body = account.get(HISTORY, params=asked, status=200).json()
        assert set(body) == {"items", "nextCursor"}
        found += body["items"]
        cursor = body["nextCursor"]
        if cursor is None:
            return found


@contextlib.contextmanager
def of(account, **logging):
    """Settings for the time of a test."""
    put(account, **{**QUIET, **logging})
    try:
        yield
    finally:
        put(account, **QUIET)


def ctl(stack, *words, status=0):
    """gatehousectl settings …: its standard output."""
    done = subprocess.run([stack.ctl, "--config", stack.configuration, "settings", *words],
                          capture_output=True,
                          text=True,
                          timeout=60)
    assert done.returncode == status, f"{words}: {done.returncode} {done.stdout} {done.stderr}"
    return done.stdout if status == 0 else done.stderr
