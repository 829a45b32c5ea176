# SPDX-License-Identifier: MIT
"""tools/test: builds Gatehouse and runs its tests.

The way through the modules: options reads the command line, packages installs what is missing, folders says where
the jobs write, plan lists the jobs of the chosen kinds, which kinds_of_sources and kinds_of_service make by means of
runner, lanes runs jobs side by side, priorities says which go before others, steps runs one program and keeps its
output, counts reads what a test runner reported, failures finds what failed and why, stacks starts the service for a
job, summary tells how it went.
"""

import signal
import sys

import folders
import options
import packages
import plan
import summary
from lanes import Lanes, line_up
from problem import Ended, Problem
from steps import Steps

WAITING = 2  # lanes of jobs that mostly wait


def main():
    chosen = options.read(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    try:
        packages.require(chosen)
        with folders.on_disk() as disk, folders.quick(chosen) as temporary:
            return run(chosen, temporary, disk)
    except Problem as problem:
        print(f"test: {problem}", file=sys.stderr)
        return 1
    except Ended as ended:
        return 128 + ended.number


def end(number, _):
    """Whoever ends this process by a signal has it end first what it started."""
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


def run(chosen, temporary, disk):
    """Returns 0 when every test passed and there was one."""
    steps = Steps(chosen, temporary, disk)
    lanes = Lanes(max(1, chosen.lanes - WAITING), steps)
    waiting, sparing = Lanes(WAITING, steps), Lanes(1, steps)
    try:
        jobs = plan.jobs(chosen, steps)
        lanes.run(line_up(job for job in jobs if job.first))
        if not steps.gave_up:
            run_rest([job for job in jobs if not job.first], lanes, waiting, sparing)
            plan.check_shares(jobs, steps)
    finally:
        steps.end_all()
        lanes.join()
        waiting.join()
        sparing.join()
    return summary.tell(steps)


def run_rest(jobs, lanes, waiting, sparing):
    """Jobs that mostly wait have lanes of their own, and so have those that take what is spare. A lane that has none of
    these left takes ordinary ones."""
    ordinary = line_up(job for job in jobs if job.ordinary)
    waiting.start(line_up(job for job in jobs if job.waits), ordinary)
    sparing.start(line_up(job for job in jobs if job.spare), ordinary)
    lanes.run(ordinary)
    sparing.wait()
    waiting.wait()
    for job in jobs:
        if job.alone:
            lanes.run(line_up([job]))


sys.exit(main())
