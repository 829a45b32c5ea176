/* SPDX-License-Identifier: MIT */
/* Stores verified claims in the host's cache, and finds them there. */
#include "service/runtime/shared_token_cache.h"

#include <string.h>

#include "base/arena.h"
#include "codec/digest.h"
#include "codec/token.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"

#define SECONDS_MAX 3600

/* The number of the layout of the claims: entries of a program with another layout are not found. */
#define LAYOUT "2:"
#define KEY_BYTES (sizeof CACHE_PREFIX_TOKENS LAYOUT + 2 * DIGEST_BYTES)

static void write_key(const uint8_t name[DIGEST_BYTES], char key_out[KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    static const char start[] = CACHE_PREFIX_TOKENS LAYOUT;
    char *at = key_out + sizeof start - 1;
    memcpy(key_out, start, sizeof start - 1);
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        *at++ = digits[name[i] >> 4];
        *at++ = digits[name[i] & 15];
    }
    *at = '\0';
}

static bool find(void *context, struct arena *arena, const uint8_t name[DIGEST_BYTES], struct token_claims *claims_out)
{
    char key[KEY_BYTES];
    void *bytes;
    size_t length;
    write_key(name, key);
    if (!cache_find(context, arena, key, &bytes, &length) || length != sizeof *claims_out)
        return false;
    memcpy(claims_out, bytes, sizeof *claims_out);
    return true;
}

static void keep(void *context, const uint8_t name[DIGEST_BYTES], const struct token_claims *claims, int64_t seconds,
                 int64_t at)
{
    char key[KEY_BYTES];
    write_key(name, key);
    cache_store_at(context, key, claims, sizeof *claims, (unsigned)(seconds < SECONDS_MAX ? seconds : SECONDS_MAX), at);
}

static int64_t at(void *context)
{
    return cache_followed(context);
}

const struct token_level *shared_token_cache_new(struct arena *arena, struct cache *cache)
{
    struct token_level *level = arena_alloc(arena, sizeof *level);
    *level = (struct token_level){find, keep, at, cache};
    return level;
}
