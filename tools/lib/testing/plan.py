# SPDX-License-Identifier: MIT
"""The jobs of each kind of tests, those that take longest first."""

import concurrent.futures
import json
import pathlib
import shutil
import threading

import counts
from lanes import Job
from options import KINDS
from stacks import Stack, sanitizer_options

NGINX_SHARES = 3
WEB_SHARES = 2
CHECKS_AT_ONCE = 2
ANALYSES = ("check-fanalyzer", "check-tidy")
FUZZ_SECONDS, FUZZ_SECONDS_FULL = 60, 600
# Zeros are counted, no times: a worker that loses 20 bytes at each request still goes over the bound.
BENCH_ROUNDS = ("--rounds", "2", "--seconds", "1")
FUZZ_LIMIT_SECONDS = 6 * 3600
TORTURE_LIMIT_SECONDS = 3 * 3600
RELEASES = ("bookworm", "trixie")
STORE = "versitygw"
STORE_FILES = ("archive", "downloads", "storage", "resumable_protocol", "resumable_breaks", "resumable_judgement")
CLIENTS = "tus-clients"
API_CLIENTS, LINT, FUZZER = "api-clients", "document-lint", "schemathesis"
DRIVER = "playwright"
GO = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go")
# Thousands of sign-ups and logins of a quick run need not cost an attacker anything: the least that may be configured.
CHEAP_PASSWORDS = ("--set", "password.hash_memory_kib=7168", "--set", "password.hash_passes=1")
PROVIDER_OF = {"cognito-local": "cognito", "moto": "cognito", "keycloak": "keycloak"}


def jobs(chosen, steps):
    """All jobs of the chosen kinds, in the order in which they are begun."""
    plan = Plan(chosen, steps)
    found = []
    for kind in chosen.kinds:
        own = getattr(plan, kind)()
        for job in own:
            job.kind = kind
        found += own
    if not set(chosen.kinds) <= {"checks", "analyse"}:
        found.insert(0, Job("build", plan.build, first=True))
    # The sort is stable: kinds stay together, but what takes longest begins first.
    return sorted(found, key=lambda job: not job.first and LONGEST.index(job.name.split(" ")[0]))


# The unit tests keep their databases on the disk, as the stacks do, and some of them tell what becomes of locks that
# run out: they begin when the stacks behind nginx are through. They mostly wait, so that many programs run at once.
LONGEST = ("build", "checks", "http", "cluster", "keycloak", "store", "torture", "unit", "dist", "web", "clients",
           "providers", "debian13", "quickstart", "package", "fuzz", "analyse", "bench", "last")
UNITS_AT_ONCE = 5


def check_shares(jobs_of_run, steps):
    """Every collected case must have run in one of the shares."""
    for folder in sorted({job.share for job in jobs_of_run if job.share}):
        collected = {path.read_text(encoding="ascii") for path in pathlib.Path(folder).glob("collected-*")}
        ran = sum(int(path.read_text(encoding="ascii")) for path in pathlib.Path(folder).glob("ran-*"))
        if collected and collected != {str(ran)}:
            step = steps.run(f"shares of {pathlib.Path(folder).name}", ["false"])
            step.why, step.failed = f"{ran} cases ran of {' or '.join(sorted(collected))}", 1
            steps.note(step)


