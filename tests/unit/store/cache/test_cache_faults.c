/* SPDX-License-Identifier: MIT */
/* The service cache among processes that die, and on files that are broken, cut, foreign or full. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/cache/cache.h"
#include "store/support_cache.h"

/* ---- processes that die -------------------------------------------------------------------------- */

static void write_for_ever(const char *path, unsigned seed)
{
    struct harness_random random = {.state = seed};
    struct cache *cache = given_large_cache(path);
    struct arena *arena = arena_new();
    char value[2000];
    memset(value, 'v', sizeof value);
    for (;;) {
        const char *key = arena_format(arena, "a:%u", harness_random_below(&random, 500));
        size_t length = harness_random_below(&random, sizeof value);
        cache_store(cache, key, value, length, 60);
        (void)found(cache, arena, key);
        arena_reset(arena);
    }
}

static pid_t start_writer(const char *path, unsigned seed)
{
    pid_t child = start_process();
    if (child == 0)
        write_for_ever(path, seed);
    return child;
}

/*
 * A file without a free page for the moment stores nothing, so it is tried again. Gives the longest time (microseconds)
 * that one try has taken.
 */
static int64_t store_and_find(struct cache *cache, struct arena *arena, const char *key)
{
    const char *value = NULL;
    int64_t longest = 0;
    for (int tries = 0; tries < 1000 && value == NULL; tries++) {
        int64_t began = clock_monotonic();
        cache_store(cache, key, key, strlen(key), 60);
        value = found(cache, arena, key);
        int64_t took = clock_monotonic() - began;
        longest = took > longest ? took : longest;
        if (value == NULL)
            (void)usleep(10000);
    }
    assert_non_null(value);
    assert_string_equal(value, key);
    return longest;
}

/*
 * False, and nothing is known, where the file was replaced after the cache had waited for so long that it took the lock
 * for stuck: the machine may have stopped the writer that held it.
 */
static bool kill_writers(struct arena *arena)
{
    const char *path = cache_path_in_memory(arena);
    struct harness_random random = {.state = 7};
    pid_t writers[4];
    int64_t longest = 0;
    struct cache *cache = given_large_cache(path);
    for (unsigned i = 0; i < 4; i++)
        writers[i] = start_writer(path, i);
    for (unsigned kills = 0; kills < 100; kills++) {
        unsigned who = harness_random_below(&random, 4);
        const char *key = arena_format(arena, "b:%u", kills);
        (void)usleep(harness_random_below(&random, 5000));
        end_process(writers[who]);
        writers[who] = start_writer(path, 100 + kills);
        int64_t took = store_and_find(cache, arena, key);
        longest = took > longest ? took : longest;
    }
    for (unsigned i = 0; i < 4; i++)
        end_process(writers[i]);
    bool stuck = cache_counts(cache).rebuilds > 0 && longest >= STUCK_MICROSECONDS;
    if (!stuck) {
        assert_int_equal(cache_counts(cache).rebuilds, 0);
        cache_sweep(cache);
        assert_string_equal(found(cache, arena, "b:99"), "b:99");
    }
    cache_free(&cache);
    return !stuck;
}

static void writers_that_are_killed_leave_a_file_that_is_whole(void **state)
{
    bool known = false;
    for (int i = 0; i < 3 && !known; i++)
        known = kill_writers(harness_arena(state));
    assert_true(known);
}

/* ---- files that are broken ----------------------------------------------------------------------- */

static void fill(struct cache *cache)
{
    char key[32], value[1000];
    memset(value, 'v', sizeof value);
    for (int i = 0; i < 400; i++) {
        (void)snprintf(key, sizeof key, "a:%d", i);
        cache_store(cache, key, value, sizeof value, 60);
    }
}

/* Everything is asked for, then stored and found again: by who had the file open, and by who comes. */
static void expect_service(struct cache *cache, struct arena *arena)
{
    char key[32];
    for (int i = 0; i < 400; i++) {
        (void)snprintf(key, sizeof key, "a:%d", i);
        const char *value = found(cache, arena, key);
        if (value != NULL)
            assert_int_equal(strlen(value), 1000);
    }
    bool kept = false;
    for (int i = 0; i < 300 && !kept && !cache_spent(cache); i++) {
        struct counter counter = {.text = "loaded"};
        assert_string_equal(fetched(cache, arena, "jwks:new", &counter), "loaded");
        kept = found(cache, arena, "jwks:new") != NULL;
        if (!kept)
            (void)usleep(10000);
    }
    struct counter counter = {.text = "loaded"};
    assert_string_equal(fetched(cache, arena, "jwks:new", &counter), "loaded");
    assert_true(kept || cache_spent(cache));
}

