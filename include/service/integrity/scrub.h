/* SPDX-License-Identifier: MIT */
/*
 * The scrub reads every byte of every file in the background, again and again, and compares it with the file's hash. A
 * file with different bytes is marked (domain/file/file_damage.h), and so is every file that shares its bytes. A
 * download of a marked file is refused (500 storage.unavailable), so wrong bytes are never sent. A marked file whose
 * bytes are right again loses its mark.
 *
 * A file whose bytes are missing or unreadable is remembered as lost, until they are read again.
 *
 * A pass goes over the rows of `file` in the order of their ids. Of all hosts one process does it: it holds a lease and
 * saves which file it has read last, so that after a crash another process goes on there. The program calls
 * scrub_step() often. Each step reads as many bytes as the rate allows, for some milliseconds at most. No transaction
 * is open while bytes are read.
 *
 *     struct scrub *scrub = scrub_new(service, &options);
 *     for (;;) {
 *         TRY(scrub_step(scrub, clock_monotonic(), &state));
 *         ... other work, or a pause ...
 *     }
 *     scrub_free(&scrub);
 */
#ifndef GATEHOUSE_SERVICE_INTEGRITY_SCRUB_H
#define GATEHOUSE_SERVICE_INTEGRITY_SCRUB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct error;
struct scrub;
struct service;

/* The saved position. Times are milliseconds since 1970; 0: never. */
struct scrub_position {
    struct id at;  /* the last file of this pass that was read */
    int64_t files; /* of this pass */
    int64_t bytes;
    int64_t damaged;   /* found in this pass: bytes that differ */
    int64_t lost;      /* found in this pass: bytes that are missing or unreadable */
    int64_t begun;     /* when this pass began; 0: none is under way */
    int64_t finished;  /* when the last whole pass began */
    int64_t first;     /* when the first pass of all began */
    int64_t last_lost; /* `lost` of the last whole pass */
};

/* Loads the saved position; one of zeros when there is none. */
struct error *scrub_position_load(struct service *service, struct arena *arena, struct scrub_position *position_out);

/* Bounds the bytes a second, by counting. It never allows more than `bytes_per_second` for a second that has passed. */
struct scrub_rate {
    int64_t bytes_per_second; /* 0: no limit */
    int64_t allowance;
    int64_t since; /* clock_monotonic() of the last count; 0: none yet */
};

/* The largest portion that is read at once. The allowance never grows beyond it, or beyond what one second brings. */
#define SCRUB_BLOCK_BYTES ((int64_t)65536)

/* Counts the time until `now` (microseconds), and returns how many bytes may be read. */
int64_t scrub_rate_allow(struct scrub_rate *rate, int64_t now);

struct scrub_options {
    int64_t bytes_per_second;  /* 0: no limit */
    int64_t every_days;        /* days from one pass to the next; 0: a pass begins only with `now` */
    bool now;                  /* begin a pass at once, from the first file */
    bool damaged;              /* read only damaged and lost files; position and passes stay */
    bool patient;              /* wait for a lease that another process holds, and tell that process */
    int64_t step_microseconds; /* the longest time of a step; 0: only the rate bounds it */
    /*
     * Called at each finding, and at each damaged or lost file that is good again; may be NULL. `what` is "damaged",
     * "repaired", "missing" or "unreadable".
     */
    void (*found)(void *context, struct id file, struct id organisation, const char *what);
    void *context;
};

enum scrub_state {
    SCRUB_IDLE,    /* nothing is due */
    SCRUB_WAITING, /* another process holds the lease */
    SCRUB_READING, /* there is more to read */
    SCRUB_DONE     /* a pass ended in this step */
};

/* Makes a scrub, on the heap, with a copy of the options. Release it with scrub_free(). */
struct scrub *scrub_new(struct service *service, const struct scrub_options *options);

/* Saves the position, gives the lease back, and releases the scrub. *scrub may be NULL and is NULL afterwards. */
void scrub_free(struct scrub **scrub);

/*
 * Reads for a while; `now` is clock_monotonic(). Errors are those of the database. After one the lease is given up, and
 * the next step tries again.
 */
struct error *scrub_step(struct scrub *scrub, int64_t now, enum scrub_state *state_out);

/* The position, for showing. */
const struct scrub_position *scrub_position(const struct scrub *scrub);

/*
 * *problem_out is NULL when no file is damaged or lost and the last whole pass is not older than [scrub] overdue_days.
 * Else it is a sentence for the operator that says what to run.
 */
struct error *scrub_health(struct service *service, struct arena *arena, const char **problem_out);

/* Sets the metrics of findings and of the last whole pass. */
struct error *scrub_set_metrics(struct service *service, struct arena *arena);

#endif
