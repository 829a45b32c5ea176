/* SPDX-License-Identifier: MIT */
/* The S3 store: blobs are written, read, listed, moved aside and removed, and what becomes of lost answers. */
#include "blob/s3/s3.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/s3/support_s3.h"
#include "blob/support.h"
#include "harness.h"

static void bytes_come_back_in_one_and_in_parts(void **state)
{
    static const size_t sizes[] = {1, 300, 65536, 199999, 200000, 240000, 240001, 700000};
    struct support_s3 *s3 = support_s3(state);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct id id = id_new();
        unsigned char *bytes = support_bytes(s3->arena, sizes[i], (unsigned)i);
        assert_null(support_store(s3->store, s3->arena, id, bytes, sizes[i], 70000));
        support_assert_stored(s3->store, s3->arena, id, bytes, sizes[i]);
        const char *line = arena_format(s3->arena, "some/where/%s %zu\n", blob_path(s3->arena, id), sizes[i]);
        assert_non_null(strstr(support_s3_objects(s3), line));
    }
    assert_int_equal(support_files(s3->spool), 0);
    assert_null(strstr(support_s3_objects(s3), "upload"));
}

static void a_blob_is_read_from_anywhere(void **state)
{
    enum { SIZE = 500000 };
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new();
    unsigned char *bytes = support_bytes(s3->arena, SIZE, 9);
    unsigned char *got_bytes = arena_alloc(s3->arena, SIZE);
    static const size_t offsets[] = {0, 1, 65535, 65536, 70000, 3, SIZE - 1, SIZE, SIZE + 5, 200000};
    struct blob_reader *reader;
    size_t got;
    assert_null(support_store(s3->store, s3->arena, id, bytes, SIZE, SIZE));
    assert_null(blob_open(s3->store, s3->arena, id, &reader));
    assert_int_equal(blob_reader_file(reader), -1);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        size_t wanted = offsets[i] >= SIZE ? 0 : SIZE - offsets[i] < 70000 ? SIZE - offsets[i] : 70000;
        assert_null(blob_read(reader, offsets[i], got_bytes, 70000, &got));
        assert_int_equal(got, wanted);
        assert_memory_equal(got_bytes, bytes + (wanted == 0 ? 0 : offsets[i]), got);
    }
    blob_close(reader);
    assert_int_equal(blob_read(reader, 0, got_bytes, 1, &got)->code, ERROR_INTERNAL);
}

static void the_store_tells_size_and_digest(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    static const size_t sizes[] = {5, 250000};
    for (size_t i = 0; i < 2; i++) {
        struct id id = id_new();
        struct blob_found found;
        bool there;
        uint8_t digest[DIGEST_BYTES];
        unsigned char *bytes = support_bytes(s3->arena, sizes[i], 3);
        assert_null(blob_look(s3->store, s3->arena, id, &found, &there));
        assert_false(there);
        assert_null(support_store(s3->store, s3->arena, id, bytes, sizes[i], sizes[i]));
        assert_null(blob_look(s3->store, s3->arena, id, &found, &there));
        assert_true(there && found.has_digest && id_equal(found.id, id));
        assert_int_equal(found.size, sizes[i]);
        assert_int_equal(found.modified, INT64_C(1795428000000));
        digest_sha256(bytes, sizes[i], digest);
        assert_memory_equal(found.digest, digest, DIGEST_BYTES);
    }
}

static void a_blob_that_is_there_is_left_as_it_is(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    static const size_t sizes[] = {5, 250000};
    for (size_t i = 0; i < 2; i++) {
        struct id id = id_new();
        unsigned char *bytes = support_bytes(s3->arena, sizes[i], 3);
        unsigned char *others = support_bytes(s3->arena, sizes[i], 4);
        assert_null(support_store(s3->store, s3->arena, id, bytes, sizes[i], sizes[i]));
        assert_int_equal(support_store(s3->store, s3->arena, id, others, sizes[i], sizes[i])->code, ERROR_INTERNAL);
        assert_null(support_store(s3->store, s3->arena, id, bytes, sizes[i], sizes[i]));
        support_assert_stored(s3->store, s3->arena, id, bytes, sizes[i]);
    }
    assert_null(strstr(support_s3_objects(s3), "upload"));
}

