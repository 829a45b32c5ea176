# SPDX-License-Identifier: MIT
"""Processes are killed while accounts are being made and mails are being sent: nothing half-made is ever
seen, a repeated request converges, nobody gets two accounts, and a mail comes again at most once, as the same
message."""

import contextlib
import itertools
import json
import pathlib
import random
import subprocess
import threading
import time
import uuid

import pytest

from support import mail, members as team
from support.accounts import fresh_password, invitation
from support.database import key
from support.members import USERS
from support.programs import crash
from support.stack import wait_until

pytestmark = [pytest.mark.fault, pytest.mark.usefixtures("killable")]
# More messages to the database than any of the flows needs.
FLOOR, MOST = 6, 80
# The storm lasts until it has done its work, and less than the lease of a job: none is sent a third time.
STORM_SECONDS, STORM_SECONDS_MOST = 8, 90
STORM_KILLS, STORM_KILLS_OF_JOBS, STORM_ACCOUNTS = 30, 2, 20
STORM_THREADS = 4


class Customer:
    """The creation of a customer with its owner."""

    path, page, status = "/customers/signup", "first-login", "awaiting-first-login"

    def __init__(self, members, owner):
        self.members = members
        self.database = members.database
        self.creator = members.administrator
        self.body = invitation()
        self.email = self.body["email"]

    def count(self, sql, *values):
        return self.database.run(f"SELECT COUNT(*) FROM {sql}", *values)[0][0]

    def seen(self):
        """The users that the interface shows under the address."""
        found = self.database.run("SELECT organisation_id FROM `user` WHERE email = %s", self.email)
        if not found:
            return []
        organisation = str(uuid.UUID(bytes=bytes(found[0][0])))
        parameters = {"search": self.email, "organisationId": organisation}
        return self.members.administrator.get(USERS, params=parameters, status=200).json()["items"]

    def organisations(self):
        return self.count("organisation WHERE name = %s", self.body["organisation"]["name"])

    def check_signs_in(self, message):
        password = mail.temporary_password(message)
        self.members.accounts.secrets.add(password)
        self.members.api.post("/customers/login",
                              json={"username": self.email, "password": password},
                              status=400,
                              code="auth.newPasswordRequired")

    def check_hidden_or_whole(self):
        """What is visible is whole; what is not is no account for anybody."""
        self.database.lift_throttles()  # each round fails to sign in, all from one address
        items = self.seen()
        if not items:
            body = {"username": self.email, "password": "not the password"}
            self.members.api.post("/customers/login", json=body, status=401, code="auth.credentials")
            return
        assert len(items) == 1 and items[0]["status"] == self.status
        assert self.count("identity_account WHERE username = %s", self.email) == 1

    def check_whole(self, signs_in=True):
        """One of everything, and the mail opens the account."""
        assert len(self.seen()) == 1
        for table, column in (("user", "email"), ("identity_account", "username")):
            assert self.count(f"`{table}` WHERE {column} = %s", self.email) == 1
        subject = self.database.run("SELECT id, provider_subject FROM `user` WHERE email = %s", self.email)[0]
        account = self.database.run("SELECT id FROM identity_account WHERE username = %s", self.email)[0][0]
        assert uuid.UUID(bytes=bytes(account)) in (uuid.UUID(bytes=bytes(subject[0])), uuid.UUID(subject[1]))
        assert self.organisations() == 1
        message = self.members.letter(self.email, self.page)
        assert same_message(self.members.letters(self.email, self.page)) <= 2
        if signs_in:
            self.check_signs_in(message)

    def rows(self):
        """How many rows hold the account."""
        return self.count("`user` WHERE email = %s", self.email) + self.count("identity_account WHERE username = %s",
                                                                              self.email)

    def gone(self):
        """Whether nothing at all is left, and the address is free."""
        return self.rows() == self.organisations() == 0

    def check_gone(self):
        assert self.gone() and self.members.letters(self.email, self.page) == []


class Member(Customer):
    """The creation of a team member."""

    path, page, status = USERS, "confirm", "awaiting-confirmation"

    def __init__(self, members, owner):
        super().__init__(members, owner)
        self.creator = owner
        self.body = team.body(roles=["inv-manage"], permissions=["log:truck:r"])
        self.email = self.body["email"]

    def organisations(self):
        return self.count("organisation WHERE id = %s", key(self.creator.organisation["id"]))

    def check_signs_in(self, message):
        sent = {"username": self.email, "confirmationCode": mail.code(message)}
        self.members.api.post("/customers/confirm-signup", json=sent, status=200)
        sent = {"username": self.email, "password": self.body["password"]}
        self.members.api.post("/customers/login", json=sent, status=200)

    def gone(self):
        """The organisation is the creator's own, and stays."""
        return self.rows() == 0 and self.organisations() == 1


def same_message(messages):
    """How many times one message came; fails when there are two different ones."""
    assert len({message["Message-ID"] for message in messages}) <= 1, "two mails for one account"
    return len(messages)


