/* SPDX-License-Identifier: MIT */
/*
 * backup and restore: rows and bytes that belong together.
 *
 *     DIRECTORY/2026-11-21T23-30-00.000Z/manifest.json   written last: without it there is no backup
 *                                        rows.sql        all rows, as of one moment
 *                                        files.txt       a line a file: id, SHA-256, size; as of the same moment
 *                                        files/ab/<id>   the bytes
 *                                        secret          with `include_secret` only
 *
 * The rows come first, in one snapshot; bytes are stored before their row and never changed, so that those of every row
 * of the snapshot are there when the rows have been written, whatever is uploaded, archived or restored meanwhile. Only
 * a purge takes bytes away: it and the backup keep each other out with a lease.
 *
 * Bytes that a backup in the same directory has already are linked to it and not read again. A backup that was
 * interrupted is "<name>.partial"; the next one takes over what bytes it has, each compared with its hash.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_BACKUP_H
#define GATEHOUSE_SERVICE_MAINTENANCE_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "service/maintenance/progress.h"

struct arena;
struct error;
struct service;

struct backup_options {
    const char *directory; /* made where it is missing */
    bool link;             /* hard links to the store instead of copies, unread; on the same file system only */
    bool include_secret;
    int64_t bytes_per_second; /* reading at most so fast; 0: no bound */
    /* A file whose bytes are not there, or not the recorded ones; may be NULL. */
    void (*lost)(void *context, struct id id, const char *why);
    void *context;
    struct progress *progress;
};

struct backup_result {
    const char *path; /* of the backup */
    int64_t rows;
    int64_t files;
    int64_t bytes;  /* of all files */
    int64_t copied; /* bytes read and written */
    int64_t reused; /* files linked to an earlier backup */
    int64_t lost;   /* files that could not be saved */
    bool interrupted;
};

/* INTERNAL with a sentence for the operator; files that are lost are none, the rest is saved. */
struct error *backup_run(struct service *service, struct arena *arena, struct arena *scratch,
                         const struct backup_options *options, struct backup_result *result_out);

#endif
