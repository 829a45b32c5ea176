# SPDX-License-Identifier: MIT
"""Another e-mail address, with every identity provider: exactly one address signs in at every moment, also when
programs are killed while it changes, and whatever was broken off is finished by a repetition or by the job runner."""

import json
import random
import threading
import time

import pytest

from providers.support_held import Held
from support import mail
from support.accounts import fresh_email, fresh_password
from support.database import key
from support.email_changes import CANCEL, CONFIRM, ask, cancel, changed, code_to, confirm, notice_to, signs_in
from support.programs import crash
from support.runs.effort import cases
from support.stack import wait_until

# More messages to the database than either step needs.
FLOOR, MOST = 6, 120
# Each message in tools/test full; otherwise every sixth, from one that is drawn.
STEP = cases(6, 1)
RANDOM_KILLS = cases(6, 200)
# A busy machine takes long to start all workers again.
PATIENCE = 120


@pytest.fixture(scope="module")
def held(stack, database):
    return Held(stack, database)


@pytest.fixture(scope="module", autouse=True)
def once(stack):
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")


def holder(api, member, addresses):
    """The one address that signs in."""
    holders = [address for address in addresses if signs_in(api, address, member.password)]
    assert len(holders) == 1, f"these sign in: {holders}"
    return holders[0]


def in_line(database, member):
    """Waits until the provider's copy is what our row says."""
    wait_until(
        lambda: not database.run("SELECT 1 FROM outbox WHERE user_id = %s AND status = 'waiting'", key(member.id)),
        mail.PATIENCE_SECONDS, "the job runner to bring the provider in line", 0.05)


def copied(held, database, member, address):
    """Waits until the provider's copy is in line, and checks that it has the address, verified, and the mirror."""
    in_line(database, member)
    copy = held.account(member.id)
    assert (copy["email"], copy["email_verified"], copy["enabled"]) == (address, True, True), copy
    held_here = member.api.get("/customers/me", token=member.session()["accessToken"], status=200).json()
    assert held_here["user"]["email"] == address and held_here["user"]["emailVerified"]
    assert copy["permissions"] == set(held_here["permissions"])


def more_mails(database, member):
    """A day passes for the bounds of mails."""
    database.lift_throttles()
    database.run("DELETE FROM mail_allowance WHERE user_id = %s", key(member.id))


def test_it_changes_and_is_undone(api, database, boss, members, held):
    member = members.active(boss, permissions=["cus:file:r", "inv:*:w"])
    old, notice = changed(members, member)
    new, before = member.email, member.user
    assert holder(api, member, [old, new]) == new
    copied(held, database, member, new)
    assert holder(api, member, [old, new]) == new
    cancel(api, member.id, notice, status=200)
    assert holder(api, member, [old, new]) == old
    member.user = {**before, "email": old}
    copied(held, database, member, old)
    assert holder(api, member, [old, new]) == old
    # The provider has let go of it: somebody else can have it.
    other = members.active(boss, email=new)
    assert signs_in(api, new, other.password)


def test_the_old_address_can_be_given_to_somebody_else_a_day_later(api, database, boss, members):
    member = members.active(boss)
    old, _ = changed(members, member)
    in_line(database, member)
    database.run("DELETE FROM email_change WHERE user_id = %s", key(member.id))
    other = members.active(boss, email=old)
    assert signs_in(api, old, other.password) and not signs_in(api, old, member.password)
    assert signs_in(api, member.email, member.password)


def test_a_password_is_reset_at_the_new_address(api, database, boss, members):
    member = members.active(boss)
    old, _ = changed(members, member)
    in_line(database, member)
    sent = {"username": member.email, "confirmationCode": members.reset_code(member), "newPassword": fresh_password()}
    members.accounts.secrets.add(sent["newPassword"])
    api.post("/customers/reset-password", json=sent, status=200)
    member.password = sent["newPassword"]
    assert holder(api, member, [old, member.email]) == member.email


# ---- kills ----------------------------------------------------------------------------------------------


class Change:
    """One change of a member's address, on its way."""

    def __init__(self, api, database, members, member):
        self.api, self.members, self.member = api, members, member
        more_mails(database, member)
        self.old, self.new = member.email, fresh_email("new")
        notices = len(members.letters(self.old, "cancel-email"))
        ask(member, self.new, status=200)
        self.code = code_to(members.mailbox, self.new)
        self.notice = notice_to(members, self.old, notices + 1)

    def holder(self):
        return holder(self.api, self.member, [self.old, self.new])

    def finish(self):
        """Repeats the confirmation; one that was done already is refused, since its code is spent."""
        before = self.holder()
        reply = confirm(self.member, self.code, status={200, 400})
        assert (reply.status_code == 200) == (before == self.old), reply.text
        assert self.holder() == self.new
        self.member.user = {**self.member.user, "email": self.new}

    def undo(self):
        """Repeats the cancelling, likewise."""
        before = self.holder()
        reply = cancel(self.api, self.member.id, self.notice, status={200, 400})
        assert (reply.status_code == 200) == (before == self.new), reply.text
        assert self.holder() == self.old
        self.member.tokens = None
        self.member.user = {**self.member.user, "email": self.old}


