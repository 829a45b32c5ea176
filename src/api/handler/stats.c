/* SPDX-License-Identifier: MIT */
/* Handles the endpoint that lists what each host did in each minute. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/host_minute.h"
#include "http/schema.h"
#include "service/runtime/service.h"

/* Without since, so much is listed. */
#define RECENT_MILLISECONDS (INT64_C(3600) * 1000)

struct stats_query {
    const char *since;
};

static const struct schema_field query_fields[] = {
    {.name = "since",
     .type = SCHEMA_TEXT,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct stats_query, since),
     .description = "RFC 3339: minutes that began then or later. Without it, those of the last hour."},
};

const struct schema stats_query_schema = {
    .name = "StatsQuery", SCHEMA_FIELDS(query_fields), .size = sizeof(struct stats_query)};

#define COUNT(text, member, what)                                                                                      \
    {.name = (text), .type = SCHEMA_INTEGER, .offset = offsetof(struct host_minute, member), .description = (what)}
#define DURATION(text, member, what)                                                                                   \
    {.name = (text),                                                                                                   \
     .type = SCHEMA_THOUSANDTHS,                                                                                       \
     .flags = SCHEMA_NULLABLE,                                                                                         \
     .offset = offsetof(struct host_minute, member),                                                                   \
     .description = (what)}

static const struct schema_field item_fields[] = {
    {.name = "host", .type = SCHEMA_TEXT, .offset = offsetof(struct host_minute, host)},
    {.name = "minute",
     .type = SCHEMA_TIME,
     .offset = offsetof(struct host_minute, minute),
     .description = "When it began."},
    COUNT("requests", requests, "Answered, of all endpoints."),
    COUNT("errors", errors, "Answered with 500 or more."),
    DURATION("p50Ms", p50, "Half of the requests took no longer, in milliseconds; null without requests."),
    DURATION("p99Ms", p99, "99 of 100 took no longer; null without requests."),
    COUNT("logins", logins, "Logins that succeeded."),
    COUNT("loginFailures", login_failures, "Logins answered with 401 or 429."),
    COUNT("uploads", uploads, "Files stored."),
    COUNT("uploadBytes", upload_bytes, "Their bytes."),
    COUNT("outboxDepth", outbox_depth, "Jobs that waited at its end, of all hosts together."),
    COUNT("freeBytes", free_bytes, "Of the files directory, at its end."),
};

static const struct schema item_schema = {
    .name = "HostMinute", SCHEMA_FIELDS(item_fields), .size = sizeof(struct host_minute)};

struct stats_reply {
    struct schema_list items;
};

static const struct schema_field reply_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &item_schema, .offset = offsetof(struct stats_reply, items)},
};

const struct schema stats_reply_schema = {
    .name = "Stats", SCHEMA_FIELDS(reply_fields), .size = sizeof(struct stats_reply)};

struct error *stats_list(struct call *call)
{
    const struct stats_query *query = call->query;
    int64_t since = clock_now() - RECENT_MILLISECONDS;
    struct host_minutes minutes;
    if (query->since != NULL && !clock_parse(query->since, &since)) {
        struct validation validation;
        validation_init(&validation, call->arena);
        validation_add(&validation, "format", "must be a time such as 2026-11-21T08:52:00Z", "%s", "since");
        return validation.error;
    }
    TRY(host_minute_list(call->service->database, call->arena, since, LIMIT_STATS_ROWS, &minutes));
    struct stats_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **items = arena_array(call->arena, minutes.count, sizeof *items);
    for (size_t i = 0; i < minutes.count; i++)
        items[i] = &minutes.items[i];
    reply->items = (struct schema_list){items, minutes.count};
    call->result = reply;
    return NULL;
}
