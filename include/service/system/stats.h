/* SPDX-License-Identifier: MIT */
/*
 * The numbers of each minute of this host, written by its job runner: differences of what the workers have counted. A
 * reading at the beginning of each minute ends the minute before. A minute is missing where the runner did not run at
 * both its ends, or came to it more than half a minute late; the numbers of a minute are so as far as the runner was
 * on time.
 */
#ifndef GATEHOUSE_SERVICE_SYSTEM_STATS_H
#define GATEHOUSE_SERVICE_SYSTEM_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/metrics_totals.h"

struct arena;
struct error;
struct service;

/* The reading that began the minute that is under way. Zeroed: there is none. */
struct stats_runner {
    bool begun;
    int64_t minute; /* its beginning, in milliseconds */
    struct metrics_totals totals;
};

/*
 * Writes the minute before `now` (milliseconds since 1970) when it has ended since the last call, and begins the next.
 * An error of the database costs the minute.
 */
struct error *stats_step(struct service *service, struct arena *arena, struct stats_runner *runner, int64_t now);

#endif
