/* SPDX-License-Identifier: MIT */
/* Deletes rows whose time is over and blobs without a row, and repairs stored rights, from time to time. */
#include "ctl/command/jobs_int.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "domain/account/email_change.h"
#include "domain/account/one_time_code.h"
#include "domain/account/throttle.h"
#include "domain/change_log.h"
#include "domain/file/file_link.h"
#include "domain/host_minute.h"
#include "domain/outbox.h"
#include "domain/permission/permission_use.h"
#include "domain/permission/principal.h"
#include "domain/session/known_device.h"
#include "domain/session/session.h"
#include "identity/provider.h"
#include "service/file/resumable.h"
#include "service/maintenance/purge.h"
#include "service/runtime/service.h"
#include "store/cache/cache.h"
#include "store/database/row_lock.h"

#define OUTBOX_KEEP_DAYS 30
#define CHANGE_KEEP_DAYS 7
#define PURGE_ROWS 1000
#define PURGE_ROUNDS 100

static struct error *purge_sessions(struct service *service, struct arena *arena, uint64_t *count)
{
    return session_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_devices(struct service *service, struct arena *arena, uint64_t *count)
{
    return known_device_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_outbox(struct service *service, struct arena *arena, uint64_t *count)
{
    return outbox_purge(service->database, arena, OUTBOX_KEEP_DAYS, PURGE_ROWS, count);
}

static struct error *purge_throttle(struct service *service, struct arena *arena, uint64_t *count)
{
    return throttle_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_changes(struct service *service, struct arena *arena, uint64_t *count)
{
    return change_log_purge(service->database, arena, CHANGE_KEEP_DAYS, PURGE_ROWS, count);
}

static struct error *purge_uses(struct service *service, struct arena *arena, uint64_t *count)
{
    return permission_use_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_codes(struct service *service, struct arena *arena, uint64_t *count)
{
    *count = 0;
    return one_time_code_purge(service->database, arena, PURGE_ROWS);
}

static struct error *purge_links(struct service *service, struct arena *arena, uint64_t *count)
{
    return file_link_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *expire_uploads(struct service *service, struct arena *arena, uint64_t *count)
{
    return resumable_expire(service, arena, PURGE_ROWS, count);
}

static struct error *purge_email_changes(struct service *service, struct arena *arena, uint64_t *count)
{
    return email_change_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_minutes(struct service *service, struct arena *arena, uint64_t *count)
{
    return host_minute_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_locks(struct service *service, struct arena *arena, uint64_t *count)
{
    return row_lock_purge(service->database, arena, PURGE_ROWS, count);
}

static struct error *purge_tokens(struct service *service, struct arena *arena, uint64_t *count)
{
    *count = 0;
    return provider_tidy(service->provider, arena);
}

static struct error *sweep_blobs(struct service *service, struct arena *arena, uint64_t *count)
{
    size_t swept = 0;
    TRY(blob_sweep(service->blobs, arena, clock_now() - (int64_t)24 * 3600 * 1000, &swept));
    *count = 0;
    return NULL;
}

/* Repairs what has got past the triggers (foreign_key_checks = 0, or a dump loaded without them). */
static struct error *repair_principals(struct service *service, struct arena *arena, uint64_t *count)
{
    int64_t changed = 0;
    *count = 0;
    TRY(principal_repair(service->database, arena, &changed));
    if (changed != 0)
        LOG(ERROR, JOBS, "the stored rights of users or roles were wrong, and were repaired",
            LOG_INTEGER("count", changed));
    return NULL;
}

static struct error *finish_purge(struct service *service, struct arena *arena, uint64_t *count)
{
    TRY(purge_finish(service, arena, count));
    *count = 0;
    return NULL;
}

struct error *jobs_tidy(struct service *service, struct arena *arena)
{
    static struct error *(*const steps[])(struct service *, struct arena *, uint64_t *) = {
        purge_tokens,   purge_sessions, purge_devices,       purge_links,      purge_minutes, purge_outbox,
        purge_throttle, purge_codes,    purge_email_changes, purge_changes,    purge_uses,    purge_locks,
        sweep_blobs,    expire_uploads, finish_purge,        repair_principals};
    struct error *first = NULL;
    cache_sweep(service->cache);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        uint64_t count = PURGE_ROWS;
        for (int round = 0; round < PURGE_ROUNDS && count >= PURGE_ROWS; round++) {
            struct error *error = steps[i](service, arena, &count);
            first = first != NULL ? first : error;
            if (error != NULL)
                break;
        }
    }
    return first;
}
