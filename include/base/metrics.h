/* SPDX-License-Identifier: MIT */
/*
 * The counters of one host. They lie in the memory that its processes share (base/host/memory.h): counting is an atomic
 * addition, without a lock or a system call. Counters never go down while the file lives. A file of another layout is
 * made anew, and Prometheus takes that for a restart.
 *
 * All calls work before host_process_open() and after its failure: the numbers are this process's own then. For one
 * thread.
 */
#ifndef GATEHOUSE_BASE_METRICS_H
#define GATEHOUSE_BASE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* One number each: METRIC_TOKEN_MEMO, …; see base/metrics.def. */
enum metric {
#define METRIC(symbol, type, name, labels, unit, help) METRIC_##symbol,
#define METRIC_HISTOGRAM(symbol, name, help)
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
    METRIC_COUNT
};

/* A histogram of durations each: METRIC_DATABASE_ROUND_TRIP, … */
enum metric_histogram {
#define METRIC(symbol, type, name, labels, unit, help)
#define METRIC_HISTOGRAM(symbol, name, help) METRIC_##symbol,
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
    METRIC_HISTOGRAM_COUNT
};

/* ---- counting ------------------------------------------------------------------------------------ */

/* Adds `count` to a counter. */
void metrics_add(enum metric metric, uint64_t count);

/* Sets a gauge. */
void metrics_set(enum metric metric, uint64_t value);

/*
 * Sets a gauge and returns its value before. When several processes set the same new value at once, only one of them
 * gets the old value.
 */
uint64_t metrics_swap(enum metric metric, uint64_t value);

/* Counts a duration; a negative one counts as 0. */
void metrics_observe(enum metric_histogram histogram, int64_t microseconds);

/*
 * The number under which requests of an operation are counted from now on. `name` (letters and digits, at most 39) must
 * live as long as the process. The same name gives the same number. 0, "other", when there are more than
 * LIMIT_METRICS_OPERATIONS or the name is too long. It takes a lock: call it at the start of a process.
 */
unsigned metrics_operation(const char *name);

/* Counts a request that has been answered with an HTTP status. An unknown `operation` counts as 0, "other". */
void metrics_request(unsigned operation, int status, int64_t microseconds);

/* ---- reading ------------------------------------------------------------------------------------- */

/* One number as it is stored. */
uint64_t metrics_value(enum metric metric);

/* Adds all numbers to the buffer, in Prometheus' text exposition format 0.0.4. */
void metrics_write(struct buffer *buffer);

#endif
