/* SPDX-License-Identifier: MIT */
/*
 * The key set of a remote provider (RFC 7517).
 *
 * - The set lies in the service cache for all processes of the host, with the time when it was fetched. Each process
 *   looks there every LOOK_SECONDS and parses the set when its text has changed.
 * - Every FRESH_SECONDS one process at a time asks the provider for it. The others go on with the set that they have
 *   and do not wait. So while the provider is down the last good set serves for LAST_GOOD_SECONDS, at the cost of one
 *   attempt in RETRY_SECONDS.
 * - A token of an unknown key has the set fetched at once, but only once in STRANGE_SECONDS for all processes together,
 *   whatever came of it. So made-up tokens cost nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "identity/remote/jwks_int.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"

#define LOOK_SECONDS 5
#define FRESH_SECONDS 900
#define RETRY_SECONDS 30
#define STRANGE_SECONDS 30
#define LAST_GOOD_SECONDS 86400
#define FAILED_SECONDS 5
#define FETCH_MILLISECONDS 3000
#define LEASE_SECONDS 4
#define BYTES_MAX 65536

static int64_t seconds_since(int64_t monotonic)
{
    return (clock_monotonic() - monotonic) / 1000000;
}

static const char *name_of(struct remote *remote, struct arena *arena, const char *entry)
{
    struct token_rules rules = {0};
    uint8_t digest[DIGEST_BYTES];
    remote->driver->rules(remote, &rules);
    /* The issuer's digest, since an issuer may be longer than a name. */
    digest_sha256(rules.issuer, strlen(rules.issuer), digest);
    return arena_format(arena, "%s%s", entry, hex_encode(arena, digest, 8));
}

/* ---- a set's value: the time in milliseconds, then the text ------------------------------------------ */

static void pack(struct arena *arena, const void *text, size_t length, void **bytes_out, size_t *length_out)
{
    int64_t now = clock_now();
    char *bytes = arena_alloc(arena, sizeof now + length);
    memcpy(bytes, &now, sizeof now);
    memcpy(bytes + sizeof now, text, length);
    *bytes_out = bytes;
    *length_out = sizeof now + length;
}

/* Takes the set into use, unless it is the one in use. */
static struct error *adopt(struct remote *remote, struct arena *arena, const void *bytes, size_t length)
{
    struct remote_jwks *keys = &remote->keys;
    uint8_t digest[DIGEST_BYTES];
    int64_t fetched_at;
    if (length < sizeof fetched_at)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: not whole");
    memcpy(&fetched_at, bytes, sizeof fetched_at);
    const char *text = (const char *)bytes + sizeof fetched_at;
    length -= sizeof fetched_at;
    digest_sha256(text, length, digest);
    if (keys->arena != NULL && memcmp(keys->digest, digest, sizeof digest) == 0) {
        keys->fetched_at = fetched_at;
        return NULL;
    }
    struct arena *own = arena_new();
    struct key_set *set = NULL;
    struct error *error = key_set_read(own, text, length, &set);
    if (error != NULL) {
        struct error *copy = error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", error->detail);
        arena_free(&own);
        return copy;
    }
    arena_free(&keys->arena);
    keys->arena = own;
    keys->set = set;
    keys->fetched_at = fetched_at;
    memcpy(keys->digest, digest, sizeof digest);
    return NULL;
}

/* ---- asking the provider ----------------------------------------------------------------------------- */