static void overwrite(const char *path, off_t offset, size_t length, unsigned seed)
{
    struct harness_random random = {.state = seed};
    unsigned char garbage[4096];
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    for (size_t done = 0; done < length; done += sizeof garbage) {
        for (size_t i = 0; i < sizeof garbage; i++)
            garbage[i] = (unsigned char)harness_random_next(&random);
        assert_int_equal(pwrite(descriptor, garbage, sizeof garbage, offset + (off_t)done), sizeof garbage);
    }
    (void)close(descriptor);
}

struct breakage {
    const char *what;
    const char *ending;
    off_t cut;      /* the file's new length; -1: as it is */
    off_t offset;   /* where garbage begins */
    size_t garbage; /* how much */
    bool remove;
};

static const struct breakage breakages[] = {
    {"cut to nothing", "", 0, 0, 0, false},
    {"cut within the first page", "", 100, 0, 0, false},
    {"cut behind the first pages", "", 8192, 0, 0, false},
    {"cut in the middle", "", 65536, 0, 0, false},
    {"garbage from the start", "", -1, 0, 262144, false},
    {"garbage behind the first pages", "", -1, 8192, 262144, false},
    {"one page of garbage", "", -1, 40960, 4096, false},
    {"removed", "", -1, 0, 0, true},
};

static void break_file(struct arena *arena, const char *path, const struct breakage *breakage, unsigned seed)
{
    const char *file = arena_format(arena, "%s%s", path, breakage->ending);
    if (breakage->cut >= 0)
        assert_int_equal(truncate(file, breakage->cut), 0);
    if (breakage->garbage > 0)
        overwrite(file, breakage->offset, breakage->garbage, seed);
    if (breakage->remove)
        assert_int_equal(unlink(file), 0);
}

static void a_file_that_breaks_under_a_process_costs_no_request(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        const char *path = cache_path(arena);
        struct cache *open_before = given_cache(path, 1);
        struct cache *neighbour = given_cache(path, 1);
        fill(open_before);
        (void)found(neighbour, arena, "a:1");
        break_file(arena, path, &breakages[i], (unsigned)i);
        expect_service(open_before, arena);
        expect_service(neighbour, arena);
        struct cache *newcomer = given_cache(path, 1);
        expect_service(newcomer, arena);
        assert_false(cache_spent(newcomer));
        cache_free(&open_before);
        cache_free(&neighbour);
        cache_free(&newcomer);
    }
}

/* Both of its first pages say that it is larger than any address space. */
static void claim_growth(const char *path)
{
    enum { PAGE = 4096, MAP_SIZE_AT = 32, LAST_PAGE_AT = 136 };
    const uint64_t size = UINT64_C(1) << 62, last = UINT64_C(1) << 50;
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    for (off_t page = 0; page < 2; page++) {
        assert_int_equal(pwrite(descriptor, &size, sizeof size, page * PAGE + MAP_SIZE_AT), sizeof size);
        assert_int_equal(pwrite(descriptor, &last, sizeof last, page * PAGE + LAST_PAGE_AT), sizeof last);
    }
    (void)close(descriptor);
}

/* The first to notice reads, the next writes, the third opens it. */
static void a_file_that_claims_to_have_grown_is_made_anew(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *cache = given_cache(path, 1);
    fill(cache);
    claim_growth(path);
    (void)found(cache, arena, "a:1");
    cache_store(cache, "b:1", "value", sizeof "value", 60);
    assert_false(cache_spent(cache));
    expect_service(cache, arena);
    cache_free(&cache);
    claim_growth(path);
    cache = given_cache(path, 1);
    expect_service(cache, arena);
    assert_int_equal(cache_counts(cache).rebuilds, 1);
    assert_false(cache_spent(cache));
    cache_free(&cache);
}

