/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether an upload was stored when its COMMIT got no answer. The connection may have broken before the
 * server read COMMIT or after it was done, and the transaction may still be running. So the row is asked for with a
 * lock, which waits for that transaction. A server that has crashed is back within seconds: waiting serves a client
 * that has sent a gigabyte better than "nobody knows".
 */
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/file/file.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"

#define PATIENCE_MICROSECONDS 10000000
#define PAUSE_NANOSECONDS 100000000

struct error *upload_resolve_commit(struct upload *upload, struct error *error)
{
    const struct file_record *first = &upload->files[0].record;
    int64_t start = clock_monotonic();
    for (;;) {
        bool found = false;
        struct error *failure =
            file_find_committed(upload->service->database, upload->arena, first->organisation_id, first->id, &found);
        if (failure == NULL) {
            LOG(WARN, FILES, "an upload whose COMMIT got no answer was looked up",
                LOG_TEXT("file", id_text(upload->arena, first->id)),
                LOG_TEXT("outcome", found ? "stored" : "not stored"));
            return found ? NULL : error;
        }
        if (clock_monotonic() - start > PATIENCE_MICROSECONDS)
            break;
        struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
        (void)nanosleep(&pause, NULL);
    }
    LOG(ERROR, FILES, "it is not known whether an upload was stored",
        LOG_TEXT("file", id_text(upload->arena, first->id)));
    return error_message(
        error, "It is not known whether the file was stored. Look for it in the list before you send it again.");
}
