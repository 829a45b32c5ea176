/* SPDX-License-Identifier: MIT */
/* Keeps the last few opened keys of signed links in memory. */
#include "service/runtime/link_key_cache.h"

#include <string.h>

#include "base/arena.h"

#define KEYS_MAX 4

struct link_key_cache {
    struct open_link_key keys[KEYS_MAX];
    unsigned next; /* keys[next % KEYS_MAX] is replaced next */
};

struct link_key_cache *link_key_cache_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct link_key_cache));
}

void link_key_cache_clear(struct link_key_cache *cache)
{
    if (cache != NULL)
        memset(cache, 0, sizeof *cache);
}

const struct open_link_key *link_key_cache_find(const struct link_key_cache *cache, struct id id)
{
    for (unsigned i = 0; i < KEYS_MAX; i++)
        if (id_equal(cache->keys[i].id, id))
            return &cache->keys[i];
    return NULL;
}

const struct open_link_key *link_key_cache_add(struct link_key_cache *cache, struct id id,
                                               const unsigned char bytes[DIGEST_BYTES])
{
    struct open_link_key *key = &cache->keys[cache->next++ % KEYS_MAX];
    key->id = id;
    memcpy(key->bytes, bytes, DIGEST_BYTES);
    return key;
}
