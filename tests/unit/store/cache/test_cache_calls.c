/* SPDX-License-Identifier: MIT */
/*
 * Every call of LMDB fails in turn, and calls of the system on the cache's file. A request gets its value all the same,
 * an entry that was evicted is never found again, and the cache serves again as soon as it can.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "store/cache/cache_int.h"
#include "store/support_cache.h"
#include "store/support_cache_calls.h"

/* ---- every call of LMDB ----------------------------------------------------------------------------- */

struct duty {
    const char *name;
    int64_t version; /* that was followed when it is done */
    bool evicts_some, evicts_all;
    void (*work)(struct cache *cache, struct arena *arena);
};

static void finds(struct cache *cache, struct arena *arena)
{
    const char *value = found(cache, arena, "a:1");
    assert_true(value == NULL || strcmp(value, "one") == 0);
}

static void fetches(struct cache *cache, struct arena *arena)
{
    struct counter counter = {.text = "loaded"};
    assert_string_equal(fetched(cache, arena, "new", &counter), "loaded");
    const char *known = fetched(cache, arena, "a:1", &(struct counter){.text = "one"});
    assert_string_equal(known, "one");
}

static void stores(struct cache *cache, struct arena *arena)
{
    (void)arena;
    cache_store(cache, "a:2", "two", 3, 60);
    cache_store_at(cache, "new", "loaded", 6, 60, 1);
    cache_store_at(cache, "later", "never", 5, 60, 2);
}

static void follows(struct cache *cache, struct arena *arena)
{
    const struct cache_eviction eviction = {
        .version = 2, .keys = text_words(arena, "a:1 x"), .prefixes = text_words(arena, "b: y:")};
    cache_follow(cache, &eviction, 1, 2, false);
}

static void flushes(struct cache *cache, struct arena *arena)
{
    const struct cache_eviction eviction = {.version = 2, .flush = true};
    (void)arena;
    cache_follow(cache, &eviction, 1, 2, false);
}

static void resets(struct cache *cache, struct arena *arena)
{
    (void)arena;
    cache_follow(cache, NULL, 0, 1, true);
}

static void sweeps(struct cache *cache, struct arena *arena)
{
    (void)arena;
    cache_sweep(cache);
}

static void counts(struct cache *cache, struct arena *arena)
{
    const struct cache_eviction all = {
        .version = 2, .keys = text_words(arena, "a:1"), .prefixes = text_words(arena, "b:")};
    struct text_list prefixes = text_words(arena, "a: b: c:");
    struct cache_summary summary;
    struct cache_entry *entries;
    assert_true(cache_count(cache, &all) <= 2);
    size_t listed = cache_list(cache, arena, NULL, 10, &entries);
    assert_true(listed <= 3);
    for (size_t i = 0; i < listed; i++)
        assert_true(entries[i].seconds_left <= 60 && strchr(entries[i].key, ':') != NULL);
    cache_summarise(cache, arena, &prefixes, 100, &summary);
    assert_true(summary.entries == 0 || summary.entries == 3);
    assert_true(summary.counts[0] + summary.counts[1] + summary.counts[2] == summary.entries);
    int64_t version = cache_version(cache);
    assert_true(version == 0 || version == 1);
}

static const struct duty duties[] = {
    {"find", 1, false, false, finds},    {"fetch", 1, false, false, fetches}, {"store", 1, false, false, stores},
    {"follow", 2, true, false, follows}, {"flush", 2, true, true, flushes},   {"reset", 1, true, true, resets},
    {"sweep", 1, false, false, sweeps},  {"count", 1, false, false, counts},
};

/* A file with three entries, and one whose time is over. */
static struct cache *given_entries(const char *path)
{
    struct cache *cache = given_cache(path, 1);
    cache_store(cache, "a:1", "one", 3, 60);
    cache_store(cache, "a:2", "two", 3, 60);
    cache_store(cache, "b:1", "three", 5, 60);
    cache_store(cache, "c:1", "gone", 4, 0);
    return cache;
}

static void expect_entry(struct cache *cache, struct arena *arena, const struct duty *duty, const char *key,
                         const char *wanted)
{
    const char *value = found(cache, arena, key);
    if (value != NULL && (wanted == NULL || strcmp(value, wanted) != 0))
        fail_msg("%s, call %zu, code %d: %s is %s", duty->name, cache_calls.fail_at, cache_calls.code, key, value);
}

/* What this process or another one finds afterwards is current, or nothing. */
static void expect_current(struct cache *cache, struct arena *arena, const struct duty *duty)
{
    expect_entry(cache, arena, duty, "a:1", duty->evicts_some ? NULL : "one");
    expect_entry(cache, arena, duty, "a:2", duty->evicts_all ? NULL : "two");
    expect_entry(cache, arena, duty, "b:1", duty->evicts_some ? NULL : "three");
    expect_entry(cache, arena, duty, "c:1", NULL);
    expect_entry(cache, arena, duty, "new", "loaded");
    expect_entry(cache, arena, duty, "later", NULL);
}

