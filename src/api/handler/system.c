/* SPDX-License-Identifier: MIT */
/*
 * Handles the endpoints of the service itself: health, metrics, version, OpenAPI document, public keys, what the
 * installation looks like, and what each host did in each minute.
 */
#include <stddef.h>
#include <string.h>

#include "config.h"

#include "api/dispatch.h"
#include "api/document/openapi.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/network.h"
#include "base/text.h"
#include "blob/blob.h"
#include "codec/signing_key.h"
#include "domain/host_minute.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/schema.h"
#include "identity/provider.h"
#include "service/runtime/service.h"
#include "service/system/health.h"

struct success_view {
    const char *status;
    const char *message;
};

static const struct schema_field success_fields[] = {
    {.name = "status", .type = SCHEMA_CHOICE, .choices = "success", .offset = offsetof(struct success_view, status)},
    {.name = "message", .type = SCHEMA_TEXT, .offset = offsetof(struct success_view, message)},
};

const struct schema system_success_schema = {
    .name = "Success", SCHEMA_FIELDS(success_fields), .size = sizeof(struct success_view)};

static const struct schema_field tag_fields[] = {
    {.name = "If-None-Match",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_UNCHECKED,
     .description = "The ETag of the reply that the client has: 304 if it has not changed."},
};

const struct schema system_tag_schema = {.name = "TagCondition", SCHEMA_FIELDS(tag_fields), .size = 1};

struct health_view {
    const char *status;
    const char *parts[HEALTH_PART_COUNT];
};

#define PART(text, part)                                                                                               \
    {.name = (text),                                                                                                   \
     .type = SCHEMA_CHOICE,                                                                                            \
     .choices = "ok|warning|unknown",                                                                                  \
     .flags = SCHEMA_OPTIONAL,                                                                                         \
     .offset = offsetof(struct health_view, parts) + (part) * sizeof(const char *)}

static const struct schema_field health_fields[] = {
    {.name = "status", .type = SCHEMA_CHOICE, .choices = "ok", .offset = offsetof(struct health_view, status)},
    PART("database", HEALTH_DATABASE),
    PART("migrations", HEALTH_MIGRATIONS),
    PART("storage", HEALTH_STORAGE),
    PART("identityProvider", HEALTH_PROVIDER),
    PART("secrets", HEALTH_SECRETS),
    PART("outbox", HEALTH_OUTBOX),
    PART("configuration", HEALTH_CONFIGURATION),
    PART("log", HEALTH_LOG),
    PART("cache", HEALTH_CACHE),
    PART("mail", HEALTH_MAIL),
    PART("scrub", HEALTH_SCRUB),
};

const struct schema system_health_schema = {
    .name = "Health", SCHEMA_FIELDS(health_fields), .size = sizeof(struct health_view)};

struct error *system_live(struct call *call)
{
    static const struct health_view live = {.status = "ok"};
    call->result = &live;
    return NULL;
}

struct error *system_ready(struct call *call)
{
    struct health health;
    health_check(call->service, call->arena, &health);
    if (health.error != NULL)
        return health.error;
    struct health_view *ready = arena_alloc(call->arena, sizeof *ready);
    ready->status = "ok";
    for (enum health_part part = 0; part < HEALTH_PART_COUNT; part++)
        ready->parts[part] = health_state_text(health.states[part]);
    call->result = ready;
    return NULL;
}

/* Strangers get what a path without a route answers. */
struct error *system_metrics(struct call *call)
{
    struct blob_space space;
    if (!network_list_has(&call->service->configuration->metrics.allow, call->request->client_address))
        return error_plain(call->arena, ERROR_ROUTE_UNKNOWN);
    /* A file system that does not answer has no free bytes. */
    if (blob_space(call->service->blobs, call->arena, &space) != NULL)
        space = (struct blob_space){0};
    metrics_set(METRIC_BLOB_FREE_BYTES, space.free_bytes);
    metrics_set(METRIC_BLOB_TOTAL_BYTES, space.total_bytes);
    reply_set_header(call->reply, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    metrics_write(&call->reply->body);
    return NULL;
}

struct version_view {
    const char *name;
    const char *version;
    const char *api_version;
};

static const struct schema_field version_fields[] = {
    {.name = "name", .type = SCHEMA_TEXT, .offset = offsetof(struct version_view, name)},
    {.name = "version", .type = SCHEMA_TEXT, .offset = offsetof(struct version_view, version)},
    {.name = "apiVersion", .type = SCHEMA_TEXT, .offset = offsetof(struct version_view, api_version)},
};

const struct schema system_version_schema = {
    .name = "Version", SCHEMA_FIELDS(version_fields), .size = sizeof(struct version_view)};

struct error *system_version(struct call *call)
{
    static const struct version_view version = {"Gatehouse", PACKAGE_VERSION, API_VERSION};
    call->result = &version;
    return NULL;
}

struct error *system_openapi(struct call *call)
{
    const char *base_url = call->service->configuration->service.base_url;
    buffer_add_text(&call->reply->body, openapi_text(call->arena, call->routes, base_url));
    return NULL;
}

struct error *system_keys(struct call *call)
{
    const struct key_set *keys;
    TRY(provider_keys(call->service->provider, call->arena, false, &keys));
    buffer_add_text(&call->reply->body, key_set_json(call->arena, keys));
    return NULL;
}

/* ---- what the installation looks like ------------------------------------------------------------ */

struct logos_view {
    const char *light;
    const char *dark;
};

static const struct schema_field logos_fields[] = {
    {.name = "light",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct logos_view, light),
     .description = "The address of a picture for a light ground."},
    {.name = "dark",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct logos_view, dark),
     .description = "The same for a dark ground."},
};

