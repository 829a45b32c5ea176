/* SPDX-License-Identifier: MIT */
/* Uploads without a web server: what is received is stored whole, and what is refused leaves neither rows nor bytes. */
#include "harness.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sandbox/sandbox.h"
#include "base/text.h"
#include "blob/sniffer/sniffer.h"
#include "blob/sniffer/support_warm_up.h"
#include "codec/digest.h"
#include "http/fake_source.h"
#include "http/schema.h"
#include "service/file/support_files.h"
#include "service/file/upload.h"
#include "store/database/database.h"

#define FIELD(name, value) "--X\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"
#define PART(name, bytes)                                                                                              \
    "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" name "\"\r\n\r\n" bytes "\r\n"
#define END "--X--\r\n"
#define INTO FIELD("bucket", "files") FIELD("type", "misc")
#define BYTES "a line of text\n"
#define HASHED "another line of text\n"
#define MOST 4096

struct scene {
    struct keep *keep;
    struct caller caller;
    struct file_record *records;
    size_t count;
};

static struct scene scene_new(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    keep->configuration.service.max_file_bytes = MOST;
    keep->service.block = arena_alloc(keep->arena, LIMIT_BLOB_BLOCK_BYTES);
    struct sandbox_walls walls;
    support_sniffer_warm_up();
    expect_ok(sniff_process_fork(keep->arena, NULL, &keep->service.sniffer));
    expect_ok(sniff_process_start(keep->service.sniffer, keep->arena, true, &walls));
    return (struct scene){.keep = keep, .caller = files_caller(keep)};
}

/* Receives the body, handed over in pieces of at most `most` bytes (0: as they are asked for). */
static struct error *receive_from(struct scene *scene, struct fake_source source)
{
    struct arena *arena = scene->keep->arena;
    const struct fake_parameter parameters[] = {
        {"REQUEST_METHOD", "POST"},
        {"REQUEST_URI", "/system/files"},
        {"CONTENT_TYPE", "multipart/form-data; boundary=X"},
        {"CONTENT_LENGTH", arena_format(arena, "%zu", source.length)},
        {NULL, NULL},
    };
    struct request request;
    source.parameters = parameters;
    struct request_source from = fake_request_source(&source);
    request_init(&request, arena, &from, "");
    return upload_receive(&scene->keep->service, arena, &scene->caller, "cus:file:w", &request, &scene->records,
                          &scene->count);
}

static struct error *receive(struct scene *scene, const char *body)
{
    return receive_from(scene, (struct fake_source){.body = body, .length = strlen(body)});
}

/* Nothing of the organisation's is there: no row, no byte, nothing counted. */
static void assert_nothing_left(struct scene *scene)
{
    assert_int_equal(files_rows(scene->keep, "file"), 0);
    assert_int_equal(files_rows(scene->keep, "file_tag"), 0);
    assert_int_equal(files_on_disk(scene->keep), 0);
    assert_int_equal(sql_integer(scene->keep->service.database, scene->keep->arena,
                                 "SELECT COALESCE(SUM(bytes + files), 0) FROM file_usage"),
                     0);
}

static struct stat blob_status(struct scene *scene, size_t index)
{
    struct stat status;
    assert_int_equal(stat(keep_path(scene->keep, scene->records[index].id), &status), 0);
    return status;
}

