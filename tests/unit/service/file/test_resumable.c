/* SPDX-License-Identifier: MIT */
/* Uploads that arrive in pieces, without a web server: what breaks off is kept, and whose writer has died goes on. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "domain/file/file_upload.h"
#include "http/fake_source.h"
#include "service/file/resumable.h"
#include "service/file/support_files.h"
#include "store/database/database.h"

#define MOST 4096
#define DAY 86400

struct scene {
    struct keep *keep;
    struct caller caller;
    struct file_upload *upload;
};

static struct error *create(struct scene *scene, int64_t length)
{
    struct resumable_order order = {length, "bucket ZmlsZXM=,type bWlzYw==,filename YS50eHQ=", NULL};
    return resumable_create(&scene->keep->service, scene->keep->arena, &scene->caller, &order, &scene->upload);
}

static struct scene scene_new(void **state, int64_t length)
{
    struct scene scene = {.keep = keep_new(harness_arena(state))};
    scene.keep->configuration.service.max_file_bytes = MOST;
    scene.keep->service.block = arena_alloc(scene.keep->arena, LIMIT_BLOB_BLOCK_BYTES);
    scene.caller = files_caller(scene.keep);
    expect_ok(create(&scene, length));
    return scene;
}

/* One piece, with an arena of its own as each request has one. Of one that breaks two more bytes were announced. */
static struct error *send(struct scene *scene, int64_t offset, struct fake_source source)
{
    struct arena *arena = scene->keep->scratch;
    const struct fake_parameter parameters[] = {
        {"REQUEST_METHOD", "PATCH"},
        {"REQUEST_URI", "/system/uploads/x"},
        {"CONTENT_LENGTH", arena_format(scene->keep->arena, "%zu", source.length + (source.breaks ? 2 : 0))},
        {NULL, NULL},
    };
    struct request request;
    struct file_upload *upload = NULL;
    struct file_record *record = NULL;
    source.parameters = parameters;
    struct request_source from = fake_request_source(&source);
    request_init(&request, arena, &from, "");
    struct resumable_piece piece = {
        .request = &request, .permission = "cus:file:w", .offset = offset, .length = FILE_UPLOAD_LENGTH_UNKNOWN};
    struct error *error =
        resumable_receive(&scene->keep->service, arena, &scene->caller, scene->upload->id, &piece, &upload, &record);
    assert_null(record);
    struct error *kept = error == NULL ? NULL : error_plain(scene->keep->arena, error->code);
    arena_reset(arena);
    return kept;
}

static struct error *send_text(struct scene *scene, int64_t offset, const char *text)
{
    return send(scene, offset, (struct fake_source){.body = text, .length = strlen(text)});
}

static int64_t column(struct scene *scene, const char *name)
{
    return sql_integer(scene->keep->service.database, scene->keep->arena, "SELECT %s FROM file_upload", name);
}

static void what_has_come_before_a_break_is_kept(void **state)
{
    struct scene scene = scene_new(state, 10);
    struct error *error = send(&scene, 0, (struct fake_source){.body = "seve", .length = 4, .breaks = true});
    assert_non_null(error);
    assert_int_equal(column(&scene, "received"), 4);
    expect_error(send_text(&scene, 0, "seve"), ERROR_UPLOAD_OFFSET);
    expect_ok(send_text(&scene, 4, "n b"));
    assert_int_equal(column(&scene, "received"), 7);
    expect_error(send_text(&scene, 7, "four"), ERROR_TOO_LARGE);
    assert_int_equal(column(&scene, "received"), 7);
}

static void an_upload_of_unknown_length_takes_its_room_as_it_comes(void **state)
{
    struct scene scene = scene_new(state, FILE_UPLOAD_LENGTH_UNKNOWN);
    assert_int_equal(column(&scene, "reserved"), 0);
    expect_ok(send_text(&scene, 0, "seven b"));
    assert_true(column(&scene, "reserved") >= 7);
    expect_error(send(&scene, 7, (struct fake_source){.body = arena_alloc(scene.keep->arena, MOST), .length = MOST}),
                 ERROR_TOO_LARGE);
    assert_int_equal(column(&scene, "received"), 7);
}

/* The lock on the bytes tells that the writer whose name is in the row has died. */
static void whose_writer_has_died_goes_on(void **state)
{
    struct scene scene = scene_new(state, 10);
    bool held = false;
    expect_ok(file_upload_hold(scene.keep->service.database, scene.keep->arena, scene.upload, id_new(), 600, &held));
    assert_true(held);
    expect_ok(send_text(&scene, 0, "seven b"));
    assert_int_equal(column(&scene, "received"), 7);
}

static const char *path_of_bytes(struct scene *scene)
{
    char hex[ID_HEX_BYTES];
    id_hex(scene->upload->id, hex);
    return keep_below(scene->keep, arena_format(scene->keep->arena, "partial/%s", hex));
}

/* As after a backup, which has the rows and not the bytes. */
static void an_upload_without_its_bytes_is_over(void **state)
{
    struct scene scene = scene_new(state, 10);
    expect_ok(send_text(&scene, 0, "seven b"));
    assert_int_equal(truncate(path_of_bytes(&scene), 3), 0);
    expect_error(send_text(&scene, 7, "ytes"), ERROR_UPLOAD_EXPIRED);
    assert_int_equal(unlink(path_of_bytes(&scene)), 0);
    expect_error(send_text(&scene, 7, "ytes"), ERROR_UPLOAD_EXPIRED);
    /* Nobody can tell whether another writer lives where there is nothing to lock. */
    bool held = false;
    expect_ok(file_upload_hold(scene.keep->service.database, scene.keep->arena, scene.upload, id_new(), 600, &held));
    assert_true(held);
    expect_error(send_text(&scene, 7, "ytes"), ERROR_UPLOAD_LOCKED);
    sql(scene.keep->service.database, scene.keep->arena, "UPDATE file_upload SET holder = NULL, held_until = NULL");
    expect_ok(resumable_terminate(&scene.keep->service, scene.keep->arena, &scene.caller, scene.upload->id));
    assert_int_equal(files_rows(scene.keep, "file_upload"), 0);
}

static void the_sweep_takes_old_bytes_without_a_row_and_no_others(void **state)
{
    struct scene scene = scene_new(state, 10);
    const char *known = path_of_bytes(&scene);
    uint64_t count = 0;
    expect_ok(create(&scene, 10));
    const char *old = path_of_bytes(&scene);
    expect_ok(create(&scene, 10));
    const char *young = path_of_bytes(&scene);
    sql(scene.keep->service.database, scene.keep->arena, "DELETE FROM file_upload ORDER BY id DESC LIMIT 2");
    keep_age_path(known, 2 * DAY);
    keep_age_path(old, 2 * DAY);
    expect_ok(resumable_expire(&scene.keep->service, scene.keep->arena, 10, &count));
    assert_int_equal(count, 0);
    assert_int_equal(access(known, F_OK) | access(young, F_OK), 0);
    assert_int_not_equal(access(old, F_OK), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_has_come_before_a_break_is_kept),
    HARNESS_TEST(an_upload_of_unknown_length_takes_its_room_as_it_comes),
    HARNESS_TEST(whose_writer_has_died_goes_on),
    HARNESS_TEST(an_upload_without_its_bytes_is_over),
    HARNESS_TEST(the_sweep_takes_old_bytes_without_a_row_and_no_others),
};
HARNESS_MODULE(resumable, cases)
