/* SPDX-License-Identifier: MIT */
/* gatehousectl cache: what is in this host's service cache, and evicting on every host. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "ctl/ctl_int.h"
#include "service/caller.h"
#include "service/evict.h"
#include "service/live.h"
#include "service/service.h"
#include "service/setup.h"
#include "store/cache.h"

#define USAGE_KEYS "cache keys [PREFIX]"
#define USAGE_EVICT "cache evict [--key KEY ...] [--prefix PREFIX ...] [--secrets]"
#define USAGE_FLUSH "cache flush"
#define PAGE 100

static struct error *open_service(struct run *run, struct service *service)
{
    struct configuration *configuration;
    TRY(setup_load(run->arena, run->config, NULL, &configuration));
    return service_open(run->arena, configuration, service);
}

/* The file is brought up to date first: what a change has evicted is not shown. */
static struct error *list_keys(struct service *service, struct arena *arena, const char *prefix)
{
    struct cache_entry *entries;
    const char *after = NULL;
    size_t count;
    TRY(live_check(service, arena));
    (void)printf("%-60s %10s %10s\n", "key", "bytes", "seconds");
    while ((count = cache_list(service->cache, arena, after, PAGE, &entries)) > 0) {
        for (size_t i = 0; i < count; i++)
            if (strncmp(entries[i].key, prefix, strlen(prefix)) == 0)
                (void)printf("%-60s %10zu %10lld\n", entries[i].key, entries[i].bytes, (long long)entries[i].seconds_left);
        after = entries[count - 1].key;
    }
    return NULL;
}

static struct error *do_evict(struct service *service, struct arena *arena, const struct eviction *eviction)
{
    static const struct caller operator = {0};
    size_t count;
    TRY(live_check(service, arena));
    TRY(evict(service, arena, &operator, eviction, &count));
    (void)printf("%zu %s evicted from this host's file; every other host's follows%s\n", count, count == 1 ? "entry" : "entries",
                 eviction->secrets ? "; every process reads its secrets anew, and the log says what could not be taken" : "");
    return NULL;
}

static bool add_name(struct text_list *names, const char *name)
{
    if (*name == '\0' || strlen(name) > LIMIT_CACHE_KEY_BYTES || names->count == LIMIT_CACHE_NAMES)
        return false;
    names->items[names->count++] = name;
    return true;
}

static bool read_evict(struct run *run, struct eviction *eviction)
{
    static const struct option options[] = {{"key", required_argument, NULL, 'k'},
                                            {"prefix", required_argument, NULL, 'p'},
                                            {"secrets", no_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    int option;
    eviction->keys.items = arena_array(run->arena, LIMIT_CACHE_NAMES, sizeof *eviction->keys.items);
    eviction->prefixes.items = arena_array(run->arena, LIMIT_CACHE_NAMES, sizeof *eviction->prefixes.items);
    while ((option = getopt_long(run->argc, run->argv, "", options, NULL)) != -1) {
        if (option == 's')
            eviction->secrets = true;
        else if (option == '?' || !add_name(option == 'k' ? &eviction->keys : &eviction->prefixes, optarg))
            return false;
    }
    return optind == run->argc && (eviction->secrets || eviction->keys.count + eviction->prefixes.count > 0);
}

static int run_evict(struct run *run, const struct eviction *eviction)
{
    struct service service;
    struct error *error = open_service(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    error = do_evict(&service, run->arena, eviction);
    service_close(&service);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}

static int run_keys(struct run *run, const char *prefix)
{
    struct service service;
    struct error *error = open_service(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    error = list_keys(&service, run->arena, prefix);
    service_close(&service);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}

int ctl_cache(struct run *run)
{
    struct eviction eviction = {.flush = false};
    const char *what = run->argc > 1 ? run->argv[1] : "";
    run->argc--;
    run->argv++;
    optind = 1;
    if (strcmp(what, "keys") == 0)
        return run->argc > 2 ? ctl_usage(USAGE_KEYS) : run_keys(run, run->argc == 2 ? run->argv[1] : "");
    if (strcmp(what, "evict") == 0)
        return read_evict(run, &eviction) ? run_evict(run, &eviction) : ctl_usage(USAGE_EVICT);
    if (strcmp(what, "flush") == 0 && run->argc == 1) {
        eviction.flush = true;
        return run_evict(run, &eviction);
    }
    return ctl_usage("cache keys | evict | flush");
}
