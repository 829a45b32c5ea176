/* SPDX-License-Identifier: MIT */
/* Writes evictions to the change log, and follows them in this process. */
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

/* {"keys":[…],"prefixes":[…],"flush":false}; the audit row has the member "secrets" as well. */
static const char *write_payload(struct arena *arena, const struct cache_update *update, bool whole)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_add_char(&buffer, '{');
    write_names(&buffer, "keys", &update->keys);
    write_names(&buffer, "prefixes", &update->prefixes);
    buffer_add_format(&buffer, "\"flush\":%s", update->flush ? "true" : "false");
    if (whole)
        buffer_add_format(&buffer, ",\"secrets\":%s", update->secrets ? "true" : "false");
    buffer_add_char(&buffer, '}');
    return buffer.bytes;
}

/* ---- updating ------------------------------------------------------------------------------------ */

struct updating {
    struct service *service;
    const struct caller *caller;
    const struct cache_update *update;
    int64_t version;
};

static struct error *write_update(struct database *database, struct arena *arena, void *context)
{
    struct updating *updating = context;
    const struct cache_update *update = updating->update;
    struct audit_entry entry = {.action = "cache.update", .target_type = "cache"};
    entry.details = write_payload(arena, update, true);
    TRY(caller_audit(updating->service, arena, updating->caller, &entry));
    if (update->flush || update->keys.count + update->prefixes.count > 0)
        TRY(change_log_append(database, arena, CHANGE_LOG_CACHE, write_payload(arena, update, false),
                              &updating->version));
    if (update->secrets)
        TRY(change_log_append(database, arena, CHANGE_LOG_SECRETS, "{}", &updating->version));
    return NULL;
}

struct error *cache_update_run(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct cache_update *update, size_t *count_out)
{
    struct updating updating = {service, caller, update, 0};
    const struct text_list of_secrets = cache_eviction_secret_prefixes(arena);
    struct text_list prefixes = {arena_array(arena, update->prefixes.count + of_secrets.count, sizeof *prefixes.items),
                                 0};
    for (size_t i = 0; i < update->prefixes.count; i++)
        prefixes.items[prefixes.count++] = update->prefixes.items[i];
    for (size_t i = 0; update->secrets && i < of_secrets.count; i++)
        prefixes.items[prefixes.count++] = of_secrets.items[i];
    const struct cache_eviction going = {.keys = update->keys, .prefixes = prefixes, .flush = update->flush};
    *count_out = cache_count(service->cache, &going);
    TRY(database_transaction(service->database, arena, write_update, &updating, NULL));
    /* The eviction is done. A process that could not follow it now does so at its next request. */
    struct error *later = change_follower_follow(service, arena, updating.version);
    if (later != NULL)
        LOG(WARN, SYSTEM, "an eviction will be followed later", LOG_TEXT("detail", later->detail));
    return NULL;
}
