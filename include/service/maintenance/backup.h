/* SPDX-License-Identifier: MIT */
/*
 * Makes a backup: rows and bytes that belong together, while the service runs.
 *
 *     DIRECTORY/2026-11-21T23-30-00.000Z/manifest.json   written last: without it there is no backup
 *                                        rows.sql        all rows, as of one moment
 *                                        files.txt       a line a file: id, SHA-256, size; as of the same moment
 *                                        files/ab/<id>   the bytes
 *                                        secret          with `include_secret` only
 *
 * The rows come first, in one snapshot. Bytes are stored before their row and never changed. So when the rows of the
 * snapshot have been written, the bytes of each are there, whatever is uploaded, archived or restored meanwhile. Only a
 * purge removes bytes: a lease keeps it and the backup apart.
 *
 * Bytes that an earlier backup in the same directory has are linked to and not read again. A backup that was
 * interrupted is called "<name>.partial". The next one takes over its bytes, each compared with its hash.
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
    const char *directory; /* made if it is missing */
    bool link;             /* hard links to the store, unread, instead of copies; on the same file system only */
    bool include_secret;
    int64_t bytes_per_second; /* read no more than this; 0: no bound */
    /* Called for a file whose bytes are missing or not the recorded ones; may be NULL. */
    void (*lost)(void *context, struct id id, const char *why);
    void *context;
    struct progress *progress;
};

struct backup_result {
    const char *path; /* of the backup, in the arena */
    int64_t rows;
    int64_t files;
    int64_t bytes;  /* of all files */
    int64_t copied; /* bytes read and written */
    int64_t reused; /* files linked to an earlier backup */
    int64_t lost;   /* files that could not be saved */
    bool interrupted;
};

/*
 * Makes a backup. `scratch` is reset again and again. INTERNAL, with a sentence for the operator in the message. Lost
 * files are no error: they are counted, and everything else is saved.
 */
struct error *backup_run(struct service *service, struct arena *arena, struct arena *scratch,
                         const struct backup_options *options, struct backup_result *result_out);

#endif
