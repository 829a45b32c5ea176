/* SPDX-License-Identifier: MIT */
/*
 * The rows of signed links (service/access/signed_link.h): what a link's list shows, and what makes it hold. Without
 * its row a link opens nothing, so deleting the row revokes the link at once, on every worker and host.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_LINK_H
#define GATEHOUSE_DOMAIN_FILE_FILE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;
struct file_record;
struct link_key;
struct principal;

struct file_link {
    struct id id;
    struct id organisation_id; /* of the file */
    struct id file_id;
    struct id user_id;      /* who made it */
    const char *created_at; /* RFC 3339; not read by insert */
    const char *expires_at; /* likewise: insert takes the milliseconds */
    int64_t uses;
};

/* Adds the row of a link that ends at `end`, in milliseconds since 1970. A file that is gone is INTERNAL. */
struct error *file_link_insert(struct database *database, struct arena *arena, const struct file_link *link,
                               int64_t end);

/*
 * What a link needs, in one round trip: its key, the file that it opens, what its maker may do now, and the version of
 * the last change (domain/change_log.h). `key`, `file` and `maker` are NULL unless the row and all of them exist, and
 * the file and its organisation are active. The ids come from a link: trust nothing until its signature was verified.
 */
struct link_target {
    int64_t change_version;
    struct link_key *key;
    struct file_record *file;
    struct principal *maker; /* without a session; may be disabled */
};

struct error *file_link_find_target(struct database *database, struct arena *arena, struct id key, struct id link,
                                    struct link_target *target_out);

struct file_link_page {
    struct file_link *items;
    size_t count;
    bool more;
};

/*
 * Lists links of a file whose time is not over, the newest first: at most `limit`, behind `after` (none: from the
 * start).
 */
struct error *file_link_list(struct database *database, struct arena *arena, struct id organisation, struct id file,
                             struct id after, unsigned limit, struct file_link_page *page_out);

/* Deletes the row of a link whose time is not over. *deleted_out is false when the file has no such link. */
struct error *file_link_delete(struct database *database, struct arena *arena, struct id organisation, struct id file,
                               struct id id, bool *deleted_out);

/* Deletes the rows of all links, after a restore: those that were revoked since the backup must not be back. */
struct error *file_link_delete_all(struct database *database, struct arena *arena);

/* Adds 1 to the uses of a link; nothing happens when it has no row any more. */
struct error *file_link_count(struct database *database, struct arena *arena, struct id id);

/* Deletes at most `limit` rows of links that ended over an hour ago; *count_out is how many. */
struct error *file_link_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
