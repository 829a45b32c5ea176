# SPDX-License-Identifier: MIT
"""The end of a run: what failed, the figures, the totals."""

import resource
import time

from steps import figures


COUNTS = ("passed", "failed", "skipped")


def cases(steps):
    """How many cases of the steps passed, failed and were skipped."""
    return [sum(getattr(step, name) for step in steps) for name in COUNTS]


def kinds(steps):
    """A line a kind: its cases, the seconds from its first beginning to its last end, and those of the processors. What
    a program leaves running in the background (the quick starts of the kind quickstart) is not counted among the
    latter."""
    lines = []
    for kind in dict.fromkeys(step.kind for step in steps):
        own = [step for step in steps if step.kind == kind]
        seconds = max(step.began + step.seconds for step in own) - min(step.began for step in own)
        counted = ", ".join(f"{number} {word}" for number, word in zip(cases(own), COUNTS) if number)
        lines.append(f"{kind:<11} {counted}; {seconds:.0f} s; {sum(step.processor for step in own):.0f} s of processor")
    return lines


def tell(steps):
    """Prints the summary; returns 0 when every test passed and there was one."""
    print("\n== summary")
    width = max((len(step.name) for step in steps.ended), default=0)
    for step in steps.ended:
        print(f"{'ok    ' if step.good else 'FAILED'} {step.name:<{width}}  {figures(step)}"
              + ("" if step.good else f" ({step.log})"))
    passed, failed, skipped = cases(steps.ended)
    print("\n== figures by kind")
    for line in kinds(steps.ended):
        print(line)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{time.monotonic() - steps.began:.0f} seconds, {used.ru_utime + used.ru_stime:.0f} of the processors")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if passed and not failed else 1