/* The processes of a file that was replaced meet again when they look at its path. */
static void expect_service(struct cache *cache, struct arena *arena, const struct duty *duty)
{
    cache_follow(cache, NULL, 0, duty->version, false);
    cache_store(cache, "again", "served", 6, 60);
    const char *value = found(cache, arena, "again");
    if (value == NULL || strcmp(value, "served") != 0)
        fail_msg("%s: does not serve again", duty->name);
}

/* Whether there was such a call. `opens`: the file is opened meanwhile, too. */
static bool survives(const struct duty *duty, size_t call, int code, bool opens)
{
    struct arena *arena = arena_new();
    const char *path = cache_path(arena);
    struct cache *cache = given_entries(path);
    if (opens)
        cache_free(&cache);
    cache_calls_fail(KIND_LMDB, call, false, code);
    if (opens)
        cache = given_cache(path, 1);
    duty->work(cache, arena);
    bool reached = cache_calls.calls >= call;
    cache_calls_fail(KIND_LMDB, 0, false, 0);
    expect_current(cache, arena, duty);
    cache_calls_clear();
    expect_current(cache, arena, duty);
    struct cache *other = given_cache(path, duty->version);
    if (duty->work == resets) /* of which each process is told by itself */
        cache_follow(other, NULL, 0, 1, true);
    expect_current(other, arena, duty);
    expect_service(cache, arena, duty);
    cache_calls_wait();
    expect_service(other, arena, duty);
    assert_false(cache_spent(cache));
    cache_free(&other);
    cache_free(&cache);
    arena_free(&arena);
    return reached;
}

static void every_call_of_lmdb_may_fail(void **state)
{
    static const int codes[] = {MDB_CORRUPTED, MDB_MAP_FULL, ENOSPC};
    size_t cases = 0;
    (void)state;
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++)
        for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
            for (size_t call = 1; survives(&duties[i], call, codes[k], (i + k) % 3 == 0); call++)
                cases++;
    log_set_level(LOG_LEVEL_INFO);
    assert_true(cases > 200);
}

/* ---- opening the file ------------------------------------------------------------------------------- */

static ino_t inode_of(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

/* A request gets its value; whether the file is still the same. */
static bool stays(struct arena *arena, const char *path)
{
    struct counter counter = {.text = "loaded"};
    int holder = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW); /* keeps its number from another file */
    ino_t before = inode_of(path);
    struct cache *cache = given_cache(path, 1);
    assert_string_equal(fetched(cache, arena, "key", &counter), "loaded");
    assert_null(found(cache, arena, "key"));
    cache_calls_clear();
    bool same = inode_of(path) == before;
    assert_string_equal(fetched(cache, arena, "key", &counter), "loaded");
    cache_free(&cache);
    if (holder >= 0)
        (void)close(holder);
    return same;
}

/* A full disk or a limit says nothing of the file, which others use. */
static void a_shortage_leaves_the_file_and_everything_else_replaces_it(void **state)
{
    static const struct {
        enum cache_call kind;
        int code;
        bool stays;
    } rows[] = {
        {KIND_ENV_OPEN, ENOSPC, true},     {KIND_ENV_OPEN, EDQUOT, true},
        {KIND_ENV_OPEN, EFBIG, true},      {KIND_ENV_OPEN, ENOMEM, true},
        {KIND_ENV_OPEN, EMFILE, true},     {KIND_ENV_OPEN, ENFILE, true},
        {KIND_ENV_OPEN, EROFS, true},      {KIND_ENV_OPEN, EACCES, true},
        {KIND_ENV_OPEN, EPERM, true},      {KIND_ENV_OPEN, ENOENT, true},
        {KIND_ENV_OPEN, ENOTDIR, true},    {KIND_ENV_OPEN, ENOLCK, true},
        {KIND_ENV_OPEN, EOPNOTSUPP, true}, {KIND_LOCK, ENOLCK, true},
        {KIND_ALLOCATE, ENOSPC, true},     {KIND_ENV_OPEN, MDB_INVALID, false},
        {KIND_ENV_OPEN, EIO, false},       {KIND_ENV_FD, EINVAL, false},
        {KIND_LOCK, EIO, false},           {KIND_ALLOCATE, EIO, false},
    };
    struct arena *arena = harness_arena(state);
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = cache_path(arena);
        struct cache *cache = given_entries(path);
        cache_free(&cache);
        cache_calls_fail(rows[i].kind, 1, true, rows[i].code);
        if (stays(arena, path) != rows[i].stays)
            fail_msg("row %zu, code %d: the file was %s", i, rows[i].code, rows[i].stays ? "replaced" : "kept");
    }
    log_set_level(LOG_LEVEL_INFO);
}

static void a_file_system_that_allocates_nothing_serves(void **state)
{
    struct arena *arena = harness_arena(state);
    cache_calls_fail(KIND_ALLOCATE, 1, true, EOPNOTSUPP);
    struct cache *cache = given_entries(cache_path(arena));
    assert_string_equal(found(cache, arena, "a:1"), "one");
    cache_calls_clear();
    cache_free(&cache);
}

