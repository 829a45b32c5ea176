/* SPDX-License-Identifier: MIT */
/* What a store may answer beside the usual, and what it must not: nothing of that is taken for an object or a list. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "blob/s3/s3_int.h"
#include "blob/s3/support_s3.h"
#include "blob/s3/support_s3_calls.h"
#include "blob/support.h"

#define PART 80000 /* bytes; see support_s3() */
#define LARGE 250000
#define DIGEST "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" /* of "hello" */
#define LATER INT64_C(1795428001000)

static struct support_s3 *open_s3(void **state)
{
    support_s3_calls_clear();
    return support_s3(state);
}

static struct id store_hello(struct support_s3 *s3)
{
    struct id id = id_new();
    support_s3_calls_clear();
    assert_null(support_store(s3->store, s3->arena, id, "hello", 5, 5));
    return id;
}

static void expect_error(const struct error *error, const char *words)
{
    if (error == NULL || strstr(error->detail, words) == NULL)
        fail_msg("%s: %s", words, error == NULL ? "no error" : error->detail);
    assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
    support_s3_calls_clear();
}

/* ---- objects ---------------------------------------------------------------------------------------- */

static void an_object_is_what_its_headers_say(void **state)
{
    static const struct {
        struct support_s3_said said;
        bool there, digest, modified;
    } rows[] = {
        {{200, NULL, {{"Content-Length", "7"}, {"Last-Modified", "Mon, 23 Nov 2026 10:00:00 GMT"}}}, true, false, true},
        {{200, NULL, {{"Content-Length", "7"}, {"Last-Modified", "yesterday"}}}, true, false, false},
        {{200, NULL, {{"Content-Length", "7"}, {S3_DIGEST_HEADER, DIGEST}}}, true, true, false},
        {{200, NULL, {{"Content-Length", "7"}, {S3_DIGEST_HEADER, "no digits"}}}, true, false, false},
        {{200, NULL, {{"Content-Length", "7"}, {S3_DIGEST_HEADER, "2cf2"}}}, true, false, false},
        {{200, NULL, {{"Content-Length", "-7"}}}, false, false, false},
        {{200, NULL, {{"Content-Length", "many"}}}, false, false, false},
        {{206, NULL, {{"Content-Length", "7"}}}, false, false, false},
    };
    struct support_s3 *s3 = open_s3(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct blob_found found;
        bool there = true;
        support_s3_calls_say(&rows[i].said, false);
        struct error *error = blob_look(s3->store, s3->arena, id_new(), &found, &there);
        assert_int_equal(error == NULL, rows[i].there);
        assert_int_equal(there, rows[i].there);
        if (error != NULL)
            continue;
        assert_int_equal(found.size, 7);
        assert_int_equal(found.has_digest, rows[i].digest);
        assert_int_equal(found.modified, rows[i].modified ? INT64_C(1795428000000) : 0);
    }
    support_s3_calls_clear();
}

/* A store may give all of an object to who asks for all of it. Else the bytes would be those of another place. */
static void bytes_without_a_range_are_taken_for_the_whole_only(void **state)
{
    static const struct support_s3_said whole = {200, "hello", {{NULL, NULL}}};
    struct support_s3 *s3 = open_s3(state);
    struct id id = store_hello(s3);
    struct blob_reader *reader;
    char bytes[5];
    size_t got;
    assert_null(blob_open(s3->store, s3->arena, id, &reader));
    support_s3_calls_say(&whole, false);
    expect_error(blob_read(reader, 1, bytes, 4, &got), "no store of the S3 protocol");
    support_s3_calls_say(&whole, false);
    assert_null(blob_read(reader, 0, bytes, 5, &got));
    assert_int_equal(got, 5);
    assert_memory_equal(bytes, "hello", 5);
    assert_null(blob_read(reader, 2, bytes, 0, &got));
    assert_int_equal(got, 0);
    blob_close(reader);
    support_s3_calls_clear();
}

