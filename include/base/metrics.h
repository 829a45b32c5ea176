/* SPDX-License-Identifier: MIT */
/*
 * What the processes of one host count together. The numbers lie in a file of fixed size that every worker and the job
 * runner map: counting is an atomic add in memory (no lock, no system call), and a process killed at any instant leaves
 * every number valid. Counters never go down while the file lives; it is made anew when it is not of this version's
 * layout, and Prometheus takes that for a restart.
 *
 * Each process holds a slot, and on it a lock that the kernel drops with the process: that is how the dead are told from
 * the living. The file also carries the newest change version this host has heard of, for paths without a database.
 *
 * All calls work before metrics_open() and after its failure: then the numbers are this process's own. One thread.
 */
#ifndef GATEHOUSE_BASE_METRICS_H
#define GATEHOUSE_BASE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* METRIC_TOKEN_MEMO, …: see base/metrics.def. */
enum metric {
#define METRIC(symbol, type, name, labels, unit, help) METRIC_##symbol,
#define METRIC_HISTOGRAM(symbol, name, help)
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
    METRIC_COUNT
};

/* METRIC_DATABASE_ROUND_TRIP, … */
enum metric_histogram {
#define METRIC(symbol, type, name, labels, unit, help)
#define METRIC_HISTOGRAM(symbol, name, help) METRIC_##symbol,
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
    METRIC_HISTOGRAM_COUNT
};

enum metrics_role { METRICS_WORKER, METRICS_JOBS };

/* ---- opening and leaving ------------------------------------------------------------------------- */

/*
 * Maps the file at `path`, making it (mode 0600, all its blocks allocated) where it is missing, and anew where it is a
 * file of ours with another content. False with a sentence in *problem_out (static) when that cannot be done, or when
 * the path is a link or another user's file; the process then counts for itself. `path` must live as long as the process.
 */
bool metrics_open(const char *path, const char **problem_out);

/* Takes a slot for this process. `pool` names the group of workers (lower-case letters, digits and -; else "worker"). */
void metrics_join(enum metrics_role role, const char *pool);

/*
 * How many living workers the pool of this process has, itself included. 0 where that is not known: it is no worker, or the
 * numbers are its own.
 */
unsigned metrics_pool_workers(void);

/* Whether this process is a worker of the pool of that name. */
bool metrics_in_pool(const char *pool);

/* Gives the slot back and lets go of the file; for programs that end in good order. */
void metrics_close(void);

/*
 * Looks, at most every ten seconds by `now` (clock_monotonic()), whether the file at the path is still the mapped one, and
 * maps the new one when it was replaced or removed. Costs nothing in between.
 */
void metrics_follow(int64_t now);

/* Whether the numbers are the host's (true) or this process's own. */
bool metrics_are_shared(void);

/* ---- counting ------------------------------------------------------------------------------------ */

void metrics_add(enum metric metric, uint64_t count);

/* For gauges. */
void metrics_set(enum metric metric, uint64_t value);

/* The same; returns what was there. Of several processes that set the same new value one alone gets the old one. */
uint64_t metrics_swap(enum metric metric, uint64_t value);

void metrics_observe(enum metric_histogram histogram, int64_t microseconds);

/*
 * The number under which requests of an operation are counted from now on; `name` (letters, digits, at most 39) must live
 * as long as the process. Idempotent; 0, "other", when there are more than LIMIT_METRICS_OPERATIONS. For the start of a
 * process: takes a lock.
 */
unsigned metrics_operation(const char *name);

/* A request begins: the process is busy until metrics_request() or metrics_idle(). */
void metrics_busy(void);

/* A request ended: it is counted, and the process is idle again. */
void metrics_request(unsigned operation, int status, int64_t microseconds);

/* The process is idle again, and nothing is counted: what it did was a part of a request that is still to come. */
void metrics_idle(void);

/* ---- the newest change this host knows ------------------------------------------------------------ */

/* 0 when nobody has published one. */
uint64_t metrics_change_version(void);

/* Keeps the greater of the published ones. */
void metrics_publish_change_version(uint64_t version);

/* ---- hints --------------------------------------------------------------------------------------- */

/*
 * What some process of the host has found worth a look elsewhere: `value` is a hash of it. A hint may be lost, and one may
 * be taken for another, so that it saves a look and never decides anything. Without a shared file everything is hinted at.
 */
void metrics_hint(uint64_t value);
bool metrics_hinted(uint64_t value);

/* ---- reading ------------------------------------------------------------------------------------- */

/* One number as it is stored. */
uint64_t metrics_value(enum metric metric);

struct metrics_occupancy {
    unsigned workers; /* alive, of all pools */
    unsigned busy;
    unsigned job_runners;
};

/* The living; the dead that are found are counted as such and their slots freed. */
struct metrics_occupancy metrics_occupancy(void);

/* All of it in Prometheus' text exposition format 0.0.4. */
void metrics_write(struct buffer *buffer);

#endif
