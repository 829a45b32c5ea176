/* SPDX-License-Identifier: MIT */
/*
 * The keys of signed links that this process has opened (service/access/signed_link.h). A forged link under a known key
 * is refused without a question to the database.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_LINK_KEY_CACHE_H
#define GATEHOUSE_SERVICE_RUNTIME_LINK_KEY_CACHE_H

#include <stdint.h>

#include "base/id.h"
#include "codec/digest.h"

struct arena;
struct link_key_cache;

/* A key, opened. */
struct open_link_key {
    struct id id; /* none: this place of the cache is empty */
    uint8_t bytes[DIGEST_BYTES];
};

/* An empty cache, in the arena. It keeps a fixed number of keys. */
struct link_key_cache *link_key_cache_new(struct arena *arena);

/* Forgets all keys. `cache` may be NULL. */
void link_key_cache_clear(struct link_key_cache *cache);

/* The key of that id, which the cache owns; NULL when it is not there. */
const struct open_link_key *link_key_cache_find(const struct link_key_cache *cache, struct id id);

/* Adds a copy of the key in the place of the oldest one, and returns it. The cache owns it. */
const struct open_link_key *link_key_cache_add(struct link_key_cache *cache, struct id id,
                                               const unsigned char bytes[DIGEST_BYTES]);

#endif