static void what_is_not_there_is_removed_but_not_in_a_bucket_that_is_not_there(void **state)
{
    static const struct support_s3_said rows[] = {
        {200, "", {{NULL, NULL}}},
        {204, "", {{NULL, NULL}}},
        {404, "<Error><Code>NoSuchKey</Code></Error>", {{NULL, NULL}}},
        {404, "<Error><Code>NoSuchBucket</Code></Error>", {{NULL, NULL}}},
    };
    struct support_s3 *s3 = open_s3(state);
    for (size_t i = 0; i < 3; i++) {
        support_s3_calls_say(&rows[i], false);
        assert_null(blob_remove(s3->store, s3->arena, id_new()));
    }
    support_s3_calls_say(&rows[3], false);
    expect_error(blob_remove(s3->store, s3->arena, id_new()), "has no bucket");
}

static void what_passes_is_asked_again(void **state)
{
    static const struct support_s3_said rows[] = {
        {429, "", {{NULL, NULL}}},
        {500, "", {{NULL, NULL}}},
        {502, "", {{NULL, NULL}}},
        {504, "", {{NULL, NULL}}},
        {409, "<Error><Code>ConditionalRequestConflict</Code></Error>", {{NULL, NULL}}},
        {409, "<Error><Code>OperationAborted</Code></Error>", {{NULL, NULL}}},
        {400, "<Error><Code>RequestTimeout</Code></Error>", {{NULL, NULL}}},
    };
    struct support_s3 *s3 = open_s3(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        support_s3_calls_say(&rows[i], false);
        assert_null(blob_remove(s3->store, s3->arena, id_new()));
        assert_int_equal(support_s3_calls.calls, 2);
    }
    support_s3_calls_clear();
}

static void refusals_say_what_they_can(void **state)
{
    static const struct {
        struct support_s3_said said;
        const char *words;
    } rows[] = {
        {{403, "<Error><Code>XAdminUserNotFound</Code></Error>", {{NULL, NULL}}}, "check s3_access_key"},
        {{403, "<Error><Code>RequestExpired</Code></Error>", {{NULL, NULL}}}, "too far apart"},
        {{400, "<Error><Code>InvalidBucketName</Code></Error>", {{NULL, NULL}}}, "takes no bucket of the name bucket"},
        {{307, "", {{NULL, NULL}}}, "elsewhere (HTTP 307);"},
        {{403, "", {{NULL, NULL}}}, "(HTTP 403)."},
        {{400, "", {{NULL, NULL}}}, "to list objects: HTTP 400."},
        {{400, "no XML", {{NULL, NULL}}}, "no store of the S3 protocol"},
    };
    struct support_s3 *s3 = open_s3(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        support_s3_calls_say(&rows[i].said, false);
        expect_error(blob_check(s3->store, s3->arena), rows[i].words);
    }
}

/* ---- uploads in parts ------------------------------------------------------------------------------- */

static const char *repeat(struct arena *arena, const char *before, size_t count, const char *behind)
{
    char *many = arena_alloc(arena, count + 1);
    memset(many, 'x', count);
    many[count] = '\0';
    return arena_format(arena, "%s%s%s", before, many, behind);
}

/* The object and the upload are looked at behind a call that is answered so: nothing of either is left. */
static void expect_no_upload(struct support_s3 *s3, size_t call, const struct support_s3_said *said, const char *words)
{
    unsigned char *bytes = support_bytes(s3->arena, LARGE, 3);
    struct blob_found found;
    bool there = true;
    struct id id = id_new();
    support_s3_calls_say(said, false);
    support_s3_calls.fail_at = call;
    expect_error(support_store(s3->store, s3->arena, id, bytes, LARGE, LARGE), words);
    assert_null(blob_look(s3->store, s3->arena, id, &found, &there));
    assert_false(there);
    assert_int_equal(support_count(support_s3_objects(s3), "upload "), 0);
    assert_int_equal(support_files(s3->spool), 0);
}

