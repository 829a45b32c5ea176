/* SPDX-License-Identifier: MIT */
/*
 * Every file call of every operation fails in turn, with each errno that matters. Afterwards: the right error
 * or a true success, no descriptor left open, nothing visible, nothing left, and the store works again.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/support.h"
#include "harness.h"

/* What is stored: a file that goes to the disk at once, and one that does so while it is written. */
struct content {
    const unsigned char *bytes;
    size_t length;
    size_t piece;
};

static const int numbers[] = {EIO, ENOSPC, EDQUOT, EACCES, EROFS, EINTR};

static enum error_code wanted_code(int number)
{
    return number == ENOSPC || number == EDQUOT ? ERROR_STORAGE_FULL : ERROR_STORAGE_UNAVAILABLE;
}

/* Whether the operation may go on as if nothing had happened. */
static bool is_harmless(void)
{
    const struct support_faults *faults = &support_faults;
    if (faults->short_write)
        return true;
    if (faults->number == EINTR &&
        (faults->failed == CALL_OPENAT || faults->failed == CALL_WRITE || faults->failed == CALL_CLOSE))
        return true;
    if (faults->failed == CALL_POSIX_FADVISE)
        return true;
    /* closing what was read or is durable; taking away a name that is not needed */
    return (faults->failed == CALL_CLOSE && faults->failed_on_directory) || faults->failed == CALL_UNLINKAT;
}

static const char *describe(struct arena *arena, size_t call)
{
    return arena_format(arena, "call %zu, %s%s: %s", call, support_call_text(support_faults.failed),
                        support_faults.failed_on_directory ? " of a directory" : "",
                        support_faults.short_write ? "short" : strerror(support_faults.number));
}

/* An error of the writing is told once: whoever asks again is told that all is well. */
static bool took_an_error_of_writing(void)
{
    return !support_faults.failed_on_directory &&
           (support_faults.failed == CALL_FSYNC || support_faults.failed == CALL_SYNC_FILE_RANGE ||
            support_faults.failed == CALL_WAIT_FILE_RANGE);
}

static void check_store(struct arena *arena, const struct support_way *way, struct id id, const struct content *content,
                        size_t call, int number)
{
    struct arena *process = arena_new();
    struct blob_store *store = support_prepare(process, way, id);
    size_t files = support_files(blob_root(store));
    size_t descriptors = support_descriptors();
    support_faults.fail_at = call;
    support_faults.number = number;
    support_faults.short_write = number == 0;
    struct arena *request = arena_new();
    struct error *error = support_store(store, request, id, content->bytes, content->length, content->piece);
    enum error_code code = error == NULL ? ERROR_CODE_COUNT : error->code;
    size_t retried = support_faults.calls;
    support_faults.fail_at = 0;
    arena_free(&request);
    const char *what = describe(arena, call);
    if (is_harmless() != (code == ERROR_CODE_COUNT))
        fail_msg("%s: %s", what, code == ERROR_CODE_COUNT ? "went unnoticed" : "was not survived");
    if (code != ERROR_CODE_COUNT && code != wanted_code(number))
        fail_msg("%s: gives %s", what, error_code_text(code));
    if (support_descriptors() != descriptors)
        fail_msg("%s: leaks a descriptor", what);
    /* a temporary name that could not be unlinked is all that may stay beside the blob */
    size_t left = support_files(blob_root(store)) - files;
    size_t wanted = (code == ERROR_CODE_COUNT ? 1u : 0u) + (support_faults.failed == CALL_UNLINKAT ? 1u : 0u);
    if (left != wanted)
        fail_msg("%s: leaves %zu files, not %zu", what, left, wanted);
    if (took_an_error_of_writing())
        for (size_t i = call; i < retried; i++)
            assert_false(support_faults.trace[i] == CALL_FSYNC && !support_faults.trace_directory[i]);
    support_faults_restart();
    if (code == ERROR_CODE_COUNT)
        support_assert_stored(store, process, id, content->bytes, content->length);
    else
        assert_null(support_store(store, process, id, content->bytes, content->length, 65536)); /* it works again */
    arena_free(&process);
}

/* Fails each call of storing the content with each of the numbers; how many cases that makes. */
static size_t check_stores(struct arena *arena, const struct support_way *way, const struct content *content,
                           const int *failures, size_t failure_count)
{
    struct id id = id_new();
    struct arena *process = arena_new();
    struct blob_store *store = support_prepare(process, way, id);
    assert_null(support_store(store, process, id, content->bytes, content->length, content->piece));
    size_t calls = support_faults.calls, cases = 0;
    enum support_call trace[SUPPORT_TRACE_MAX];
    assert_true(calls >= 10 && calls <= SUPPORT_TRACE_MAX);
    memcpy(trace, support_faults.trace, sizeof trace);
    arena_free(&process);
    for (size_t call = 1; call <= calls; call++) {
        for (size_t n = 0; n < failure_count; n++, cases++)
            check_store(arena, way, id, content, call, failures[n]);
        if (trace[call - 1] == CALL_WRITE)
            check_store(arena, way, id, content, call, 0);
    }
    return cases;
}

