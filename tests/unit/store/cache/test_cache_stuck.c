/* SPDX-License-Identifier: MIT */
/* The service cache beside processes that are stopped, killed or go round in circles in the middle of a transaction. */
#include "harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "store/cache/cache_int.h"
#include "store/support_cache.h"

#define ROUNDS 30
#define WORKERS 4

/* ---- one that stays in its transaction ----------------------------------------------------------- */

static int stop_body(struct cache *cache, MDB_txn *txn, void *context)
{
    (void)context;
    int code = cache_put(cache, txn, "b:late", "late", 4, 60);
    (void)raise(SIGSTOP);
    return code;
}

static int look_and_stop_body(struct cache *cache, MDB_txn *txn, void *context)
{
    int64_t version;
    (void)context;
    int code = cache_get_version(cache, txn, &version);
    (void)raise(SIGSTOP);
    return code;
}

static int circle_body(struct cache *cache, MDB_txn *txn, void *context)
{
    volatile const unsigned *turn = context;
    int code = cache_put(cache, txn, "b:late", "late", 4, 60);
    while (*turn == 0)
        continue;
    return code;
}

/*
 * A child that has the file open and then runs the body in a transaction; it exits with what the cache says of itself.
 */
static pid_t start_in(const char *path, cache_body *body, bool writes)
{
    static unsigned never;
    pid_t child = start_process();
    if (child != 0)
        return child;
    log_set_level(LOG_LEVEL_FATAL);
    struct cache *cache = given_cache(path, 1);
    bool done = writes ? cache_write(cache, body, &never) : cache_read(cache, body, &never);
    _exit((done ? 1 : 0) + (cache_spent(cache) ? 2 : 0));
}

static void wait_until_stopped(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
}

static int exit_of(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
    return WEXITSTATUS(status);
}

/* All that a worker does with the cache, by one that had the file open and by one that comes now. */
static void expect_others_go_on(struct arena *arena, struct cache *before, const char *path)
{
    const char *keys[] = {"a:old"};
    struct cache_eviction eviction = {.version = 2, .keys = {keys, 1}};
    struct counter counter = {.text = "loaded"};
    cache_follow(before, &eviction, 1, 2, false);
    assert_null(found(before, arena, "a:old"));
    assert_int_equal(cache_version(before), 2);
    assert_string_equal(fetched(before, arena, "jwks:a", &counter), "loaded");
    cache_store(before, "a:new", "new", 3, 60);
    struct cache *newcomer = given_cache(path, 2);
    assert_string_equal(found(newcomer, arena, "a:new"), "new");
    assert_string_equal(found(newcomer, arena, "jwks:a"), "loaded");
    assert_null(found(newcomer, arena, "a:old"));
    assert_int_equal(counter.loads, 1);
    cache_sweep(newcomer);
    cache_free(&newcomer);
}

/* A file with an entry, and a process that is stopped in a transaction on it. */
static pid_t given_stopped(const char *path, struct cache **cache_out, cache_body *body, bool writes)
{
    *cache_out = given_cache(path, 1);
    cache_store(*cache_out, "a:old", "old", 3, 60);
    pid_t stopped = start_in(path, body, writes);
    wait_until_stopped(stopped);
    return stopped;
}

static void stop_and_go_on(struct arena *arena, cache_body *body, bool writes)
{
    const char *path = cache_path(arena);
    struct cache *cache;
    pid_t stopped = given_stopped(path, &cache, body, writes);
    expect_others_go_on(arena, cache, path);
    assert_int_equal(cache_counts(cache).rebuilds, 1);
    /* It wakes, ends what it had begun in a file that nobody reads any more, and is none the worse. */
    assert_int_equal(kill(stopped, SIGCONT), 0);
    assert_int_equal(exit_of(stopped), 1);
    assert_null(found(cache, arena, "b:late"));
    assert_null(found(cache, arena, "a:old"));
    assert_string_equal(found(cache, arena, "a:new"), "new");
    cache_free(&cache);
}

static void a_process_that_is_stopped_while_it_writes_holds_nobody_up(void **state)
{
    stop_and_go_on(harness_arena(state), stop_body, true);
}

static void a_process_that_is_stopped_while_it_reads_holds_nobody_up(void **state)
{
    stop_and_go_on(harness_arena(state), look_and_stop_body, false);
}

/* A look needs no more than the others: it waits its second, misses, and the next finds a file that can be used. */
static void readers_go_on_beside_a_process_that_is_stopped(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache;
    pid_t stopped = given_stopped(cache_path(arena), &cache, stop_body, true);
    assert_null(found(cache, arena, "a:old"));
    cache_store(cache, "a:old", "again", 5, 60);
    assert_string_equal(found(cache, arena, "a:old"), "again");
    end_process(stopped);
    cache_free(&cache);
}

static void a_process_that_is_killed_while_it_writes_leaves_the_file_as_it_was(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *cache = given_cache(path, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const char *key = arena_format(arena, "a:%u", round);
        cache_store(cache, key, "value", 5, 60);
        pid_t stopped = start_in(path, round % 2 == 0 ? stop_body : look_and_stop_body, round % 2 == 0);
        wait_until_stopped(stopped);
        end_process(stopped);
        assert_string_equal(found(cache, arena, key), "value");
        assert_null(found(cache, arena, "b:late"));
    }
    assert_int_equal(cache_counts(cache).rebuilds, 0);
    cache_free(&cache);
}