def ask(stack, worker, creation):
    """The creation, straight to the doomed worker; the status, or None when it died over it."""
    body = json.dumps(creation.body).encode()
    answer = worker.call("POST",
                         stack.prefix + creation.path,
                         token=creation.creator.token,
                         body=body,
                         content_type="application/json")
    return answer.status if answer.ended else None


def killed_at_every_message(stack, doom, members, owner, kind):
    """Creations that were killed before their first, second, third ... message to the database, until one
    comes through."""
    for number in range(1, MOST):
        with doom.worker() as worker:
            assert ask(stack, worker, kind(members, owner)) == 200
            creation = kind(members, owner)
            doom.arm(number)
            status = ask(stack, worker, creation)
        if status is not None:
            assert status == 200 and number > FLOOR, f"killed at message {number}, yet answered {status}"
            return
        yield number, creation
    pytest.fail(f"the creation takes more than {MOST} messages")


@pytest.mark.parametrize("kind", [Customer, Member], ids=["customer", "member"])
def test_a_creation_killed_at_any_message_to_the_database_is_finished_by_repeating_it(
        stack, doom, members, owner, kind):
    creations = []
    for number, creation in killed_at_every_message(stack, doom, members, owner, kind):
        creation.check_hidden_or_whole()
        visible = bool(creation.seen())
        creation.creator.post(creation.path, json=creation.body, status=409 if visible else 200)
        creation.creator.post(creation.path, json=creation.body, status=409, code="user.exists")
        creations.append(creation)
    members.database.lift_throttles()
    for creation in creations:
        creation.check_whole()


@pytest.mark.parametrize("kind", [Customer, Member], ids=["customer", "member"])
def test_a_creation_killed_and_never_repeated_leaves_nothing_after_a_minute(stack, doom, members, owner,
                                                                            database, kind):
    creations = [one for _, one in killed_at_every_message(stack, doom, members, owner, kind)]
    whole = [one for one in creations if one.seen()]
    hidden = [one for one in creations if one not in whole]
    assert hidden and any(one.count("`user` WHERE email = %s", one.email) for one in hidden)
    # As if a minute had passed.
    database.run("UPDATE `user` SET created_at = created_at - INTERVAL 61 SECOND, updated_at = updated_at"
                 " - INTERVAL 61 SECOND WHERE status = 'provisioning'")
    doom.jobs_once()
    # The stack's own runner does the same, and what it has in hand is passed over.
    wait_until(lambda: all(creation.gone() for creation in hidden), 60, "what is half-made to go")
    for creation in hidden:
        creation.check_gone()
    for creation in whole:
        creation.check_whole()
    again = hidden[-1]
    again.creator.post(again.path, json=again.body, status=200)
    again.check_whole()


def overdue(database):
    """Lets what a killed job runner had claimed be claimed again, as if its lease had run out."""
    database.run("UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) WHERE status = 'waiting'")


def confirmation(members, owner):
    """A new member's first mail: (address, page, mails there may be)."""
    user = owner.post(USERS, json=team.body(), status=200).json()["user"]
    return user["email"], "confirm"


def forgotten(members, owner):
    member = members.active(owner)
    members.database.run("UPDATE outbox SET status = 'done' WHERE user_id = %s", key(member.id))
    members.api.post("/customers/forgotten-password", json={"username": member.id}, status=200)
    return member.email, "reset"


def invitation_again(members, owner):
    user = members.accounts.sign_up()["user"]
    members.database.run("UPDATE outbox SET status = 'done' WHERE user_id = %s", key(user["id"]))
    members.api.post("/customers/resend-confirmation", json={"username": user["id"]}, status=200)
    return user["email"], "first-login"


def check_opens(members, address, page, message):
    """Whatever came with the last mail is good."""
    if page == "first-login":
        password = mail.temporary_password(message)
        members.accounts.secrets.add(password)
        members.api.post("/customers/login",
                         json={"username": address, "password": password},
                         status=400,
                         code="auth.newPasswordRequired")
        return
    path = "confirm-signup" if page == "confirm" else "reset-password"
    sent = {"username": address, "confirmationCode": mail.code(message)}
    if page == "reset":
        sent["newPassword"] = fresh_password()
    members.api.post(f"/customers/{path}", json=sent, status=200)


@pytest.mark.parametrize("cause", [confirmation, forgotten, invitation_again],
                         ids=lambda cause: cause.__name__)
def test_a_job_runner_killed_at_any_message_sends_each_mail_and_at_most_twice(
        stack, doom, members, owner, database, cause):
    members.await_jobs()
    sent = []
    with crash.paused_jobs(stack):
        for number in range(1, MOST):
            address, page = cause(members, owner)
            # more questions and accounts than one address and one organisation have in an hour
            database.lift_throttles()
            status = doom.jobs_once(number)
            overdue(database)
            doom.jobs_once()
            sent.append((number, address, page))
            if status == 0:
                break
    assert FLOOR < len(sent) < MOST
    for number, address, page in sent:
        letters = members.letters(address, page)
        assert 1 <= same_message(letters) <= 2, f"killed at message {number}: {len(letters)} mails"
        check_opens(members, address, page, letters[-1])


