/* SPDX-License-Identifier: MIT */
/* Reads what an entry of the change log evicts from the cache. */
#include "service/runtime/cache_eviction.h"

#include <string.h>

#include "base/arena.h"
#include "codec/document.h"
#include "domain/change_log.h"
#include "store/cache/cache_prefix.h"

static struct text_list read_names(struct arena *arena, const struct document *payload, const char *member)
{
    const struct document *names = document_member(payload, member);
    struct text_list list = {arena_array(arena, document_count(names), sizeof *list.items), 0};
    for (const struct document *name = document_first(names); name != NULL; name = document_next(name))
        if (document_text(name) != NULL)
            list.items[list.count++] = document_text(name);
    return list;
}

static struct text_list list_names(struct arena *arena, const char *const *names, size_t count)
{
    struct text_list list = {arena_array(arena, count, sizeof *list.items), 0};
    while (list.count < count) {
        list.items[list.count] = names[list.count];
        list.count++;
    }
    return list;
}

struct text_list cache_eviction_secret_prefixes(struct arena *arena)
{
    static const char *const prefixes[] = {CACHE_PREFIX_KEYS, CACHE_PREFIX_TOKENS};
    return list_names(arena, prefixes, sizeof prefixes / sizeof *prefixes);
}

struct cache_eviction cache_eviction_read(struct arena *arena, const struct change_log_entry *entry)
{
    static const char *const settings_prefixes[] = {CACHE_PREFIX_SETTINGS};
    struct cache_eviction eviction = {.version = entry->version};
    struct document *payload;
    if (entry->kind == CHANGE_LOG_SECRETS)
        eviction.prefixes = cache_eviction_secret_prefixes(arena);
    if (entry->kind == CHANGE_LOG_SETTINGS)
        eviction.prefixes = list_names(arena, settings_prefixes, 1);
    if (entry->kind != CHANGE_LOG_CACHE)
        return eviction;
    if (document_parse(arena, entry->payload, strlen(entry->payload), &payload) != NULL ||
        !document_boolean(document_member(payload, "flush"), &eviction.flush)) {
        eviction.flush = true;
        return eviction;
    }
    eviction.keys = read_names(arena, payload, "keys");
    eviction.prefixes = read_names(arena, payload, "prefixes");
    return eviction;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool cache_eviction_touches(const struct cache_eviction *eviction, const char *prefix)
{
    for (size_t i = 0; i < eviction->keys.count; i++)
        if (begins_with(eviction->keys.items[i], prefix))
            return true;
    for (size_t i = 0; i < eviction->prefixes.count; i++)
        if (begins_with(eviction->prefixes.items[i], prefix) || begins_with(prefix, eviction->prefixes.items[i]))
            return true;
    return eviction->flush;
}
