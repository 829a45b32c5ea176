/* SPDX-License-Identifier: MIT */
/*
 * Leases and saved positions of the operator's long commands. A holder keeps its lease by renewing it; the lease of a
 * holder that died expires. Only the server's clock counts. A lease that has expired cannot be renewed: another run may
 * have held it meanwhile. The holder's id is new for each run, so it is a fencing token: what a run writes names it.
 */
#ifndef GATEHOUSE_DOMAIN_LEASE_H
#define GATEHOUSE_DOMAIN_LEASE_H

#include <stdbool.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* The holder may remove bytes (purge), or needs that nobody does (backup). */
#define LEASE_FILES "files"
/* One fsck at a time; its position. */
#define LEASE_FSCK "fsck"

/* One scrub at a time; its position. */
#define LEASE_SCRUB "scrub"
/* Held by an operator who waits for the scrub: the background scrub then releases its lease. */
#define LEASE_SCRUB_WANTED "scrub-wanted"

/* A lease's name has at most 32 bytes, a position at most 1024 characters. */

/* Takes the lease `name`; *held_out is false when another one holds it. It lasts `seconds` from now. */
struct error *lease_take(struct database *database, struct arena *arena, const char *name, struct id holder,
                         unsigned seconds, bool *held_out);

/* Lets it last `seconds` from now; *held_out is false when `holder` does not hold it any more. */
struct error *lease_renew(struct database *database, struct arena *arena, const char *name, struct id holder,
                          unsigned seconds, bool *held_out);

/*
 * Part of a transaction: whether `holder` holds the lease. Until the transaction ends nobody else can take it, so that
 * what the transaction writes is the holder's.
 */
struct error *lease_fence(struct database *database, struct arena *arena, const char *name, struct id holder,
                          bool *held_out);

/* Releases the lease. Does nothing when `holder` does not have it any more. */
struct error *lease_release(struct database *database, struct arena *arena, const char *name, struct id holder);

/* Whether anybody holds the lease. */
struct error *lease_held(struct database *database, struct arena *arena, const char *name, bool *held_out);

/* Saves the position of the run; "" deletes it. *held_out is false, and nothing changed, as with lease_renew(). */
struct error *lease_save_position(struct database *database, struct arena *arena, const char *name, struct id holder,
                                  const char *position, bool *held_out);

/* The saved position; "" for none. */
struct error *lease_position(struct database *database, struct arena *arena, const char *name,
                             const char **position_out);

#endif
