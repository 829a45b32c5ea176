/* SPDX-License-Identifier: MIT */
/* Bytes that arrive in pieces at the S3 store: whole parts and a tail are objects, which the store joins in the end. */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "blob/s3/support_s3.h"
#include "blob/support.h"
#include "harness.h"

#define PART 80000 /* bytes; see support_s3() */

/* Goes on behind `size` bytes, as another process on another host would: with a store of its own. */
static struct blob_partial *go_on(struct support_s3 *s3, struct id id, uint64_t size, bool wanted)
{
    struct blob_partial *partial = NULL;
    enum blob_partial_state outcome;
    bool there = false;
    support_s3_reopen(s3);
    assert_null(blob_partial_open(s3->store, s3->arena, id, &partial, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_OPEN);
    assert_null(blob_partial_go_on(partial, size, &there));
    assert_int_equal(there, wanted);
    return partial;
}

static void add_piece(struct support_s3 *s3, struct id id, const unsigned char *bytes, uint64_t from, uint64_t to)
{
    struct blob_partial *partial = go_on(s3, id, from, true);
    assert_null(blob_partial_write(partial, bytes + from, (size_t)(to - from)));
    assert_null(blob_partial_sync(partial));
    blob_partial_close(partial);
}

/* A writer for all bytes, of which the last come now. */
static struct blob_writer *finish(struct support_s3 *s3, struct id id, const unsigned char *bytes, uint64_t from,
                                  size_t size)
{
    uint8_t digest[DIGEST_BYTES];
    struct blob_partial *partial = go_on(s3, id, from, true);
    assert_null(blob_partial_write(partial, bytes + from, (size_t)(size - from)));
    digest_sha256(bytes, size, digest);
    return blob_partial_finish(partial, size, digest);
}

static void expect_objects(const struct support_s3 *s3, size_t partial, size_t all)
{
    size_t count = 0;
    assert_null(blob_remove(s3->store, s3->arena, id_new())); /* has the server write its objects */
    assert_int_equal(support_count(support_s3_objects(s3), "/partial/"), partial);
    for (const char *at = strchr(support_s3_objects(s3), '\n'); at != NULL; at = strchr(at + 1, '\n'))
        count++;
    assert_int_equal(count, all);
    assert_int_equal(support_files(s3->spool), 0);
}

static void pieces_of_any_size_become_a_blob(void **state)
{
    static const size_t sizes[] = {1, 500, PART - 1, PART, PART + 1, 2 * PART, 300001};
    static const uint64_t steps[] = {7, 499, 80000, 80001, 33333, 150000};
    struct support_s3 *s3 = support_s3(state);
    assert_true(blob_has_partials(s3->store));
    assert_false(blob_partials_lock(s3->store));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct id id = id_new(), blob = id_new();
        unsigned char *bytes = support_bytes(s3->arena, sizes[i], (unsigned)i);
        uint64_t at = 0;
        assert_null(blob_partial_create(s3->store, s3->arena, id));
        for (size_t step = 0; step < 4 && at + steps[(i + step) % 6] < sizes[i]; step++) {
            add_piece(s3, id, bytes, at, at + steps[(i + step) % 6]);
            at += steps[(i + step) % 6];
        }
        assert_null(blob_commit(finish(s3, id, bytes, at, sizes[i]), blob));
        support_assert_stored(s3->store, s3->arena, blob, bytes, sizes[i]);
        assert_null(blob_partial_remove(s3->store, s3->arena, id));
        assert_null(blob_partial_remove(s3->store, s3->arena, id));
        expect_objects(s3, 0, i + 1);
    }
}

static void all_bytes_can_be_read_before_the_commit_and_stay_after_an_abort(void **state)
{
    enum { SIZE = 2 * PART + 5000 };
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new(), blob = id_new();
    unsigned char *bytes = support_bytes(s3->arena, SIZE, 4);
    unsigned char *read = arena_alloc(s3->arena, SIZE);
    size_t got;
    add_piece(s3, id, bytes, 0, PART + 7);
    struct blob_writer *writer = finish(s3, id, bytes, PART + 7, SIZE);
    assert_null(blob_writer_read(writer, 0, read, SIZE, &got));
    assert_int_equal(got, SIZE);
    assert_memory_equal(read, bytes, SIZE);
    assert_null(blob_writer_read(writer, PART - 3, read, 10, &got));
    assert_int_equal(got, 10);
    assert_memory_equal(read, bytes + PART - 3, 10);
    assert_null(blob_writer_read(writer, SIZE - 4, read, 10, &got));
    assert_int_equal(got, 4);
    blob_abort(writer);
    assert_null(blob_commit(finish(s3, id, bytes, PART + 7, SIZE), blob));
    support_assert_stored(s3->store, s3->arena, blob, bytes, SIZE);
}

