/* SPDX-License-Identifier: MIT */
/*
 * What the operator's long commands (fsck, purge, backup) share: a lease that says who is at work, a pace that leaves
 * the disk to others, and a watch that shows how far it is and tells when to stop.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_PROGRESS_H
#define GATEHOUSE_SERVICE_MAINTENANCE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct error;
struct service;

/* ---- leases -------------------------------------------------------------------------------------- */

/* A lease outlives its holder by this long at most; it is renewed five times as often. */
#define MAINTENANCE_LEASE_SECONDS 30

struct lease {
    struct service *service;
    const char *name; /* of domain/lease.h */
    struct id holder;
    int64_t renewed; /* clock_monotonic() */
};

/*
 * Takes the lease, waiting up to `patience` seconds for whoever has it. INTERNAL, with a sentence for the operator, when
 * they do not give it back.
 */
struct error *lease_take(struct service *service, struct arena *arena, const char *name, unsigned patience,
                         struct lease *lease_out);

/* The same without waiting or an error: *held_out is false when somebody else has it. */
struct error *lease_try(struct service *service, struct arena *arena, const char *name, struct lease *lease_out,
                        bool *held_out);

/* To be called all the time: renews the lease when that is due. INTERNAL when it was lost (the program hung for long). */
struct error *lease_keep(struct lease *lease, struct arena *arena);

void lease_end(struct lease *lease, struct arena *arena);

/* ---- pace ---------------------------------------------------------------------------------------- */

struct pace {
    int64_t bytes_per_second; /* 0: as fast as it goes */
    int64_t since;            /* clock_monotonic() of the first byte */
    int64_t bytes;
};

/* Counts bytes that were read and sleeps, a second at most, where that was too fast. */
void pace_spend(struct pace *pace, int64_t bytes);

/* ---- watching ------------------------------------------------------------------------------------ */

struct watch {
    /* How far it is, a few times a second at most: what is being done, how much of it, of how much (0: unknown). */
    void (*progress)(void *context, const char *what, int64_t done, int64_t total, int64_t bytes);
    /* Whether to stop soon and in good order. */
    bool (*ending)(void *context);
    void *context;
    int64_t shown; /* clock_monotonic() of the last progress */
};

/* All of these may be called with a watch whose functions are NULL. */
void watch_show(struct watch *watch, const char *what, int64_t done, int64_t total, int64_t bytes);
bool watch_ends(const struct watch *watch);

#endif
