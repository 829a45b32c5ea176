/* SPDX-License-Identifier: MIT */
#include "service/live.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "codec/token.h"
#include "domain/change.h"
#include "identity/provider.h"
#include "service/service.h"

/* Keys are read and tokens judged anew at their next use. */
static void forget_keys(struct service *service)
{
    provider_forget(service->provider);
    token_memo_forget_all(service->memo);
    service->live.keys++;
}

/* `payload` says what was evicted; NULL, here and below: everything may be stale. */
static struct error *apply_cache(struct service *service, struct arena *arena, const char *payload)
{
    (void)arena;
    (void)payload;
    forget_keys(service);
    return NULL;
}

static struct error *apply_secrets(struct service *service, struct arena *arena, const char *payload)
{
    (void)arena;
    (void)payload;
    forget_keys(service);
    service->live.secrets++;
    return NULL;
}

/* What each kind of change makes of this process; NULL: it keeps nothing of that kind. */
static struct error *(*const appliers[CHANGE_KIND_COUNT])(struct service *, struct arena *, const char *) = {
    [CHANGE_CACHE] = apply_cache,
    [CHANGE_SECRETS] = apply_secrets,
};

static struct error *apply(struct service *service, struct arena *arena, const struct change_entry *entry)
{
    LOG(DEBUG, SYSTEM, "following a change", LOG_TEXT("kind", change_kind_text(entry->kind)),
        LOG_INTEGER("version", entry->version));
    if (appliers[entry->kind] == NULL)
        return NULL;
    return appliers[entry->kind](service, arena, entry->payload);
}

static struct error *apply_everything(struct service *service, struct arena *arena)
{
    for (enum change_kind kind = 0; kind < CHANGE_KIND_COUNT; kind++)
        if (appliers[kind] != NULL)
            TRY(appliers[kind](service, arena, NULL));
    return NULL;
}

static bool all_known(const struct change_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        if (entries->items[i].kind == CHANGE_UNKNOWN)
            return false;
    return entries->whole;
}

struct error *live_follow(struct service *service, struct arena *arena, int64_t version)
{
    struct live *live = &service->live;
    if (live->known && live->version == version)
        return NULL;
    struct change_entries entries = {.whole = true};
    if (live->known)
        TRY(change_list(service->database, arena, live->version, version, &entries));
    if (!all_known(&entries)) {
        LOG(INFO, SYSTEM, "the change log does not tell all: reading everything anew", LOG_INTEGER("version", version));
        TRY(apply_everything(service, arena));
    } else {
        for (size_t i = 0; i < entries.count; i++)
            TRY(apply(service, arena, &entries.items[i]));
    }
    live->version = version;
    live->known = true;
    return NULL;
}

struct error *live_check(struct service *service, struct arena *arena)
{
    int64_t version;
    TRY(change_current(service->database, arena, &version));
    return live_follow(service, arena, version);
}
