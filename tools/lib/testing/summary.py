# SPDX-License-Identifier: MIT
"""The end of a run: what failed, the figures, the totals."""

import resource
import time

from steps import figures


def tell(steps):
    """Prints the summary; returns 0 when every test passed and there was one."""
    print("\n== summary")
    width = max((len(step.name) for step in steps.ended), default=0)
    for step in steps.ended:
        print(f"{'ok    ' if step.good else 'FAILED'} {step.name:<{width}}  {figures(step)}"
              + ("" if step.good else f" ({step.log})"))
    passed, failed, skipped = (sum(getattr(step, name) for step in steps.ended) for name in ("passed", "failed", "skipped"))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{time.monotonic() - steps.began:.0f} seconds, {used.ru_utime + used.ru_stime:.0f} of the processors")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if passed and not failed else 1
