/* SPDX-License-Identifier: MIT */
/* The keys that verify tokens, by kid. A set has few keys, so an array is enough. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/random.h"
#include "codec/signing_key.h"
#include "codec/signing_key_int.h"

struct key_set {
    struct arena *arena;
    const struct signing_key *keys[KEY_SET_KEYS];
    size_t count;
    uint64_t generation;
};

struct key_set *key_set_new(struct arena *arena)
{
    struct key_set *set = arena_alloc(arena, sizeof *set);
    set->arena = arena;
    random_bytes(&set->generation, sizeof set->generation);
    return set;
}

struct error *key_set_add(struct key_set *set, const struct signing_key *key)
{
    const char *kid = signing_key_kid(key);
    if (key_set_find(set, kid, strlen(kid)) != NULL)
        return error_new(set->arena, ERROR_INTERNAL, "key set: there is a key %s already", kid);
    if (set->count == KEY_SET_KEYS)
        return error_new(set->arena, ERROR_INTERNAL, "key set: there are more than %d keys", KEY_SET_KEYS);
    set->keys[set->count++] = key;
    random_bytes(&set->generation, sizeof set->generation);
    return NULL;
}

const struct signing_key *key_set_find(const struct key_set *set, const char *kid, size_t length)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *known = signing_key_kid(set->keys[i]);
        if (strlen(known) == length && memcmp(known, kid, length) == 0)
            return set->keys[i];
    }
    return NULL;
}

size_t key_set_count(const struct key_set *set)
{
    return set->count;
}

uint64_t key_set_generation(const struct key_set *set)
{
    return set->generation;
}

char *key_set_json(struct arena *arena, const struct key_set *set)
{
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_text(&text, "{\"keys\":[");
    for (size_t i = 0; i < set->count; i++) {
        const struct key_components *components = signing_key_components(set->keys[i]);
        buffer_add_text(&text, i == 0 ? "" : ",");
        buffer_add_text(&text, "{\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",\"kid\":");
        buffer_add_json_text(&text, signing_key_kid(set->keys[i]));
        buffer_add_format(&text, ",\"n\":\"%s\",\"e\":\"%s\"}", components->n, components->e);
    }
    buffer_add_text(&text, "]}");
    return text.bytes;
}
