/* SPDX-License-Identifier: MIT */
/* One step of a backup: shows the progress, renews the lease, and ends the backup when somebody asks for that. */
#include "base/error.h"
#include "service/maintenance/backup_run_int.h"
#include "service/maintenance/progress.h"

struct error *backup_step(void *context, int64_t bytes)
{
    struct backup *backup = context;
    backup->result->copied += bytes;
    progress_show(backup->options->progress, "files", backup->done, backup->manifest.files, backup->result->copied);
    TRY(lease_holder_renew(&backup->lease, backup->arena));
    if (!progress_ends(backup->options->progress))
        return NULL;
    backup->result->interrupted = true;
    return error_message(error_plain(backup->arena, ERROR_INTERNAL),
                         "The backup was interrupted; the next one goes on with the bytes that it has.");
}
