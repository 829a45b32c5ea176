/* SPDX-License-Identifier: MIT */
/* Works on many entries of the file: follows changes, counts, lists, and removes expired entries. */
#include <string.h>

#include "base/arena.h"
#include "store/cache/cache_int.h"

/* The second try finds the file that replaced one that was thrown away. */
#define FOLLOW_TRIES 2

/* Calls visit(key, length) for every entry whose key begins with `prefix`; visit() ends the walk with CACHE_QUIT. */
struct walk {
    int (*visit)(struct cache *cache, MDB_txn *txn, const char *key, size_t length, void *context);
    void *context;
    const char *after; /* start behind this key; NULL: at the prefix */
};

/* Goes to the first entry with the prefix behind the given name; MDB_NOTFOUND when there is none. */
static int next_entry(MDB_cursor *cursor, struct cache_name *at, const char *prefix, bool behind)
{
    MDB_val key = {.mv_data = at->bytes, .mv_size = at->length};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (code == 0 && behind && key.mv_size == at->length && memcmp(key.mv_data, at->bytes, at->length) == 0)
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    if (code != 0)
        return code;
    size_t length = strlen(prefix);
    const char *name = key.mv_data;
    if (key.mv_size < 1 + length || key.mv_size > 1 + LIMIT_CACHE_KEY_BYTES || *name != 'e' ||
        memcmp(name + 1, prefix, length) != 0)
        return MDB_NOTFOUND;
    memcpy(at->bytes, key.mv_data, key.mv_size);
    at->length = key.mv_size;
    return 0;
}

