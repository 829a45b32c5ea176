/* SPDX-License-Identifier: MIT */
/*
 * Two tables of fixed size: `pending` has what is still to be written, `known` what was noted today, pending or
 * written. `known` is a table of hashes whose buckets forget what was noted longest ago; what it has forgotten is
 * written again, which changes nothing.
 */
#include "service/runtime/use_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "domain/permission/permission_use.h"
#include "service/runtime/service.h"

#define BUCKETS 512
#define WAYS 8
#define MICROSECONDS INT64_C(1000000)

struct use_log {
    int64_t interval; /* microseconds */
    int64_t due;      /* clock_monotonic(): when `pending` is to be written; set when it gets its first use */
    size_t pending_count;
    struct permission_use pending[LIMIT_USES_PENDING];
    struct permission_use known[BUCKETS][WAYS]; /* the newest first; a free place has no permission */
};

_Static_assert(LIMIT_USES_PENDING % PERMISSION_USE_BATCH == 0, "all statements take a whole batch");

struct use_log *use_log_new(struct arena *arena, int64_t seconds)
{
    struct use_log *log = arena_alloc(arena, sizeof *log);
    log->interval = seconds * MICROSECONDS;
    return log;
}

static struct permission_use *bucket_of(struct use_log *log, struct id user, const char *permission)
{
    uint64_t hash;
    memcpy(&hash, user.bytes + ID_BYTES - sizeof hash, sizeof hash);
    for (const char *at = permission; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    return log->known[(hash >> 32) % BUCKETS];
}

static bool is_same(const struct permission_use *one, const struct permission_use *other)
{
    return one->permission != NULL && id_equal(one->user, other->user) &&
           strcmp(one->permission, other->permission) == 0;
}

/* Puts the use first into its bucket. False: it was there already, of the same day. */
static bool learn(struct permission_use *bucket, const struct permission_use *use)
{
    size_t at = 0;
    while (at < WAYS - 1 && !is_same(&bucket[at], use))
        at++;
    if (is_same(&bucket[at], use) && bucket[at].day == use->day)
        return false;
    memmove(bucket + 1, bucket, at * sizeof *bucket);
    bucket[0] = *use;
    return true;
}

void use_log_note(struct use_log *log, struct id user, const char *permission, int64_t day)
{
    struct permission_use use = {user, permission, day};
    if (log->pending_count == LIMIT_USES_PENDING || !learn(bucket_of(log, user, permission), &use))
        return;
    if (log->pending_count == 0)
        log->due = clock_monotonic() + log->interval;
    log->pending[log->pending_count++] = use;
    if (log->pending_count == LIMIT_USES_PENDING)
        log->due = 0;
}

/* All processes lock the rows of a statement in one order. */
static int compare(const void *one, const void *other)
{
    const struct permission_use *a = one;
    const struct permission_use *b = other;
    int order = memcmp(a->user.bytes, b->user.bytes, ID_BYTES);
    return order != 0 ? order : strcmp(a->permission, b->permission);
}

static struct error *write_batch(struct service *service, struct arena *arena)
{
    struct use_log *log = service->uses;
    size_t count = log->pending_count < PERMISSION_USE_BATCH ? log->pending_count : PERMISSION_USE_BATCH;
    struct permission_use *first = log->pending + log->pending_count - count;
    const struct permission_uses uses = {first, count};
    qsort(first, count, sizeof *first, compare);
    TRY(permission_use_add(service->database, arena, &uses));
    log->pending_count -= count;
    return NULL;
}

void use_log_flush(struct service *service, struct arena *arena)
{
    struct use_log *log = service->uses;
    while (log->pending_count > 0) {
        struct error *error = write_batch(service, arena);
        if (error == NULL)
            continue;
        LOG(WARN, WORKER, "which permissions were used cannot be written now; it is tried again",
            LOG_TEXT("detail", error->detail), LOG_INTEGER("pending", (int64_t)log->pending_count));
        log->due = clock_monotonic() + log->interval;
        return;
    }
}

void use_log_flush_due(struct service *service, struct arena *arena)
{
    if (service->uses->pending_count > 0 && clock_monotonic() >= service->uses->due)
        use_log_flush(service, arena);
}
