/* SPDX-License-Identifier: MIT */
/*
 * Restores a backup (service/maintenance/backup.h) into an empty database and an empty files directory.
 *
 * The bytes come first, each compared with its hash and made durable before the next. Then come the rows, then the
 * migrations that are newer than the backup. While the restore is not finished, a table `gatehouse_restore` with the id
 * of the backup says so. Then what is there belongs to the restore: another run with the same backup goes on (it keeps
 * bytes that are right and loads the rows anew), and one with another backup is refused. schema_migration is loaded
 * last, so that nothing takes half of the rows for a database. All sessions end: a session that was ended since the
 * backup must not come back.
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
    const char *directory; /* a backup, or a directory of backups, of which the newest is taken */
    const char *sql;       /* the directory of the migrations */
    bool accept_loss;      /* load the rows even if bytes are lost */
    void (*lost)(void *context, struct id id, const char *why); /* may be NULL */
    void *context;
    struct progress *progress;
};

struct restore_result {
    const char *path; /* of the backup, in the arena */
    const char *created_at;
    int64_t rows;
    int64_t files;
    int64_t bytes;
    int64_t lost;
    bool interrupted;
};

/*
 * Restores all but the end: the table that says that it is not finished stays. `scratch` is reset again and again.
 * INTERNAL, with a sentence for the operator in the message.
 */
struct error *restore_run(struct arena *arena, struct arena *scratch, const struct configuration *configuration,
                          const struct restore_options *options, struct restore_result *result_out);

/* Removes the table: the restore is finished. */
struct error *restore_finish(struct arena *arena, const struct configuration *configuration);

#endif
