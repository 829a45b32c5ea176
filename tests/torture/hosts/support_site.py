# SPDX-License-Identifier: MIT
"""Starts a host of a test's own, whose calls to other services go through a proxy. Sends requests to its worker, runs
its job runner, and collects what is answered while one of the calls fails."""

import contextlib
import json
import random
import types

from support import mail
from support.programs import system
from support.runs.effort import FULL
from support_outbound import FAULTS

# The service meets these until its patience with the other host is over.
ENDURED = ("refused", "silent")
UNAVAILABLE = ("identityProvider.unavailable", "storage.unavailable")


class Site:
    """`host` is set up already; `proxy` stands in front of the other host."""

    def __init__(self, stack, host, proxy, worker):
        self.host, self.proxy, self.worker, self.prefix = host, proxy, worker, stack.prefix
        self.hasty_worker, self.haste, self.environment = worker, {}, {}
        self.mailbox = mail.Mailbox(host.folder / "mail")

    def call(self, method, path, body=None, token=None, **more):
        """A request; `body` goes as JSON unless it is bytes."""
        if body is not None and not isinstance(body, bytes):
            body, more["content_type"] = json.dumps(body).encode(), "application/json"
        return self.worker.call(method, self.prefix + path, token=token, body=body or b"", **more)

    def ask(self, method, path, body=None, token=None, status=200, **more):
        """The parsed answer of a request that meets nothing."""
        answer = self.call(method, path, body, token, **more)
        assert answer.status == status, f"{method} {path}: {answer}"
        return json.loads(answer.body) if answer.body else None

    def login(self, email, password, **more):
        return self.call("POST", "/customers/login", {"username": email, "password": password, **more})

    def tokens(self, email, password):
        answer = self.login(email, password)
        assert answer.status == 200, answer
        return json.loads(answer.body)["tokens"]

    def jobs(self):
        """One pass of the job runner, as if it were an answer."""
        done = self.host.run("jobs", "--once", status=None, environment=self.environment)
        assert done.returncode >= 0, f"the job runner was ended by signal {-done.returncode}: {done.stderr[-2000:]}"
        return types.SimpleNamespace(status=200 if done.returncode == 0 else 500, body=b"", headers={})

    def finish_jobs(self):
        """Everything that waits for the job runner is done, and nothing has been given up."""
        for _ in range(10):
            self.host.forget_failures()
            self.host.rows("UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) WHERE status = 'waiting'")
            assert self.jobs().status == 200
            if not self.host.rows("SELECT 1 FROM outbox WHERE status = 'waiting'"):
                break
        left = self.host.rows("SELECT kind, status, attempts, last_error FROM outbox WHERE status <> 'done'")
        assert not left, f"the job runner has left {left}"

    def lives(self):
        """Whether the workers are those that were started."""
        return self.worker.process.poll() is None and self.hasty_worker.process.poll() is None

    def may_be_hasty(self, worker, settings):
        """`worker` was started with `settings`, by which it does not wait long for the other host."""
        self.hasty_worker = worker
        self.haste = {f"GATEHOUSE_{name.upper()}": str(value) for name, value in settings.items()}

    @contextlib.contextmanager
    def hasty(self):
        """Requests and the job runner do not wait long for the other host. Otherwise its answers may take their time
        on a busy machine."""
        usual = self.worker
        self.worker, self.environment = self.hasty_worker, self.haste
        try:
            yield
        finally:
            self.worker, self.environment = usual, {}


@contextlib.contextmanager
def worker_of(stack, host, **settings):
    """A worker on that host."""
    facts = types.SimpleNamespace(worker_program=stack.worker_program, configuration=str(host.configuration),
                                  base_url=stack.base_url, as_workers=list)
    with system.worker(facts, **settings) as started:
        yield started


class Kind:
    """A kind of request: `act(site, given)` makes it of what `prepare(site)` gives and is answered `usual`;
    `check(site, given, answer)` looks, when all is well again, at what has become of it."""

    def __init__(self, act, usual=200, prepare=lambda site: None, check=lambda site, given, answer: None):
        self.act, self.usual, self.prepare, self.check = act, usual, prepare, check


def faults_of(count, least):
    """(fault, number of the call) for each fault of each call; in an ordinary run `least` faults of each call."""
    for nth in range(1, count + 1):
        for fault in FAULTS if FULL else random.sample(FAULTS, least):
            yield fault, nth


def check_answer(site, where, answer, usual):
    """The right one, or a clean error that says what is missing."""
    assert answer is not None and site.lives(), f"{where}: {answer}; the worker lives: {site.lives()}"
    assert answer.status in (usual, 500), f"{where}: {answer}"
    if answer.status == 500 and answer.body:
        said = json.loads(answer.body)
        assert said["code"] in UNAVAILABLE and "Retry-After" in answer.headers, f"{where}: {answer}"


def each_call_fails_once(site, name, kind, least=2):
    """Makes the request once for each fault of each of its calls; how often it was answered with what."""
    given = kind.prepare(site)
    site.host.forget_failures()
    site.proxy.arm()
    answer = kind.act(site, given)
    count = site.proxy.disarm()[0]
    assert answer.status == kind.usual, f"{name}: {answer}"
    kind.check(site, given, answer)
    seen, met = {}, 0
    for fault, nth in faults_of(count, least):
        where = f"{name}: call {nth} of {count} is {fault}"
        given = kind.prepare(site)
        site.host.forget_failures()
        site.proxy.arm(fault, nth)
        try:
            with site.hasty() if fault in ENDURED else contextlib.nullcontext():
                answer = kind.act(site, given)
        finally:
            met += site.proxy.disarm()[1]
        check_answer(site, where, answer, kind.usual)
        seen[answer.status] = seen.get(answer.status, 0) + 1
        site.host.forget_failures()
        try:
            kind.check(site, given, answer)
        except AssertionError as fault_found:
            raise AssertionError(f"{where}, answered {answer}: {fault_found}") from fault_found
    print(f"{name}: {count} calls, {met} faults met, answers {seen}")
    assert count == 0 or met, f"{name}: no fault was met"
    return count
