/* SPDX-License-Identifier: MIT */
/* One step of a backup: shows the progress, renews the lease, and ends the backup when somebody asks for that. */
#include "base/clock.h"
#include "base/error.h"
#include "service/maintenance/backup_run_int.h"
#include "service/maintenance/progress.h"
#include "service/runtime/service.h"
#include "store/database/migrate.h"

/* A fifth of what the lock lasts. */
#define RENEW_MICROSECONDS (INT64_C(1000000) * MIGRATE_LOCK_SECONDS / 5)

/* By the handle of the service: the other one is in the transaction that reads the rows. */
static struct error *renew_migrations(struct backup *backup)
{
    int64_t now = clock_monotonic();
    if (backup->migrations_renewed == 0 || now - backup->migrations_renewed < RENEW_MICROSECONDS)
        return NULL;
    TRY(migrate_lock_renew(backup->service->database, backup->arena, &backup->migrations));
    backup->migrations_renewed = now;
    return NULL;
}

struct error *backup_step(void *context, int64_t bytes)
{
    struct backup *backup = context;
    backup->result->copied += bytes;
    progress_show(backup->options->progress, "files", backup->done, backup->manifest.files, backup->result->copied);
    TRY(lease_holder_renew(&backup->lease, backup->arena));
    TRY(renew_migrations(backup));
    if (!progress_ends(backup->options->progress))
        return NULL;
    backup->result->interrupted = true;
    return error_message(error_plain(backup->arena, ERROR_INTERNAL),
                         "The backup was interrupted; the next one goes on with the bytes that it has.");
}