static void an_upload_is_stored_and_recorded_however_its_body_is_cut(void **state)
{
    static const size_t pieces[] = {0, 1, 2, 7, 61};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct scene scene = scene_new(state);
        struct arena *arena = scene.keep->arena;
        const char *body = INTO FIELD("tags", "red") FIELD("tags", "blue") PART("notes.txt", BYTES) END;
        expect_ok(receive_from(&scene, (struct fake_source){.body = body, .length = strlen(body), .most = pieces[i]}));
        assert_int_equal(scene.count, 1);
        const struct file_record *record = &scene.records[0];
        uint8_t hash[FILE_HASH_BYTES];
        size_t length;
        digest_sha256(BYTES, sizeof BYTES - 1, hash);
        assert_memory_equal(record->hash, hash, sizeof hash);
        assert_int_equal(record->size, sizeof BYTES - 1);
        assert_string_equal(record->content_type, "text/plain");
        assert_string_equal(harness_read(arena, keep_path(scene.keep, record->id), &length), BYTES);
        assert_string_equal(
            sql_text(scene.keep->service.database, arena,
                     "SELECT CONCAT_WS(' ', name, status, bucket, type, (SELECT COUNT(*) FROM file_tag),"
                     " (SELECT CONCAT(bytes, ' ', files) FROM file_usage), (SELECT action FROM audit))"
                     " FROM file"),
            "notes.txt active files misc 2 15 1 file.upload");
    }
}

static void every_fault_of_a_form_is_named_at_once(void **state)
{
    struct scene scene = scene_new(state);
    struct error *error = receive(&scene, FIELD("bucket", "attic") FIELD("colour", "red") PART("empty.txt", "")
                                              PART("lie.png", BYTES) END);
    files_expect_entry(error, ERROR_REQUEST_INVALID, "bucket", "choice");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "type", "required");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "colour", "unknown");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "file[0]", "empty");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "file[1]", "mismatch");
    assert_nothing_left(&scene);
    files_expect_entry(receive(&scene, INTO END), ERROR_REQUEST_INVALID, "file", "required");
    files_expect_entry(receive(&scene, INTO FIELD("name", "one.txt") PART("a.txt", "a") PART("b.txt", "b") END),
                       ERROR_REQUEST_INVALID, "name", "count");
    files_expect_entry(receive(&scene, INTO PART("a.txt", "a") PART("a.txt", "a") END), ERROR_REQUEST_INVALID,
                       "file[1]", "duplicate");
    assert_nothing_left(&scene);
}

static void a_part_that_is_encoded_or_no_text_is_named(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    char *much = arena_alloc(arena, LIMIT_FIELD_BYTES + 2);
    memset(much, 'x', LIMIT_FIELD_BYTES + 1);
    struct error *error = receive(
        &scene,
        "--X\r\nContent-Disposition: form-data; name=\"bucket\"; filename=\"a\"\r\n\r\nfiles\r\n"
        "--X\r\nContent-Disposition: form-data; name=\"type\"\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        "misc\r\n" FIELD("name", "\xff") "--X\r\nContent-Disposition: form-data; name=\"file\"; "
                                         "filename=\"a.txt\"\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n" END);
    files_expect_entry(error, ERROR_REQUEST_INVALID, "bucket", "type");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "type", "transferEncoding");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "name", "encoding");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "file[0]", "transferEncoding");
    error = receive(&scene, arena_format(arena,
                                         FIELD("name", "%s") FIELD("bucket", "\xff") FIELD("type", "%s")
                                             PART("a.txt", BYTES) END,
                                         much, much));
    files_expect_entry(error, ERROR_REQUEST_INVALID, "name", "length");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "bucket", "choice");
    files_expect_entry(error, ERROR_REQUEST_INVALID, "type", "choice");
    assert_nothing_left(&scene);
}

static void a_file_over_the_bound_is_refused_and_one_of_the_bound_is_not(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    char *text = arena_alloc(arena, MOST + 2);
    memset(text, 'x', MOST + 1);
    files_expect_entry(
        receive(&scene, arena_format(arena, "%s%s", INTO, arena_format(arena, PART("x.txt", "%s") END, text))),
        ERROR_TOO_LARGE, "file[0]", "tooLarge");
    assert_nothing_left(&scene);
    text[MOST] = '\0';
    expect_ok(receive(&scene, arena_format(arena, "%s%s", INTO, arena_format(arena, PART("x.txt", "%s") END, text))));
    assert_int_equal(scene.records[0].size, MOST);
}

