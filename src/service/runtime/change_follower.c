/* SPDX-License-Identifier: MIT */
/* Follows the change log: brings the process and the host's cache file to the version that a request has read. */
#include "service/runtime/change_follower.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host/hints.h"
#include "base/log.h"
#include "blob/blob.h"
#include "codec/token.h"
#include "domain/change_log.h"
#include "identity/provider.h"
#include "service/runtime/cache_eviction.h"
#include "service/runtime/link_key_cache.h"
#include "service/runtime/service.h"
#include "service/runtime/settings_apply.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"
#include "store/database/database.h"

/* How long a change that could not be followed is left alone, and how long one try takes at most. */
#define RETRY_MICROSECONDS (INT64_C(10) * 1000 * 1000)
#define TRY_MICROSECONDS (INT64_C(1) * 1000 * 1000)

static void forget_tokens(struct service *service)
{
    if (service->memo != NULL)
        token_memo_forget_all(service->memo);
}

/*
 * Keys are read again and tokens verified again at their next use. Not every process has a provider and a token memo.
 */
static void forget_keys(struct service *service)
{
    if (service->provider != NULL)
        provider_forget(service->provider);
    forget_tokens(service);
    service->changes.keys++;
}

/* Applies `entry`. NULL, here and below: everything may be out of date. */
static struct error *apply_cache(struct service *service, struct arena *arena, const struct change_log_entry *entry)
{
    struct cache_eviction eviction = {.flush = true};
    if (entry != NULL)
        eviction = cache_eviction_read(arena, entry);
    if (cache_eviction_touches(&eviction, CACHE_PREFIX_KEYS))
        forget_keys(service);
    else if (cache_eviction_touches(&eviction, CACHE_PREFIX_TOKENS))
        forget_tokens(service);
    return NULL;
}

static void renew_store(struct service *service, struct arena *arena)
{
    struct error *error = service->blobs == NULL ? NULL : blob_renew(service->blobs, arena);
    if (error != NULL)
        LOG(ERROR, FILES, "the secret of the file store could not be read again; the former one stays in use",
            LOG_TEXT("detail", error->detail));
}

static struct error *apply_secrets(struct service *service, struct arena *arena, const struct change_log_entry *entry)
{
    (void)entry;
    forget_keys(service);
    link_key_cache_clear(service->link_keys);
    database_renew(service->database);
    renew_store(service, arena);
    service->changes.secrets++;
    return NULL;
}

static struct error *apply_settings(struct service *service, struct arena *arena, const struct change_log_entry *entry)
{
    if (entry == NULL && !service->changes.known)
        return settings_apply_cached(service, arena);
    return settings_apply_change(service, arena, entry == NULL ? NULL : entry->payload);
}

/* Applies a change of each kind. */
static struct error *(*const appliers[CHANGE_LOG_KIND_COUNT])(struct service *, struct arena *,
                                                              const struct change_log_entry *) = {
    [CHANGE_LOG_CACHE] = apply_cache,
    [CHANGE_LOG_SECRETS] = apply_secrets,
    [CHANGE_LOG_SETTINGS] = apply_settings,
};

static struct error *apply(struct service *service, struct arena *arena, const struct change_log_entry *entry)
{
    LOG(DEBUG, SYSTEM, "following a change", LOG_TEXT("kind", change_log_kind_text(entry->kind)),
        LOG_INTEGER("version", entry->version));
    return appliers[entry->kind](service, arena, entry);
}

static struct error *apply_everything(struct service *service, struct arena *arena)
{
    for (enum change_log_kind kind = 0; kind < CHANGE_LOG_KIND_COUNT; kind++)
        TRY(appliers[kind](service, arena, NULL));
    return NULL;
}

static bool all_known(const struct change_log_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        if (entries->items[i].kind == CHANGE_LOG_UNKNOWN)
            return false;
    return entries->whole;
}

/*
 * Brings the host's cache file to the version; the first process of the host that hears of the version does it. `anew`:
 * versions are counted from the beginning again, so the version of the file means nothing. Where the log is not whole,
 * no evictions are given, and the file is emptied.
 */
static struct error *follow_file(struct service *service, struct arena *arena, int64_t version, bool anew)
{
    struct change_log_entries entries = {.count = 0};
    int64_t newest = version;
    int64_t at = cache_version(service->cache);
    /* The file may be ahead of this request, but not of the log, unless a backup was restored. */
    if (at > version)
        TRY(change_log_current(service->database, arena, &newest));
    if (at > newest)
        anew = true;
    else if (at != 0 && at < version)
        TRY(change_log_list(service->database, arena, at, version, &entries));
    size_t count = all_known(&entries) ? entries.count : 0;
    struct cache_eviction *evictions = arena_array(arena, count, sizeof *evictions);
    for (size_t i = 0; i < count; i++)
        evictions[i] = cache_eviction_read(arena, &entries.items[i]);
    cache_follow(service->cache, evictions, count, version, anew);
    return NULL;
}

static struct error *follow_process(struct service *service, struct arena *arena, int64_t version)
{
    struct followed_changes *changes = &service->changes;
    struct change_log_entries entries = {.whole = false};
    if (changes->known)
        TRY(change_log_list(service->database, arena, changes->version, version, &entries));
    if (all_known(&entries)) {
        for (size_t i = 0; i < entries.count; i++)
            TRY(apply(service, arena, &entries.items[i]));
        return NULL;
    }
    if (changes->known)
        LOG(INFO, SYSTEM, "the change log is not whole: reading everything anew", LOG_INTEGER("version", version));
    return apply_everything(service, arena);
}

static struct error *follow(struct service *service, struct arena *arena, int64_t version)
{
    struct followed_changes *changes = &service->changes;
    TRY(follow_file(service, arena, version, changes->known && version < changes->version));
    TRY(follow_process(service, arena, version));
    changes->version = version;
    changes->known = true;
    host_hints_publish_change_version((uint64_t)version);
    return NULL;
}

struct error *change_follower_follow(struct service *service, struct arena *arena, int64_t version)
{
    struct followed_changes *changes = &service->changes;
    if (!changes->known || changes->version != version)
        TRY(follow(service, arena, version));
    changes->retry_at = 0;
    return NULL;
}

/* Catches up within a second, or leaves it for later. */
static void check_for_now(struct service *service, struct arena *arena, int64_t now)
{
    clock_set_horizon(clock_within_horizon(now + TRY_MICROSECONDS));
    struct error *error = change_follower_catch_up(service, arena);
    clock_set_horizon(0);
    if (error == NULL)
        return;
    service->changes.retry_at = clock_monotonic() + RETRY_MICROSECONDS;
    LOG(WARN, SYSTEM, "a change could not be followed yet", LOG_TEXT("detail", error->detail));
}

void change_follower_follow_host(struct service *service, struct arena *arena, bool again)
{
    const struct followed_changes *changes = &service->changes;
    uint64_t newest = host_hints_change_version();
    if (newest == 0 || (changes->known && newest <= (uint64_t)changes->version))
        return;
    int64_t now = clock_monotonic();
    if (changes->retry_at == 0 || (again && now >= changes->retry_at))
        check_for_now(service, arena, now);
}

void change_follower_try_catch_up(struct service *service, struct arena *arena)
{
    int64_t now = clock_monotonic();
    if (now >= service->changes.retry_at)
        check_for_now(service, arena, now);
}

struct error *change_follower_catch_up(struct service *service, struct arena *arena)
{
    int64_t version;
    TRY(change_log_current(service->database, arena, &version));
    return change_follower_follow(service, arena, version);
}
