/* SPDX-License-Identifier: MIT */
/* Opens caches, looks things up and starts processes for the tests of the service cache. */
#include "store/support_cache.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "harness.h"

void skip_with_sanitizer(void)
{
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
}

const char *cache_path(struct arena *arena)
{
    return arena_format(arena, "%s/cache", harness_directory(arena));
}

const char *cache_path_in_memory(struct arena *arena)
{
    static const char memory[] = "/dev/shm";
    struct statvfs found;
    if (access(memory, W_OK | X_OK) == 0 && statvfs(memory, &found) == 0 &&
        (uint64_t)found.f_bavail * found.f_frsize > 64 * (uint64_t)CACHE_BYTES)
        harness_environment(arena, "TMPDIR", memory);
    return cache_path(arena);
}

static struct cache *cache_of(const char *path, size_t bytes, int64_t version)
{
    struct cache *cache = cache_new(&(struct cache_options){path, bytes, secret_of(CACHE_MASTER)});
    cache_follow(cache, NULL, 0, version, false);
    return cache;
}

struct cache *given_cache(const char *path, int64_t version)
{
    return cache_of(path, CACHE_BYTES, version);
}

struct cache *given_large_cache(const char *path)
{
    return cache_of(path, 16 * CACHE_BYTES, 1);
}

const char *found(struct cache *cache, struct arena *arena, const char *key)
{
    void *bytes;
    size_t length;
    return cache_find(cache, arena, key, &bytes, &length) ? bytes : NULL;
}

static struct error *load(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct counter *counter = context;
    counter->loads++;
    if (counter->log != 0 && write(counter->log, "l", 1) != 1)
        _exit(3);
    if (counter->milliseconds > 0)
        (void)usleep(counter->milliseconds * 1000);
    if (counter->other != NULL)
        cache_follow(counter->other, counter->eviction, 1, counter->eviction->version, false);
    if (counter->fail)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "not today");
    *length_out = strlen(counter->text);
    *bytes_out = arena_copy(arena, counter->text, *length_out);
    return NULL;
}

struct cache_loader counting_loader(struct counter *counter)
{
    return (struct cache_loader){.load = load, .context = counter, .ttl_seconds = 60, .lease_seconds = 20};
}

const char *fetched(struct cache *cache, struct arena *arena, const char *key, struct counter *counter)
{
    void *bytes;
    size_t length;
    struct cache_loader loader = counting_loader(counter);
    struct error *error = cache_fetch(cache, arena, key, &loader, &bytes, &length);
    assert_null(error);
    return bytes;
}

pid_t start_process(void)
{
    pid_t parent = getpid();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    return child;
}

void end_process(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}
