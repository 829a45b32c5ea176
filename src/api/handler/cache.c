/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of the service cache. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/text.h"
#include "http/schema.h"
#include "service/runtime/service.h"
#include "service/system/cache_update.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"

static const struct schema_field fields[] = {
    {.name = "keys",
     .type = SCHEMA_TEXTS,
     .maximum = LIMIT_CACHE_NAMES,
     .item_maximum = LIMIT_CACHE_KEY_BYTES,
     .offset = offsetof(struct cache_update, keys),
     .description = "Entries by their keys, for example jwks:embedded."},
    {.name = "prefixes",
     .type = SCHEMA_TEXTS,
     .maximum = LIMIT_CACHE_NAMES,
     .item_maximum = LIMIT_CACHE_KEY_BYTES,
     .offset = offsetof(struct cache_update, prefixes),
     .description =
         "Entries by what their keys begin with: jwks: (public keys of identity providers), settings: (the settings), "
         "token: (verified tokens, and ours for a provider)."},
    {.name = "flush",
     .type = SCHEMA_BOOLEAN,
     .flags = SCHEMA_NULLABLE,
     .fallback = "false",
     .offset = offsetof(struct cache_update, flush),
     .description = "Every entry."},
    {.name = "secrets",
     .type = SCHEMA_BOOLEAN,
     .flags = SCHEMA_NULLABLE,
     .fallback = "false",
     .offset = offsetof(struct cache_update, secrets),
     .description =
         "Every worker reads its secrets again: database, SMTP and provider credentials, signing keys, key sets."},
};

const struct schema cache_body_schema = {
    .name = "CacheUpdate", SCHEMA_FIELDS(fields), .size = sizeof(struct cache_update)};

struct error *cache_update(struct call *call)
{
    const struct cache_update *body = call->body;
    size_t count;
    if (body->keys.count + body->prefixes.count == 0 && !body->flush && !body->secrets) {
        call->success = "Nothing was asked for, so nothing was evicted.";
        return NULL;
    }
    TRY(cache_update_run(call->service, call->arena, &call->caller, body, &count));
    call->success = arena_format(
        call->arena, "%zu %s evicted%s.", count, count == 1 ? "entry was" : "entries were",
        body->secrets ? "; every worker reads its secrets anew, and the log says what could not be taken" : "");
    return NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------- */

struct prefix_view {
    const char *prefix;
    int64_t entries;
};

static const struct schema_field prefix_fields[] = {
    {.name = "prefix", .type = SCHEMA_TEXT, .offset = offsetof(struct prefix_view, prefix)},
    {.name = "entries",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct prefix_view, entries),
     .description = "null where there are too many to count."},
};

static const struct schema prefix_schema = {
    .name = "CachePrefix", SCHEMA_FIELDS(prefix_fields), .size = sizeof(struct prefix_view)};

struct numbers_view {
    int64_t entries;
    int64_t bytes;
    int64_t maximum_bytes;
    int64_t hits;
    int64_t misses;
    struct schema_list prefixes;
};

static const struct schema_field numbers_fields[] = {
    {.name = "entries",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct numbers_view, entries),
     .description = "Those whose time is not over; where a prefix has too many to count, all that are stored."},
    {.name = "bytes",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct numbers_view, bytes),
     .description = "Of the file, in use."},
    {.name = "maximumBytes",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct numbers_view, maximum_bytes),
     .description = "The size of the file. When half of it is in use, the oldest entries go. 0: there is no cache."},
    {.name = "hits",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct numbers_view, hits),
     .description = "Look-ups that found a value, of all processes of the host since it counts."},
    {.name = "misses", .type = SCHEMA_INTEGER, .offset = offsetof(struct numbers_view, misses)},
    {.name = "prefixes",
     .type = SCHEMA_OBJECTS,
     .schema = &prefix_schema,
     .offset = offsetof(struct numbers_view, prefixes)},
};

const struct schema cache_numbers_schema = {.name = "CacheNumbers",
                                            .description = "Of the host that answers.",
                                            SCHEMA_FIELDS(numbers_fields),
                                            .size = sizeof(struct numbers_view)};

struct error *cache_numbers(struct call *call)
{
    struct text_list prefixes = text_words(call->arena, CACHE_PREFIXES);
    const void **items = arena_array(call->arena, prefixes.count, sizeof *items);
    struct numbers_view *numbers = arena_alloc(call->arena, sizeof *numbers);
    struct cache_summary summary;
    cache_summarise(call->service->cache, call->arena, &prefixes, LIMIT_CACHE_COUNTED, &summary);
    for (size_t i = 0; i < prefixes.count; i++) {
        struct prefix_view *view = arena_alloc(call->arena, sizeof *view);
        *view = (struct prefix_view){prefixes.items[i], summary.counts[i] < 0 ? SCHEMA_NO_INTEGER : summary.counts[i]};
        items[i] = view;
    }
    *numbers = (struct numbers_view){
        .entries = summary.entries,
        .bytes = summary.bytes,
        .maximum_bytes = summary.maximum_bytes,
        .hits = (int64_t)metrics_value(METRIC_CACHE_HIT),
        .misses = (int64_t)metrics_value(METRIC_CACHE_MISS),
        .prefixes = {items, prefixes.count},
    };
    call->result = numbers;
    return NULL;
}