static void lost_answers_are_resolved(void **state)
{
    static const char *const scripts[] = {
        "PUT lost\n",
        "PUT drop\n",
        "PUT half\n",
        "PUT error 503 SlowDown\nPUT error 500 InternalError\n",
        "PUT lost\nHEAD drop\nHEAD error 503 SlowDown\n",
        "PUT error 501 NotImplemented\n",
        "PUT dies\n",
        "PUT dies\nPUT ok\nPUT lost\n",
    };
    static const char *const parts[] = {
        "POST drop\n",
        "PUT ok\nPUT lost\nPUT drop\n",
        "POST ok\nPOST lost\n",
        "POST ok\nPOST failed InternalError\n",
        "POST ok\nPOST error 503 SlowDown\nPUT error 400 RequestTimeout\n",
    };
    struct support_s3 *s3 = support_s3(state);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct id id = id_new();
        support_s3_script(s3, scripts[i]);
        assert_null(support_store(s3->store, s3->arena, id, "hello", 5, 5));
        support_s3_script(s3, "");
        support_assert_stored(s3->store, s3->arena, id, "hello", 5);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct id id = id_new();
        unsigned char *bytes = support_bytes(s3->arena, 250000, (unsigned)i);
        support_s3_script(s3, parts[i]);
        struct error *error = support_store(s3->store, s3->arena, id, bytes, 250000, 250000);
        support_s3_script(s3, "");
        /* Only what the store itself calls a failure is one. */
        if (strstr(parts[i], "failed") != NULL)
            assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
        else
            support_assert_stored(s3->store, s3->arena, id, bytes, 250000);
    }
    assert_int_equal(support_files(s3->spool), 0);
}

static void a_condition_that_the_store_does_not_know_is_left_out(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    support_s3_script(s3, "PUT error 501 NotImplemented\n");
    assert_null(support_store(s3->store, s3->arena, id_new(), "one", 3, 3));
    assert_null(support_store(s3->store, s3->arena, id_new(), "two", 3, 3));
    assert_int_equal(support_count(support_s3_log(s3), " *\n"), 1);
    assert_int_equal(support_count(support_s3_log(s3), "PUT "), 3);
}

