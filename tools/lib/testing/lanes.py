# SPDX-License-Identifier: MIT
"""Jobs side by side: each lane takes the next job from one list until none is left."""

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


class Lanes:
    """A fixed number of threads."""

    def __init__(self, number, steps):
        self.number = number
        self.steps = steps
        self.threads = []

    def start(self, jobs):
        """Begins with the jobs, the first of the list first."""
        waiting = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        self.threads = [threading.Thread(target=self.lane, args=(waiting, ))
                        for _ in range(min(self.number, len(jobs)))]
        for thread in self.threads:
            thread.start()

    def wait(self):
        """Returns when all jobs have ended."""
        for thread in self.threads:
            while thread.is_alive():  # a signal is heard between two waits
                thread.join(0.5)

    def run(self, jobs):
        """Runs the jobs and returns when all have ended."""
        self.start(jobs)
        self.wait()

    def lane(self, waiting):
        while not self.steps.ending:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
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