static void what_was_not_made_durable_is_dropped_and_its_objects_go(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new(), blob = id_new();
    unsigned char *bytes = support_bytes(s3->arena, 3 * PART, 5);
    unsigned char *others = support_bytes(s3->arena, 3 * PART, 6);
    add_piece(s3, id, bytes, 0, 1000);
    /* A writer that dies has sent a whole part, a tail, and never told of them. */
    struct blob_partial *partial = go_on(s3, id, 1000, true);
    assert_null(blob_partial_write(partial, others, PART));
    assert_null(blob_partial_sync(partial));
    blob_partial_close(partial);
    expect_objects(s3, 3, 3);
    add_piece(s3, id, bytes, 1000, 2000);
    expect_objects(s3, 2, 2); /* the tail of the caller's row, and the one before it */
    assert_null(blob_commit(finish(s3, id, bytes, 2000, 3 * PART), blob));
    support_assert_stored(s3->store, s3->arena, blob, bytes, 3 * PART);
}

static void a_long_piece_keeps_two_tails_at_most(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new();
    unsigned char *bytes = support_bytes(s3->arena, 2 * PART, 7);
    struct blob_partial *partial = go_on(s3, id, 0, true);
    for (size_t i = 0; i < 10; i++) {
        assert_null(blob_partial_write(partial, bytes + i * 10000, 10000));
        assert_null(blob_partial_sync(partial));
        assert_null(blob_partial_sync(partial));
    }
    blob_partial_close(partial);
    expect_objects(s3, 3, 3); /* one whole part, two tails */
    /* The caller may have failed to note the last size. */
    blob_partial_close(go_on(s3, id, 90000, true));
    expect_objects(s3, 2, 2);
    assert_null(blob_partial_remove(s3->store, s3->arena, id));
    expect_objects(s3, 0, 0);
}

static void fewer_bytes_than_were_acknowledged_are_told(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new();
    unsigned char *bytes = support_bytes(s3->arena, PART, 8);
    blob_partial_close(go_on(s3, id, 1, false));
    add_piece(s3, id, bytes, 0, 1000);
    blob_partial_close(go_on(s3, id, 1001, false));
}

