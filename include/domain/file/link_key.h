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
struct file_record;
struct principal;

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

/* The ids that a link without a row holds (domain/file/file_link.h has those with one). */
struct link_ids {
    struct id key;
    struct id file;
    struct id maker;
};

/*
 * What a link needs, in one round trip: its key, the file that it opens, what its maker may do now, and the version of
 * the last change (domain/change_log.h). `key`, `file` and `maker` are NULL unless all of them exist, the file is
 * active, and its organisation is active. The ids come from a link: trust nothing until its signature was verified.
 */
struct link_target {
    int64_t change_version;
    struct link_key *key;
    struct file_record *file;
    struct principal *maker; /* without a session; may be disabled */
};

struct error *link_key_find_target(struct database *database, struct arena *arena, const struct link_ids *ids,
                                   struct link_target *target_out);

#endif
