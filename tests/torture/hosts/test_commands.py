# SPDX-License-Identifier: MIT
"""Each statement of each of the operator's commands fails once: refused by the server, or lost on its way. A command
ends with an error and says which, or does all the same what it was asked; the next one finds nothing broken."""

import os
import random
import re
import signal
import subprocess

import pytest

from support.programs import operator
from support.runs.effort import FULL
from support.stack import wait_until
from support_commands import COMMANDS, TALKERS
from support_places import EVERY
from support_prepared import forgotten_password, mail_is_sent

pytestmark = pytest.mark.hosts

FAULTS = {"refused": (1105, "HY000", "Unknown error"), "lost on its way": "before"}
MOST = 400 if FULL else 5
# A pass puts off what it cannot do.
PUTS_OFF = ("jobs", )
# The last thing that these do is to let go of their leases or locks, which run out by themselves: two at most, each
# with a statement that is prepared first.
LEASED = ("fsck", "scrub", "purge", "backup", "migrate", "move", "restore")
LETTING_GO = 4
ROLLBACK = b"\x03ROLLBACK"


def test_no_command_is_forgotten(stack):
    known = re.findall(r"(?m)^  (\S.{22})", operator.run(stack, "--help"))
    known = {name.strip() for name in known}
    called = {command.name for command in COMMANDS.values()}
    assert called <= known, "these are not commands"
    assert known - called == set(TALKERS)


def is_done_already(name, nth, made, struck):
    """Whether a command has done what it was asked when this statement is refused. What is to be rolled back is rolled
    back all the same, since the connection ends."""
    return name in PUTS_OFF or (name.startswith(LEASED) and nth > made - LETTING_GO) or ROLLBACK in struck


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.statements])
def test_each_statement_of_a_command_fails_once(site, name):
    command = COMMANDS[name]
    words = command.words(site)
    site.proxy.arm()
    usual = site.call_command(*words, command=command)
    count = site.proxy.disarm()[0]
    # `check` warns of what the quick start leaves out, and faults that are found are told by the status.
    assert usual.returncode in (0, 1), usual
    assert count, "the proxy does not see them"
    command.done(site, words)
    seen = {}
    every = [(nth, fault) for nth in range(1, count + 1) for fault in FAULTS]
    # The same of each run, others in a full one.
    chance = random.Random() if FULL else random.Random(name)
    for nth, fault in sorted(chance.sample(every, min(MOST, len(every)))):
        where = f"{name}: statement {nth} of {count} is {fault}"
        words = command.words(site)
        site.proxy.arm(FAULTS[fault], nth)
        done = site.call_command(*words, command=command)
        made, met = site.proxy.disarm()
        assert done.returncode in (0, 1, 2), f"{where}: {done}"
        assert done.returncode == 0 or (done.stdout + done.stderr).strip(), f"{where}: no word of it: {done}"
        if fault == "refused" and met and not is_done_already(name, nth, made, site.proxy.struck):
            # A check says it of the part that it is about; a change that is made says what will follow later.
            told = "error 1105" in done.stdout + done.stderr
            assert done.returncode != 0 or told, f"{where}: it ended as if it had been done: {done.stdout}"
        seen[done.returncode] = seen.get(done.returncode, 0) + met
        site.keep()
        if done.returncode != 0:
            words = command.again(site, words)
            again = site.call_command(*words, command=command)
            assert again.returncode in (0, usual.returncode), f"{where}; afterwards {again}"
        command.done(site, words)
    print(f"{name}: {count} statements, ended with {seen}")
    assert sum(seen.values()), "no fault was met"


def run_jobs(site, nth):
    """The job runner until its nth statement is refused; then it is asked to end. Its status and what it has said."""
    before = site.proxy.happened
    site.proxy.arm(FAULTS["refused"], nth)
    command = [str(site.host.stack.ctl), "--config", str(site.host.configuration), "jobs"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, **site.runner_environment}) as runner:
        try:
            wait_until(lambda: site.proxy.happened > before or runner.poll() is not None, 60, f"statement {nth}")
            runner.send_signal(signal.SIGTERM)
            said = runner.communicate(timeout=60)[1]
        finally:
            runner.kill()
    site.proxy.disarm()
    return runner.returncode, said


def test_the_job_runner_goes_on_when_a_statement_is_refused(site):
    """From its first statement on. It ends by itself only where it could not begin."""
    most = 80
    for nth in random.sample(range(1, most), most - 1 if EVERY else 4):
        forgotten_password(site)
        site.runner_environment = {
            "GATEHOUSE_DATABASE_SOCKET": site.proxy.path, "GATEHOUSE_LOG_DESTINATION": "stderr",
            "GATEHOUSE_SCRUB_EVERY_DAYS": str(random.choice((0, 7)))}
        status, said = run_jobs(site, nth)
        assert status == 0 or (status == 1 and "job runner started" not in said), f"statement {nth}: {status}: {said}"
        site.keep()
        mail_is_sent(site, ())