static void an_upload_in_parts_needs_its_id_and_its_tags(void **state)
{
    static const struct support_s3_said markup = {200, "", {{"ETag", "\"<b>\""}}};
    struct support_s3 *s3 = open_s3(state);
    const struct support_s3_said long_id = {200,
                                            repeat(s3->arena, "<InitiateMultipartUploadResult><UploadId>",
                                                   S3_UPLOAD_ID_BYTES + 1,
                                                   "</UploadId></InitiateMultipartUploadResult>"),
                                            {{NULL, NULL}}};
    const struct support_s3_said no_id = {
        200, "<InitiateMultipartUploadResult><UploadId/></InitiateMultipartUploadResult>", {{NULL, NULL}}};
    expect_no_upload(s3, 2, &long_id, "no store of the S3 protocol");
    expect_no_upload(s3, 2, &no_id, "no store of the S3 protocol");
    expect_no_upload(s3, 3, &markup, "to store a part of an object");
}

/* Behind the look, the beginning, four parts and the completion. */
static void a_completed_upload_without_its_object_is_an_error(void **state)
{
    static const struct support_s3_said rows[] = {
        {404, "", {{NULL, NULL}}},
        {200, "", {{"Content-Length", "250000"}}},
        {200, "", {{"Content-Length", "5"}, {S3_DIGEST_HEADER, DIGEST}}},
    };
    struct support_s3 *s3 = open_s3(state);
    unsigned char *bytes = support_bytes(s3->arena, LARGE, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        support_s3_calls_say(&rows[i], false);
        support_s3_calls.fail_at = 8;
        expect_error(support_store(s3->store, s3->arena, id_new(), bytes, LARGE, LARGE), "is not what was sent");
    }
}

/* The protocol has 10,000 parts at most. */
static void a_file_of_too_many_parts_has_larger_ones(void **state)
{
    struct support_s3 *s3 = open_s3(state);
    unsigned char *bytes = support_bytes(s3->arena, S3_PARTS_MAX + 1, 3);
    struct id id = id_new();
    s3->options.part_bytes = 1;
    s3->options.multipart_bytes = S3_PARTS_MAX;
    support_s3_reopen(s3);
    support_s3_calls_clear();
    assert_null(support_store(s3->store, s3->arena, id, bytes, S3_PARTS_MAX + 1, 5000));
    assert_int_equal(support_s3_calls.calls, 5); /* one part */
    support_assert_stored(s3->store, s3->arena, id, bytes, S3_PARTS_MAX + 1);
}

#define UPLOAD(key, id, begun)                                                                                         \
    "<Upload><Key>" key "</Key><UploadId>" id "</UploadId><Initiated>" begun "</Initiated></Upload>"
#define UPLOADS(rows) "<ListMultipartUploadsResult>" rows "</ListMultipartUploadsResult>"
#define OLD "2026-11-23T10:00:00.000Z"

#define HEX "0123456789abcdef0123456789abcd"
#define OURS "some/where/ef/" HEX "ef"

