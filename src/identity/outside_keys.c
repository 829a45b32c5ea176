/* SPDX-License-Identifier: MIT */
/*
 * The provider's key set. One worker of the host fetches it, all read it in the service cache; a process parses it when its
 * text has changed. While the provider is down the last good one goes on for KEEP_SECONDS. A token of a key that is not
 * known makes the set be fetched again, once in STRANGE_SECONDS for all workers together: made-up tokens cost nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "identity/outside_int.h"
#include "store/cache.h"

#define FRESH_SECONDS 900
#define STRANGE_SECONDS 30
#define KEEP_SECONDS 86400
#define RETRY_SECONDS 5
#define FETCH_MILLISECONDS 3000
#define LEASE_SECONDS 4
#define BYTES_MAX 65536

static int64_t seconds_since(int64_t monotonic)
{
    return (clock_monotonic() - monotonic) / 1000000;
}

static struct error *fetch(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct outside *outside = context;
    struct web_answer answer;
    struct key_set *set;
    const char *reason = NULL;
    struct web_call call = {.method = "GET",
                            .url = outside->wire->keys_url(outside),
                            .milliseconds = FETCH_MILLISECONDS,
                            .answer_bytes = BYTES_MAX};
    if (web_call(outside->web, arena, &call, &answer, &reason) != WEB_ANSWERED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", reason);
    if (answer.status != 200)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: status %ld", answer.status);
    /* What is no good set takes nobody's place. */
    struct error *error = key_set_read(arena, answer.body, answer.length, &set);
    if (error != NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", error->detail);
    *bytes_out = answer.body;
    *length_out = answer.length;
    return NULL;
}

/* Takes the set over, unless it is the one in use. */
static struct error *adopt(struct outside *outside, struct arena *arena, const void *bytes, size_t length)
{
    struct outside_keys *keys = &outside->keys;
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(bytes, length, digest);
    keys->read_at = clock_monotonic();
    if (keys->arena != NULL && memcmp(keys->digest, digest, sizeof digest) == 0)
        return NULL;
    struct arena *own = arena_new();
    struct key_set *set = NULL;
    struct error *error = key_set_read(own, bytes, length, &set);
    if (error != NULL) {
        struct error *copy = error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", error->detail);
        arena_free(&own);
        return copy;
    }
    arena_free(&keys->arena);
    keys->arena = own;
    keys->set = set;
    memcpy(keys->digest, digest, sizeof digest);
    return NULL;
}

static struct error *load(struct outside *outside, struct arena *arena, const char *prefix, unsigned seconds)
{
    struct cache_loader loader = {
        .load = fetch, .context = outside, .ttl_seconds = seconds, .lease_seconds = LEASE_SECONDS};
    struct token_rules rules = {0};
    void *bytes;
    size_t length;
    outside->wire->rules(outside, &rules);
    uint8_t digest[DIGEST_BYTES];
    /* An issuer may be longer than a key. */
    digest_sha256(rules.issuer, strlen(rules.issuer), digest);
    const char *key = arena_format(arena, "%s:%s", prefix, hex_encode(arena, digest, 8));
    TRY(cache_fetch(outside->options.cache, arena, key, &loader, &bytes, &length));
    return adopt(outside, arena, bytes, length);
}

/* Whether the set in memory may serve: fresh, or not to be had anew at the moment. */
static bool serves(const struct outside_keys *keys, bool stale)
{
    if (keys->tried && seconds_since(keys->tried_at) < (stale ? STRANGE_SECONDS : RETRY_SECONDS))
        return true;
    return !stale && seconds_since(keys->read_at) < FRESH_SECONDS;
}

struct error *outside_keys_get(struct provider *provider, struct arena *arena, bool stale,
                               const struct key_set **keys_out)
{
    struct outside *outside = outside_of(provider);
    struct outside_keys *keys = &outside->keys;
    struct error *error = NULL;
    if (keys->arena == NULL || !serves(keys, stale)) {
        if (stale || keys->arena != NULL) {
            keys->tried = true;
            keys->tried_at = clock_monotonic();
        }
        error = load(outside, arena, stale ? "jwks-again" : "jwks", stale ? STRANGE_SECONDS : FRESH_SECONDS);
    }
    if (error != NULL && (keys->arena == NULL || seconds_since(keys->read_at) > KEEP_SECONDS))
        return error;
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider's key set could not be fetched; the last one goes on",
            LOG_TEXT("detail", error->detail));
    *keys_out = keys->set;
    return NULL;
}

void outside_keys_forget(struct outside *outside)
{
    arena_free(&outside->keys.arena);
    outside->keys = (struct outside_keys){0};
}
