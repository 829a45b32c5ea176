/* SPDX-License-Identifier: MIT */
/*
 * purge: the end of archived files and of old audit rows.
 *
 * A purged file is gone, row and bytes: its id is unknown from then on (400 file.unknown), its place in the quota is
 * free, its name and tags are not kept; the audit trail alone says that there was one (`file.purge`, with size, hash and
 * the time it was archived). Rows and audit go in one transaction, which also notes whose bytes are to be removed; the
 * bytes go after it has been committed. So a crash leaves bytes without a row, never a row without bytes, and the next
 * purge, the job runner or fsck finishes it.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_PURGE_H
#define GATEHOUSE_SERVICE_MAINTENANCE_PURGE_H

#include <stdbool.h>
#include <stdint.h>

#include "service/maintenance/progress.h"

struct arena;
struct error;
struct service;

struct purge_options {
    int64_t before; /* milliseconds since 1970: archived, or written to the trail, then or earlier */
    bool dry_run;   /* count, change nothing */
    struct progress *progress;
};

struct purge_result {
    int64_t count; /* files or audit rows */
    int64_t bytes; /* of the files, by their rows; bytes of the same hash may be there once only */
    bool interrupted;
};

/* `scratch` is reset again and again. Not while a backup runs: it waits a minute, then says so. */
struct error *purge_files(struct service *service, struct arena *arena, struct arena *scratch,
                          const struct purge_options *options, struct purge_result *result_out);

/* Deletes audit rows and adds one that says so (`audit.purge`). */
struct error *purge_audit(struct service *service, struct arena *arena, struct arena *scratch,
                          const struct purge_options *options, struct purge_result *result_out);

/* Removes the bytes that an interrupted purge has left; nothing while a backup or another purge runs. */
struct error *purge_finish(struct service *service, struct arena *arena, uint64_t *count_out);

#endif