static void only_old_uploads_of_ours_are_given_up(void **state)
{
    static const char *const lists[] = {
        UPLOADS(UPLOAD("elsewhere/a", "1", OLD)),
        UPLOADS(UPLOAD(OURS, "", OLD)),
        UPLOADS(UPLOAD(OURS, "1", "2026-11-23T10:00:02.000Z")),
        UPLOADS(UPLOAD(OURS, "1", "long ago")),
        UPLOADS(UPLOAD("elsewhere/a", "1", OLD) "<Upload><Key>" OURS "</Key><UploadId>2</UploadId></Upload>"),
        /* of other programs that use the same prefix */
        UPLOADS(UPLOAD("some/where/a", "1", OLD)),
        UPLOADS(UPLOAD("some/where/ef/backup.tar", "1", OLD)),
        UPLOADS(UPLOAD("some/where/ee/" HEX "ef", "1", OLD)),
        UPLOADS(UPLOAD("some/where/partial/" HEX "ef/0-1", "1", OLD)),
        UPLOADS("<IsTruncated>true</IsTruncated>"),
        UPLOADS(""),
    };
    struct support_s3 *s3 = open_s3(state);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct support_s3_said said = {200, lists[i], {{NULL, NULL}}};
        size_t count = 0;
        support_s3_calls_say(&said, false);
        struct error *error = blob_sweep(s3->store, s3->arena, LATER, &count);
        if (error != NULL || count != 0 || support_s3_calls.calls != 1)
            fail_msg("list %zu: %zu given up in %zu calls", i, count, support_s3_calls.calls);
    }
    support_s3_calls_clear();
}

/* The next page begins behind the last one, so that a part of it would be asked for for ever. */
static void uploads_with_names_that_are_too_long_are_refused(void **state)
{
    struct support_s3 *s3 = open_s3(state);
    const char *const lists[] = {
        repeat(s3->arena, "<ListMultipartUploadsResult><Upload><Key>", LIMIT_S3_KEY_BYTES + 1,
               "</Key></Upload><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>"),
        repeat(s3->arena, "<ListMultipartUploadsResult><Upload><UploadId>", S3_UPLOAD_ID_BYTES + 1,
               "</UploadId></Upload><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>"),
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct support_s3_said said = {200, lists[i], {{NULL, NULL}}};
        size_t count = 0;
        support_s3_calls_say(&said, false);
        expect_error(blob_sweep(s3->store, s3->arena, LATER, &count), "S3 protocol");
    }
}

/* ---- bytes in pieces -------------------------------------------------------------------------------- */

static void a_part_that_is_copied_needs_a_tag_that_fits(void **state)
{
    struct support_s3 *s3 = open_s3(state);
    struct id id = id_new();
    struct blob_partial *partial;
    enum blob_partial_state outcome;
    bool there;
    uint8_t digest[DIGEST_BYTES];
    unsigned char *bytes = support_bytes(s3->arena, PART + 10, 3);
    const struct support_s3_said said = {
        200, repeat(s3->arena, "<CopyPartResult><ETag>", 300, "</ETag></CopyPartResult>"), {{NULL, NULL}}};
    assert_null(blob_partial_open(s3->store, s3->arena, id, &partial, &outcome));
    assert_null(blob_partial_go_on(partial, 0, &there));
    assert_null(blob_partial_write(partial, bytes, PART + 10));
    digest_sha256(bytes, PART + 10, digest);
    support_s3_calls_say(&said, false);
    support_s3_calls.fail_at = 3; /* behind the look and the beginning */
    expect_error(blob_commit(blob_partial_finish(partial, PART + 10, digest), id), "S3 protocol");
    assert_int_equal(support_count(support_s3_objects(s3), "upload "), 0);
}

static void more_parts_than_the_protocol_has_are_too_large(void **state)
{
    struct support_s3 *s3 = open_s3(state);
    struct blob_store *spool = s3_of(s3->store)->spool;
    struct s3_pending pending = {.folder = "partial/x/", .first = (uint64_t)S3_PARTS_MAX * PART};
    pending.written = pending.first + PART - 1;
    assert_null(spool->functions->begin(spool, s3->arena, &pending.spool));
    support_s3_calls_clear();
    struct error *error = s3_partials.write(s3->store, s3->arena, &pending, "x", 1);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_TOO_LARGE);
    assert_int_equal(support_s3_calls.calls, 0);
    s3_partials.close(s3->store, &pending);
    s3_partials.close(s3->store, &pending);
}

