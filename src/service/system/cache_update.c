/* SPDX-License-Identifier: MIT */
#include "service/system/cache_update.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/encoding.h"
#include "domain/audit.h"
#include "domain/change_log.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/cache_eviction.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"
#include "store/cache/cache.h"
#include "store/database/database.h"

/* ---- the log's payload --------------------------------------------------------------------------- */

static void write_names(struct buffer *buffer, const char *member, const struct text_list *names)
{
    buffer_add_format(buffer, "\"%s\":[", member);
    for (size_t i = 0; i < names->count; i++) {
        if (i > 0)
            buffer_add_char(buffer, ',');
        buffer_add_json_text(buffer, names->items[i]);
    }
    buffer_add_text(buffer, "],");
}

/* {"keys":[…],"prefixes":[…],"flush":false}, with a further member for the audit trail. */
static const char *write_payload(struct arena *arena, const struct eviction *eviction, bool whole)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_add_char(&buffer, '{');
    write_names(&buffer, "keys", &eviction->keys);
    write_names(&buffer, "prefixes", &eviction->prefixes);
    buffer_add_format(&buffer, "\"flush\":%s", eviction->flush ? "true" : "false");
    if (whole)
        buffer_add_format(&buffer, ",\"secrets\":%s", eviction->secrets ? "true" : "false");
    buffer_add_char(&buffer, '}');
    return buffer.bytes;
}

/* ---- evicting ------------------------------------------------------------------------------------ */

struct evicting {
    struct service *service;
    const struct caller *caller;
    const struct eviction *eviction;
    int64_t version;
};

static struct error *evict_body(struct database *database, struct arena *arena, void *context)
{
    struct evicting *evicting = context;
    const struct eviction *eviction = evicting->eviction;
    struct audit_entry entry = {.action = "cache.update", .target_type = "cache"};
    entry.details = write_payload(arena, eviction, true);
    TRY(caller_audit(evicting->service, arena, evicting->caller, &entry));
    if (eviction->flush || eviction->keys.count + eviction->prefixes.count > 0)
        TRY(change_append(database, arena, CHANGE_CACHE, write_payload(arena, eviction, false), &evicting->version));
    if (eviction->secrets)
        TRY(change_append(database, arena, CHANGE_SECRETS, "{}", &evicting->version));
    return NULL;
}

struct error *evict(struct service *service, struct arena *arena, const struct caller *caller,
                    const struct eviction *eviction, size_t *count_out)
{
    struct evicting evicting = {service, caller, eviction, 0};
    const struct text_list of_secrets = cache_eviction_secret_prefixes(arena);
    struct text_list prefixes = {arena_array(arena, eviction->prefixes.count + of_secrets.count, sizeof *prefixes.items), 0};
    for (size_t i = 0; i < eviction->prefixes.count; i++)
        prefixes.items[prefixes.count++] = eviction->prefixes.items[i];
    for (size_t i = 0; eviction->secrets && i < of_secrets.count; i++)
        prefixes.items[prefixes.count++] = of_secrets.items[i];
    const struct cache_eviction going = {.keys = eviction->keys, .prefixes = prefixes, .flush = eviction->flush};
    *count_out = cache_count(service->cache, &going);
    TRY(database_transaction(service->database, arena, evict_body, &evicting, NULL));
    /* Done whatever becomes of this: a process that could not follow does so at its next request. */
    struct error *later = live_follow(service, arena, evicting.version);
    if (later != NULL)
        LOG(WARN, SYSTEM, "an eviction will be followed later", LOG_TEXT("detail", later->detail));
    return NULL;
}
