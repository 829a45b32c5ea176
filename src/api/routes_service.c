/* SPDX-License-Identifier: MIT */
/* The rows of the route table for the service itself: audit trail, cache, settings, health, metrics, documents. */
#include "api/handlers_int.h"
#include "api/routes_int.h"
#include "base/limits.h"

static const struct route rows[] = {
    {
        .method = METHOD_GET,
        .path = "/system/audit",
        .operation = "listAuditEntries",
        .tag = "Service",
        .summary = "The audit trail, newest first",
        .description = "Rows are never changed. since is included, until is not. With organisationId, only what "
                       "happened in that organisation. Each other organisation whose rows are shown gets a row "
                       "access.crossOrganisation of its own trail, with the reason of the header X-Reason. " EXPORTED,
        .access = ACCESS_PERMISSION,
        .permission = "sys:audit:a",
        .query = &audits_query_schema,
        .reply_kind = REPLY_OBJECT,
        .reply = &audits_reply_schema,
        .exports = true,
        .handler = audits_list,
    },
    {
        .method = METHOD_GET,
        .path = "/system/cache",
        .operation = "getCacheStatistics",
        .tag = "Service",
        .summary = "How full the service cache is, and how often it helps",
        .description = "The numbers of the host that answers; never a key and never a value. At most " LIMIT_TEXT(
            LIMIT_CACHE_COUNTED) " entries are counted.",
        .access = ACCESS_PERMISSION,
        .permission = "sys:cache:a",
        .reply_kind = REPLY_OBJECT,
        .reply = &cache_numbers_schema,
        .handler = cache_numbers,
    },
    {
        .method = METHOD_POST,
        .path = "/system/cache",
        .operation = "updateCache",
        .tag = "Service",
        .summary = "Evict entries of the service cache, or have secrets read again, on every host",
        .description =
            "Idempotent. When the reply leaves, no request that begins on any worker of any host is answered from "
            "what was evicted. The message counts the entries of the host that answers. "
            "Where nothing is asked for, nothing happens, and the message says so.",
        .access = ACCESS_PERMISSION,
        .permission = "sys:cache:a",
        .body_kind = BODY_JSON,
        .body = &cache_body_schema,
        .reply_kind = REPLY_SUCCESS,
        .reply = &system_success_schema,
        .reserves_conflict = true,
        .handler = cache_update,
    },
    {
        .method = METHOD_GET,
        .path = "/system/settings",
        .operation = "getSettings",
        .tag = "Service",
        .summary = "The system settings document",
        .description = "The ETag is its version.",
        .access = ACCESS_PERMISSION,
        .permission = "sys:settings:a",
        .reply_kind = REPLY_OBJECT,
        .reply = &settings_document_schema,
        .handler = settings_get,
    },
    {
        .method = METHOD_PUT,
        .path = "/system/settings",
        .operation = "updateSettings",
        .tag = "Service",
        .summary = "Change the system settings document",
        .description =
            "A member of logging that is not sent keeps its value. Every worker follows on its next request. The "
            "reply's ETag is the new version.",
        .access = ACCESS_PERMISSION,
        .permission = "sys:settings:a",
        .headers = &settings_condition_schema,
        .body_kind = BODY_JSON,
        .body = &settings_change_schema,
        .validate = settings_validate,
        .reply_kind = REPLY_SUCCESS,
        .reply = &system_success_schema,
        .errors = ERRORS(ERROR_SETTINGS_STALE),
        .handler = settings_put,
    },
    {
        .method = METHOD_GET,
        .path = "/system/settings/history",
        .operation = "listSettingsVersions",
        .tag = "Service",
        .summary = "The versions of the system settings document, newest first",
        .description = "Every change is a version of its own, with who made it and when.",
        .access = ACCESS_PERMISSION,
        .permission = "sys:settings:a",
        .query = &settings_history_query_schema,
        .reply_kind = REPLY_OBJECT,
        .reply = &settings_history_schema,
        .handler = settings_history,
    },
    {
        .method = METHOD_GET,
        .path = "/system/stats",
        .operation = "listHostStatistics",
        .tag = "Service",
        .summary = "What each host did in each minute, the oldest first",
        .description =
            "Kept for 48 hours and written by each host's job runner; a minute that a host did not see is missing. The "
            "durations are exact to the bucket of the metrics that they fall into. At most " LIMIT_TEXT(
                LIMIT_STATS_ROWS) " items, and whole minutes: where there are more, ask again with the last "
                                  "minute as since.",
        .access = ACCESS_PERMISSION,
        .permission = "sys:stats:a",
        .query = &system_stats_query_schema,
        .reply_kind = REPLY_OBJECT,
        .reply = &system_stats_schema,
        .handler = system_stats,
    },
    {
        .method = METHOD_GET,
        .path = "/system/limits",
        .operation = "getLimits",
        .tag = "Service",
        .summary = "What a client must know before it sends",
        .description =
            "The sizes and counts that requests are held to, the buckets and their types, the length of a password, "
            "the services and the languages. They change when the operator changes the configuration, or with a "
            "release. Send the ETag back in If-None-Match to learn whether they did.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ALSO,
        .headers = &system_tag_schema,
        .tagged = true,
        .reply_kind = REPLY_OBJECT,
        .reply = &limits_schema,
        .handler = limits_get,
    },
    {
        .method = METHOD_GET,
        .path = "/system/branding",
        .operation = "getBranding",
        .tag = "Service",
        .summary = "What the installation looks like",
        .description = "Name, logos, colour, support link and languages, for pages and clients. Send the ETag back in "
                       "If-None-Match to learn whether they changed.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ALSO,
        .headers = &system_tag_schema,
        .tagged = true,
        .reply_kind = REPLY_OBJECT,
        .reply = &system_branding_schema,
        .handler = system_branding,
    },
    {
        .method = METHOD_GET,
        .path = "/system/health/live",
        .operation = "checkLiveness",
        .tag = "Service",
        .summary = "Whether a worker answers",
        .description = "Asks nothing but the worker itself: for supervisors, not for load balancers.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ONLY,
        .reply_kind = REPLY_OBJECT,
        .reply = &system_health_schema,
        .handler = system_live,
    },
    {
        .method = METHOD_GET,
        .path = "/system/health/ready",
        .operation = "checkReadiness",
        .tag = "Service",
        .summary = "Whether everything that requests need is there",
        .description =
            "Looks at database, migrations, storage, identityProvider and outbox. 500 names the first part that is "
            "down in body.part and the state of each (ok, down, unknown) in body; validation lists those that are "
            "down.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ONLY,
        .reply_kind = REPLY_OBJECT,
        .reply = &system_health_schema,
        .errors = ERRORS(ERROR_DATABASE_UNAVAILABLE, ERROR_STORAGE_UNAVAILABLE, ERROR_STORAGE_FULL,
                         ERROR_IDENTITY_UNAVAILABLE),
        .handler = system_ready,
    },
    {
        .method = METHOD_GET,
        .path = "/system/metrics",
        .operation = "getMetrics",
        .tag = "Service",
        .summary = "What the workers of this host have counted",
        .description =
            "Prometheus' text exposition format 0.0.4. 404 unless the client's address is one of those configured; "
            "by default the host's own.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ALSO,
        .reply_kind = REPLY_TEXT,
        .errors = ERRORS(ERROR_ROUTE_UNKNOWN),
        .handler = system_metrics,
    },
    {
        .method = METHOD_GET,
        .path = "/system/version",
        .operation = "getVersion",
        .tag = "Service",
        .summary = "Name and versions",
        .description = "version is the release that runs, apiVersion the version of this interface.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ALSO,
        .reply_kind = REPLY_OBJECT,
        .reply = &system_version_schema,
        .handler = system_version,
    },
    {
        .method = METHOD_GET,
        .path = "/system/openapi.json",
        .operation = "getOpenApiDocument",
        .tag = "Service",
        .summary = "This document",
        .description = "With the address of this service in servers, and with every error code and its sentence in "
                       "x-errors. The page /api shows it to people. Send the ETag back in If-None-Match to learn "
                       "whether it changed.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ALSO,
        .headers = &system_tag_schema,
        .tagged = true,
        .reply_kind = REPLY_JSON,
        .handler = system_openapi,
    },
    {
        .method = METHOD_GET,
        .path = "/.well-known/jwks.json",
        .operation = "listSigningKeys",
        .tag = "Service",
        .summary = "The public keys that verify tokens (RFC 7517)",
        .description = "For programs that verify tokens themselves. Keys that are about to be used are published "
                       "before, and retired ones until the last token that they signed has expired.",
        .access = ACCESS_PUBLIC,
        .reply_kind = REPLY_JSON,
        .errors = ERRORS(ERROR_DATABASE_UNAVAILABLE, ERROR_IDENTITY_UNAVAILABLE),
        .handler = system_keys,
    },
};

const struct routes_group routes_service = {rows, sizeof rows / sizeof *rows};
