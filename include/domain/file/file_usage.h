/* SPDX-License-Identifier: MIT */
/*
 * The storage that an organisation's files use, and its quotas (columns quota_bytes and quota_files of its row, NULL
 * for none). Every row of `file` counts with its size, and every upload that arrives in pieces and has no file yet with
 * what it has reserved (domain/file/file_upload.h), also archived ones, whose bytes are kept until they are purged, and
 * also bytes that the store keeps once for several files. The count is one row an organisation. Whoever inserts or
 * deletes rows of `file` changes it in the same transaction, with the last statement, because the row stays locked
 * until the end.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_USAGE_H
#define GATEHOUSE_DOMAIN_FILE_FILE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

struct file_usage {
    int64_t bytes;
    int64_t files;
};

/*
 * Adds `more` unless that would exceed a quota: then *exceeded_out is true and nothing was changed; roll back. Part of
 * a transaction.
 */
struct error *file_usage_take(struct database *database, struct arena *arena, struct id organisation,
                              struct file_usage more, bool *exceeded_out);

/*
 * Whether `more` on top of the current usage would exceed a quota. Nothing is reserved: others may use or free space
 * meanwhile.
 */
struct error *file_usage_exceeds(struct database *database, struct arena *arena, struct id organisation,
                                 struct file_usage more, bool *exceeds_out);

/* Subtracts `less` after rows were deleted; never below 0. Part of the transaction that deletes them. */
struct error *file_usage_release(struct database *database, struct arena *arena, struct id organisation,
                                 struct file_usage less);

/* All zero for an organisation that has never had a file. */
struct error *file_usage_find(struct database *database, struct arena *arena, struct id organisation,
                              struct file_usage *usage_out);

/*
 * Counts the organisation's rows and corrects the count; uploads wait meanwhile. *wrong_out (may be NULL) says that it
 * was wrong. For fsck, and after rows were changed by hand. In a transaction of its own.
 */
struct error *file_usage_recount(struct database *database, struct arena *arena, struct id organisation,
                                 bool *wrong_out);

#endif
