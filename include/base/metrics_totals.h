/* SPDX-License-Identifier: MIT */
/*
 * Adds up what the workers of a host have counted, over all operations. The difference of two such sums is what
 * happened in between (domain/host_minute.h). base/metrics.h has the counters one by one.
 */
#ifndef GATEHOUSE_BASE_METRICS_TOTALS_H
#define GATEHOUSE_BASE_METRICS_TOTALS_H

#include <stdint.h>

/* The buckets of durations, the one without an upper bound included. */
#define METRICS_TOTALS_BUCKETS 15

struct metrics_totals {
    uint64_t requests;
    uint64_t errors; /* answered with 500 or more */
    uint64_t logins;
    uint64_t login_failures; /* answered with 401 or 429 */
    uint64_t uploads;        /* files stored */
    uint64_t upload_bytes;
    uint64_t durations[METRICS_TOTALS_BUCKETS]; /* requests by how long they took; each bucket counts its own range */
};

/* Reads the counters of the host, or of this process alone where no file is shared. */
void metrics_totals_read(struct metrics_totals *totals_out);

/*
 * *difference_out = later - earlier, number by number. A number that fell was counted anew from 0 in between, since the
 * host's file was made anew: the later one is the difference then.
 */
void metrics_totals_subtract(const struct metrics_totals *later, const struct metrics_totals *earlier,
                             struct metrics_totals *difference_out);

/*
 * The duration in microseconds that `per_mille` of a thousand requests did not exceed, 0 < per_mille < 1000. Inside a
 * bucket the requests count as evenly spread, so the result is exact to the width of the bucket. What lies above the
 * last bound counts as that bound, ten seconds. -1 when there was no request.
 */
int64_t metrics_totals_quantile(const struct metrics_totals *totals, unsigned per_mille);

#endif
