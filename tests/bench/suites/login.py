# SPDX-License-Identifier: MIT
"""Logins against the bare Argon2id calls that they cannot do without, and what reads keep of their rate meanwhile."""

import dataclasses
import json
import subprocess
import threading
import time

import measure
from load import Target, own_children
from measure import Comparison
from stack import Trouble, dashed
from suites.reads import READ

LOGIN = "login"
BARE = "bare Argon2id, as many processes as cores"
KEPT = "Argon2id as the service calls it, as many processes as cores"
MEANWHILE = "authorised file information, logins going on at full speed"
NOTES = """\
The bare calls use the library as it comes. It maps new memory for each hash, and by default the kernel's work on small
pages takes nearly half of the time. The service gives the library memory in large pages. The row "as the service calls
it" shows what that alone changes."""
# As in argon.c. Right passwords are never throttled, however many and from wherever.
PASSWORD = "a password for tools/bench"

COMPARISONS = [Comparison(LOGIN, BARE, 0.90), Comparison(MEANWHILE, READ, 0.45)]
ROUNDS, SECONDS = 5, 2
# The time that logins take to be in full swing.
RUN_UP = 0.3


@dataclasses.dataclass
class Bare:
    """The probe."""

    name: str = BARE
    how: tuple = ()

    def drive(self, stack, connections, seconds):
        """One round."""
        before = own_children()
        said = argon(stack, stack.cores(), seconds, *self.how)
        runs = [json.loads(line) for line in said.splitlines()]
        times = [time / 1e6 for run in runs for time in run["times"]]
        return measure.entry(times, own_children() - before, taken=max(run["microseconds"] for run in runs) / 1e6)


@dataclasses.dataclass
class Meanwhile:
    """One target driven while another one is, whose faults count as well."""

    name: str
    target: Target
    other: Target
    other_connections: int

    def drive(self, stack, connections, seconds):
        """One round."""
        aside = {}
        thread = threading.Thread(target=lambda: aside.update(self.other.drive(stack, self.other_connections,
                                                                               seconds + 1)))
        thread.start()
        time.sleep(RUN_UP)
        found = self.target.drive(stack, connections, seconds)
        thread.join()
        if not aside:
            raise Trouble(f"{self.other.name} broke off.")
        return found | {key: found[key] + aside[key] for key in ("refused", "broken")}


def argon(stack, processes, seconds, *how):
    """What the probe said."""
    return subprocess.run([stack.build / "tests" / "bench" / "argon", stack.facts["configuration"], str(processes),
                           str(seconds), *how], stdout=subprocess.PIPE, text=True, check=True).stdout


def accounts(stack):
    """Accounts for the readers, once a state folder; returns the lines of logins for load.lua."""
    secret = argon(stack, 0, 0).strip()
    people = ",".join(f"UNHEX('{user}')" for user, _ in stack.readers)
    stack.sql(f"""
        INSERT IGNORE INTO identity_account
            (id, username, password_hash, password_temporary, status, email_verified)
        SELECT id, email, '{secret}', FALSE, 'confirmed', TRUE FROM user WHERE id IN ({people});
        UPDATE user SET provider_subject = LOWER(CONCAT_WS('-', SUBSTR(HEX(id), 1, 8), SUBSTR(HEX(id), 9, 4),
            SUBSTR(HEX(id), 13, 4), SUBSTR(HEX(id), 17, 4), SUBSTR(HEX(id), 21))), email_verified = TRUE
        WHERE id IN ({people}) AND provider_subject IS NULL;""")
    return ["POST /customers/login " + json.dumps({"username": dashed(user), "password": PASSWORD})
            for user, _ in stack.readers]


def login_target(stack):
    """Logins of all the readers in turn."""
    return Target(LOGIN, stack.facts["baseUrl"], stack.note("logins.txt", accounts(stack)))


def run(stack, options):
    """The suite."""
    logins = login_target(stack)
    reads = Target(READ, stack.facts["baseUrl"],
                   stack.note("reads.txt", [f"/system/files/{dashed(file)}/info" for file in stack.files]),
                   stack.tokens("seen.txt", len(stack.readers)))
    for target in (logins, reads):
        target.look()
    driven = [logins, Bare(), Bare(KEPT, ("service", )), reads, Meanwhile(MEANWHILE, reads, logins, 2 * stack.cores())]
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    measured = measure.interleave(stack, driven, (8, ), rounds, seconds)
    return {"title": "Logins", "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": measure.describe(measured, COMPARISONS), "faults": measure.faults(measured),
            "notes": [NOTES]}