static void a_store_survives_each_failing_call(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct content small = {support_bytes(arena, SUPPORT_SMALL_BYTES, 5), SUPPORT_SMALL_BYTES, 4000};
    size_t cases = 0;
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t w = 0; w < sizeof support_ways / sizeof *support_ways; w++)
        cases += check_stores(arena, &support_ways[w], &small, numbers, sizeof numbers / sizeof *numbers);
    log_set_level(LOG_LEVEL_INFO);
    assert_true(cases > 300);
}

static void a_large_file_survives_each_failing_call(void **state)
{
    static const int failures[] = {EIO, ENOSPC, EINTR, ENOSYS, EINVAL, EPERM};
    struct arena *arena = harness_arena(state);
    const struct content large = {support_bytes(arena, SUPPORT_LARGE_BYTES, 6), SUPPORT_LARGE_BYTES, 256 * 1024};
    log_set_level(LOG_LEVEL_FATAL);
    assert_true(check_stores(arena, &support_ways[1], &large, failures, sizeof failures / sizeof *failures) > 100);
    log_set_level(LOG_LEVEL_INFO);
}

#define PART (2 * 1024 * 1024)

/* What has been sent to the disk of `length` bytes, and what has left the memory before the commit. */
static void store_watched(struct blob_store *store, struct arena *arena, size_t length, off_t *started_out,
                          off_t *dropped_out)
{
    static const size_t piece = 256 * 1024;
    unsigned char *bytes = support_bytes(arena, length, 7);
    struct blob_writer *writer;
    struct id id = id_new();
    support_faults_restart();
    assert_null(blob_begin(store, arena, &writer));
    for (size_t at = 0; at < length; at += piece) {
        size_t step = length - at < piece ? length - at : piece;
        off_t behind = (off_t)((at + step) / PART) * PART;
        assert_null(blob_write(writer, bytes + at, step));
        assert_true(support_faults.started <= behind && support_faults.dropped == support_faults.flushed);
        if (support_faults.dropped > 0) /* the disk is given the time for two parts */
            assert_int_equal(support_faults.dropped, support_faults.started - 2 * PART);
    }
    *started_out = support_faults.started;
    *dropped_out = support_faults.dropped;
    assert_null(blob_commit(writer, id));
    support_assert_stored(store, arena, id, bytes, length);
}

static void a_large_file_leaves_the_memory_as_it_comes_to_the_disk(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_prepare(arena, &support_ways[1], id_new());
    off_t started, dropped;
    store_watched(store, arena, SUPPORT_LARGE_BYTES, &started, &dropped);
    assert_int_equal(started, 4 * PART);
    assert_int_equal(dropped, 2 * PART);
    assert_int_equal(support_faults.dropped, SUPPORT_LARGE_BYTES);
    store_watched(store, arena, 3 * PART, &started, &dropped);
    assert_int_equal(started, 3 * PART);
    assert_int_equal(dropped, PART);
    assert_int_equal(support_faults.dropped, 3 * PART);
}

/* Most are asked for soon. */
static void a_smaller_file_stays_in_the_memory(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_prepare(arena, &support_ways[1], id_new());
    off_t started, dropped;
    store_watched(store, arena, 3 * PART - 1, &started, &dropped);
    assert_int_equal(started, 2 * PART);
    assert_int_equal(support_faults.dropped, 0);
    store_watched(store, arena, SUPPORT_SMALL_BYTES, &started, &dropped);
    assert_int_equal(started, 0);
    assert_int_equal(support_faults.dropped, 0);
}

static void what_is_read_back_stays_in_the_memory_until_the_commit(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_prepare(arena, &support_ways[1], id_new());
    off_t started, dropped;
    store->reads_back = true;
    store_watched(store, arena, SUPPORT_LARGE_BYTES, &started, &dropped);
    assert_int_equal(started, 4 * PART);
    assert_int_equal(dropped, 0);
    assert_int_equal(support_faults.dropped, SUPPORT_LARGE_BYTES);
}

/* How much of a large file is sent by parts, and how much of it has left the memory in the end. */
static void store_large(struct blob_store *store, struct arena *arena, off_t started, off_t dropped)
{
    off_t started_now, dropped_before;
    store_watched(store, arena, SUPPORT_LARGE_BYTES, &started_now, &dropped_before);
    assert_int_equal(started_now, started);
    assert_int_equal(support_faults.dropped, dropped);
}

