/* SPDX-License-Identifier: MIT */
/* The layout of the shared file, for the files that know it. */
#ifndef GATEHOUSE_BASE_METRICS_INT_H
#define GATEHOUSE_BASE_METRICS_INT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/metrics.h"

/* Numbers that different processes write at once lie on cache lines of their own. */
#define METRICS_LINE _Alignas(64)

#define METRICS_BUCKETS 14 /* bounded ones; one more takes the rest */
#define METRICS_STATUSES 18 /* the last one takes the rest */
#define METRICS_NAME_BYTES 40
#define METRICS_HINTS 8192

/* In microseconds. */
extern const int64_t metrics_bounds[METRICS_BUCKETS];
extern const int metrics_statuses[METRICS_STATUSES - 1];

struct metrics_histogram {
    _Atomic uint64_t buckets[METRICS_BUCKETS + 1]; /* each its own, not cumulated */
    _Atomic uint64_t sum;                          /* microseconds */
};

struct metrics_cell {
    METRICS_LINE _Atomic uint64_t value;
};

struct metrics_operation_row {
    METRICS_LINE char name[METRICS_NAME_BYTES];
    _Atomic uint64_t statuses[METRICS_STATUSES];
    struct metrics_histogram durations;
};

/* A process; `pid` is 0 in a free one, and written last. */
struct metrics_slot {
    METRICS_LINE _Atomic uint32_t pid;
    _Atomic uint32_t busy;
    uint32_t role;
    char pool[20];
    int64_t started; /* milliseconds since 1970 */
};

struct metrics_area {
    char magic[8];
    uint64_t layout; /* a digest of everything that the meaning of the bytes depends on */
    uint64_t size;
    int64_t created; /* milliseconds since 1970 */
    METRICS_LINE _Atomic uint64_t change_version;
    METRICS_LINE _Atomic uint32_t operation_count; /* rows that have their names */
    struct metrics_operation_row operations[LIMIT_METRICS_OPERATIONS];
    struct metrics_cell cells[METRIC_COUNT];
    struct {
        METRICS_LINE struct metrics_histogram histogram;
    } histograms[METRIC_HISTOGRAM_COUNT];
    struct metrics_slot slots[LIMIT_METRICS_PROCESSES];
    METRICS_LINE _Atomic uint32_t hints[METRICS_HINTS];
    METRICS_LINE _Atomic uint64_t bodies[LIMIT_UPLOAD_NOTES]; /* base/bodies.h; 0: free */
};

/* What this process counts into, never NULL. */
struct metrics_area *metrics_area(void);

/* Whether the process of a slot lives; a dead one's slot is freed and its death counted. */
bool metrics_slot_lives(size_t slot);

#endif
