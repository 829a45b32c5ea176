# SPDX-License-Identifier: MIT
"""What the jobs of all kinds have in common: one run of make or pytest, what is fetched, who shares out cases."""

import pathlib
import shutil
import threading

import counts
from stacks import sanitizer_options

STORE = "versitygw"
CLIENTS = "tus-clients"
API_CLIENTS, LINT, FUZZER = "api-clients", "document-lint", "schemathesis"
DRIVER = "playwright"
GO = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go")
# Thousands of sign-ups and logins of a quick run need not cost an attacker anything: the least that may be configured.
CHEAP_PASSWORDS = ("--set", "password.hash_memory_kib=7168", "--set", "password.hash_passes=1")
PROVIDER_OF = {"cognito-local": "cognito", "moto": "cognito", "keycloak": "keycloak"}


class Runner:
    """Makes steps of a command line."""

    def __init__(self, chosen, steps):
        self.chosen = chosen
        self.steps = steps
        self.quick = chosen.out / "quickstart"
        self.tests = chosen.top / "tests"
        self.cheap_passwords = () if chosen.full else CHEAP_PASSWORDS
        self.fetched = {}
        self.fetching = {name: threading.Lock() for name in (*PROVIDER_OF, STORE, CLIENTS, API_CLIENTS, LINT, FUZZER,
                                                             DRIVER)}

    def make(self, name, *arguments, **how):
        """One run of make in the build folder."""
        return self.steps.run(name, ["make", "-C", self.quick / "build", *arguments], **how)

    def run_check(self, command, *options):
        """One of them."""
        step = self.steps.run(pathlib.Path(command[-1]).stem, [*command, *options], folder=self.chosen.top)
        counts.one(step)
        self.steps.note(step)

    def tell_left_out(self, kind, name):
        """Why this machine does not run it is a skipped test with that sentence."""
        step = self.steps.run(name, ["true"])
        step.skipped, step.why = 1, self.chosen.left_out[kind]
        self.steps.note(step)

    def share(self, what, server):
        """A folder in which processes claim the files whose cases they run."""
        folder = pathlib.Path(self.steps.temporary) / f"{what}-behind-{server}"
        folder.mkdir()
        return folder

    def marked(self, mark):
        """The files of tests/http with cases of that mark, since reading all of them takes longer than some runs."""
        folder = self.tests / "http"
        return sorted(path for path in folder.rglob("test_*.py")
                      if f"mark.{mark}" in path.read_text(encoding="utf-8")) if mark else [folder]

    def pytest(self, name, stack, arguments, environment=None):
        """pytest against a stack."""
        report = self.steps.logs / f"{name.replace(' ', '-')}.xml"
        report.unlink(missing_ok=True)
        step = self.steps.run(name, ["/usr/bin/python3", "-m", "pytest", *arguments, "-q", f"--junitxml={report}"],
                              environment={**(stack.environment() if stack else {}), **(environment or {}),
                                           **({"GATEHOUSE_TEST_FULL": "yes"} if self.chosen.full else {})})
        counts.junit(step, report)
        step.stack_logs = stack.kept if stack else None
        self.steps.note(step)

    def run_quickstart(self, name, arguments):
        """Tests that start quick starts themselves."""
        self.pytest(name, None, arguments, {"GATEHOUSE_BUILD_DIRECTORY": str(self.quick), **sanitizer_options(),
                                            "GATEHOUSE_IS_BUILT": "yes",
                                            "GATEHOUSE_CONFIGURE_ARGUMENTS": self.chosen.configure})

    def fetch(self, name):
        """Whether what tools/lib/emulators pins is there; two jobs may ask for the same one."""
        with self.fetching[name]:
            if name not in self.fetched:
                step = self.steps.run(f"fetch {name}", [self.chosen.top / "tools" / "lib" / "emulators" / "fetch", name,
                                                        self.quick / "emulators"])
                counts.one(step)
                self.fetched[name] = self.steps.note(step).good
            return self.fetched[name]

    def has_store(self, kind):
        """Whether the server of the S3 store is there, which is built with Go. Where there is no Go, the kind is left
        out."""
        if not shutil.which("go") and not any(pathlib.Path(path).exists() for path in GO):
            step = self.steps.run(kind, ["true"])
            step.skipped, step.why = 1, "There is no Go on this machine, with which versitygw is built."
            self.steps.note(step)
            return False
        return self.fetch(STORE)

    def clients_of_tus(self):
        """Where tests find them."""
        return {"GATEHOUSE_TUS_CLIENTS": str(self.quick / "emulators" / CLIENTS)}