/* Bytes of another writer are there, and cannot be removed. */
static void a_piece_that_cannot_be_replaced_is_an_error(void **state)
{
    struct support_s3 *s3 = open_s3(state);
    struct id id = id_new();
    struct blob_partial *writers[2];
    for (size_t i = 0; i < 2; i++) {
        enum blob_partial_state outcome;
        bool there;
        assert_null(blob_partial_open(s3->store, s3->arena, id, &writers[i], &outcome));
        assert_null(blob_partial_go_on(writers[i], 0, &there));
        assert_null(blob_partial_write(writers[i], i == 0 ? "other" : "bytes", 5));
    }
    assert_null(blob_partial_sync(writers[0]));
    support_s3_script(s3, "DELETE error 403 AccessDenied\n");
    expect_error(blob_partial_sync(writers[1]), "to remove an object");
    assert_null(blob_partial_sync(writers[1]));
}

/* ---- lists and the quarantine ----------------------------------------------------------------------- */

#define KEY(key) "<Contents><Key>" key "</Key><Size>7</Size></Contents>"
#define BLOB_KEY "some/where/ef/0123456789abcdef0123456789abcdef"

static struct error *see_blob(void *context, const struct blob_found *found)
{
    assert_int_equal(found->size, 7);
    ++*(size_t *)context;
    return NULL;
}

static struct error *see_stray(void *context, const struct blob_stray *stray)
{
    assert_string_equal(stray->folder, "ab");
    assert_string_equal(stray->name, "stray");
    ++*(size_t *)context;
    return NULL;
}

static struct error *see_partial(void *context, const struct blob_partial_found *found)
{
    assert_int_equal(found->size, 14);
    ++*(size_t *)context;
    return NULL;
}

static struct error *stop(void *context, const struct blob_found *found)
{
    (void)found;
    return error_new(context, ERROR_INTERNAL, "enough");
}

static void only_what_lies_in_our_folders_is_seen(void **state)
{
    static const struct support_s3_said list = {
        200,
        "<ListBucketResult><Contents><Size>7</Size></Contents>" KEY("elsewhere/ab/stray") KEY("some/where/ab/")
            KEY("some/where/abc/stray") KEY("some/where/AB/stray") KEY("some/where/a") KEY("some/where/ab/stray")
                KEY(BLOB_KEY) KEY("some/where/note") "<Other/></ListBucketResult>",
        {{NULL, NULL}}};
    struct support_s3 *s3 = open_s3(state);
    size_t blobs = 0, strays = 0;
    support_s3_calls_say(&list, false);
    assert_null(blob_each(s3->store, s3->arena, see_blob, &blobs));
    support_s3_calls_say(&list, false);
    assert_null(blob_each_stray(s3->store, s3->arena, see_stray, &strays));
    assert_true(blobs == 1 && strays == 1);
    support_s3_calls_say(&list, false);
    assert_string_equal(blob_each(s3->store, s3->arena, stop, s3->arena)->detail, "enough");
    support_s3_calls_clear();
}

static void only_uploads_in_pieces_are_seen_in_their_folder(void **state)
{
#define PIECES "some/where/partial/0123456789abcdef0123456789abcdef"
    static const struct support_s3_said list = {200,
                                                "<ListBucketResult>" KEY("some/where/partial/zz") KEY(PIECES "x/1")
                                                    KEY(PIECES "/1") KEY(PIECES "/2") "</ListBucketResult>",
                                                {{NULL, NULL}}};
    struct support_s3 *s3 = open_s3(state);
    size_t count = 0;
    support_s3_calls_say(&list, false);
    assert_null(blob_partial_each(s3->store, s3->arena, see_partial, &count));
    assert_int_equal(count, 1);
    support_s3_calls_clear();
}

