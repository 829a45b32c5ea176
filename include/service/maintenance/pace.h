/* SPDX-License-Identifier: MIT */
/* Bounds the bytes that a long command reads in a second, so that the disk has time for requests. */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_PACE_H
#define GATEHOUSE_SERVICE_MAINTENANCE_PACE_H

#include <stdint.h>

struct pace {
    int64_t bytes_per_second; /* 0: no bound */
    int64_t since;            /* clock_monotonic() of the first byte */
    int64_t bytes;            /* read since then */
};

/* Counts bytes that were read. Sleeps when they came faster than the bound allows, for a second at most. */
void pace_spend(struct pace *pace, int64_t bytes);

#endif