static void more_files_than_an_upload_may_have_are_each_named(void **state)
{
    struct scene scene = scene_new(state);
    struct buffer body;
    buffer_init(&body, scene.keep->arena);
    buffer_add_text(&body, INTO);
    for (unsigned i = 0; i < LIMIT_FILES + 1; i++)
        buffer_add_text(&body, arena_format(scene.keep->arena, PART("%u.txt", "%u"), i, i));
    buffer_add_text(&body, END);
    files_expect_entry(receive(&scene, body.bytes), ERROR_REQUEST_INVALID, "file[10]", "count");
    assert_nothing_left(&scene);
}

static void a_body_that_breaks_off_leaves_nothing(void **state)
{
    struct scene scene = scene_new(state);
    const char *body = INTO PART("a.txt", BYTES) END;
    for (size_t length = 1; length < strlen(body) - 4; length += 11) {
        assert_non_null(receive_from(&scene, (struct fake_source){.body = body, .length = length, .breaks = true}));
        assert_non_null(receive_from(&scene, (struct fake_source){.body = body, .length = length}));
    }
    assert_nothing_left(&scene);
}

static void bytes_that_the_organisation_has_already_are_stored_once(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(receive(&scene, INTO PART("a.txt", BYTES) END));
    struct stat first = blob_status(&scene, 0);
    expect_ok(receive(&scene, INTO PART("b.txt", BYTES) PART("c.txt", BYTES) PART("d.txt", HASHED) END));
    assert_int_equal(blob_status(&scene, 0).st_ino, first.st_ino);
    assert_int_equal(blob_status(&scene, 1).st_nlink, 3);
    assert_int_equal(blob_status(&scene, 2).st_nlink, 1);
    scene.caller = files_stranger(scene.keep);
    expect_ok(receive(&scene, INTO PART("a.txt", BYTES) END));
    assert_int_equal(blob_status(&scene, 0).st_nlink, 1);
}

static void bytes_that_have_changed_on_the_disk_are_not_shared(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(receive(&scene, INTO PART("a.txt", BYTES) END));
    keep_flip(scene.keep, scene.records[0].id, 3);
    expect_ok(receive(&scene, INTO PART("b.txt", BYTES) END));
    size_t length;
    assert_int_equal(blob_status(&scene, 0).st_nlink, 1);
    assert_string_equal(harness_read(scene.keep->arena, keep_path(scene.keep, scene.records[0].id), &length), BYTES);
}

static void the_very_same_file_again_is_refused_with_the_id_of_the_first(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(receive(&scene, INTO PART("a.txt", BYTES) END));
    struct id first = scene.records[0].id;
    struct error *error = receive(&scene, INTO PART("new.txt", HASHED) PART("a.txt", BYTES) END);
    expect_error(error, ERROR_FILE_DUPLICATE);
    assert_string_equal(files_member(error, "id"), id_text(scene.keep->arena, first));
    assert_int_equal(files_rows(scene.keep, "file"), 1);
    assert_int_equal(files_on_disk(scene.keep), 1);
}

static void a_quota_holds_to_the_byte_and_to_the_file(void **state)
{
    struct scene scene = scene_new(state);
    struct database *database = scene.keep->service.database;
    sql(database, scene.keep->arena, "UPDATE organisation SET quota_bytes = %zu, quota_files = 1", sizeof BYTES - 2);
    expect_error(receive(&scene, INTO PART("a.txt", BYTES) END), ERROR_QUOTA_EXCEEDED);
    assert_nothing_left(&scene);
    sql(database, scene.keep->arena, "UPDATE organisation SET quota_bytes = %zu", sizeof BYTES - 1);
    expect_error(receive(&scene, INTO PART("a.txt", "a") PART("b.txt", "b") END), ERROR_QUOTA_EXCEEDED);
    assert_nothing_left(&scene);
    expect_ok(upload_admit(&scene.keep->service, scene.keep->arena, &scene.caller, 500));
    expect_ok(receive(&scene, INTO PART("a.txt", BYTES) END));
    expect_error(upload_admit(&scene.keep->service, scene.keep->arena, &scene.caller, 500), ERROR_QUOTA_EXCEEDED);
}