/* As LMDB may on pages whose links lead in a circle. The others do not wait for it, and it comes out by itself. */
static void a_process_that_goes_round_in_circles_comes_out_and_is_spent(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *cache = given_cache(path, 1);
    cache_store(cache, "a:old", "old", 3, 60);
    pid_t lost = start_in(path, circle_body, true);
    assert_int_equal(exit_of(lost), 2);
    expect_others_go_on(arena, cache, path);
    cache_free(&cache);
}

/*
 * Whoever finds what is still broken throws it away, and ends where it was writing; the next one has a file that
 * serves.
 */
static void expect_use(struct arena *arena, const char *path)
{
    bool kept = false;
    for (unsigned tries = 0; tries < 5 && !kept; tries++) {
        struct cache *cache = given_cache(path, 9);
        cache_store(cache, "a:after", "after", 5, 60);
        kept = found(cache, arena, "a:after") != NULL;
        cache_free(&cache);
    }
    assert_true(kept);
}

/* The page with a large value claims that as many pages belong to it. The layout is that of LMDB 0.9. */
static void claim_pages(const char *path, uint32_t pages)
{
    enum { FLAGS_AT = 10, PAGES_AT = 12, OVERFLOW = 4 };
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    const long size = sysconf(_SC_PAGESIZE);
    uint16_t flags = 0;
    off_t place = 2 * size;
    while (pread(descriptor, &flags, sizeof flags, place + FLAGS_AT) == (ssize_t)sizeof flags && flags != OVERFLOW)
        place += size;
    assert_int_equal(flags, OVERFLOW);
    assert_int_equal(pwrite(descriptor, &pages, sizeof pages, place + PAGES_AT), sizeof pages);
    (void)close(descriptor);
}

/* LMDB notes each page that a value frees: 8 bytes for each, 8 GiB here, and 32 GiB where the claim is larger still. */
static void a_page_that_claims_to_be_large_does_not_fill_the_memory(void **state)
{
    const uint32_t claims[] = {UINT32_C(1) << 30, UINT32_MAX - 1};
    struct arena *arena = harness_arena(state);
    static const char value[10000];
    struct rusage usage;
    int status;
    skip_with_sanitizer();
    for (size_t i = 0; i < 2; i++) {
        const char *path = cache_path(arena);
        struct cache *cache = given_cache(path, 1);
        cache_store(cache, "a:large", value, sizeof value, 60);
        claim_pages(path, claims[i]);
        pid_t child = start_process();
        if (child == 0) {
            log_set_level(LOG_LEVEL_FATAL);
            cache_store(given_cache(path, 1), "a:large", "small", 5, 60);
            _exit(0);
        }
        assert_int_equal(wait4(child, &status, 0, &usage), child);
        assert_int_equal(status, 0);
        assert_true(usage.ru_maxrss < 512 * 1024);
        expect_use(arena, path);
        cache_free(&cache);
        (void)unlink(path);
    }
}

/* ---- many that read ------------------------------------------------------------------------------ */

/*
 * Reads for ever, and lets go only when the other reader has come in, too; or after a while, since that one may have to
 * wait.
 */
static void read_in_turns(const char *path, int tell, int told)
{
    struct pollfd other = {.fd = told, .events = POLLIN};
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    char byte = 'r';
    for (;;) {
        if (cache_lock(descriptor, false) != 0)
            continue;
        if (write(tell, &byte, 1) != 1 || (poll(&other, 1, 100) == 1 && read(told, &byte, 1) != 1))
            _exit(1);
        cache_unlock(descriptor);
    }
}

static pid_t start_reader(const char *path, int tell, int told)
{
    pid_t child = start_process();
    if (child != 0)
        return child;
    read_in_turns(path, tell, told);
    _exit(1);
}

/* The file is never free, though nobody keeps it. */
static void a_writer_gets_in_among_those_who_read_in_turns(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *cache = given_cache(path, 1);
    int there[2], back[2], code = CACHE_STUCK;
    int one = open(path, O_RDWR | O_CLOEXEC), other = open(path, O_RDWR | O_CLOEXEC);
    assert_true(one >= 0 && other >= 0);
    assert_int_equal(pipe2(there, O_CLOEXEC), 0);
    assert_int_equal(pipe2(back, O_CLOEXEC), 0);
    pid_t first = start_reader(path, there[1], back[0]);
    struct pollfd begun = {.fd = there[0], .events = POLLIN};
    assert_int_equal(poll(&begun, 1, -1), 1);
    pid_t second = start_reader(path, back[1], there[0]);
    for (int tries = 0; tries < 5 && code != 0; tries++)
        code = cache_lock(one, true);
    assert_int_equal(code, 0);
    cache_unlock(one);
    /* And nobody is kept out for it any longer. */
    assert_int_equal(cache_lock(other, false), 0);
    cache_unlock(other);
    end_process(first);
    end_process(second);
    cache_free(&cache);
    const int descriptors[] = {one, other, there[0], there[1], back[0], back[1]};
    for (size_t i = 0; i < 6; i++)
        (void)close(descriptors[i]);
}

