/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of the service itself: health, metrics, version, OpenAPI document, public keys. */
#include <stddef.h>

#include "config.h"

#include "api/dispatch.h"
#include "api/document/openapi.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/network.h"
#include "blob/blob.h"
#include "codec/signing_key.h"
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
     .maximum = LIMIT_HEADER_BYTES,
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