static struct error *fetch(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct remote *remote = context;
    struct http_client_answer answer;
    struct key_set *set;
    const char *reason = NULL;
    struct http_client_call call = {.method = "GET",
                                    .url = remote->driver->keys_url(remote),
                                    .milliseconds = FETCH_MILLISECONDS,
                                    .answer_bytes = BYTES_MAX};
    if (http_client_call(remote->http, arena, &call, &answer, &reason) != HTTP_CLIENT_ANSWERED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", reason);
    if (answer.status != 200)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: status %ld", answer.status);
    /* A broken set must not replace a good one. */
    struct error *error = key_set_read(arena, answer.body, answer.length, &set);
    if (error != NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", error->detail);
    pack(arena, answer.body, answer.length, bytes_out, length_out);
    cache_store(remote->options.cache, name_of(remote, arena, CACHE_KEYS_ASKED), "1", 1, FRESH_SECONDS);
    remote->keys.asked_until = clock_monotonic() + FRESH_SECONDS * INT64_C(1000000);
    return NULL;
}

/* Fetches the set for all processes. Where that fails the present one stays. */
static void refresh(struct remote *remote, struct arena *arena)
{
    void *bytes;
    size_t length;
    struct error *error = fetch(arena, remote, &bytes, &length);
    if (error == NULL) {
        cache_store(remote->options.cache, name_of(remote, arena, CACHE_KEYS_SET), bytes, length, LAST_GOOD_SECONDS);
        error = adopt(remote, arena, bytes, length);
    }
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider's key set could not be fetched; the former one stays in use",
            LOG_TEXT("detail", error->detail));
}

struct asking {
    struct remote *remote;
    bool is_ours; /* this process is the one to ask */
};

static struct error *take_turn(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct asking *asking = context;
    asking->is_ours = true;
    *bytes_out = arena_text(arena, "1");
    *length_out = 1;
    return NULL;
}

static struct error *take_turn_and_ask(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct asking *asking = context;
    refresh(asking->remote, arena);
    return take_turn(arena, context, bytes_out, length_out);
}

/* Whether the entry was not there. Only one of all processes is told so: its question adds the entry. */
static bool is_first(struct remote *remote, struct arena *arena, const char *entry, unsigned seconds,
                     struct error *(*load)(struct arena *, void *, void **, size_t *))
{
    struct asking asking = {.remote = remote};
    struct cache_loader loader = {
        .load = load, .context = &asking, .ttl_seconds = seconds, .lease_seconds = LEASE_SECONDS};
    void *bytes;
    size_t length;
    (void)cache_fetch(remote->options.cache, arena, name_of(remote, arena, entry), &loader, &bytes, &length);
    return asking.is_ours;
}

/* ---- when it is fetched ------------------------------------------------------------------------------ */

/* There is no set yet. All wait for the process that fetches it. After a failure none tries again for a while. */
static struct error *begin(struct remote *remote, struct arena *arena)
{
    struct cache *cache = remote->options.cache;
    struct remote_jwks *keys = &remote->keys;
    struct cache_loader loader = {
        .load = fetch, .context = remote, .ttl_seconds = LAST_GOOD_SECONDS, .lease_seconds = LEASE_SECONDS};
    const char *name = name_of(remote, arena, CACHE_KEYS_SET);
    const char *failure = name_of(remote, arena, CACHE_KEYS_FAILED);
    void *bytes;
    size_t length;
    bool found = cache_find(cache, arena, name, &bytes, &length);
    if (!found && keys->failed && seconds_since(keys->failed_at) < FAILED_SECONDS)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: it could not be fetched a moment ago");
    if (!found && cache_find(cache, arena, failure, &bytes, &length))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "%s", (const char *)arena_copy(arena, bytes, length));
    struct error *error = cache_fetch(cache, arena, name, &loader, &bytes, &length);
    keys->looked_at = clock_monotonic();
    if (error == NULL)
        return adopt(remote, arena, bytes, length);
    keys->failed = true;
    keys->failed_at = clock_monotonic();
    cache_store(cache, failure, error->detail, strlen(error->detail), FAILED_SECONDS);
    return error;
}

/* Takes over what another process has fetched. */
static void look(struct remote *remote, struct arena *arena)
{
    void *bytes;
    size_t length;
    remote->keys.looked_at = clock_monotonic();
    if (cache_find(remote->options.cache, arena, name_of(remote, arena, CACHE_KEYS_SET), &bytes, &length))
        (void)adopt(remote, arena, bytes, length);
}

/* Fetches the set again when it is time to and no other process does. */
static void refresh_when_due(struct remote *remote, struct arena *arena)
{
    struct remote_jwks *keys = &remote->keys;
    if (seconds_since(keys->looked_at) < LOOK_SECONDS)
        return;
    look(remote, arena);
    if (clock_monotonic() < keys->asked_until || !is_first(remote, arena, CACHE_KEYS_ASKED, RETRY_SECONDS, take_turn))
        return;
    keys->asked_until = clock_monotonic() + RETRY_SECONDS * INT64_C(1000000);
    refresh(remote, arena);
}

/* A token came whose key is not in the set: asks again. */
static void ask_again(struct remote *remote, struct arena *arena)
{
    struct remote_jwks *keys = &remote->keys;
    const struct key_set *before = keys->set;
    look(remote, arena);
    if (keys->set != before || (keys->tried && seconds_since(keys->tried_at) < STRANGE_SECONDS))
        return;
    keys->tried = true;
    keys->tried_at = clock_monotonic();
    if (!is_first(remote, arena, CACHE_KEYS_ASKED_AGAIN, STRANGE_SECONDS, take_turn_and_ask))
        look(remote, arena);
}

struct error *remote_jwks_get(struct provider *provider, struct arena *arena, bool stale,
                              const struct key_set **keys_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_jwks *keys = &remote->keys;
    if (keys->arena != NULL && clock_now() - keys->fetched_at > LAST_GOOD_SECONDS * INT64_C(1000)) {
        refresh_when_due(remote, arena);
        if (clock_now() - keys->fetched_at > LAST_GOOD_SECONDS * INT64_C(1000))
            remote_jwks_forget(remote);
    }
    if (keys->arena == NULL)
        TRY(begin(remote, arena));
    else if (stale)
        ask_again(remote, arena);
    else
        refresh_when_due(remote, arena);
    *keys_out = keys->set;
    return NULL;
}

void remote_jwks_forget(struct remote *remote)
{
    arena_free(&remote->keys.arena);
    remote->keys = (struct remote_jwks){0};
}
