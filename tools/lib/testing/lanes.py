# SPDX-License-Identifier: MIT
"""Jobs side by side: each lane takes the next job from its list until none is left, and then from another one."""

import queue
import threading
import traceback

import priorities


class Job:
    """A piece of work that needs nothing of another one. `first`: before all others; `waits`: it mostly waits, so it
    needs no processor of its own; `spare`: in a lane of its own beside the others; `alone`: after all others, with the
    machine for itself; `priority`: that of its programs."""

    def __init__(self, name, work, first=False, waits=False, spare=False, alone=False, share=None,
                 priority=priorities.ORDINARY):
        self.name = name
        self.kind = "build"
        self.work = work
        self.first = first
        self.waits = waits
        self.spare = spare
        self.alone = alone
        self.ordinary = not (waits or spare or alone)
        self.share = share
        self.priority = priority


def line_up(jobs):
    """A queue of the jobs, the first of the list first."""
    queued = queue.SimpleQueue()
    for job in jobs:
        queued.put(job)
    return queued


def next_job(queues):
    """The next one of the first queue that has any; None where all are empty."""
    for one in queues:
        try:
            return one.get_nowait()
        except queue.Empty:
            continue
    return None


class Lanes:
    """A fixed number of threads."""

    def __init__(self, number, steps):
        self.number = number
        self.steps = steps
        self.threads = []

    def start(self, jobs, *others):
        """Begins with a queue of jobs, in no more lanes than it has jobs. A lane that finds it empty takes jobs from
        the other queues."""
        queues = (jobs, *others)
        self.threads = [threading.Thread(target=self.lane, args=(queues, ))
                        for _ in range(min(self.number, jobs.qsize()))]
        for thread in self.threads:
            thread.start()

    def wait(self):
        """Returns when all jobs have ended."""
        for thread in self.threads:
            while thread.is_alive():  # a signal is heard between two waits
                thread.join(0.5)

    def run(self, jobs):
        """Runs a queue of jobs and returns when all have ended."""
        self.start(jobs)
        self.wait()

    def lane(self, queues):
        while not self.steps.ending:
            job = next_job(queues)
            if job is None:
                return
            self.steps.here.job = job.kind, job.priority
            try:
                job.work()
            except SystemExit:
                return
            except Exception:  # a fault of the runner is a failed run
                self.broken(job)

    def broken(self, job):
        """A job that could not be carried out."""
        step = self.steps.run(f"{job.name} broke", ["false"])
        step.log.write_text(traceback.format_exc(), encoding="utf-8")
        step.failed = 1
        self.steps.note(step)

    def join(self):
        """Waits for the lanes, once their programs have been ended."""
        for thread in self.threads:
            thread.join(120)
