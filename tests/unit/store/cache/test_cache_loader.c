/* SPDX-License-Identifier: MIT */
/* Tests that of the processes that miss the same entry one loads it, and the others wait while that process lives. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/cache/cache.h"
#include "store/support_cache.h"

#define PROCESSES 8
#define LOADS 50

/* ---- one loader at a time ------------------------------------------------------------------------ */

static pid_t start_loader(const char *path, const char *key, int log, unsigned milliseconds, unsigned times)
{
    pid_t child = start_process();
    if (child != 0)
        return child;
    struct arena *arena = arena_new();
    struct cache *cache = given_cache(path, 1);
    struct counter counter = {.text = "loaded", .log = log, .milliseconds = milliseconds};
    for (unsigned i = 0; i < times; i++)
        if (strcmp(fetched(cache, arena, key, &counter), "loaded") != 0)
            _exit(2);
    _exit(0);
}

static unsigned lines_in(struct arena *arena, const char *path)
{
    size_t length;
    (void)harness_read(arena, path, &length);
    return (unsigned)length;
}

/*
 * False, and nothing is known, where several loaded after a wait that was long enough to take the file's lock for stuck
 * and to make a new file: the machine may have stopped the process that held it.
 */
static bool miss_at_once(struct arena *arena)
{
    const char *path = cache_path_in_memory(arena);
    int64_t began = clock_monotonic();
    const char *log = harness_write(arena, harness_directory(arena), "loads", "", 0);
    int descriptor = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    pid_t children[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++)
        children[i] = start_loader(path, "jwks:a", descriptor, 200, LOADS);
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    (void)close(descriptor);
    bool stuck = lines_in(arena, log) > 1 && clock_monotonic() - began >= STUCK_MICROSECONDS;
    if (!stuck)
        assert_int_equal(lines_in(arena, log), 1);
    return !stuck;
}

static void of_many_processes_that_miss_at_once_one_loads(void **state)
{
    bool known = false;
    for (int i = 0; i < 3 && !known; i++)
        known = miss_at_once(harness_arena(state));
    assert_true(known);
}

static void wait_for_lines(struct arena *arena, const char *path, unsigned count)
{
    for (int i = 0; i < 3000 && lines_in(arena, path) < count; i++)
        (void)usleep(10000);
    assert_true(lines_in(arena, path) >= count);
}

static void a_loader_that_is_killed_is_not_waited_for(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    const char *log = harness_write(arena, harness_directory(arena), "loads", "", 0);
    int descriptor = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    pid_t first = start_loader(path, "jwks:a", descriptor, 3600000, 1);
    wait_for_lines(arena, log, 1);
    pid_t second = start_loader(path, "jwks:a", descriptor, 0, 1);
    (void)usleep(50000);
    assert_int_equal(waitpid(second, NULL, WNOHANG), 0);
    end_process(first);
    int status;
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_int_equal(status, 0);
    assert_int_equal(lines_in(arena, log), 2);
    (void)close(descriptor);
}

static void a_loader_that_hangs_is_waited_for_until_its_lease_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    const char *log = harness_write(arena, harness_directory(arena), "loads", "", 0);
    int descriptor = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    pid_t first = start_process();
    if (first == 0) {
        struct cache *cache = given_cache(path, 1);
        struct counter counter = {.text = "late", .log = descriptor, .milliseconds = 3600000};
        struct cache_loader loader = counting_loader(&counter);
        void *bytes;
        size_t length;
        loader.lease_seconds = 1;
        _exit(cache_fetch(cache, arena_new(), "jwks:a", &loader, &bytes, &length) == NULL);
    }
    wait_for_lines(arena, log, 1);
    struct cache *cache = given_cache(path, 1);
    struct counter counter = {.text = "loaded"};
    assert_string_equal(fetched(cache, arena, "jwks:a", &counter), "loaded");
    assert_string_equal(found(cache, arena, "jwks:a"), "loaded");
    end_process(first);
    cache_free(&cache);
    (void)close(descriptor);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(of_many_processes_that_miss_at_once_one_loads),
    HARNESS_TEST(a_loader_that_is_killed_is_not_waited_for),
    HARNESS_TEST(a_loader_that_hangs_is_waited_for_until_its_lease_ends),
};
HARNESS_MODULE(cache_loader, cases)
