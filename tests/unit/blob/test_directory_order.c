/* SPDX-License-Identifier: MIT */
/* Tests the order of the calls that make bytes and names durable, and the calls in place of those that a host lacks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/support.h"
#include "harness.h"

/* Where in the trace the call stands, from `from` on; fails when it does not. */
static size_t find_call(size_t from, enum support_call call, bool on_directory)
{
    size_t at = from;
    while (at < support_faults.calls &&
           (support_faults.trace[at] != call || support_faults.trace_directory[at] != on_directory))
        at++;
    if (at == support_faults.calls)
        fail_msg("there is no %s after call %zu", support_call_text(call), from);
    return at;
}

static size_t count_calls(enum support_call call)
{
    size_t count = 0;
    for (size_t i = 0; i < support_faults.calls; i++)
        count += support_faults.trace[i] == call;
    return count;
}

static void bytes_are_durable_before_the_name_and_the_name_before_the_answer(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t w = 0; w < sizeof support_ways / sizeof *support_ways; w++) {
        struct id id = id_new();
        struct blob_store *store = support_prepare(arena, &support_ways[w], id);
        assert_null(support_store(store, arena, id, "x", 1, 1));
        size_t written = find_call(0, CALL_WRITE, false);
        size_t bytes_durable = find_call(written, CALL_FSYNC, false);
        size_t linked = find_call(bytes_durable, CALL_LINKAT, false);
        find_call(linked, CALL_FSYNC, true);
        /* a new directory's own entry is durable before a name in it is */
        if (!support_ways[w].shard_there)
            assert_true(find_call(0, CALL_FSYNC, true) < linked);
        assert_int_equal(count_calls(CALL_FSYNC), support_ways[w].shard_there ? 2 : 3);
    }
}

static void a_second_name_is_young_before_it_is_there_and_durable_before_the_answer(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id from = id_new();
    struct blob_store *store = support_prepare(arena, &support_ways[0], from);
    bool linked = false;
    assert_null(support_store(store, arena, from, "x", 1, 1));
    support_faults.calls = 0;
    assert_null(blob_link(store, arena, from, support_next_id(from), 1, &linked));
    assert_true(linked);
    size_t touched = find_call(0, CALL_UTIMENSAT, false);
    size_t named = find_call(touched, CALL_LINKAT, false);
    find_call(named, CALL_FSYNC, true);
    assert_int_equal(count_calls(CALL_WRITE), 0);
}

static void another_workers_new_directory_is_made_durable_too(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id id = id_new();
    struct support_way way = {false, true};
    struct blob_store *store = support_prepare(arena, &way, id);
    struct blob_store *other;
    assert_null(blob_directory_open(arena, blob_root(store), &support_io, &other));
    for (int again = 0; again < 2; again++) {
        support_faults.calls = 0;
        id = support_next_id(support_next_id(id));
        assert_null(support_store(other, arena, id, "x", 1, 1));
        assert_int_equal(count_calls(CALL_FSYNC), again == 0 ? 3 : 2);
        assert_int_equal(count_calls(CALL_MKDIRAT), 0);
    }
}

static void a_host_without_proc_links_by_descriptor(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id id = id_new();
    struct blob_store *store = support_prepare(arena, &support_ways[0], id);
    support_faults.no_proc = true;
    struct error *error = support_store(store, arena, id, "x", 1, 1);
    assert_int_equal(count_calls(CALL_LINKAT), 2);
    /* older kernels allow it with a privilege only; then nothing may be left */
    if (error == NULL)
        support_assert_stored(store, arena, id, "x", 1);
    else
        assert_int_equal(support_files(blob_root(store)), 0);
}

static void the_fallback_stores_too_and_keeps_no_second_name(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id id = id_new();
    struct blob_store *store = support_prepare(arena, &support_ways[2], id);
    unsigned char *bytes = support_bytes(arena, SUPPORT_SMALL_BYTES, 9);
    assert_null(support_store(store, arena, id, bytes, SUPPORT_SMALL_BYTES, 4000));
    support_faults.calls = 0;
    support_assert_stored(store, arena, id, bytes, SUPPORT_SMALL_BYTES);
    assert_int_equal(support_files(blob_root(store)), 1);
}

static void the_first_error_stays(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id id = id_new();
    struct blob_store *store = support_prepare(arena, &support_ways[0], id);
    struct blob_writer *writer;
    uint8_t digest[DIGEST_BYTES];
    assert_null(blob_begin(store, arena, &writer));
    support_faults.fail_at = support_faults.calls + 1;
    support_faults.number = ENOSPC;
    struct error *error = blob_write(writer, support_bytes(arena, SUPPORT_SMALL_BYTES, 1), SUPPORT_SMALL_BYTES);
    assert_int_equal(error->code, ERROR_STORAGE_FULL);
    assert_true(error->retry_after > 0);
    size_t calls = support_faults.calls;
    assert_ptr_equal(blob_write(writer, "x", 1), error);
    blob_writer_digest(writer, digest);
    assert_ptr_equal(blob_commit(writer, id), error);
    assert_int_equal(support_faults.calls, calls);
    assert_null(strstr(error->message, blob_root(store)));
}

static void a_failure_of_the_last_block_is_told_by_the_commit(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id id = id_new();
    struct blob_store *store = support_prepare(arena, &support_ways[0], id);
    struct blob_writer *writer;
    uint8_t digest[DIGEST_BYTES];
    assert_null(blob_begin(store, arena, &writer));
    assert_null(blob_write(writer, "x", 1));
    support_faults.fail_at = support_faults.calls + 1;
    support_faults.number = EIO;
    blob_writer_digest(writer, digest);
    assert_int_equal(blob_commit(writer, id)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(support_files(blob_root(store)), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(bytes_are_durable_before_the_name_and_the_name_before_the_answer),
    HARNESS_TEST(a_second_name_is_young_before_it_is_there_and_durable_before_the_answer),
    HARNESS_TEST(another_workers_new_directory_is_made_durable_too),
    HARNESS_TEST(a_host_without_proc_links_by_descriptor),
    HARNESS_TEST(the_fallback_stores_too_and_keeps_no_second_name),
    HARNESS_TEST(the_first_error_stays),
    HARNESS_TEST(a_failure_of_the_last_block_is_told_by_the_commit),
};
HARNESS_MODULE(directory_order, cases)
