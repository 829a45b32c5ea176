/* SPDX-License-Identifier: MIT */
/* Bounds the bytes that are read in a second. */
#include "service/maintenance/pace.h"

#include "base/clock.h"

#define SECOND INT64_C(1000000)

void pace_spend(struct pace *pace, int64_t bytes)
{
    if (pace->bytes_per_second == 0)
        return;
    int64_t now = clock_monotonic();
    if (pace->since == 0)
        pace->since = now;
    pace->bytes += bytes;
    int64_t due = pace->since + (int64_t)((double)pace->bytes / (double)pace->bytes_per_second * (double)SECOND);
    int64_t wait = due - now;
    if (wait > 0)
        clock_sleep(wait > SECOND ? SECOND : wait);
}
