/* SPDX-License-Identifier: MIT */
/*
 * Locks in rows of the database, for what only one process of all hosts may do at a time. Named locks of MariaDB
 * (GET_LOCK) would do on one server, but a node of a Galera cluster knows nothing of those of another node.
 *
 * A lock is free again when its holder releases it, when its time is over, or when the server that the holder was
 * connected to has ended that connection: so a process that was killed blocks nobody. The last is known only on the
 * same server and for the same database account; from another node of a cluster, a lock of a process that was killed
 * lasts until its time is over. Only the server's clock counts.
 *
 * The holder is the handle: a handle that takes its own lock again only renews it. A lock can be lost while its holder
 * stands still, so what may happen only once is made sure of by a condition of the statements that write it, too.
 */
#ifndef GATEHOUSE_STORE_DATABASE_ROW_LOCK_H
#define GATEHOUSE_STORE_DATABASE_ROW_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "codec/digest.h"

struct arena;
struct database;
struct error;

struct row_lock {
    unsigned char name[DIGEST_BYTES];
    struct id holder;
    /* As long as the holder's connection to this server lives, the lock does not end when its time is over. */
    bool tied;
};

/* The lock of `kind` on `key`, as the handle takes it. Both may have any length; `kind` has no line feed. */
struct row_lock row_lock_of(struct database *database, const char *kind, const void *key, size_t length);

/*
 * Takes the lock for `seconds`. Waits up to `patience` milliseconds while another handle holds it; *held_out is false
 * when that one still holds it then. Where the holder took it on another server, or with another account, it ends 30 s
 * later: the clocks of two servers may be as far apart, and whoever has another account does not see which one it was.
 * Not inside a transaction.
 */
struct error *row_lock_take(struct database *database, struct arena *arena, const struct row_lock *lock,
                            unsigned seconds, unsigned patience, bool *held_out);

/*
 * Lets the lock last `seconds` from now; any handle may do that for the holder. *held_out is false when another one has
 * taken it. A lock whose time is over can be renewed as long as nobody has taken it.
 */
struct error *row_lock_renew(struct database *database, struct arena *arena, const struct row_lock *lock,
                             unsigned seconds, bool *held_out);

/* Releases the lock. Never fails: where the row cannot be deleted, the lock ends by itself. */
void row_lock_release(struct database *database, struct arena *arena, const struct row_lock *lock);

/* Makes the table where it is missing: before the first migration, which is done under a lock. */
struct error *row_lock_create(struct database *database, struct arena *arena);

/* Deletes up to `limit` rows of locks whose holders were killed and that nobody has taken since. */
struct error *row_lock_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