static void an_announced_length_is_checked_before_the_body(void **state)
{
    struct scene scene = scene_new(state);
    struct service *service = &scene.keep->service;
    struct arena *arena = scene.keep->arena;
    expect_ok(upload_admit(service, arena, &scene.caller, -1));
    expect_ok(upload_admit(service, arena, &scene.caller, MOST + LIMIT_UPLOAD_FORM_BYTES));
    expect_error(upload_admit(service, arena, &scene.caller, MOST + LIMIT_UPLOAD_FORM_BYTES + 1), ERROR_TOO_LARGE);
}

static void an_upload_that_cannot_be_written_into_the_trail_leaves_nothing(void **state)
{
    struct scene scene = scene_new(state);
    files_break_audit(scene.keep);
    assert_non_null(receive(&scene, INTO FIELD("tags", "red") PART("a.txt", BYTES) END));
    assert_nothing_left(&scene);
}

static void without_a_database_no_bytes_stay(void **state)
{
    struct scene scene = scene_new(state);
    files_lose_database(scene.keep);
    expect_error(receive(&scene, INTO PART("a.txt", BYTES) END), ERROR_DATABASE_UNAVAILABLE);
    expect_error(upload_admit(&scene.keep->service, scene.keep->arena, &scene.caller, 500), ERROR_DATABASE_UNAVAILABLE);
    assert_int_equal(files_on_disk(scene.keep), 0);
}

static void a_name_loses_its_path_and_a_bad_one_is_named(void **state)
{
    static const struct {
        const char *raw, *name, *code;
    } table[] = {
        {"notes.txt", "notes.txt", NULL},
        {"C:\\My Files\\notes.txt", "notes.txt", NULL},
        {"../../etc/passwd", "passwd", NULL},
        {"", NULL, "format"},
        {"..", NULL, "format"},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct validation validation;
        validation_init(&validation, arena);
        const char *name = upload_validate_name(&validation, "name", table[i].raw);
        if (table[i].name != NULL)
            assert_string_equal(name, table[i].name);
        else
            files_expect_entry(validation.error, ERROR_REQUEST_INVALID, "name", table[i].code);
    }
    struct validation validation;
    validation_init(&validation, arena);
    char *longest = arena_alloc(arena, LIMIT_FILE_NAME_BYTES + 2);
    memset(longest, 'n', LIMIT_FILE_NAME_BYTES + 1);
    assert_null(upload_validate_name(&validation, "name", longest));
    files_expect_entry(validation.error, ERROR_REQUEST_INVALID, "name", "length");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_upload_is_stored_and_recorded_however_its_body_is_cut),
    HARNESS_TEST(every_fault_of_a_form_is_named_at_once),
    HARNESS_TEST(a_part_that_is_encoded_or_no_text_is_named),
    HARNESS_TEST(a_file_over_the_bound_is_refused_and_one_of_the_bound_is_not),
    HARNESS_TEST(more_files_than_an_upload_may_have_are_each_named),
    HARNESS_TEST(a_body_that_breaks_off_leaves_nothing),
    HARNESS_TEST(bytes_that_the_organisation_has_already_are_stored_once),
    HARNESS_TEST(bytes_that_have_changed_on_the_disk_are_not_shared),
    HARNESS_TEST(the_very_same_file_again_is_refused_with_the_id_of_the_first),
    HARNESS_TEST(a_quota_holds_to_the_byte_and_to_the_file),
    HARNESS_TEST(an_announced_length_is_checked_before_the_body),
    HARNESS_TEST(an_upload_that_cannot_be_written_into_the_trail_leaves_nothing),
    HARNESS_TEST(without_a_database_no_bytes_stay),
    HARNESS_TEST(a_name_loses_its_path_and_a_bad_one_is_named),
};
HARNESS_MODULE(upload, cases)
