/* SPDX-License-Identifier: MIT */
/*
 * Purges archived files and old audit rows for good.
 *
 * A purged file is gone, row and bytes. Its id is unknown from then on (400 file.unknown), and its place in the quota
 * is free. Name and tags are not kept: only the audit trail tells that the file existed (`file.purge`, with its size,
 * its hash and when it was archived). Rows and audit rows go in one transaction, which also notes whose bytes are to be
 * removed. The bytes are removed after it is committed. So a crash leaves bytes without a row, never a row without
 * bytes, and the next purge, the job runner or fsck removes them.
 *
 * A file whose bytes are missing is left, unless it is known as lost or damaged (domain/file/file_damage.h): the store
 * may be a wrong one, an empty folder in place of a mounted one, and the bytes would stay behind where they are.
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
    int64_t before; /* milliseconds since 1970: archived, or written to the audit trail, at this time or earlier */
    bool dry_run;   /* only count */
    struct progress *progress;
};

struct purge_result {
    int64_t count;   /* files or audit rows */
    int64_t bytes;   /* of the files, by their rows; the store may have the same bytes once */
    int64_t missing; /* files that were left, since their bytes are not in the store */
    bool interrupted;
};

/*
 * Purges files. `scratch` is reset again and again. Waits up to a minute for a backup; then an error says that one
 * runs.
 */
struct error *purge_files(struct service *service, struct arena *arena, struct arena *scratch,
                          const struct purge_options *options, struct purge_result *result_out);

/* Deletes old audit rows, and adds one that says so (`audit.purge`). */
struct error *purge_audit(struct service *service, struct arena *arena, struct arena *scratch,
                          const struct purge_options *options, struct purge_result *result_out);

/* Removes the bytes that an interrupted purge has left. Does nothing while a backup or another purge runs. */
struct error *purge_finish(struct service *service, struct arena *arena, uint64_t *count_out);

#endif
