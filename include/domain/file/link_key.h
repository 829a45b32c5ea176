/* SPDX-License-Identifier: MIT */
/*
 * The keys of signed links: rows shared by all workers of all hosts. The caller seals the key itself. The newest key
 * signs. A link is valid only as long as the row of its key exists, so deleting a row revokes every link under it at
 * once, everywhere.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_LINK_KEY_H
#define GATEHOUSE_DOMAIN_FILE_LINK_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

struct link_key {
    struct id id;
    const void *sealed;
    size_t length;
};

struct error *link_key_insert(struct database *database, struct arena *arena, const struct link_key *key);

/* *key_out is NULL when there is none. */
struct error *link_key_find_newest(struct database *database, struct arena *arena, struct link_key **key_out);

/* Deletes all but `id`. */
struct error *link_key_delete_others(struct database *database, struct arena *arena, struct id id);

/* Deletes all, after a restore: those that were deleted since the backup must not be back. The next link makes one. */
struct error *link_key_delete_all(struct database *database, struct arena *arena);

#endif