static void a_file_that_broke_while_nobody_looked_is_made_anew(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        const char *path = cache_path(arena);
        struct cache *cache = given_cache(path, 1);
        fill(cache);
        cache_free(&cache);
        break_file(arena, path, &breakages[i], 100 + (unsigned)i);
        cache = given_cache(path, 1);
        expect_service(cache, arena);
        assert_false(cache_spent(cache));
        cache_free(&cache);
    }
}

/*
 * Pages are overwritten while processes write them: a fault may come at any point of a transaction, with the mutex
 * held. Whoever cannot give it back ends, and the others go on.
 */
static void work_until_spent(const char *path, unsigned seed)
{
    struct harness_random random = {.state = seed};
    struct cache *cache = given_cache(path, 1);
    struct arena *arena = arena_new();
    char value[500] = {0};
    for (unsigned i = 0; i < 3000 && !cache_spent(cache); i++) {
        const char *key = arena_format(arena, "a:%u", harness_random_below(&random, 400));
        cache_store(cache, key, value, sizeof value, 60);
        (void)found(cache, arena, key);
        arena_reset(arena);
    }
    cache_free(&cache);
    _exit(0);
}

static pid_t start_worker(const char *path, unsigned seed)
{
    pid_t child = start_process();
    if (child == 0)
        work_until_spent(path, seed);
    return child;
}

static bool ended(pid_t child, int *status_out)
{
    return waitpid(child, status_out, WNOHANG) == child;
}

/* Cut, or the first pages with their sizes and roots overwritten. It may have been thrown away a moment ago. */
static void break_pages(const char *path, unsigned round, bool cut)
{
    unsigned char garbage[65536];
    struct harness_random random = {.state = round + 1};
    if (cut) {
        if (truncate(path, round % 2 == 0 ? 8192 : 65536) != 0)
            assert_int_equal(errno, ENOENT);
        return;
    }
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (unsigned char)harness_random_next(&random);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
        assert_int_equal(errno, ENOENT);
        return;
    }
    assert_int_equal(pwrite(descriptor, garbage, sizeof garbage, 0), sizeof garbage);
    (void)close(descriptor);
}

static void break_while_written(struct arena *arena, bool cut)
{
    const char *path = cache_path(arena);
    pid_t workers[4];
    bool over[4] = {false};
    unsigned left = 4;
    log_set_level(LOG_LEVEL_FATAL);
    struct cache *cache = given_cache(path, 1);
    fill(cache);
    cache_free(&cache);
    for (unsigned i = 0; i < 4; i++)
        workers[i] = start_worker(path, i);
    for (unsigned round = 0; round < 12000 && left > 0; round++) {
        if (round < 40)
            break_pages(path, round, cut);
        (void)usleep(5000);
        for (unsigned i = 0; i < 4; i++) {
            int status = 0;
            if (over[i] || !ended(workers[i], &status))
                continue;
            assert_int_equal(status, 0);
            over[i] = true;
            left--;
        }
    }
    log_set_level(LOG_LEVEL_INFO);
    assert_int_equal(left, 0);
}

static void pages_that_break_while_they_are_written_stop_nobody(void **state)
{
    break_while_written(harness_arena(state), true);
}

static void garbage_while_they_are_written_stops_nobody(void **state)
{
    skip_with_sanitizer();
    break_while_written(harness_arena(state), false);
}

static void what_is_no_file_of_ours_is_made_anew(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char text[] = "this is a text, and not what the service keeps";
    const char *directory = harness_directory(arena);
    const char *path = harness_write(arena, directory, "cache", text, sizeof text);
    struct cache *cache = given_cache(path, 1);
    expect_service(cache, arena);
    assert_int_equal(cache_counts(cache).rebuilds, 1);
    cache_free(&cache);
    /* LMDB's own version number, at byte 20 of the first page. */
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(descriptor, "\x63", 1, 20), 1);
    assert_int_equal(pwrite(descriptor, "\x63", 1, 4096 + 20), 1);
    (void)close(descriptor);
    cache = given_cache(path, 1);
    expect_service(cache, arena);
    assert_int_equal(cache_counts(cache).rebuilds, 1);
    cache_free(&cache);
}

