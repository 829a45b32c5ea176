/* SPDX-License-Identifier: MIT */
/*
 * What an organisation's files occupy, and its quotas (columns quota_bytes and quota_files of its row, NULL for none).
 * Every row of `file` counts with its size, archived ones included, since their bytes are kept until they are purged;
 * so do bytes that the store keeps once for several files. The count is one row an organisation: whoever inserts or
 * deletes rows of `file` changes it in the same transaction, as its last statement, because the row stays locked until
 * the end.
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
 * Adds `more` unless that would exceed a quota: then *exceeded_out is true and nothing was changed; roll back. Part of a
 * transaction.
 */
struct error *file_usage_take(struct database *database, struct arena *arena, struct id organisation,
                              struct file_usage more, bool *exceeded_out);

/*
 * Whether `more` on top of what is there now would exceed a quota. Nothing is taken or held: others may fill the room
 * meanwhile, or make some.
 */
struct error *file_usage_exceeds(struct database *database, struct arena *arena, struct id organisation,
                                 struct file_usage more, bool *exceeds_out);

/* Takes `less` off, when rows were deleted; never below nothing. Part of the transaction that deletes them. */
struct error *file_usage_release(struct database *database, struct arena *arena, struct id organisation,
                                 struct file_usage less);

/* Nothing for an organisation that has never had a file. */
struct error *file_usage_find(struct database *database, struct arena *arena, struct id organisation,
                              struct file_usage *usage_out);

/*
 * Counts the organisation's rows anew and sets that right; uploads wait meanwhile. *wrong_out (may be NULL) tells that
 * it was wrong. For fsck, and after rows came or went by other hands. In a transaction of its own.
 */
struct error *file_usage_recount(struct database *database, struct arena *arena, struct id organisation,
                                 bool *wrong_out);

#endif
