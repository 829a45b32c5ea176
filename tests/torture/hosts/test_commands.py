# SPDX-License-Identifier: MIT
"""Each statement of each of the operator's commands fails once: refused by the server, or lost on its way. A command
ends with an error and says which, or does all the same what it was asked; the next one finds nothing broken."""

import contextlib
import random

import pytest

from providers import support_remote as remote
from support import files, multipart, samples
from support.accounts import fresh_email
from support.effort import FULL
from support.programs.host import Host
from support_proxy import StatementProxy
from support_site import Site, worker_of

pytestmark = pytest.mark.hosts

PASSWORD = "administrator password 1"
FAULTS = {"refused": (1105, "HY000", "Unknown error"), "lost on its way": "before"}
MOST = 400 if FULL else 8
COMMANDS = {
    "check": lambda site: ("check", ),
    "migrate": lambda site: ("migrate", ),
    "create-admin": lambda site: ("create-admin", "--email", fresh_email("staff"), "--password-file", site.password),
    "jobs": lambda site: ("jobs", "--once"),
    "jobs that wait": lambda site: ("jobs", "--list"),
    "unlock": lambda site: ("unlock", remote.ADMIN),
    "mirror": lambda site: ("mirror", ),
    "fsck": lambda site: ("fsck", "--min-age", "0"),
    "fsck that repairs": lambda site: ("fsck", "--repair", "--min-age", "0"),
    "scrub": lambda site: ("scrub", "--now"),
    "state of the scrub": lambda site: ("scrub", "status"),
    "uploads": lambda site: ("uploads", "list"),
    "end of uploads": lambda site: ("uploads", "expire"),
    "purge": lambda site: ("purge", "--older-than", "1"),
    "purge of the audit trail": lambda site: ("purge", "--audit", "--older-than", "100"),
    "purge that is only told": lambda site: ("purge", "--older-than", "1", "--dry-run"),
    "backup": lambda site: ("backup", site.fresh_folder()),
    "organisations": lambda site: ("organisation", "list"),
    "an organisation": lambda site: ("organisation", "show", site.organisation),
    "change of an organisation": lambda site: ("organisation", "set", site.organisation, "--quota-files", "none"),
    "people": lambda site: ("user", "list"),
    "a person": lambda site: ("user", "show", remote.ADMIN),
    "enabling": lambda site: ("user", "enable", site.colleague),
    "disabling": lambda site: ("user", "disable", site.colleague),
    "roles": lambda site: ("user", "set-roles", site.colleague, "none"),
    "unused permissions": lambda site: ("permissions", "unused"),
    "new keys": lambda site: ("rotate-keys", ),
    "settings": lambda site: ("settings", "get"),
    "change of the settings": lambda site: ("settings", "set", "--level", "info"),
    "versions of the settings": lambda site: ("settings", "history"),
}
# A pass puts off what it cannot do.
PUTS_OFF = ("jobs", )
# The last thing that these do is to let go of their leases, which run out by themselves: two at most, each with a
# statement that is prepared first.
LEASED = ("fsck", "fsck that repairs", "scrub", "purge", "purge of the audit trail", "backup")
LETTING_GO = 4


class CommandSite(Site):
    """With an administrator, a colleague of hers, a file and the commands' way to the database through the proxy."""

    def begin(self):
        self.password = str(self.host.folder / "password")
        token = self.tokens(remote.ADMIN, PASSWORD)["accessToken"]
        self.colleague = fresh_email("colleague")
        self.run("create-admin", "--email", self.colleague, "--password-file", self.password)
        self.organisation = self.ask("GET", "/customers/organisation", token=token)["organisation"]["id"]
        mark = multipart.boundary()
        self.ask("POST", "/system/files", multipart.encode(files.form(samples.noise(5000), "a.bin"), mark), token=token,
                 content_type=multipart.content_type(mark))
        self.folders = 0

    def run(self, *arguments):
        """A command; how it ended."""
        return self.host.run(*arguments, status=None, environment={"GATEHOUSE_DATABASE_SOCKET": self.proxy.path})

    def fresh_folder(self):
        self.folders += 1
        return str(self.host.folder / f"backup-{self.folders}")


@pytest.fixture(scope="module")
def site(stack, tmp_path_factory):
    with contextlib.ExitStack() as started:
        host = started.enter_context(Host(stack))
        for path in (host.folder / "secrets").iterdir():
            path.chmod(0o600)
        host.run("migrate")
        (host.folder / "password").write_text(PASSWORD, encoding="utf-8")
        host.run("create-admin", "--email", remote.ADMIN, "--password-file", str(host.folder / "password"))
        proxy = StatementProxy(tmp_path_factory.mktemp("proxy"), str(host.socket))
        started.callback(proxy.close)
        found = CommandSite(stack, host, proxy, started.enter_context(worker_of(stack, host)))
        found.begin()
        yield found


@pytest.mark.parametrize("name", COMMANDS)
def test_each_statement_of_a_command_fails_once(site, name):
    make = COMMANDS[name]
    site.proxy.arm()
    usual = site.run(*make(site))
    count = site.proxy.disarm()[0]
    # `check` warns of what the quick start leaves out.
    assert usual.returncode in ((0, 1) if name == "check" else (0, )), usual
    assert count, "the proxy does not see them"
    seen = {}
    every = [(nth, fault) for nth in range(1, count + 1) for fault in FAULTS]
    for nth, fault in sorted(random.sample(every, min(MOST, len(every)))):
        where = f"{name}: statement {nth} of {count} is {fault}"
        arguments = make(site)
        site.proxy.arm(FAULTS[fault], nth)
        done = site.run(*arguments)
        made, met = site.proxy.disarm()
        assert done.returncode in (0, 1, 2), f"{where}: {done}"
        assert done.returncode == 0 or done.stderr.strip() or name == "check", f"{where}: no word of it: {done}"
        done_already = name in PUTS_OFF or (name in LEASED and nth > made - LETTING_GO)
        if fault == "refused" and met and not done_already:
            # A check says it of the part that it is about; a change that is made says what will follow later.
            told = "error 1105" in done.stdout + done.stderr
            assert done.returncode != 0 or told, f"{where}: it ended as if it had been done: {done.stdout}"
        seen[done.returncode] = seen.get(done.returncode, 0) + met
        again = site.run(*make(site))
        assert again.returncode == usual.returncode, f"{where}; afterwards {again}"
    print(f"{name}: {count} statements, ended with {seen}")
    assert sum(seen.values()), "no fault was met"