static void a_changed_byte_is_never_handed_out(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 3};
    size_t length;
    for (int round = 0; round < 60; round++) {
        const char *path = cache_path(arena);
        struct cache *cache = given_cache(path, 1);
        fill(cache);
        cache_free(&cache);
        const char *bytes = harness_read(arena, path, &length);
        int descriptor = open(path, O_WRONLY | O_CLOEXEC);
        for (int i = 0; i < 20; i++) {
            off_t place = 8192 + (off_t)harness_random_below(&random, 524288);
            unsigned char changed =
                (unsigned char)((unsigned char)bytes[place] ^ (1u << harness_random_below(&random, 8)));
            assert_int_equal(pwrite(descriptor, &changed, 1, place), 1);
        }
        (void)close(descriptor);
        cache = given_cache(path, 1);
        for (int i = 0; i < 400; i++) {
            const char *value = found(cache, arena, arena_format(arena, "a:%d", i));
            if (value != NULL)
                assert_int_equal(strspn(value, "v"), 1000);
        }
        cache_free(&cache);
    }
}

/* All that the file says of its version, also in pages that are free by now. */
static void turn_bit_of_version(struct arena *arena, const char *path, unsigned bit)
{
    static const char name[] = "mversion";
    size_t length;
    const char *bytes = harness_read(arena, path, &length);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    unsigned turned = 0;
    for (const char *at = bytes; (at = memmem(at, (size_t)(bytes + length - at), name, sizeof name - 1)) != NULL;
         turned++) {
        at += sizeof name - 1;
        unsigned char changed = (unsigned char)((unsigned char)at[bit / 8] ^ (1u << bit % 8));
        assert_int_equal(pwrite(descriptor, &changed, 1, at + bit / 8 - bytes), 1);
    }
    assert_true(turned > 0);
    (void)close(descriptor);
}

static void a_version_with_a_bit_that_fell_over_makes_no_entry_current(void **state)
{
    struct arena *arena = harness_arena(state);
    for (unsigned bit = 0; bit < 63; bit++) {
        const char *path = cache_path(arena);
        struct cache *cache = given_cache(path, 5);
        cache_store(cache, "a:old", "old", 3, 60);
        cache_free(&cache);
        turn_bit_of_version(arena, path, bit);
        /* Others have changed things up to where the file now claims to be. */
        cache = given_cache(path, 5 | (INT64_C(1) << bit));
        assert_null(found(cache, arena, "a:old"));
        cache_store(cache, "a:new", "new", 3, 60);
        assert_string_equal(found(cache, arena, "a:new"), "new");
        cache_free(&cache);
        (void)unlink(path);
    }
}

/* ---- no room ------------------------------------------------------------------------------------- */

static void without_room_nothing_is_stored_and_nothing_fails(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct rlimit before, small;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 65536, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct cache *cache = given_cache(path, 1);
    struct counter counter = {.text = "loaded"};
    for (int i = 0; i < 20; i++)
        assert_string_equal(fetched(cache, arena, arena_format(arena, "jwks:%d", i), &counter), "loaded");
    assert_null(found(cache, arena, "jwks:0"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_service(cache, arena);
    /* A file that is open has its blocks already: whatever becomes of the disk, evictions can be written. */
    cache_store(cache, "a:before", "x", 1, 60);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    fill(cache);
    const char *keys[] = {"a:before"};
    struct cache_eviction eviction = {.version = 2, .keys = {keys, 1}};
    cache_follow(cache, &eviction, 1, 2, false);
    assert_int_equal(cache_version(cache), 2);
    assert_null(found(cache, arena, "a:before"));
    assert_non_null(found(cache, arena, "a:1"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    cache_free(&cache);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(writers_that_are_killed_leave_a_file_that_is_whole),
    HARNESS_TEST(a_file_that_breaks_under_a_process_costs_no_request),
    HARNESS_TEST(a_file_that_claims_to_have_grown_is_made_anew),
    HARNESS_TEST(a_file_that_broke_while_nobody_looked_is_made_anew),
    HARNESS_TEST(pages_that_break_while_they_are_written_stop_nobody),
    HARNESS_TEST(garbage_while_they_are_written_stops_nobody),
    HARNESS_TEST(what_is_no_file_of_ours_is_made_anew),
    HARNESS_TEST(a_changed_byte_is_never_handed_out),
    HARNESS_TEST(a_version_with_a_bit_that_fell_over_makes_no_entry_current),
    HARNESS_TEST(without_room_nothing_is_stored_and_nothing_fails),
};
HARNESS_MODULE(cache_faults, cases)
