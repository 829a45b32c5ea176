/* SPDX-License-Identifier: MIT */
/*
 * The scrub: every byte of every file is read and compared with its hash, again and again, in the background. A file whose
 * bytes are others is marked (domain/file/file_damage.h), and so is every file that shares its bytes: downloads then answer 500
 * storage.unavailable and never send wrong bytes. A marked file whose bytes are right again loses its mark.
 *
 * A pass goes over the rows of `file` in the order of their ids. One process of all hosts does it: it holds a lease, and
 * saves behind which file it stands, so that after a crash another process goes on there (the file in hand is read from its
 * start). The caller calls scrub_step() often; each step reads as many bytes as the rate leaves, for some milliseconds at
 * most. No transaction is open while bytes are read.
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

/* What is saved; times are milliseconds since 1970, 0: never. */
struct scrub_position {
    struct id at;     /* the last file of this pass that was read */
    int64_t files;    /* of this pass */
    int64_t bytes;
    int64_t damaged;  /* found in this pass: bytes that are others */
    int64_t lost;     /* found in this pass: bytes that are not there or cannot be read */
    int64_t begun;    /* when this pass began; 0: none is under way */
    int64_t finished; /* when the last whole pass began */
    int64_t first;    /* when the first pass of all began */
    int64_t last_lost; /* `lost` of the last whole pass */
};

struct error *scrub_position_load(struct service *service, struct arena *arena, struct scrub_position *position_out);

/* How a limit of bytes is kept: by counting. It never allows more than `bytes_per_second` for a second that has passed. */
struct scrub_rate {
    int64_t bytes_per_second; /* 0: no limit */
    int64_t allowance;
    int64_t since; /* clock_monotonic() of the last count; 0: none yet */
};

/* The largest portion that is read at once. The allowance never grows beyond it or beyond what one second brings. */
#define SCRUB_BLOCK_BYTES ((int64_t)65536)

/* Counts the time until `now` (microseconds) and returns how many bytes may be read. */
int64_t scrub_rate_allow(struct scrub_rate *rate, int64_t now);

struct scrub_options {
    int64_t bytes_per_second; /* 0: as fast as it goes */
    int64_t every_days;       /* a pass begins so long after the last one began; 0: a new one begins only with `now` */
    bool now;                 /* the first pass begins at once, from the first file, whatever stands */
    bool damaged;             /* read only the files that are marked; position and passes stay as they are */
    bool patient;             /* a lease that another process holds is waited for, and the operator's wish for it told */
    int64_t step_microseconds; /* how long a step may take; 0: no bound but the rate */
    /* Called at each finding and at each file that is good again; may be NULL. `what` is a word of scrub_what_text(). */
    void (*found)(void *context, struct id file, struct id organisation, const char *what);
    void *context;
};

enum scrub_state {
    SCRUB_IDLE,    /* nothing is due */
    SCRUB_WAITING, /* another process does it */
    SCRUB_READING, /* there is more to read */
    SCRUB_DONE     /* a pass ended in this step */
};

/* Heap; keeps `options` by copy. Released with scrub_free(), which saves the position and gives the lease back. */
struct scrub *scrub_new(struct service *service, const struct scrub_options *options);
void scrub_free(struct scrub **scrub);

/*
 * Reads for a while. Errors are those of the database; the lease is given up then, and the next step tries again.
 * `now` is clock_monotonic().
 */
struct error *scrub_step(struct scrub *scrub, int64_t now, enum scrub_state *state_out);

/* Where it stands, for showing. */
const struct scrub_position *scrub_position(const struct scrub *scrub);

/* Whether no file is damaged or lost, and the last whole pass is not older than [scrub] overdue_days. */
struct error *scrub_health(struct service *service, struct arena *arena, bool *good_out);

/* Sets the metrics of findings and age. */
struct error *scrub_set_metrics(struct service *service, struct arena *arena);

#endif
