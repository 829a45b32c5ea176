# SPDX-License-Identifier: MIT
"""Calls of the account cases that every identity provider carries, and a provider that is stopped for a while."""

import base64
import contextlib
import json
import os
import pathlib
import signal

from support.members import USERS
from support.stack import wait_until


def login(api, name, password, status, code=None, **more):
    sent = {"username": name, "password": password, **more}
    return api.post("/customers/login", json=sent, status=status, code=code)


def me(api, tokens, status, code=None):
    return api.get("/customers/me", token=tokens["accessToken"], status=status, code=code)


def refresh(api, tokens, status, code=None):
    return api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=status, code=code)


def stays_out(api, account, password=None):
    """A login is refused, whatever it is told."""
    login(api, account.email, password or account.password, 401)


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def set_status(boss, member, status):
    boss.patch(f"{USERS}/{member.id}", json={"status": status}, status=200)


def change(api, tokens, password, new, **arguments):
    sent = {"password": password, "newPassword": new}
    return api.post("/customers/change-password", token=tokens["accessToken"], json=sent, **arguments)


def admin_set(administrator, account, password, permanent):
    sent = {"username": account.email, "password": password, "permanent": permanent}
    administrator.post("/customers/admin-set-password", json=sent, status=200)


@contextlib.contextmanager
def standing_still(stack, pid):
    """The provider takes connections meanwhile, and says nothing."""
    pids = stack.processes([pid])
    tasks = [pathlib.Path(f"/proc/{one}/task") for one in pids]

    def stands():
        states = [stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                  for task in tasks for stat in task.glob("*/stat")]
        return set(states) == {"T"}

    try:
        for one in pids:
            os.kill(one, signal.SIGSTOP)
        # The signal is one thread's to take: until it has, another may answer.
        wait_until(stands, 20, "all threads of the provider to stand still")
        yield
    finally:
        for one in pids:
            os.kill(one, signal.SIGCONT)
