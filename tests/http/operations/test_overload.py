# SPDX-License-Identifier: MIT
"""More is asked than the service can do: what can wait waits, the rest is refused at once, and all is well
afterwards."""

import concurrent.futures
import json
import os
import signal

import pytest

from support.client import check_error
from support.stack import wait_until
from support.wire import raw

ASKED = 150
# As many sign-ins may wait as the pool's socket lets (spawn-fcgi -b), and by the kernel's way of counting one more.
# Behind Apache no more than that wait.
WAITING = 97


class StoppedLogins:
    """A context in which the workers that hash passwords stand still, until go_on()."""

    def __init__(self, stack):
        self.pids = stack.workers_of("login")
        assert self.pids

    def __enter__(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)
        return self

    def __exit__(self, *_):
        self.go_on()

    def go_on(self):
        """They answer what waits."""
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.web_server
def test_sign_ins_that_nobody_can_answer_soon_are_refused_at_once(stack, accounts, api):
    """All that wait are answered once the workers go on; other requests never notice."""
    if stack.web_server == "apache-fcgid":
        pytest.skip("mod_fcgid starts the workers and lets requests wait by rules of its own")
    account = accounts.customer()
    body = json.dumps({"username": account.email, "password": account.password}).encode()
    head = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    login = raw.request("POST", stack.prefix + "/customers/login", head, body)
    with concurrent.futures.ThreadPoolExecutor(ASKED) as pool, StoppedLogins(stack) as logins:
        futures = [pool.submit(raw.one, stack, login, "POST", 120) for _ in range(ASKED)]
        # A worker that stands still may have taken one connection: the kernel gives it out before it stops the worker.
        most = ASKED - WAITING
        least = most - len(logins.pids)
        wait_until(lambda: sum(future.done() for future in futures) >= least, 60,
                   "the refusals of those for whom there is no room")
        api.get("/customers/me", token=account.token, status=200)
        logins.go_on()
        replies = [future.result() for future in futures]
    refused = [reply for reply in replies if reply.status != 200]
    assert least <= len(refused) <= most or not stack.nginx, "Apache has a lower bound a process"
    for reply in refused:
        parsed = check_error(reply.status, reply.headers, reply.body, "a refused sign-in", edge=True)
        assert reply.status in (502, 503) and parsed["code"] == "service.unavailable"
        assert int(reply.headers["Retry-After"]) > 0
    assert len(refused) < ASKED, "those who waited are answered"