# ---- a storm --------------------------------------------------------------------------------------------


def create(creation, stop):
    """Repeats the creation until the service says that it is done."""
    while True:
        reply = creation.creator.post(creation.path, json=creation.body, edge=True, timeout=60)
        if reply.status_code in (200, 409):
            if reply.status_code == 409:
                assert reply.json()["code"] == "user.exists"
            return
        assert reply.status_code in (429, 500, 502, 503, 504), f"{reply.status_code} {reply.text}"
        assert not stop.is_set() or time.monotonic() < stop.deadline, "the creation never converges"
        time.sleep(0.02)


class Storm:
    """Threads that create accounts while workers and the job runner are killed at random."""

    def __init__(self, members, owner):
        self.members = members
        self.owner = owner
        self.stop = threading.Event()
        self.stop.deadline = float("inf")
        self.made, self.faults = [], []

    def work(self, kinds):
        for kind in itertools.cycle(kinds):
            if self.stop.is_set():
                return
            creation = kind(self.members, self.owner)
            try:
                create(creation, self.stop)
            except Exception as fault:
                self.faults.append(f"{creation.email}: {fault}")
                return
            self.made.append(creation)

    def enough(self, killed):
        """Whether it has met what it is for."""
        return (killed["worker"] >= STORM_KILLS and killed["jobs"] >= STORM_KILLS_OF_JOBS
                and len(self.made) >= STORM_ACCOUNTS)

    def rage(self, stack, database):
        """Kills a worker of the login pool every few milliseconds, and now and then the job runner. Where the machine
        is too slow for an account to be made in between, the kills become rarer."""
        choose, killed, began, seconds = random.Random(random.random()), {"worker": 0, "jobs": 0}, time.monotonic(), 0.0
        while seconds < STORM_SECONDS or not self.enough(killed) and seconds < STORM_SECONDS_MOST:
            time.sleep(choose.uniform(0.02, 0.15) * max(1.0, seconds / STORM_SECONDS))
            seconds = time.monotonic() - began
            database.lift_throttles()  # more accounts than an organisation may make in an hour
            victims = [child for pool in stack.pids_named("login") for child in crash.children(pool)]
            if victims and crash.kill(choose.choice(victims)):
                killed["worker"] += 1
            if choose.random() < 0.15:
                killed["jobs"] += sum(crash.kill(pid) for pid in stack.pids_named("jobs"))
        self.stop.deadline = time.monotonic() + 60
        self.stop.set()
        return killed


def runners_of(stack):
    """Every job runner that works for the stack, as the system lists them: {pid: state}."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if str(stack.configuration).encode() in words and b"jobs" in words:
                found[folder.name] = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    return found


@pytest.mark.parametrize("pause", [0, 0.01, 0.05, 0.2])
def test_of_a_job_runner_that_was_killed_the_next_is_the_one_that_is_paused(stack, pause):
    """What the tests with a runner of their own rely on: else the other one takes their mails."""
    wait_until(lambda: stack.pids_named("jobs"), 60, "a job runner")
    assert all(crash.kill(pid) for pid in stack.pids_named("jobs"))
    time.sleep(pause)
    with crash.paused_jobs(stack):
        time.sleep(1)  # as long as quickstart may take to start another
        assert set(runners_of(stack).values()) == {"T"}
    wait_until(lambda: "T" not in runners_of(stack).values(), 60, "the runner to go on")


def test_a_storm_of_kills_leaves_one_whole_account_a_request(stack, members, owner, database):
    storm = Storm(members, owner)
    before = database.run("SELECT COALESCE(MAX(id), 0) FROM outbox")[0][0]
    assert owner.token and members.administrator.token
    threads = [
        threading.Thread(target=storm.work, args=(kinds, ))
        for kinds in [(Customer, Member), (Member, Customer)] * (STORM_THREADS // 2)
    ]
    for thread in threads:
        thread.start()
    killed = storm.rage(stack, database)
    deadline = time.monotonic() + 90
    while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
        database.lift_throttles()
        time.sleep(0.1)
    assert not storm.faults, storm.faults
    assert storm.enough(killed), (killed, len(storm.made))
    wait_until(lambda: stack.pids_named("jobs") and stack.pids_named("login"), 60,
               "the killed programs to be back")

    def quiet():
        overdue(database)
        time.sleep(0.5)
        return database.run("SELECT COUNT(*) FROM outbox WHERE status = 'waiting'")[0][0] == 0

    wait_until(quiet, mail.PATIENCE_SECONDS, "the mails to be sent")
    assert database.run("SELECT COUNT(*) FROM outbox WHERE status = 'dead' AND id > %s", before)[0][0] == 0
    for number, creation in enumerate(storm.made):
        database.lift_throttles()
        creation.check_whole(signs_in=number % 4 == 0)
    orphans = database.run("SELECT username FROM identity_account a WHERE NOT EXISTS"
                           " (SELECT 1 FROM `user` u WHERE u.email = a.username)")
    assert not orphans
    done = subprocess.run([stack.ctl, "--config", stack.configuration, "check"],
                          capture_output=True,
                          text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