static void a_list_that_is_too_long_or_never_ends_is_read_once(void **state)
{
    static const struct support_s3_said endless = {
        200, "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", {{NULL, NULL}}};
    struct support_s3 *s3 = open_s3(state);
    struct buffer text;
    size_t count = 0;
    buffer_init(&text, s3->arena);
    buffer_add_text(&text, "<ListBucketResult>");
    for (size_t i = 0; i < LIMIT_S3_PAGE + 5; i++)
        buffer_add_text(&text, KEY(BLOB_KEY));
    buffer_add_text(&text, "</ListBucketResult>");
    const struct support_s3_said said = {200, text.bytes, {{NULL, NULL}}};
    support_s3_calls_say(&endless, true);
    assert_null(blob_each(s3->store, s3->arena, see_blob, &count));
    assert_true(support_s3_calls.calls == 1 && count == 0);
    support_s3_calls_say(&said, false);
    assert_null(blob_each(s3->store, s3->arena, see_blob, &count));
    assert_int_equal(count, LIMIT_S3_PAGE);
    support_s3_calls_clear();
}

static void what_cannot_be_moved_aside_stays(void **state)
{
    static const struct support_s3_said large = {200, "", {{"Content-Length", "5368709121"}}};
    static const struct support_s3_said other = {200, "", {{"Content-Length", "4"}, {S3_DIGEST_HEADER, DIGEST}}};
    static const struct support_s3_said none = {404, "", {{NULL, NULL}}};
    struct support_s3 *s3 = open_s3(state);
    struct id id = store_hello(s3);
    const char *where;
    support_s3_calls_say(&large, false);
    expect_error(blob_set_aside(s3->store, s3->arena, id, &where), "move it by hand");
    support_s3_calls_say(&other, true); /* every name is taken */
    support_s3_calls.fail_at = 2;
    expect_error(blob_set_aside(s3->store, s3->arena, id, &where), "has no free name");
    support_s3_script(s3, "PUT failed InternalError\n");
    expect_error(blob_set_aside(s3->store, s3->arena, id, &where), "to copy an object");
    support_s3_calls_say(&none, false); /* behind two looks and the copy */
    support_s3_calls.fail_at = 4;
    expect_error(blob_set_aside(s3->store, s3->arena, id, &where), "has not copied the object");
    support_s3_calls_say(&other, false);
    support_s3_calls.fail_at = 3; /* the copy is there by now */
    expect_error(blob_set_aside(s3->store, s3->arena, id, &where), "has not copied the object");
    support_assert_stored(s3->store, s3->arena, id, "hello", 5);
    assert_null(blob_set_aside(s3->store, s3->arena, id, &where));
    assert_non_null(where);
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(an_object_is_what_its_headers_say),
    HARNESS_TEST(bytes_without_a_range_are_taken_for_the_whole_only),
    HARNESS_TEST(what_is_not_there_is_removed_but_not_in_a_bucket_that_is_not_there),
    HARNESS_TEST(what_passes_is_asked_again),
    HARNESS_TEST(refusals_say_what_they_can),
    HARNESS_TEST(an_upload_in_parts_needs_its_id_and_its_tags),
    HARNESS_TEST(a_completed_upload_without_its_object_is_an_error),
    HARNESS_TEST(a_file_of_too_many_parts_has_larger_ones),
    HARNESS_TEST(only_old_uploads_of_ours_are_given_up),
    HARNESS_TEST(uploads_with_names_that_are_too_long_are_refused),
    HARNESS_TEST(a_part_that_is_copied_needs_a_tag_that_fits),
    HARNESS_TEST(more_parts_than_the_protocol_has_are_too_large),
    HARNESS_TEST(a_piece_that_cannot_be_replaced_is_an_error),
    HARNESS_TEST(only_what_lies_in_our_folders_is_seen),
    HARNESS_TEST(only_uploads_in_pieces_are_seen_in_their_folder),
    HARNESS_TEST(a_list_that_is_too_long_or_never_ends_is_read_once),
    HARNESS_TEST(what_cannot_be_moved_aside_stays),
};
HARNESS_MODULE(s3_answers, tests)
