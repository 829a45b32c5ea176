# SPDX-License-Identifier: MIT
"""The kinds of tests that look at the sources, or that start what they need themselves."""

import concurrent.futures
import pathlib

import counts
import priorities
from lanes import Job
from options import KINDS
from runner import Runner
from stacks import sanitizer_options

CHECKS_AT_ONCE = 2
# Each with how many files an ordinary run gives it, from nothing some 8 and 17 seconds of processor. All files take
# some eight minutes of processor.
ANALYSES = {"check-fanalyzer": 32, "check-tidy": 12}
# What else looks for faults that no test has met; these belong to the checks, too.
SCANS = ("check-cppcheck", "check-boundary", "check-grants")
FUZZ_SECONDS, FUZZ_SECONDS_FULL = 60, 600
# Zeros are counted, no times: a worker that loses 20 bytes at each request still goes over the bound.
BENCH_ROUNDS = ("--rounds", "2", "--seconds", "1")
FUZZ_LIMIT_SECONDS = 6 * 3600
TORTURE_LIMIT_SECONDS = 3 * 3600
DEBIAN13_LIMIT_SECONDS = 3 * 3600
WITH_SANITIZERS = ("unit", "http", "torture")
WITH_SANITIZERS_LIMIT_SECONDS = 3 * 3600
RELEASES = ("bookworm", "trixie")
UNITS_AT_ONCE = 4


class KindsOfSources(Runner):
    """A method a kind, of its name: its jobs."""

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
        """Every check that stands in tools/checks, but for those that take minutes."""
        return [Job("checks", self.run_checks, first=True)]

    def run_checks(self):
        found = sorted(path for path in self.chosen.top.glob("tools/checks/check-*") if path.name not in ANALYSES)
        own = ["tests/bench/test_measure.py", *sorted(self.chosen.top.glob("tests/tools/test_*.py"))]
        commands = [[path] for path in found] + [["/usr/bin/python3", "-I", "-B", path] for path in own]
        with concurrent.futures.ThreadPoolExecutor(CHECKS_AT_ONCE) as pool:
            list(pool.map(self.run_check, commands if found else [["false"]]))

    def unit(self):
        return [Job("unit", self.run_unit)]

    def run_unit(self):
        step = self.make("make check", f"-j{UNITS_AT_ONCE}", "check", "VERBOSE=1",
                         environment={"TMPDIR": self.steps.disk})
        counts.tap(step)
        self.steps.note(step)

    def dist(self):
        return [Job("dist", self.run_dist, spare=not self.chosen.full, priority=priorities.SPARE)]

    def run_dist(self):
        """A second whole make check, with what is installed compiled as usual, only in a full run. The tarball is
        thrown away, so it need not be small."""
        quick = () if self.chosen.full else ("TESTS=", "DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O0")
        step = self.make("make distcheck", "-j2", "distcheck", *quick,
                         environment={"TMPDIR": self.steps.disk, "XZ_OPT": "-1"})
        counts.one(step)
        self.steps.note(step)

    def debian13(self):
        if "debian13" in self.chosen.left_out:
            return [Job("debian13", lambda: self.tell_left_out("debian13", "Debian 13"))]
        return [Job("debian13", self.run_debian13, spare=not self.chosen.full, priority=priorities.SPARE)]

    def run_debian13(self):
        """The two first kinds, or all of them, in a clean root of Debian 13, which is kept for the next run."""
        kinds = ["checks", "unit"]
        if self.chosen.full:
            kinds = [kind for kind in KINDS if kind not in ("debian13", "package", "analyse", "ceph", "sanitizers")]
        cache = pathlib.Path.home() / ".cache" / "gatehouse" / "debian13"
        step = self.steps.run("Debian 13", [self.chosen.top / "tools" / "lib" / "debian13", cache,
                                            f"{self.steps.disk}/debian13", *kinds],
                              environment={"FULL": "yes" if self.chosen.full else ""},
                              limit=DEBIAN13_LIMIT_SECONDS)
        counts.summary(step)
        self.steps.note(step)

    def torture(self):
        """In two parts: what fails of other hosts needs nothing that the other part breaks, and mostly waits."""
        return [Job("torture", lambda: self.torture_part("not hosts")),
                Job("outbound torture", lambda: self.torture_part("hosts"), waits=True)]

    def torture_part(self, marks):
        step = self.steps.run(f"torture {marks}", [self.tests / "torture" / "run", "-m", marks], environment={
            "TMPDIR": self.steps.disk,
            "GATEHOUSE_BUILD": str(self.quick / "build"), "GATEHOUSE_QUICKSTART_BUILD": str(self.quick),
            "GATEHOUSE_CONFIGURE_ARGUMENTS": self.chosen.configure, "GATEHOUSE_IS_BUILT": "yes", **sanitizer_options(),
            "GATEHOUSE_TEST_FULL": "yes" if self.chosen.full else ""}, limit=TORTURE_LIMIT_SECONDS)
        counts.tap(step)
        self.steps.note(step)

    def sanitizers(self):
        """It shares out its jobs itself, as this run does, so nothing else runs beside it."""
        return [Job("last sanitizers", self.run_sanitizers, alone=True)]

    def run_sanitizers(self):
        """What a sanitizer reports fails a unit test, or the stack in whose log it stands."""
        step = self.steps.run("sanitizers", [
            self.chosen.top / "tools" / "test", *WITH_SANITIZERS, "--sanitizers", "--folder",
            self.chosen.out / "sanitizers", "--lanes", self.chosen.lanes, "--no-install"],
            environment={"TMPDIR": self.steps.disk}, limit=WITH_SANITIZERS_LIMIT_SECONDS)
        counts.summary(step)
        self.steps.note(step)

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
        """One after the other: each uses every core. An ordinary run, which is to be short, looks at the files that
        were changed last."""
        whole = self.chosen.full or "analyse" in self.chosen.named
        for name, last in ANALYSES.items():
            self.run_check([self.chosen.top / "tools" / "checks" / name], *([] if whole else [f"--last={last}"]))
        for name in SCANS if "checks" not in self.chosen.kinds else ():
            self.run_check([self.chosen.top / "tools" / "checks" / name])
        self.run_check(["/usr/bin/python3", "-I", "-B", self.tests / "tools" / "with_compilers.py"])

    def bench(self):
        return [Job("bench", self.run_bench, spare=not self.chosen.full, priority=priorities.SPARE)]

    def run_bench(self):
        rounds = () if self.chosen.full else BENCH_ROUNDS
        step = self.steps.run("bench", [
            self.chosen.top / "tools" / "bench", "quick", *rounds, "--no-install", "--build-directory",
            self.quick, f"--configure-arguments={self.chosen.configure}"])
        counts.one(step)
        self.steps.note(step)