/* NFS, FUSE, overlays and what else there is. */
static void only_a_file_system_that_is_known_to_tell_of_errors_is_asked_for_parts(void **state)
{
    struct arena *arena = harness_arena(state);
    static const long kinds[] = {NFS_SUPER_MAGIC, FUSE_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC,
                                 BTRFS_SUPER_MAGIC};
    struct blob_store *store;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        support_faults_clear();
        support_faults.file_system = kinds[i];
        support_faults.hole = 1; /* such a system may know of none */
        assert_null(blob_directory_open(arena, harness_directory(arena), &support_io, &store));
        store_large(store, arena, 0, 0);
    }
    support_faults_clear();
    support_faults.file_system = XFS_SUPER_MAGIC;
    assert_null(blob_directory_open(arena, harness_directory(arena), &support_io, &store));
    store_large(store, arena, 4 * PART, SUPPORT_LARGE_BYTES);

    /* another directory, another file system */
    support_faults.file_system = OVERLAYFS_SUPER_MAGIC;
    assert_int_equal(rename(blob_root(store), arena_format(arena, "%s.before", blob_root(store))), 0);
    assert_int_equal(mkdir(blob_root(store), 0700), 0);
    store_large(store, arena, 0, 0);
}

/* The file system is not known (the 4th call), or the call is forbidden (the 5th). */
static void where_parts_cannot_be_asked_for_they_are_not(void **state)
{
    struct arena *arena = harness_arena(state);
    static const enum support_call failing[] = {CALL_FSTATFS, CALL_PROBE_FILE_RANGE};
    struct blob_store *store;
    for (size_t i = 0; i < 2; i++) {
        support_faults_clear();
        support_faults.fail_at = 4 + i;
        support_faults.number = EPERM;
        assert_null(blob_directory_open(arena, harness_directory(arena), &support_io, &store));
        assert_int_equal(support_faults.failed, failing[i]);
        support_faults.fail_at = 0;
        store_large(store, arena, 0, 0);
    }
}

static void bytes_that_were_lost_without_a_word_are_missed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_prepare(arena, &support_ways[1], id_new());
    unsigned char *bytes = support_bytes(arena, SUPPORT_SMALL_BYTES, 9);
    struct id id = id_new();
    size_t files = support_files(blob_root(store));
    support_faults.hole = 4096;
    assert_int_equal(support_store(store, arena, id, bytes, SUPPORT_SMALL_BYTES, 65536)->code,
                     ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(support_files(blob_root(store)), files);
    support_faults.hole = 0;
    assert_null(support_store(store, arena, id, bytes, SUPPORT_SMALL_BYTES, 65536));
    assert_null(support_store(store, arena, support_next_id(id), "", 0, 1)); /* nothing has no hole */
}

/* An operation on a prepared store; `run` checks its result. */
struct operation {
    const char *name;
    struct error *(*run)(struct blob_store *store, struct arena *arena, struct id id);
};

static struct error *run_open(struct blob_store *store, struct arena *arena, struct id id)
{
    char bytes[8];
    size_t got;
    struct blob_reader *reader;
    TRY(blob_open(store, arena, id, &reader));
    assert_int_equal(blob_reader_size(reader), 5);
    struct error *error = blob_read(reader, 1, bytes, sizeof bytes, &got);
    assert_true(error != NULL || got == 4);
    blob_close(reader);
    return error;
}

static struct error *run_remove(struct blob_store *store, struct arena *arena, struct id id)
{
    return blob_remove(store, arena, id);
}

static struct error *run_check(struct blob_store *store, struct arena *arena, struct id id)
{
    (void)id;
    return blob_check(store, arena);
}

static struct error *run_sweep(struct blob_store *store, struct arena *arena, struct id id)
{
    (void)id;
    size_t count;
    TRY(blob_sweep(store, arena, clock_now() + 10000, &count));
    assert_int_equal(count, 1);
    return NULL;
}

static struct error *count_found(void *context, const struct blob_found *found)
{
    (void)found;
    ++*(size_t *)context;
    return NULL;
}

static struct error *run_each(struct blob_store *store, struct arena *arena, struct id id)
{
    (void)id;
    size_t count = 0;
    TRY(blob_each(store, arena, count_found, &count));
    assert_int_equal(count, 1);
    return NULL;
}

static const struct operation operations[] = {
    {"open", run_open}, {"remove", run_remove}, {"check", run_check}, {"sweep", run_sweep}, {"each", run_each},
};