/* ---- garbage under load -------------------------------------------------------------------------- */

static void work(const char *path, unsigned seed, int ready)
{
    struct harness_random random = {.state = seed};
    struct cache *cache = given_cache(path, 1);
    struct arena *arena = arena_new();
    char value[3000];
    memset(value, 'v', sizeof value);
    if (write(ready, "r", 1) != 1)
        _exit(5);
    for (unsigned turn = 0; turn < 200 && !cache_spent(cache); turn++) {
        const char *key = arena_format(arena, "a:%u", harness_random_below(&random, 300));
        struct cache_eviction eviction = {.version = 1 + turn / 25, .flush = turn % 50 == 0};
        struct counter counter = {.text = "loaded"};
        cache_store(cache, key, value, harness_random_below(&random, sizeof value), 60);
        const char *bytes = found(cache, arena, key);
        if (bytes != NULL && strspn(bytes, "v") != strlen(bytes))
            _exit(3);
        if (strcmp(fetched(cache, arena, "jwks:a", &counter), "loaded") != 0)
            _exit(4);
        if (turn % 25 == 0)
            cache_follow(cache, &eviction, 1, eviction.version, false);
        if (turn % 50 == 49)
            cache_sweep(cache);
        arena_reset(arena);
    }
    cache_free(&cache);
    _exit(0);
}

static pid_t start_work(const char *path, unsigned seed, int ready)
{
    pid_t child = start_process();
    if (child != 0)
        return child;
    log_set_level(LOG_LEVEL_FATAL);
    work(path, seed, ready);
    _exit(1);
}

/*
 * Pages here and there, the first ones among them more often than not; and whatever an earlier version left beside the
 * file.
 */
static void scribble(struct arena *arena, const char *path, struct harness_random *random)
{
    unsigned char garbage[8192];
    const char *const names[] = {path, path, arena_format(arena, "%s-lock", path),
                                 arena_format(arena, "%s-guard", path)};
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (unsigned char)harness_random_next(random);
    for (size_t i = 0; i < 4; i++) {
        int descriptor = open(names[i], i < 2 ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        off_t place =
            (off_t)harness_random_below(random, i == 0 ? 16 : 400) * 4096 + (off_t)harness_random_below(random, 64);
        if (descriptor < 0)
            continue;
        size_t length = 1 + harness_random_below(random, sizeof garbage);
        assert_int_equal(pwrite(descriptor, garbage, length, place), length);
        (void)close(descriptor);
    }
}

/* Nobody writes meanwhile, so that each file is broken in the same way in every run; some can not even be opened. */
static void a_file_full_of_garbage_is_soon_another_one(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 7};
    static const char value[2000];
    skip_with_sanitizer();
    for (unsigned round = 0; round < 300; round++) {
        const char *path = cache_path(arena);
        struct cache *cache = given_cache(path, 9);
        for (unsigned i = 0; i < 40; i++)
            cache_store(cache, arena_format(arena, "a:%u", i), value, harness_random_below(&random, sizeof value), 60);
        cache_free(&cache);
        for (unsigned i = 0; i < 3; i++)
            scribble(arena, path, &random);
        expect_use(arena, path);
        (void)unlink(path);
    }
}

static void garbage_under_load_hangs_nobody_and_is_never_handed_out(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 11};
    skip_with_sanitizer();
    for (unsigned round = 0; round < ROUNDS; round++) {
        const char *path = cache_path(arena);
        pid_t workers[WORKERS];
        int ready[2];
        char byte;
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        for (unsigned i = 0; i < WORKERS; i++)
            workers[i] = start_work(path, round * WORKERS + i, ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        for (unsigned i = 0; i < 5; i++) {
            (void)usleep(harness_random_below(&random, 4000));
            scribble(arena, path, &random);
        }
        for (unsigned i = 0; i < WORKERS; i++)
            assert_int_equal(exit_of(workers[i]), 0);
        expect_use(arena, path);
        (void)close(ready[0]);
        (void)close(ready[1]);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_process_that_is_stopped_while_it_writes_holds_nobody_up),
    HARNESS_TEST(a_process_that_is_stopped_while_it_reads_holds_nobody_up),
    HARNESS_TEST(readers_go_on_beside_a_process_that_is_stopped),
    HARNESS_TEST(a_process_that_is_killed_while_it_writes_leaves_the_file_as_it_was),
    HARNESS_TEST(a_process_that_goes_round_in_circles_comes_out_and_is_spent),
    HARNESS_TEST(a_page_that_claims_to_be_large_does_not_fill_the_memory),
    HARNESS_TEST(a_writer_gets_in_among_those_who_read_in_turns),
    HARNESS_TEST(a_file_full_of_garbage_is_soon_another_one),
    HARNESS_TEST(garbage_under_load_hangs_nobody_and_is_never_handed_out),
};
HARNESS_MODULE(cache_stuck, cases)
