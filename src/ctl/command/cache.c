/* SPDX-License-Identifier: MIT */
/* gatehousectl cache: lists the entries of this host's service cache, and evicts entries on every host. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "ctl/ctl_int.h"
#include "service/access/caller.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"
#include "service/system/cache_update.h"
#include "store/cache/cache.h"

#define PAGE 100

static void print_entry(const struct cache_entry *entry, struct ctl_json *json)
{
    if (json == NULL) {
        (void)printf("%-60s %10zu %10lld\n", entry->key, entry->bytes, (long long)entry->seconds_left);
        return;
    }
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "key", entry->key);
    ctl_json_integer(json, "bytes", (int64_t)entry->bytes);
    ctl_json_integer(json, "secondsLeft", entry->seconds_left);
    ctl_json_close(json);
}

static void list_entries(struct service *service, struct arena *arena, const char *prefix, struct ctl_json *json)
{
    struct cache_entry *entries;
    const char *after = NULL;
    size_t count;
    while ((count = cache_list(service->cache, arena, after, PAGE, &entries)) > 0) {
        for (size_t i = 0; i < count; i++)
            if (strncmp(entries[i].key, prefix, strlen(prefix)) == 0)
                print_entry(&entries[i], json);
        after = entries[count - 1].key;
    }
}

static struct error *list_keys(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    const char *prefix = run->operand_count > 0 ? run->operands[0] : "";
    struct ctl_json json = {.arena = arena};
    /* Brings the file up to date, so that entries which a change has evicted are not shown. */
    TRY(change_follower_catch_up(service, arena));
    if (!run->json) {
        (void)printf("%-60s %10s %10s\n", "key", "bytes", "seconds");
        list_entries(service, arena, prefix, NULL);
        return NULL;
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    list_entries(service, arena, prefix, &json);
    ctl_json_close(&json);
    ctl_json_close(&json);
    return NULL;
}

struct eviction {
    struct cache_update update;
    bool as_json;
};

static void write_count(struct arena *arena, size_t count)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, "evicted", (int64_t)count);
    ctl_json_close(&json);
}

static struct error *do_evict(struct service *service, struct arena *arena, void *context)
{
    static const struct caller operator= { 0 };
    const struct eviction *eviction = context;
    size_t count;
    TRY(change_follower_catch_up(service, arena));
    TRY(cache_update_run(service, arena, &operator, & eviction->update, &count));
    if (eviction->as_json) {
        write_count(arena, count);
        return NULL;
    }
    (void)printf(
        "%zu %s evicted from this host's file; every other host's follows%s\n", count, count == 1 ? "entry" : "entries",
        eviction->update.secrets ? "; every process reads its secrets anew, and the log says what could not be taken"
                                 : "");
    return NULL;
}

/* The values of an option that may be given several times. False: one of them is wrong, and the operator was told. */
static bool read_names(const struct run *run, const char *option, struct text_list *names)
{
    names->items = arena_array(run->arena, LIMIT_CACHE_NAMES, sizeof *names->items);
    for (size_t i = 0; i < run->given_count; i++) {
        const char *name = run->given[i].value;
        if (strcmp(run->given[i].name, option) != 0)
            continue;
        if (*name == '\0' || strlen(name) > LIMIT_CACHE_KEY_BYTES) {
            (void)ctl_usage(run, "--%s takes 1 to %d characters, not \"%s\"", option, LIMIT_CACHE_KEY_BYTES, name);
            return false;
        }
        if (names->count == LIMIT_CACHE_NAMES) {
            (void)ctl_usage(run, "--%s is given more than %d times", option, LIMIT_CACHE_NAMES);
            return false;
        }
        names->items[names->count++] = name;
    }
    return true;
}

static int with_cache(struct run *run,
                      struct error *(*work)(struct service *service, struct arena *arena, void *context), void *context)
{
    struct error *error = ctl_become_workers(run);
    return error != NULL ? ctl_fail(error) : ctl_with_service(run, work, context);
}

static int run_keys(struct run *run)
{
    return with_cache(run, list_keys, run);
}

static int run_evict(struct run *run)
{
    struct eviction eviction = {.update.secrets = ctl_has(run, "secrets"), .as_json = run->json};
    if (!read_names(run, "key", &eviction.update.keys) || !read_names(run, "prefix", &eviction.update.prefixes))
        return EXIT_USAGE;
    if (run->given_count == 0)
        return ctl_usage(run, "there is nothing to evict");
    return with_cache(run, do_evict, &eviction);
}

static int run_flush(struct run *run)
{
    struct eviction eviction = {.update.flush = true, .as_json = run->json};
    return with_cache(run, do_evict, &eviction);
}

static const struct ctl_option evict_options[] = {
    {"key", "KEY", "an entry; may be given several times", false},
    {"prefix", "PREFIX", "what keys begin with; may be given several times", false},
    {"secrets", NULL, "have every process read its secrets again", false},
    {0},
};

const struct ctl_command ctl_cache_keys = {.name = "cache keys",
                                           .operands = "[PREFIX]",
                                           .summary = "list what is in this host's service cache",
                                           .json = true,
                                           .run = run_keys};

const struct ctl_command ctl_cache_evict = {.name = "cache evict",
                                            .summary = "evict entries on every host",
                                            .options = evict_options,
                                            .json = true,
                                            .run = run_evict};

const struct ctl_command ctl_cache_flush = {
    .name = "cache flush", .summary = "evict all entries on every host", .json = true, .run = run_flush};
