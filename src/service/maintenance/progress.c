/* SPDX-License-Identifier: MIT */
/* Shows the progress of a command, and asks whether it is to stop. */
#include "service/maintenance/progress.h"

#include <stddef.h>

#include "base/clock.h"

#define SHOW_MICROSECONDS INT64_C(250000)

void progress_show(struct progress *progress, const char *what, int64_t done, int64_t total, int64_t bytes)
{
    int64_t now = clock_monotonic();
    if (progress->show == NULL || now - progress->shown < SHOW_MICROSECONDS)
        return;
    progress->shown = now;
    progress->show(progress->context, what, done, total, bytes);
}

bool progress_ends(const struct progress *progress)
{
    return progress->ending != NULL && progress->ending(progress->context);
}