static void nothing_hangs(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct blob_found found;
    bool there;
    s3->options.timeout_seconds = 1;
    support_s3_reopen(s3);
    support_s3_script(s3, "PUT silent\nPUT silent\nPUT silent\nPUT silent\nHEAD silent\nHEAD silent\n"
                          "HEAD silent\nHEAD silent\nHEAD silent\n");
    int64_t began = clock_monotonic();
    assert_int_equal(support_store(s3->store, s3->arena, id_new(), "x", 1, 1)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(blob_look(s3->store, s3->arena, id_new(), &found, &there)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_true(clock_monotonic() - began < 25 * 1000000); /* the server would be silent for 30 s each time */
}

static void what_broke_is_given_up(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    support_s3_script(s3, "PUT ok\nPUT error 403 AccessDenied\n");
    unsigned char *bytes = support_bytes(s3->arena, 250000, 1);
    assert_int_equal(support_store(s3->store, s3->arena, id_new(), bytes, 250000, 250000)->code,
                     ERROR_STORAGE_UNAVAILABLE);
    assert_string_equal(support_s3_objects(s3), "");
}

static void the_next_endpoint_serves_where_one_does_not(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    const char *good = s3->options.endpoints.items[0];
    s3->options.endpoints = text_words(s3->arena, arena_format(s3->arena, "http://127.0.0.1:1 %s", good));
    support_s3_reopen(s3);
    struct id id = id_new();
    int64_t began = clock_monotonic();
    assert_null(support_store(s3->store, s3->arena, id, "x", 1, 1));
    support_assert_stored(s3->store, s3->arena, id, "x", 1);
    assert_true(clock_monotonic() - began < 20 * 1000000); /* also on a busy machine */
}

struct listing {
    struct arena *arena;
    struct buffer text;
    size_t count;
};

static struct error *see_blob(void *context, const struct blob_found *found)
{
    struct listing *listing = context;
    buffer_add_format(&listing->text, "%s %d\n", blob_path(listing->arena, found->id), (int)found->size);
    listing->count++;
    return NULL;
}

static struct error *see_stray(void *context, const struct blob_stray *stray)
{
    struct listing *listing = context;
    assert_true(stray->is_file && !stray->temporary);
    buffer_add_format(&listing->text, "%s/%s\n", stray->folder, stray->name);
    listing->count++;
    return NULL;
}

static void every_blob_is_listed_and_strays_apart(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct listing blobs = {.arena = s3->arena}, strays = {.arena = s3->arena};
    struct id id = id_new();
    buffer_init(&blobs.text, s3->arena);
    buffer_init(&strays.text, s3->arena);
    for (int i = 0; i < 10; i++) {
        id = id_new();
        assert_null(support_store(s3->store, s3->arena, id, "bytes", 5, 5));
    }
    const char *where;
    assert_null(blob_set_aside(s3->store, s3->arena, id, &where));
    assert_string_equal(where, arena_format(s3->arena, "quarantine/%s", strchr(blob_path(s3->arena, id), '/') + 1));
    assert_null(blob_set_aside(s3->store, s3->arena, id, &where));
    assert_null(where);
    assert_null(blob_each(s3->store, s3->arena, see_blob, &blobs));
    assert_int_equal(blobs.count, 9);
    assert_null(strstr(blobs.text.bytes, blob_path(s3->arena, id)));
    assert_null(blob_each_stray(s3->store, s3->arena, see_stray, &strays));
    assert_int_equal(strays.count, 0);
    /* Bytes come back under the id, and are moved aside under another name. */
    assert_null(support_store(s3->store, s3->arena, id, "other", 5, 5));
    assert_null(blob_set_aside(s3->store, s3->arena, id, &where));
    assert_string_equal(where + strlen(where) - 2, ".1");
}

static void a_blob_is_removed_once_or_twice(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct blob_reader *reader;
    struct id id = id_new();
    assert_null(support_store(s3->store, s3->arena, id, "x", 1, 1));
    support_s3_script(s3, "DELETE lost\n");
    assert_null(blob_remove(s3->store, s3->arena, id));
    assert_null(blob_remove(s3->store, s3->arena, id));
    assert_string_equal(support_s3_objects(s3), "");
    assert_int_equal(blob_open(s3->store, s3->arena, id, &reader)->code, ERROR_STORAGE_UNAVAILABLE);
}

static void old_uploads_are_swept(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    unsigned char *bytes = support_bytes(s3->arena, 250000, 1);
    size_t count = 0;
    for (int i = 0; i < 7; i++) {
        support_s3_script(s3, "PUT error 403 AccessDenied\nDELETE error 403 AccessDenied\n");
        assert_non_null(support_store(s3->store, s3->arena, id_new(), bytes, 250000, 250000));
    }
    assert_null(blob_remove(s3->store, s3->arena, id_new())); /* has the server write its objects */
    assert_int_equal(support_count(support_s3_objects(s3), "upload"), 7);
    assert_null(blob_sweep(s3->store, s3->arena, INT64_C(1795427999000), &count));
    assert_int_equal(count, 0);
    assert_null(blob_sweep(s3->store, s3->arena, INT64_C(1795428001000), &count));
    assert_int_equal(count, 7);
    assert_string_equal(support_s3_objects(s3), "");
}

static void the_web_server_gets_a_signed_address(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new();
    struct blob_handover handover;
    const struct blob_part part = {7, 9};
    assert_false(blob_has_files(s3->store) || blob_has_links(s3->store));
    assert_null(blob_hand_over(s3->store, s3->arena, id, "GET", &part, &handover));
    assert_string_equal(handover.path, arena_format(s3->arena, "s3/bucket/some/where/%s", blob_path(s3->arena, id)));
    assert_int_equal(handover.header_count, 4);
    assert_string_equal(handover.headers[0].value, s3->options.endpoints.items[0] + strlen("http://"));
    assert_int_equal(strncmp(handover.headers[2].value, "AWS4-HMAC-SHA256 Credential=key/", 32), 0);
    assert_string_equal(handover.headers[3].name, "X-Store-Range");
    assert_string_equal(handover.headers[3].value, "bytes=7-9");
    assert_null(blob_hand_over(s3->store, s3->arena, id, "HEAD", NULL, &handover));
    assert_int_equal(handover.header_count, 3);
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(bytes_come_back_in_one_and_in_parts),
    HARNESS_TEST(a_blob_is_read_from_anywhere),
    HARNESS_TEST(the_store_tells_size_and_digest),
    HARNESS_TEST(a_blob_that_is_there_is_left_as_it_is),
    HARNESS_TEST(lost_answers_are_resolved),
    HARNESS_TEST(a_condition_that_the_store_does_not_know_is_left_out),
    HARNESS_TEST(nothing_hangs),
    HARNESS_TEST(what_broke_is_given_up),
    HARNESS_TEST(the_next_endpoint_serves_where_one_does_not),
    HARNESS_TEST(every_blob_is_listed_and_strays_apart),
    HARNESS_TEST(a_blob_is_removed_once_or_twice),
    HARNESS_TEST(old_uploads_are_swept),
    HARNESS_TEST(the_web_server_gets_a_signed_address),
};
HARNESS_MODULE(s3, tests)
