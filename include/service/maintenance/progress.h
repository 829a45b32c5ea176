/* SPDX-License-Identifier: MIT */
/* How a long command (fsck, scrub, purge, backup, restore) shows how far it is, and learns that it is to stop. */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_PROGRESS_H
#define GATEHOUSE_SERVICE_MAINTENANCE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Both functions may be NULL: then nothing is shown, and the command runs to its end. */
struct progress {
    /* Shows `done` of `total` (0: unknown) items called `what`, and the bytes so far. */
    void (*show)(void *context, const char *what, int64_t done, int64_t total, int64_t bytes);
    /* Whether the command is to stop soon, in good order. */
    bool (*ending)(void *context);
    void *context;
    int64_t shown; /* clock_monotonic() of the last call of show() */
};

/* Calls show(), four times a second at most. */
void progress_show(struct progress *progress, const char *what, int64_t done, int64_t total, int64_t bytes);

/* Whether the command is to stop. */
bool progress_ends(const struct progress *progress);

#endif