def doomed(stack, doom, number, path, sent, token):
    """The call, straight to a worker that ends at its number-th message to the database; its status, or None."""
    with doom.worker() as worker:
        worker.call("GET", stack.prefix + "/customers/me", token=token)  # it has a connection
        doom.arm(number)
        answer = worker.call("POST", stack.prefix + path, token=token, body=json.dumps(sent).encode(),
                             content_type="application/json")
    return answer.status if answer.ended else None


@pytest.mark.fault
@pytest.mark.usefixtures("killable")
def test_a_confirmation_killed_at_any_message_leaves_one_address(stack, doom, api, database, boss, members, held):
    member = members.active(boss)
    for number in range(random.randint(1, STEP), MOST, STEP):
        change = Change(api, database, members, member)
        status = doomed(stack, doom, number, CONFIRM, {"confirmationCode": change.code}, member.token)
        assert status in (None, 200)
        change.finish()
        if status == 200:
            break
    assert FLOOR < number < MOST
    copied(held, database, member, change.holder())


@pytest.mark.fault
@pytest.mark.usefixtures("killable")
def test_a_cancelling_killed_at_any_message_leaves_one_address(stack, doom, api, database, boss, members, held):
    member = members.active(boss)
    for number in range(random.randint(1, STEP), MOST, STEP):
        change = Change(api, database, members, member)
        change.finish()
        token, sent = member.token, {"username": member.id, "confirmationCode": change.notice}
        status = doomed(stack, doom, number, CANCEL, sent, None)
        assert status in (None, 200)
        change.undo()
        api.get("/customers/me", token=token, status=401)
        if status == 200:
            break
    assert FLOOR < number < MOST
    copied(held, database, member, change.holder())


@pytest.mark.fault
@pytest.mark.usefixtures("killable")
def test_a_job_runner_killed_at_any_message_still_mails_codes_that_work(
        stack, doom, api, database, boss, members):
    members.await_jobs()
    with crash.paused_jobs(stack):
        for number in range(random.randint(1, STEP), MOST, STEP):
            member, new = members.active(boss), fresh_email("new")
            database.run("UPDATE outbox SET status = 'done' WHERE user_id = %s", key(member.id))
            more_mails(database, member)
            ask(member, new, status=200)
            status = doom.jobs_once(number)
            database.run("UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) WHERE status = 'waiting'")
            doom.jobs_once()
            confirm(member, code_to(members.mailbox, new), status=200)
            assert holder(api, member, [member.email, new]) == new
            cancel(api, member.id, notice_to(members, member.email), status=200)
            assert holder(api, member, [member.email, new]) == member.email
            if status == 0:
                break
    assert FLOOR < number < MOST


def kill_soon(stack, seconds):
    """Ends every worker that far into the call, and now and then the job runner."""
    time.sleep(seconds)
    pools = [pid for name in ("workers", "login") for pid in stack.pids_named(name)]
    victims = [child for pool in pools for child in crash.children(pool)]
    if random.random() < 0.3:
        victims += stack.pids_named("jobs")
    return sum(crash.kill(pid) for pid in victims)


def torn(stack, call, most):
    """The call, while everything is killed at a random moment of it."""
    thread = threading.Thread(target=kill_soon, args=(stack, random.uniform(0, most)))
    thread.start()
    call()
    thread.join()


@pytest.mark.fault
@pytest.mark.usefixtures("killable")
def test_kills_at_random_moments_leave_one_address(stack, api, database, boss, members, held):
    def back():
        """Both pools: a login without members is refused by those of the other socket."""
        wait_until(lambda: api.get("/system/health/ready", edge=True).status_code == 200, PATIENCE,
                   "the workers to be back")
        wait_until(lambda: api.post("/customers/login", json={}, edge=True).status_code == 400, PATIENCE,
                   "the workers that hash passwords to be back")

    member = members.active(boss)
    slow = 0.05
    for _ in range(RANDOM_KILLS):
        change = Change(api, database, members, member)
        token = member.token
        torn(stack, lambda: api.post(CONFIRM, token=token, json={"confirmationCode": change.code}, edge=True), slow)
        back()
        change.finish()
        if random.random() < 0.5:
            sent = {"username": member.id, "confirmationCode": change.notice}
            torn(stack, lambda: api.post(CANCEL, json=sent, edge=True), slow)
            back()
            change.undo()
    copied(held, database, member, change.holder())
