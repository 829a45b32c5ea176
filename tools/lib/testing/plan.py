# SPDX-License-Identifier: MIT
"""The jobs of the chosen kinds, those that take longest first."""

import pathlib

from kinds_of_service import KindsOfService
from kinds_of_sources import KindsOfSources
from lanes import Job

# The unit tests keep their databases on the disk, as the stacks do, and some of them tell what becomes of locks that
# run out: they begin when the stacks behind nginx are through. They mostly wait, so that many programs run at once.
LONGEST = ("build", "checks", "torture", "http", "cluster", "keycloak", "outbound", "unit", "store", "debian13", "dist",
           "web", "clients", "providers", "quickstart", "package", "fuzz", "analyse", "bench", "last")


class Plan(KindsOfSources, KindsOfService):
    """Makes jobs for a command line."""


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


def check_shares(jobs_of_run, steps):
    """Every collected case must have run in one of the shares."""
    for folder in sorted({job.share for job in jobs_of_run if job.share}):
        collected = {path.read_text(encoding="ascii") for path in pathlib.Path(folder).glob("collected-*")}
        ran = sum(int(path.read_text(encoding="ascii")) for path in pathlib.Path(folder).glob("ran-*"))
        if collected and collected != {str(ran)}:
            step = steps.run(f"shares of {pathlib.Path(folder).name}", ["false"])
            step.why, step.failed = f"{ran} cases ran of {' or '.join(sorted(collected))}", 1
            steps.note(step)
