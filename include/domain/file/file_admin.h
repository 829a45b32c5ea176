/* SPDX-License-Identifier: MIT */
/*
 * File rows for the operator's commands (fsck, purge, backup): of all organisations, in the order of their ids, a page
 * at a time. Never for a caller of the HTTP interface.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_ADMIN_H
#define GATEHOUSE_DOMAIN_FILE_FILE_ADMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "domain/file/file.h"

struct arena;
struct database;
struct error;

struct file_admin_record {
    struct id id;
    struct id organisation_id;
    uint8_t hash[FILE_HASH_BYTES];
    int64_t size;
    enum file_status status;
    int64_t created;  /* milliseconds since 1970 */
    int64_t archived; /* 0 while active */
    bool damaged;     /* marked (domain/file/file_damage.h) */
    bool lost;        /* remembered as lost (domain/file/file_damage.h) */
};

struct file_admin_page {
    struct file_admin_record *items;
    size_t count;
};

#define FILE_ADMIN_PAGE_MAX 1000

/*
 * The rows behind `after` (none: from the start), `limit` of them at most; fewer than that are the last.
 * In a transaction that sees one snapshot, all pages together are that snapshot.
 */
struct error *file_admin_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                              struct file_admin_page *page_out);

/* The row, *found_out false when there is none (any more). */
struct error *file_admin_find(struct database *database, struct arena *arena, struct id id,
                              struct file_admin_record *record_out, bool *found_out);

/* An estimate of the number of rows by the server: for progress only. */
struct error *file_admin_estimate(struct database *database, struct arena *arena, int64_t *count_out);

#define FILE_ADMIN_KNOWN_MAX 64

/* For each of at most FILE_ADMIN_KNOWN_MAX ids whether it has a row. */
struct error *file_admin_known(struct database *database, struct arena *arena, const struct id *ids, size_t count,
                               bool *known_out);

/*
 * Deletes the row of a file that has been archived since `before` (milliseconds since 1970) or longer, and notes its
 * bytes for removal; part of a transaction. *taken_out is false when the file was restored meanwhile.
 */
struct error *file_purge(struct database *database, struct arena *arena, const struct file_admin_record *record,
                         int64_t before, bool *taken_out);

/* Ids whose bytes must be removed, `limit` at most; *ids_out is in the arena. */
struct error *file_admin_removals(struct database *database, struct arena *arena, unsigned limit, struct id **ids_out,
                                  size_t *count_out);

/* Whether the bytes of `id` are noted for removal. */
struct error *file_admin_removal_noted(struct database *database, struct arena *arena, struct id id, bool *noted_out);

/* Deletes the note: the bytes are gone. */
struct error *file_admin_removal_done(struct database *database, struct arena *arena, struct id id);

/* Number and bytes of an organisation's files, by their state. */
struct file_admin_sums {
    int64_t active_files;
    int64_t active_bytes;
    int64_t archived_files;
    int64_t archived_bytes;
};

struct error *file_admin_sums(struct database *database, struct arena *arena, struct id organisation,
                              struct file_admin_sums *sums_out);

/* Whether the stored usage of the organisation (domain/file/file_usage.h) equals the sum of its rows, at one moment. */
struct error *file_admin_usage_agrees(struct database *database, struct arena *arena, struct id organisation,
                                      bool *holds_out);

#endif
