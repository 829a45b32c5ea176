/* SPDX-License-Identifier: MIT */
/* Handles the endpoint of the service cache. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "http/schema.h"
#include "service/runtime/service.h"
#include "service/system/cache_update.h"

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