static void a_lock_that_a_signal_interrupts_is_taken_all_the_same(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_entries(cache_path(arena));
    cache_calls_fail(KIND_LOCK, 1, false, EINTR);
    assert_string_equal(found(cache, arena, "a:1"), "one");
    cache_calls_clear();
    cache_free(&cache);
}

static void give_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    (void)close(fd);
}

static void what_is_somebody_else_s_is_left_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *paths[5];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        paths[i] = cache_path(arena);
    const char *victim = harness_write(arena, harness_directory(arena), "victim", "precious", 8);
    assert_int_equal(symlink(victim, paths[0]), 0);
    assert_int_equal(mkdir(paths[1], 0700), 0);
    assert_int_equal(mkfifo(paths[2], 0600), 0);
    give_socket(paths[3]);
    struct cache *cache = given_entries(paths[4]);
    cache_free(&cache);
    size_t count = geteuid() == 0 && chown(paths[4], 65534, 65534) == 0 ? 5 : 4;
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < count; i++)
        if (!stays(arena, paths[i]))
            fail_msg("path %zu was replaced", i);
    log_set_level(LOG_LEVEL_INFO);
    assert_string_equal(harness_read(arena, victim, NULL), "precious");
}

/* Others could read it. */
static void a_file_whose_mode_cannot_be_set_is_not_used(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *cache = given_entries(path);
    cache_free(&cache);
    assert_int_equal(chmod(path, 0644), 0);
    log_set_level(LOG_LEVEL_FATAL);
    cache_calls_fail(KIND_MODE, 1, true, EPERM);
    assert_true(stays(arena, path));
    log_set_level(LOG_LEVEL_INFO);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 077, 0); /* stays() has opened it again, without the fault */
}

/* An eviction that could not be written, in a file that cannot be taken away. */
static void a_file_that_cannot_be_removed_is_not_read_for_a_while(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_entries(cache_path(arena));
    log_set_level(LOG_LEVEL_FATAL);
    cache_calls_fail(KIND_LMDB, 1, true, EIO);
    cache_calls.kind = KIND_UNLINK;
    cache_calls.code = EACCES;
    cache_discard(cache, "the test says so");
    assert_int_equal(cache_calls.calls, 1);
    assert_null(found(cache, arena, "a:1"));
    cache_store(cache, "a:1", "other", 5, 60);
    assert_null(found(cache, arena, "a:1"));
    cache_calls_clear();
    assert_string_equal(found(cache, arena, "a:1"), "one");
    log_set_level(LOG_LEVEL_INFO);
    cache_free(&cache);
}

/* ---- signals ---------------------------------------------------------------------------------------- */

static int signal_number;

static void meet_signal(void *path)
{
    (void)signal(signal_number, SIG_DFL); /* cmocka has a handler of its own */
    struct cache *cache = given_entries(path);
    (void)raise(SIGVTALRM); /* a tick without a step is nothing */
    if (found(cache, arena_new(), "a:1") == NULL)
        _exit(1);
    /* As an instruction would that runs again. */
    (void)raise(signal_number);
    (void)raise(signal_number);
    _exit(2);
}

/* Outside of the cache a fault is the program's own, and must end it. */
static void a_fault_outside_of_the_cache_ends_the_process(void **state)
{
    static const int signals[] = {SIGBUS, SIGSEGV, SIGFPE, SIGABRT};
    struct arena *arena = harness_arena(state);
    skip_with_sanitizer();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal_number = signals[i];
        int status = harness_fork(meet_signal, (void *)(uintptr_t)cache_path(arena));
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
    }
}

static void serve_without_a_watch(void *path)
{
    struct arena *arena = arena_new();
    cache_calls_fail(KIND_TIMER, 1, true, EAGAIN);
    struct cache *cache = given_entries(path);
    const char *value = found(cache, arena, "a:1");
    _exit(cache_calls.calls > 0 && value != NULL && strcmp(value, "one") == 0 ? 0 : 1);
}

static void a_process_without_a_timer_is_served(void **state)
{
    assert_int_equal(harness_fork(serve_without_a_watch, (void *)(uintptr_t)cache_path(harness_arena(state))), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(every_call_of_lmdb_may_fail),
    HARNESS_TEST(a_shortage_leaves_the_file_and_everything_else_replaces_it),
    HARNESS_TEST(a_file_system_that_allocates_nothing_serves),
    HARNESS_TEST(a_lock_that_a_signal_interrupts_is_taken_all_the_same),
    HARNESS_TEST(what_is_somebody_else_s_is_left_alone),
    HARNESS_TEST(a_file_whose_mode_cannot_be_set_is_not_used),
    HARNESS_TEST(a_file_that_cannot_be_removed_is_not_read_for_a_while),
    HARNESS_TEST(a_fault_outside_of_the_cache_ends_the_process),
    HARNESS_TEST(a_process_without_a_timer_is_served),
};
HARNESS_MODULE(cache_calls, cases)