static int walk_entries(struct cache *cache, MDB_txn *txn, const char *prefix, const struct walk *walk)
{
    struct cache_name at;
    MDB_cursor *cursor;
    bool behind = walk->after != NULL;
    const char *start = behind ? walk->after : prefix;
    (void)cache_name(&at, 'e', start, strnlen(start, LIMIT_CACHE_KEY_BYTES));
    int code = mdb_cursor_open(txn, cache->dbi, &cursor);
    if (code != 0)
        return code;
    while ((code = next_entry(cursor, &at, prefix, behind)) == 0) {
        behind = true;
        code = walk->visit(cache, txn, (const char *)at.bytes + 1, at.length - 1, walk->context);
        if (code != 0)
            break;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND || code == CACHE_QUIT ? 0 : code;
}

/*
 * A lease has no entry yet. Leases under the prefix are removed too, so that a process that is loading stores nothing.
 */
static int remove_leases(struct cache *cache, MDB_txn *txn, const char *prefix)
{
    struct cache_name at;
    MDB_cursor *cursor;
    size_t length = strnlen(prefix, LIMIT_CACHE_KEY_BYTES);
    MDB_val value;
    int code = mdb_cursor_open(txn, cache->dbi, &cursor);
    if (code != 0)
        return code;
    while (code == 0) {
        MDB_val key = cache_name(&at, 'l', prefix, length);
        code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
        if (code == 0 && (key.mv_size < at.length || memcmp(key.mv_data, at.bytes, at.length) != 0))
            code = MDB_NOTFOUND;
        if (code == 0)
            code = mdb_cursor_del(cursor, 0);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* ---- evicting ------------------------------------------------------------------------------------ */

static int version_body(struct cache *cache, MDB_txn *txn, void *context)
{
    return cache_get_version(cache, txn, context);
}

int64_t cache_version(struct cache *cache)
{
    int64_t version = 0;
    return cache_read(cache, version_body, &version) ? version : 0;
}

static int remove_visit(struct cache *cache, MDB_txn *txn, const char *key, size_t length, void *context)
{
    (void)context;
    return cache_remove(cache, txn, key, length, &cache->removed.told);
}

static int evict(struct cache *cache, MDB_txn *txn, const struct cache_eviction *eviction)
{
    static const struct walk remove = {.visit = remove_visit};
    int64_t version = eviction->version;
    int code = 0;
    if (eviction->flush)
        return cache_empty(cache, txn, &version);
    for (size_t i = 0; code == 0 && i < eviction->keys.count; i++) {
        const char *key = eviction->keys.items[i];
        if (strlen(key) <= LIMIT_CACHE_KEY_BYTES)
            code = remove_visit(cache, txn, key, strlen(key), NULL);
    }
    for (size_t i = 0; code == 0 && i < eviction->prefixes.count; i++) {
        code = walk_entries(cache, txn, eviction->prefixes.items[i], &remove);
        if (code == 0)
            code = remove_leases(cache, txn, eviction->prefixes.items[i]);
    }
    return code;
}

struct following {
    const struct cache_eviction *evictions;
    size_t count;
    int64_t version;
    bool reset;
};

/*
 * Whether the evictions cover everything that happened after `version`. The process that listed them saw a version of
 * the file too, but maybe of another file, or of none because it could not be read at that moment.
 */
static bool tells_all(const struct following *following, int64_t version)
{
    return following->count > 0 && following->evictions[0].version <= version + 1;
}

static int follow_body(struct cache *cache, MDB_txn *txn, void *context)
{
    struct following *following = context;
    int64_t version;
    if (following->reset)
        return cache_empty(cache, txn, &following->version);
    int code = cache_get_version(cache, txn, &version);
    if (code != 0)
        return code;
    if (version >= following->version)
        return CACHE_QUIT;
    if (!tells_all(following, version))
        return cache_empty(cache, txn, &following->version);
    for (size_t i = 0; code == 0 && i < following->count; i++)
        if (following->evictions[i].version > version)
            code = evict(cache, txn, &following->evictions[i]);
    return code != 0 ? code : cache_put_version(cache, txn, following->version);
}

void cache_follow(struct cache *cache, const struct cache_eviction *evictions, size_t count, int64_t version,
                  bool reset)
{
    struct following following = {evictions, count, version, reset};
    if (cache == NULL || cache->bytes == 0)
        return;
    cache->version = version;
    int64_t before = cache_version(cache);
    if (!reset && before >= version)
        return;
    bool done = false;
    for (int tries = 0; tries < FOLLOW_TRIES && !done; tries++)
        done = cache_write(cache, follow_body, &following) || (!reset && cache_version(cache) >= version);
    if (!done && cache->env != NULL)
        cache_discard(cache, "an eviction could not be written");
    /* The file's version may belong to another database. Whatever it is now, nothing is read from this file. */
    if (!done && reset)
        cache->version = 0;
}

/* ---- counting and listing ------------------------------------------------------------------------ */

struct counting {
    const struct cache_eviction *eviction;
    size_t count;
};

static bool covers(const struct cache_eviction *eviction, const char *key, size_t length)
{
    for (size_t i = 0; i < eviction->keys.count; i++)
        if (strlen(eviction->keys.items[i]) == length && memcmp(eviction->keys.items[i], key, length) == 0)
            return true;
    for (size_t i = 0; i < eviction->prefixes.count; i++) {
        size_t prefix = strlen(eviction->prefixes.items[i]);
        if (prefix <= length && memcmp(eviction->prefixes.items[i], key, prefix) == 0)
            return true;
    }
    return eviction->flush;
}

static int count_visit(struct cache *cache, MDB_txn *txn, const char *key, size_t length, void *context)
{
    struct counting *counting = context;
    struct cache_value value;
    if (!covers(counting->eviction, key, length))
        return 0;
    int code = cache_peek(cache, txn, key, length, &value);
    counting->count += code == 0;
    return code == MDB_NOTFOUND ? 0 : code;
}

static int count_body(struct cache *cache, MDB_txn *txn, void *context)
{
    struct counting *counting = context;
    const struct walk walk = {.visit = count_visit, .context = counting};
    counting->count = 0;
    return walk_entries(cache, txn, "", &walk);
}

size_t cache_count(struct cache *cache, const struct cache_eviction *eviction)
{
    struct counting counting = {.eviction = eviction};
    return cache_read(cache, count_body, &counting) ? counting.count : 0;
}

struct listing {
    struct arena *arena;
    const char *after;
    struct cache_entry *entries;
    size_t limit;
    size_t count;
};

static int list_visit(struct cache *cache, MDB_txn *txn, const char *key, size_t length, void *context)
{
    struct listing *listing = context;
    struct cache_value value;
    if (listing->count == listing->limit)
        return CACHE_QUIT;
    int code = cache_peek(cache, txn, key, length, &value);
    if (code == 0)
        listing->entries[listing->count++] =
            (struct cache_entry){arena_copy(listing->arena, key, length), value.length, value.left / 1000000};
    return code == MDB_NOTFOUND ? 0 : code;
}

static int list_body(struct cache *cache, MDB_txn *txn, void *context)
{
    struct listing *listing = context;
    const struct walk walk = {.visit = list_visit, .context = listing, .after = listing->after};
    listing->count = 0;
    return walk_entries(cache, txn, "", &walk);
}

size_t cache_list(struct cache *cache, struct arena *arena, const char *after, size_t limit,
                  struct cache_entry **entries_out)
{
    struct listing listing = {arena, after, arena_array(arena, limit, sizeof **entries_out), limit, 0};
    *entries_out = listing.entries;
    return cache_read(cache, list_body, &listing) ? listing.count : 0;
}

/* ---- sweeping ------------------------------------------------------------------------------------ */

static int sweep_visit(struct cache *cache, MDB_txn *txn, const char *key, size_t length, void *context)
{
    struct cache_value value;
    (void)context;
    int code = cache_peek(cache, txn, key, length, &value);
    return code == MDB_NOTFOUND ? cache_remove(cache, txn, key, length, &cache->removed.expired) : code;
}

static int sweep_body(struct cache *cache, MDB_txn *txn, void *context)
{
    static const struct walk sweep = {.visit = sweep_visit};
    (void)context;
    return walk_entries(cache, txn, "", &sweep);
}

void cache_sweep(struct cache *cache)
{
    (void)cache_write(cache, sweep_body, NULL);
}