class Plan:
    """Makes jobs for a command line."""

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

    def build(self):
        """The programs as the quick start installs them, and those of the unit tests, from one build folder."""
        for step in (
                lambda: self.steps.run("build", [
                    self.chosen.top / "tools" / "quickstart", "--build-only", "--no-install", "--build-directory",
                    self.quick, f"--configure-arguments={self.chosen.configure}"]),
                lambda: self.make("build of tests", f"-j{max(2, self.chosen.lanes // 2)}", "check", "TESTS=")):
            done = step()
            counts.one(done)
            self.steps.note(done)
            if not done.good:
                self.steps.gave_up = True
                return

    def checks(self):
        """Every check that stands in tools, but for those that take minutes."""
        return [Job("checks", self.run_checks, first=True)]

    def run_checks(self):
        found = sorted(path for path in self.chosen.top.glob("tools/check-*") if path.name not in ANALYSES)
        own = ["tests/bench/test_measure.py", *sorted(self.chosen.top.glob("tests/tools/test_*.py"))]
        commands = [[path] for path in found] + [["/usr/bin/python3", "-I", "-B", path] for path in own]
        with concurrent.futures.ThreadPoolExecutor(CHECKS_AT_ONCE) as pool:
            list(pool.map(self.run_check, commands if found else [["false"]]))

    def run_check(self, command):
        """One of them."""
        step = self.steps.run(pathlib.Path(command[-1]).stem, command, folder=self.chosen.top)
        counts.one(step)
        self.steps.note(step)

    def unit(self):
        return [Job("unit", self.run_unit)]

    def run_unit(self):
        step = self.make("make check", f"-j{UNITS_AT_ONCE}", "check", "VERBOSE=1",
                         environment={"TMPDIR": self.steps.disk})
        counts.tap(step)
        self.steps.note(step)

    def dist(self):
        return [Job("dist", self.run_dist)]

    def run_dist(self):
        """A second whole make check only in a full run."""
        step = self.make("make distcheck", "-j2", "distcheck", *([] if self.chosen.full else ["TESTS="]),
                         environment={"TMPDIR": self.steps.disk})
        counts.one(step)
        self.steps.note(step)

    def debian13(self):
        if "debian13" in self.chosen.left_out:
            return [Job("debian13", lambda: self.tell_left_out("debian13", "Debian 13"))]
        return [] if "torture" in self.chosen.kinds else [Job("debian13", self.run_debian13)]

    def tell_left_out(self, kind, name):
        """Why this machine does not run it is a skipped test with that sentence."""
        step = self.steps.run(name, ["true"])
        step.skipped, step.why = 1, self.chosen.left_out[kind]
        self.steps.note(step)

    def run_debian13(self):
        """The two first kinds, or all of them, in a clean root of Debian 13, which is kept for the next run."""
        kinds = ["checks", "unit"]
        if self.chosen.full:
            kinds = [kind for kind in KINDS if kind not in ("debian13", "package", "analyse", "ceph")]
        cache = pathlib.Path.home() / ".cache" / "gatehouse" / "debian13"
        step = self.steps.run("Debian 13", [self.chosen.top / "tools" / "lib" / "debian13", cache,
                                            f"{self.steps.disk}/debian13", *kinds],
                              environment={"FULL": "yes" if self.chosen.full else ""}, limit=5400)
        counts.summary(step)
        self.steps.note(step)

    def http(self):
        """Everything once behind nginx, in shares; what depends on the web server or the way of uploads behind the
        others."""
        if self.chosen.web_server:
            return self.shares(self.chosen.web_server, self.chosen.lanes)
        marks = ("", "") if self.chosen.full else ("web_server", "web_server")
        found = self.shares("nginx", NGINX_SHARES)
        found += [self.behind(server, ["--web-server", server], mark) for server,
                  mark in zip(("apache", "apache-fcgid"), marks)]
        found += [self.behind(f"nginx {way}", ["--uploads", way], "upload_mode") for way in ("buffered", "unbuffered")]
        return found + [Job("last http", lambda: self.run_http("http alone", [], "alone"), alone=True)]

    def shares(self, server, number):
        """Several stacks that share out the cases behind one web server."""
        folder = self.share("cases", server)

        def work(index):
            return lambda: self.run_http(f"http behind {server} {index}", ["--web-server", server], "", folder)
        return [Job(f"http {server}", work(index + 1), share=str(folder)) for index in range(number)]

    def share(self, what, server):
        """A folder in which processes claim the files whose cases they run."""
        folder = pathlib.Path(self.steps.temporary) / f"{what}-behind-{server}"
        folder.mkdir()
        return folder

    def behind(self, name, options, mark):
        return Job(f"http {name}", lambda: self.run_http(f"http behind {name}", options, mark))

    def run_http(self, name, options, mark, share=None):
        """One stack and the cases with the mark; those that need the machine for themselves are another job's."""
        marks = mark if mark == "alone" else f"{mark} and not alone" if mark else "not alone"
        # What is measured alone is measured as it is installed.
        passwords = () if mark == "alone" else self.cheap_passwords
        with Stack(self.chosen, self.steps, name, [*options, *passwords]) as stack:
            if stack.ready:
                self.pytest(name, stack, [*self.marked(mark), "-m", marks, *self.chosen.pytest],
                            {"GATEHOUSE_TEST_SHARE": str(share)} if share else {})

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

    def quickstart(self):
        """A job a file, since a start mostly waits; the providers' own file belongs to another kind."""
        files = [self.tests / "quickstart" / f"test_{name}.py" for name in ("life", "ends", "guides")]
        files += sorted(set(self.tests.glob("quickstart/test_*.py")) - {
            *files, *(self.tests / "quickstart" / f"test_{name}.py" for name in ("providers", "cluster"))})
        return [Job(f"quickstart {path.stem[5:]}", lambda path=path: self.run_quickstart(
            f"quickstart {path.stem[5:]}", [path])) for path in files]

    def run_quickstart(self, name, arguments):
        """Tests that start quick starts themselves."""
        self.pytest(name, None, arguments, {"GATEHOUSE_BUILD_DIRECTORY": str(self.quick), **sanitizer_options(),
                                            "GATEHOUSE_CONFIGURE_ARGUMENTS": self.chosen.configure})

    def providers(self):
        """Each emulator is fetched at its pinned version, and stands behind the same cases."""
        found = [Job(f"{'keycloak' if name == 'keycloak' else 'providers'} {name}",
                     lambda name=name: self.run_provider(name))
                 for name in PROVIDER_OF]
        return found + [Job("providers quickstart", self.run_provider_quickstart)]

    def fetch(self, name):
        """Whether what tools/lib/emulators pins is there; two jobs may ask for the same one."""
        with self.fetching[name]:
            if name not in self.fetched:
                step = self.steps.run(f"fetch {name}", [self.chosen.top / "tools" / "lib" / "emulators" / "fetch", name,
                                                        self.quick / "emulators"])
                counts.one(step)
                self.fetched[name] = self.steps.note(step).good
            return self.fetched[name]

    def run_provider(self, name):
        if not self.fetch(name):
            return
        http = self.tests / "http"
        cases = [http / "providers" / "test_accounts.py", http / "providers" / "test_people.py",
                 http / "providers" / "test_email_change.py",
                 http / "accounts" / "test_states.py", http / "sessions" / "test_session_list.py",
                 *([http / "sessions" / "test_browser_session.py"] if self.chosen.full else []),
                 *http.glob(f"providers/with_{name}.py")]
        with Stack(self.chosen, self.steps, f"with {name}", ["--provider", PROVIDER_OF[name], "--emulator",
                                                             name]) as stack:
            if stack.ready:
                self.pytest(f"accounts with {name}", stack, cases)
                if name == "keycloak":
                    self.unit_with_keycloak(stack)

    def unit_with_keycloak(self, stack):
        """The adapter's own cases, but those with faults, in the realm of the stack."""
        facts = json.loads(pathlib.Path(stack.facts).read_text(encoding="utf-8"))
        step = self.steps.run("unit with keycloak", ["tests/unit/test-identity", "keycloak"],
                              folder=self.quick / "build",
                              environment={"GATEHOUSE_TEST_KEYCLOAK": facts["providerUrl"],
                                           "srcdir": str(self.chosen.top),
                                           "GATEHOUSE_TEST_KEYCLOAK_SECRETS": f"{stack.state}/secrets"})
        counts.one(step)
        self.steps.note(step)

    def run_provider_quickstart(self):
        if all([self.fetch(name) for name in PROVIDER_OF]):
            self.run_quickstart("quickstart with providers", [self.tests / "quickstart" / "test_providers.py"])

    def store(self):
        return [Job("store", self.run_store)]

    def has_store(self, kind):
        """Whether the server of the S3 store is there, which is built with Go. Where there is no Go, the kind is left
        out."""
        if not shutil.which("go") and not any(pathlib.Path(path).exists() for path in GO):
            step = self.steps.run(kind, ["true"])
            step.skipped, step.why = 1, "There is no Go on this machine, with which versitygw is built."
            self.steps.note(step)
            return False
        return self.fetch(STORE)

    def files_in_a_store(self):
        """The cases of files that tell of an S3 store, too."""
        http = self.tests / "http"
        return [http / "files" / "with_s3.py", http / "maintenance" / "test_fsck_and_purge.py",
                *(http / "files" / f"test_{name}.py" for name in STORE_FILES)]

    def run_store(self):
        """The cases of files once more, with their bytes in an S3 store."""
        if not self.has_store("store"):
            return
        options = ["--store", "s3", "--set", "files.s3_timeout_seconds=5", *self.cheap_passwords]
        with Stack(self.chosen, self.steps, "with an S3 store", options) as stack:
            if stack.ready:
                self.pytest("files with an S3 store", stack, [*self.files_in_a_store(), "-m",
                                                              "not directory and not alone"])

    def ceph(self):
        """Daemons of the store die, and how the service goes on is judged, so nothing else runs beside it."""
        return [Job("last ceph", self.run_ceph, alone=True)]

    def run_ceph(self):
        """The cases of files with a real Ceph, then what becomes of them while its daemons die."""
        with Stack(self.chosen, self.steps, "with Ceph", ["--store", "ceph", *self.cheap_passwords]) as stack:
            if stack.ready:
                self.pytest("files with Ceph", stack, [*self.files_in_a_store(), "-m",
                                                       "not directory and not alone and not inode"])
                self.pytest("Ceph", stack, [self.tests / "ceph", "-s", *self.chosen.pytest])

    def cluster(self):
        """Starting clusters again and again takes long, so that is left to a full run and to whoever names the kind.
        How many requests a death costs is judged, so nothing else runs beside it."""
        found = [Job("last cluster", self.run_cluster, alone=True)]
        if self.chosen.full or "cluster" in self.chosen.named:
            found.append(Job("cluster quickstart", self.run_cluster_quickstart))
        return found

    def run_cluster(self):
        """One cluster, in which one part after the other dies."""
        if not self.has_store("cluster") or not self.fetch(CLIENTS):
            return
        with Stack(self.chosen, self.steps, "of a cluster", ["--cluster"]) as stack:
            if stack.ready:
                self.pytest("cluster", stack, [self.tests / "cluster", "-s", *self.chosen.pytest],
                            self.clients_of_tus())

    def run_cluster_quickstart(self):
        """What a cluster starts, restarts and leaves."""
        if self.has_store("cluster quickstart"):
            self.run_quickstart("quickstart of a cluster", [self.tests / "quickstart" / "test_cluster.py", "-s"])

    def clients(self):
        return [Job("clients", self.run_clients)]

    def run_clients(self):
        """Resumable uploads with clients as their registries have them, the clients of this tree, and the document that
        those are made of."""
        if not all([self.fetch(name) for name in (CLIENTS, API_CLIENTS, LINT, FUZZER)]):
            return
        fetched = self.quick / "emulators"
        with Stack(self.chosen, self.steps, "with clients", self.cheap_passwords) as stack:
            if stack.ready:
                self.pytest("uploads with clients", stack, [self.tests / "http" / "files" / "with_tus_clients.py"],
                            self.clients_of_tus())
                found = {"GATEHOUSE_API_CLIENTS": str(fetched / API_CLIENTS),
                         "GATEHOUSE_DOCUMENT_LINT": str(fetched / LINT),
                         "GATEHOUSE_SCHEMATHESIS": str(fetched / FUZZER)}
                self.pytest("clients", stack, [self.tests / "clients", *self.chosen.pytest], found)
                # Last, since it changes whatever it may.
                self.pytest("schemathesis", stack, [self.tests / "clients" / "with_schemathesis.py"], found)

    def clients_of_tus(self):
        """Where tests find them."""
        return {"GATEHOUSE_TUS_CLIENTS": str(self.quick / "emulators" / CLIENTS)}

    def web(self):
        """The pages in a browser, behind nginx, in shares; in a full run behind Apache as well."""
        return [job for server in (("nginx", "apache") if self.chosen.full else ("nginx", ))
                for job in self.web_shares(server)]

    def web_shares(self, server):
        shutil.rmtree(self.chosen.out / "pictures" / server, ignore_errors=True)
        folder = self.share("pages", server)

        def work(index):
            return lambda: self.run_web(f"web behind {server} {index}", server, folder)
        return [Job(f"web {server}", work(index + 1), share=str(folder)) for index in range(WEB_SHARES)]

    def run_web(self, name, server, share):
        if not self.fetch(DRIVER):
            return
        pictures = self.chosen.out / "pictures" / server
        with Stack(self.chosen, self.steps, name, ["--web-server", server, *self.cheap_passwords]) as stack:
            if stack.ready:
                self.pytest(name, stack, [self.tests / "web", *self.chosen.pytest], {
                    "GATEHOUSE_PLAYWRIGHT": str(self.quick / "emulators" / DRIVER),
                    "GATEHOUSE_PICTURES": str(pictures), "GATEHOUSE_TEST_SHARE": str(share),
                    "GATEHOUSE_PICTURES_OF": "everything" if self.chosen.full else "two"})

    def torture(self):
        return [Job("torture", self.run_torture)]

    def run_torture(self):
        step = self.steps.run("torture", [self.tests / "torture" / "run"], environment={
            "TMPDIR": self.steps.disk,
            "GATEHOUSE_BUILD": str(self.quick / "build"), "GATEHOUSE_QUICKSTART_BUILD": str(self.quick),
            "GATEHOUSE_CONFIGURE_ARGUMENTS": self.chosen.configure,
            "GATEHOUSE_TEST_FULL": "yes" if self.chosen.full else ""}, limit=TORTURE_LIMIT_SECONDS)
        counts.tap(step)
        self.steps.note(step)
        # Never beside one another: what torture unmounts would stay mounted in the namespace of the other root.
        if "debian13" in self.chosen.kinds and "debian13" not in self.chosen.left_out:
            self.run_debian13()

    def package(self):
        """Packages of both releases of Debian, images of the older one; in a full run those of the other, too."""
        if "package" in self.chosen.left_out:
            return [Job("package", lambda: self.tell_left_out("package", "package"))]
        wanted = [("packages", release) for release in RELEASES]
        wanted += [("containers", release) for release in (RELEASES if self.chosen.full else RELEASES[:1])]
        return [Job(f"package {kind} {release}", lambda kind=kind, release=release: self.run_package(kind, release))
                for kind, release in wanted]

    def run_package(self, kind, release):
        """The Debian packages or the images for containers, in clean roots of this release, which are kept for the next
        run."""
        tool = self.chosen.top / "tools" / "lib" / ("package" if kind == "packages" else kind)
        step = self.steps.run(f"{kind} {release}", [tool, pathlib.Path.home() / ".cache" / "gatehouse",
                                                    f"{self.steps.disk}/{kind}-{release}", release], limit=5400)
        counts.tap(step)
        self.steps.note(step)

    def fuzz(self):
        return [Job("fuzz", self.run_fuzz)]

    def run_fuzz(self):
        """Each target under libFuzzer; what it finds is kept for the next run."""
        seconds = FUZZ_SECONDS_FULL if self.chosen.full else FUZZ_SECONDS
        step = self.steps.run("fuzz", [self.tests / "fuzz" / "run", "--seconds", seconds], limit=FUZZ_LIMIT_SECONDS)
        counts.tap(step)
        self.steps.note(step)

    def analyse(self):
        """The compilers are the same in the clean root of Debian 13, so they look only here."""
        return [Job("analyse", self.run_analyse)]

    def run_analyse(self):
        """One after the other: each uses every core."""
        for name in ANALYSES:
            self.run_check([self.chosen.top / "tools" / name])
        self.run_check(["/usr/bin/python3", "-I", "-B", self.tests / "tools" / "with_compilers.py"])

    def bench(self):
        return [Job("last bench", self.run_bench, alone=True)]

    def run_bench(self):
        rounds = () if self.chosen.full else BENCH_ROUNDS
        step = self.steps.run("bench", [self.chosen.top / "tools" / "bench", "quick", *rounds, "--no-install",
                                        "--build-directory",
                                        self.quick, f"--configure-arguments={self.chosen.configure}"])
        counts.one(step)
        self.steps.note(step)
