/* SPDX-License-Identifier: MIT */
/* Turns what the workers of a host have counted into numbers of a minute, and writes them. */
#include "service/system/stats.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "domain/host_minute.h"
#include "service/runtime/service.h"

#define HOST_BYTES 64

/* The name of this host in the rows: [metrics] host, else the system's. 1 to HOST_BYTES bytes. */
static const char *host_name(const struct service *service, struct arena *arena)
{
    const char *configured = service->configuration->metrics.host;
    char *name = arena_alloc(arena, HOST_BYTES + 1);
    if (configured != NULL)
        return arena_copy(arena, configured, strnlen(configured, HOST_BYTES));
    if (gethostname(name, HOST_BYTES) != 0 || *name == '\0')
        return "unknown";
    return name;
}

/* A file system that does not answer has no free bytes. */
static int64_t free_bytes(struct service *service, struct arena *arena)
{
    struct blob_space space;
    return blob_space(service->blobs, arena, &space) == NULL ? (int64_t)space.free_bytes : 0;
}

static struct error *write_minute(struct service *service, struct arena *arena, const struct stats_runner *runner,
                                  const struct metrics_totals *totals)
{
    struct metrics_totals of_minute;
    metrics_totals_subtract(totals, &runner->totals, &of_minute);
    const struct host_minute row = {
        .host = host_name(service, arena),
        .time = runner->minute,
        .requests = (int64_t)of_minute.requests,
        .errors = (int64_t)of_minute.errors,
        .p50 = metrics_totals_quantile(&of_minute, 500),
        .p99 = metrics_totals_quantile(&of_minute, 990),
        .logins = (int64_t)of_minute.logins,
        .login_failures = (int64_t)of_minute.login_failures,
        .uploads = (int64_t)of_minute.uploads,
        .upload_bytes = (int64_t)of_minute.upload_bytes,
        .outbox_depth = (int64_t)metrics_value(METRIC_OUTBOX_PENDING),
        .free_bytes = free_bytes(service, arena),
    };
    return host_minute_insert(service->database, arena, &row);
}

struct error *stats_step(struct service *service, struct arena *arena, struct stats_runner *runner, int64_t now)
{
    int64_t length = service->configuration->testing.stats_seconds * 1000;
    int64_t minute = now - now % length;
    struct metrics_totals totals;
    if (runner->begun && runner->minute == minute)
        return NULL;
    bool late = now - minute > length / 2;
    bool follows = runner->begun && runner->minute + length == minute;
    metrics_totals_read(&totals);
    struct error *error = follows && !late ? write_minute(service, arena, runner, &totals) : NULL;
    *runner = (struct stats_runner){!late, minute, totals};
    return error;
}
