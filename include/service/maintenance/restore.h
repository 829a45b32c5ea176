/* SPDX-License-Identifier: MIT */
/*
 * restore: a backup (service/maintenance/backup.h) into an empty database and an empty files directory.
 *
 * Bytes first, each compared with its hash and durable before the next; then the rows; then the migrations that are
 * newer than the backup. From the first byte to the end a table `gatehouse_restore`, which names the backup, says that
 * the restore is not finished: what is there belongs to it, so that another run with the same backup goes on (bytes that
 * are right are kept, rows are loaded anew), and one with another backup is refused. schema_migration is loaded last, so
 * that nothing takes half the rows for a database. All sessions end: what was ended since the backup must not live again.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_RESTORE_H
#define GATEHOUSE_SERVICE_MAINTENANCE_RESTORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "service/maintenance/progress.h"

struct arena;
struct configuration;
struct error;

struct restore_options {
    const char *directory; /* a backup, or the directory of several: then the newest */
    const char *sql;       /* the migrations */
    bool accept_loss;      /* load the rows although bytes are lost */
    void (*lost)(void *context, struct id id, const char *why); /* may be NULL */
    void *context;
    struct progress *progress;
};

struct restore_result {
    const char *path; /* of the backup */
    const char *created_at;
    int64_t rows;
    int64_t files;
    int64_t bytes;
    int64_t lost;
    bool interrupted;
};

/* All but the end: the table that says that it is not finished stays. INTERNAL with a sentence for the operator. */
struct error *restore_run(struct arena *arena, struct arena *scratch, const struct configuration *configuration,
                          const struct restore_options *options, struct restore_result *result_out);

/* It is finished. */
struct error *restore_finish(struct arena *arena, const struct configuration *configuration);

#endif