/* What a writer sends that was given up comes before or after the object of the present one. */
static void the_bytes_of_a_writer_that_was_given_up_replace_none(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new(), blob = id_new();
    unsigned char *bytes = support_bytes(s3->arena, PART + 100, 9);
    unsigned char *others = support_bytes(s3->arena, PART + 100, 10);
    struct blob_partial *former = go_on(s3, id, 0, true);
    assert_null(blob_partial_write(former, others, 500));
    struct blob_partial *early = go_on(s3, id, 0, true);
    struct blob_partial *present = go_on(s3, id, 0, true);
    assert_null(blob_partial_write(early, others, 500));
    assert_null(blob_partial_sync(early));
    assert_null(blob_partial_write(present, bytes, 500));
    assert_null(blob_partial_sync(present));
    support_s3_script(s3, "PUT error 412 PreconditionFailed\nDELETE error 403 AccessDenied\n");
    assert_int_equal(blob_partial_sync(former)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_null(blob_commit(finish(s3, id, bytes, 500, PART + 100), blob));
    support_assert_stored(s3->store, s3->arena, blob, bytes, PART + 100);
}

static void lost_answers_are_resolved(void **state)
{
    static const char *const scripts[] = {"PUT lost\n", "PUT drop\n",
                                          "PUT half\n", "PUT error 503 SlowDown\n",
                                          "PUT dies\n", "DELETE lost\nGET drop\nGET half\n"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct support_s3 *s3 = support_s3(state);
        struct id id = id_new(), blob = id_new();
        unsigned char *bytes = support_bytes(s3->arena, PART + 5000, (unsigned)i);
        add_piece(s3, id, bytes, 0, 100);
        support_s3_script(s3, scripts[i]);
        add_piece(s3, id, bytes, 100, 2000);
        support_s3_script(s3, scripts[i]);
        struct blob_writer *writer = finish(s3, id, bytes, 2000, PART + 5000);
        support_s3_script(s3, scripts[i]);
        assert_null(blob_commit(writer, blob));
        support_s3_script(s3, "");
        support_assert_stored(s3->store, s3->arena, blob, bytes, PART + 5000);
    }
}

static void a_condition_that_the_store_does_not_know_is_left_out(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new();
    unsigned char *bytes = support_bytes(s3->arena, 2000, 3);
    support_s3_script(s3, "PUT error 501 NotImplemented\n");
    add_piece(s3, id, bytes, 0, 2000);
    assert_int_equal(support_count(support_s3_log(s3), " *\n"), 1);
    expect_objects(s3, 1, 1);
}

static struct error *count(void *context, const struct blob_partial_found *found)
{
    size_t *bytes = context;
    assert_int_equal(found->modified, INT64_C(1795428000000));
    *bytes += 1000000 + found->size;
    return NULL;
}

static void each_upload_is_listed_once_and_is_no_stray(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    unsigned char *bytes = support_bytes(s3->arena, 3 * PART, 11);
    size_t found = 0;
    for (size_t i = 0; i < 3; i++)
        add_piece(s3, id_new(), bytes, 0, 2 * PART + 10);
    assert_null(support_store(s3->store, s3->arena, id_new(), "blob", 4, 4));
    assert_null(blob_partial_each(s3->store, s3->arena, count, &found));
    assert_int_equal(found, 3 * (1000000 + 2 * PART + 10));
}

struct listener {
    int64_t heard; /* clock_monotonic() of the last time */
    int64_t longest;
};

static void hear(void *context)
{
    struct listener *listener = context;
    int64_t now = clock_monotonic();
    if (now - listener->heard > listener->longest)
        listener->longest = now - listener->heard;
    listener->heard = now;
}

/* A copied part and the completion are slow: each is one call. */
static void who_watches_hears_from_a_slow_commit_about_once_a_second(void **state)
{
    enum { SIZE = 2 * PART + 10 };
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new(), blob = id_new();
    unsigned char *bytes = support_bytes(s3->arena, SIZE, 12);
    add_piece(s3, id, bytes, 0, 2 * PART);
    struct blob_writer *writer = finish(s3, id, bytes, 2 * PART, SIZE);
    struct listener listener = {clock_monotonic(), 0};
    const struct blob_watch watch = {hear, &listener};
    support_s3_script(s3, "PUT slow\nPOST ok\nPOST slow\n");
    blob_watch(s3->store, &watch);
    assert_null(blob_commit(writer, blob));
    hear(&listener);
    assert_in_range(listener.longest, 1, 6000000); /* each of the slow calls takes seven seconds */
    blob_watch(s3->store, NULL);
    listener.heard = 0;
    support_assert_stored(s3->store, s3->arena, blob, bytes, SIZE);
    assert_int_equal(listener.heard, 0);
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(pieces_of_any_size_become_a_blob),
    HARNESS_TEST(all_bytes_can_be_read_before_the_commit_and_stay_after_an_abort),
    HARNESS_TEST(what_was_not_made_durable_is_dropped_and_its_objects_go),
    HARNESS_TEST(a_long_piece_keeps_two_tails_at_most),
    HARNESS_TEST(fewer_bytes_than_were_acknowledged_are_told),
    HARNESS_TEST(the_bytes_of_a_writer_that_was_given_up_replace_none),
    HARNESS_TEST(lost_answers_are_resolved),
    HARNESS_TEST(a_condition_that_the_store_does_not_know_is_left_out),
    HARNESS_TEST(each_upload_is_listed_once_and_is_no_stray),
    HARNESS_TEST(who_watches_hears_from_a_slow_commit_about_once_a_second),
};
HARNESS_MODULE(s3_partial, tests)
