/* SPDX-License-Identifier: MIT */
/*
 * The provider's key set. It lies in the service cache for all processes of the host, with the time when it was
 * fetched; each looks there every few seconds and parses it when its text has changed. One process at a time asks the
 * provider for it anew, every FRESH_SECONDS; the others go on with what there is and wait for nothing, so while the
 * provider is down the last good set serves for LAST_GOOD_SECONDS, at the cost of one attempt in RETRY_SECONDS. A token
 * of a key that is not known makes the set be fetched at once, but only once in STRANGE_SECONDS for all processes
 * together, whatever came of it: made-up tokens cost nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "identity/remote_int.h"
#include "store/cache/cache.h"

#define LOOK_SECONDS 5
#define FRESH_SECONDS 900
#define RETRY_SECONDS 30
#define STRANGE_SECONDS 30
#define LAST_GOOD_SECONDS 86400
#define FAILED_SECONDS 5
#define FETCH_MILLISECONDS 3000
#define LEASE_SECONDS 4
#define BYTES_MAX 65536

/* Entries of the cache, each followed by whose keys they are about; evicted as "jwks:". */
#define SET "jwks:set:"     /* the time of fetching, then the text */
#define ASKED "jwks:asked:" /* while there: somebody has asked */
#define AGAIN "jwks:again:" /* likewise, because of a token of an unknown key */
#define FAILED "jwks:vain:" /* likewise, there being no set at all, and this is why it got none */

static int64_t seconds_since(int64_t monotonic)
{
    return (clock_monotonic() - monotonic) / 1000000;
}

static const char *name_of(struct remote *remote, struct arena *arena, const char *entry)
{
    struct token_rules rules = {0};
    uint8_t digest[DIGEST_BYTES];
    remote->driver->rules(remote, &rules);
    /* An issuer may be longer than a key. */
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

/* Takes the set over, unless it is the one in use. */
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
    if (http_client_call(remote->web, arena, &call, &answer, &reason) != HTTP_CLIENT_ANSWERED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", reason);
    if (answer.status != 200)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: status %ld", answer.status);
    /* What is no good set takes nobody's place. */
    struct error *error = key_set_read(arena, answer.body, answer.length, &set);
    if (error != NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: %s", error->detail);
    pack(arena, answer.body, answer.length, bytes_out, length_out);
    cache_store(remote->options.cache, name_of(remote, arena, ASKED), "1", 1, FRESH_SECONDS);
    remote->keys.asked_until = clock_monotonic() + FRESH_SECONDS * INT64_C(1000000);
    return NULL;
}

/* Fetches it for everybody; what there is stays where that fails. */
static void refresh(struct remote *remote, struct arena *arena)
{
    void *bytes;
    size_t length;
    struct error *error = fetch(arena, remote, &bytes, &length);
    if (error == NULL) {
        cache_store(remote->options.cache, name_of(remote, arena, SET), bytes, length, LAST_GOOD_SECONDS);
        error = adopt(remote, arena, bytes, length);
    }
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider's key set could not be fetched; the last one goes on",
            LOG_TEXT("detail", error->detail));
}

struct asking {
    struct remote *remote;
    bool is_ours; /* it fell to this process */
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

/* Whether the entry was not there: of all processes one is told so, and the entry is there from then on. */
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

/* ---- the three occasions ------------------------------------------------------------------------------ */

/* There is no set yet: all wait for the one that fetches it, but after a failure nobody tries for a while. */
static struct error *begin(struct remote *remote, struct arena *arena)
{
    struct cache *cache = remote->options.cache;
    struct remote_jwks *keys = &remote->keys;
    struct cache_loader loader = {
        .load = fetch, .context = remote, .ttl_seconds = LAST_GOOD_SECONDS, .lease_seconds = LEASE_SECONDS};
    const char *name = name_of(remote, arena, SET);
    const char *failed = name_of(remote, arena, FAILED);
    void *bytes;
    size_t length;
    bool found = cache_find(cache, arena, name, &bytes, &length);
    if (!found && keys->failed && seconds_since(keys->failed_at) < FAILED_SECONDS)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "key set: asked for in vain a moment ago");
    if (!found && cache_find(cache, arena, failed, &bytes, &length))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "%s", (const char *)arena_copy(arena, bytes, length));
    struct error *error = cache_fetch(cache, arena, name, &loader, &bytes, &length);
    keys->looked_at = clock_monotonic();
    if (error == NULL)
        return adopt(remote, arena, bytes, length);
    keys->failed = true;
    keys->failed_at = clock_monotonic();
    cache_store(cache, failed, error->detail, strlen(error->detail), FAILED_SECONDS);
    return error;
}

/* What another process has fetched. */
static void look(struct remote *remote, struct arena *arena)
{
    void *bytes;
    size_t length;
    remote->keys.looked_at = clock_monotonic();
    if (cache_find(remote->options.cache, arena, name_of(remote, arena, SET), &bytes, &length))
        (void)adopt(remote, arena, bytes, length);
}

/* Fetches it anew where it is time to and nobody else does. */
static void refresh_when_due(struct remote *remote, struct arena *arena)
{
    struct remote_jwks *keys = &remote->keys;
    if (seconds_since(keys->looked_at) < LOOK_SECONDS)
        return;
    look(remote, arena);
    if (clock_monotonic() < keys->asked_until || !is_first(remote, arena, ASKED, RETRY_SECONDS, take_turn))
        return;
    keys->asked_until = clock_monotonic() + RETRY_SECONDS * INT64_C(1000000);
    refresh(remote, arena);
}

/* A token came whose key is not in the set. */
static void ask_again(struct remote *remote, struct arena *arena)
{
    struct remote_jwks *keys = &remote->keys;
    const struct key_set *before = keys->set;
    look(remote, arena);
    if (keys->set != before || (keys->tried && seconds_since(keys->tried_at) < STRANGE_SECONDS))
        return;
    keys->tried = true;
    keys->tried_at = clock_monotonic();
    if (!is_first(remote, arena, AGAIN, STRANGE_SECONDS, take_turn_and_ask))
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