/* Fails the operation's call `call` (0: none) with `number`; the number of calls that it made. */
static size_t check_operation(struct arena *arena, const struct operation *operation, size_t call, int number)
{
    struct arena *process = arena_new();
    struct id id = {{0}}; /* the first directory that blob_each() looks into */
    struct blob_store *store;
    support_faults_clear();
    assert_null(blob_directory_open(process, harness_directory(process), &support_io, &store));
    assert_null(support_store(store, process, id, "there", 5, 5));
    const char *temporary = arena_format(process, "%s/tmp", blob_root(store));
    assert_int_equal(mkdir(temporary, 0750), 0);
    harness_write(process, temporary, "0123456789abcdef0123456789abcdef", "x", 1);
    size_t descriptors = support_descriptors();
    support_faults.calls = 0;
    support_faults.fail_at = call;
    support_faults.number = number;
    struct error *error = operation->run(store, process, id);
    size_t calls = support_faults.calls;
    const char *what = arena_format(arena, "%s, %s", operation->name, describe(arena, call));
    enum support_call failed = support_faults.failed;
    bool harmless = call == 0 || failed == CALL_CLOSE || failed == CALL_CLOSEDIR ||
                    (number == EINTR && (failed == CALL_OPENAT || failed == CALL_PREAD));
    if (harmless != (error == NULL))
        fail_msg("%s: %s", what, error == NULL ? "went unnoticed" : "was not survived");
    if (error != NULL)
        assert_int_equal(error->code, wanted_code(number));
    assert_int_equal(support_descriptors(), descriptors);
    arena_free(&process);
    return calls;
}

static void the_other_operations_survive_each_failing_call(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        size_t calls = check_operation(arena, &operations[i], 0, 0);
        assert_true(calls >= 3);
        for (size_t call = 1; call <= calls && call <= 20; call++)
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
                (void)check_operation(arena, &operations[i], call, numbers[n]);
    }
}

/* Fails the linking's call `call` (0: none); the number of calls that it made. */
static size_t check_link(struct arena *arena, bool shard_there, size_t call, int number)
{
    struct arena *process = arena_new();
    struct support_way way = {false, shard_there};
    struct id to = id_new();
    struct id from = to;
    from.bytes[ID_BYTES - 1] ^= 1; /* a directory of its own */
    bool linked = false;
    struct blob_store *store = support_prepare(process, &way, to);
    assert_null(support_store(store, process, from, "there", 5, 5));
    size_t files = support_files(blob_root(store));
    size_t descriptors = support_descriptors();
    support_faults.calls = 0;
    support_faults.fail_at = call;
    support_faults.number = number;
    struct error *error = blob_link(store, process, from, to, 5, &linked);
    size_t calls = support_faults.calls;
    support_faults.fail_at = 0;
    const char *what = arena_format(arena, "link, %s", describe(arena, call));
    if (error != NULL && error->code != wanted_code(number))
        fail_msg("%s: gives %s", what, error_code_text(error->code));
    if (error != NULL && linked)
        fail_msg("%s: fails and tells that it is done", what);
    if (support_faults.failed == CALL_FSYNC && call != 0 && error == NULL)
        fail_msg("%s: went unnoticed", what);
    if (support_descriptors() != descriptors)
        fail_msg("%s: leaks a descriptor", what);
    if (support_files(blob_root(store)) != files + (linked ? 1u : 0u))
        fail_msg("%s: %s and leaves %zu files", what, linked ? "linked" : "not linked",
                 support_files(blob_root(store)) - files);
    assert_true(call != 0 || linked);
    if (linked)
        support_assert_stored(store, process, to, "there", 5);
    else /* then the bytes themselves go in */
        assert_null(support_store(store, process, to, "there", 5, 5));
    arena_free(&process);
    return calls;
}

static void a_link_is_made_whole_or_not_at_all(void **state)
{
    struct arena *arena = harness_arena(state);
    log_set_level(LOG_LEVEL_FATAL);
    for (int there = 0; there < 2; there++) {
        size_t calls = check_link(arena, there == 1, 0, 0);
        assert_true(calls >= 7);
        for (size_t call = 1; call <= calls; call++)
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
                (void)check_link(arena, there == 1, call, numbers[n]);
    }
    log_set_level(LOG_LEVEL_INFO);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_store_survives_each_failing_call),
    HARNESS_TEST(a_large_file_survives_each_failing_call),
    HARNESS_TEST(a_large_file_leaves_the_memory_as_it_comes_to_the_disk),
    HARNESS_TEST(a_smaller_file_stays_in_the_memory),
    HARNESS_TEST(what_is_read_back_stays_in_the_memory_until_the_commit),
    HARNESS_TEST(only_a_file_system_that_is_known_to_tell_of_errors_is_asked_for_parts),
    HARNESS_TEST(where_parts_cannot_be_asked_for_they_are_not),
    HARNESS_TEST(bytes_that_were_lost_without_a_word_are_missed),
    HARNESS_TEST(the_other_operations_survive_each_failing_call),
    HARNESS_TEST(a_link_is_made_whole_or_not_at_all),
};
HARNESS_MODULE(faults, cases)