static const struct schema logos_schema = {
    .name = "Logos", SCHEMA_FIELDS(logos_fields), .size = sizeof(struct logos_view)};

struct branding_view {
    const char *name;
    const struct logos_view *logos;
    const char *accent;
    const char *support;
    struct text_list languages;
};

static const struct schema_field branding_fields[] = {
    {.name = "name", .type = SCHEMA_TEXT, .offset = offsetof(struct branding_view, name)},
    {.name = "logos", .type = SCHEMA_OBJECT, .schema = &logos_schema, .offset = offsetof(struct branding_view, logos)},
    {.name = "accent",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct branding_view, accent),
     .description = "A colour: # and six hexadecimal digits."},
    {.name = "support",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct branding_view, support),
     .description = "Where people find help: an address with https, http or mailto."},
    {.name = "languages",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct branding_view, languages),
     .description = "The languages of e-mails and pages, as BCP 47 writes them; the installation's own comes first."},
};

const struct schema system_branding_schema = {
    .name = "Branding", SCHEMA_FIELDS(branding_fields), .size = sizeof(struct branding_view)};

/* The whole address of a picture; one without a scheme lies below the pages. NULL stays NULL. */
static const char *address_of(struct call *call, const char *picture)
{
    if (picture == NULL || strstr(picture, "://") != NULL)
        return picture;
    return arena_format(call->arena, "%s/%s", call->service->configuration->service.web_url, picture);
}

struct error *system_branding(struct call *call)
{
    const struct configuration *configuration = call->service->configuration;
    struct logos_view *logos = arena_alloc(call->arena, sizeof *logos);
    struct branding_view *view = arena_alloc(call->arena, sizeof *view);
    const char *dark = configuration->branding.logo_dark;
    logos->light = address_of(call, configuration->branding.logo);
    logos->dark = dark == NULL ? logos->light : address_of(call, dark);
    *view = (struct branding_view){
        .name = configuration->branding.name,
        .logos = logos,
        .accent = configuration->branding.accent,
        .support = configuration->branding.support,
        .languages = call->service->languages,
    };
    call->result = view;
    return NULL;
}

/* ---- what each host did --------------------------------------------------------------------------- */

/* Without since, so much is listed. */
#define RECENT_MILLISECONDS (INT64_C(3600) * 1000)

struct stats_query {
    const char *since;
};

static const struct schema_field stats_query_fields[] = {
    {.name = "since",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_READ_AS_TIME,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct stats_query, since),
     .description = "RFC 3339: minutes that began then or later. Without it, those of the last hour."},
};

const struct schema system_stats_query_schema = {
    .name = "StatsQuery", SCHEMA_FIELDS(stats_query_fields), .size = sizeof(struct stats_query)};

#define COUNT(text, member, what)                                                                                      \
    {.name = (text), .type = SCHEMA_INTEGER, .offset = offsetof(struct host_minute, member), .description = (what)}
#define DURATION(text, member, what)                                                                                   \
    {.name = (text),                                                                                                   \
     .type = SCHEMA_THOUSANDTHS,                                                                                       \
     .flags = SCHEMA_NULLABLE,                                                                                         \
     .offset = offsetof(struct host_minute, member),                                                                   \
     .description = (what)}

static const struct schema_field minute_fields[] = {
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

static const struct schema minute_schema = {
    .name = "HostMinute", SCHEMA_FIELDS(minute_fields), .size = sizeof(struct host_minute)};

struct stats_reply {
    struct schema_list items;
};

static const struct schema_field stats_reply_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &minute_schema, .offset = offsetof(struct stats_reply, items)},
};

const struct schema system_stats_schema = {
    .name = "Stats", SCHEMA_FIELDS(stats_reply_fields), .size = sizeof(struct stats_reply)};

struct error *system_stats(struct call *call)
{
    const struct stats_query *query = call->query;
    int64_t since = clock_now() - RECENT_MILLISECONDS;
    struct host_minutes minutes;
    if (query->since != NULL)
        (void)clock_parse(query->since, &since); /* the schema has checked it */
    TRY(host_minute_list(call->service->database, call->arena, since, LIMIT_STATS_ROWS, &minutes));
    struct stats_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **items = arena_array(call->arena, minutes.count, sizeof *items);
    for (size_t i = 0; i < minutes.count; i++)
        items[i] = &minutes.items[i];
    reply->items = (struct schema_list){items, minutes.count};
    call->result = reply;
    return NULL;
}
