/* SPDX-License-Identifier: MIT */
/* Moving blobs between the directory and an S3 store (tests/unit/blob/s3/s3_server.py), both ways. */
#include "service/maintenance/blob_move.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/open.h"
#include "harness.h"
#include "service/support_maintenance.h"
#include "store/script_server.h"
#include "support_refusal.h"

struct scene {
    struct keep *keep;
    const char *server; /* its directory */
    struct blob_store *s3;
    size_t lost;
};

static struct scene *scene_of(void **state)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    scene->keep = keep_new(arena);
    scene->server = harness_directory(arena);
    struct configuration *configuration = &scene->keep->configuration;
    const char *port = script_server_start(arena, "tests/unit/blob/s3/s3_server.py", scene->server, none);
    configuration->files.s3_endpoint = text_words(arena, arena_format(arena, "http://127.0.0.1:%s", port));
    configuration->files.s3_bucket = "bucket";
    configuration->files.s3_region = "us-east-1";
    configuration->files.s3_access_key = "key";
    configuration->files.s3_secret_key_file = harness_write(arena, harness_directory(arena), "secret", "secret", 6);
    configuration->files.s3_spool = harness_directory(arena);
    configuration->files.s3_timeout_seconds = 3;
    expect_ok(blob_open_kind(arena, configuration, BLOB_OPEN_S3, &scene->s3));
    return scene;
}

static void count_lost(void *context, struct id id, const char *why)
{
    struct scene *scene = context;
    (void)id;
    assert_string_equal(why, scene->lost == 0 ? "not there" : "not what was uploaded");
    scene->lost++;
}

static struct blob_move_result move(struct scene *scene, const char *to)
{
    struct blob_move_result result;
    const struct blob_move_options options = {
        .to = to, .progress = &scene->keep->progress, .lost = count_lost, .context = scene};
    expect_ok(blob_move_run(&scene->keep->service, scene->keep->arena, scene->keep->scratch, &options, &result));
    return result;
}

static bool holds(struct scene *scene, struct blob_store *store, struct id id, size_t length, unsigned seed)
{
    struct arena *arena = scene->keep->arena;
    struct blob_reader *reader;
    size_t got = 0;
    if (blob_open(store, arena, id, &reader) != NULL)
        return false;
    unsigned char *bytes = arena_alloc(arena, length + 1);
    expect_ok(blob_read(reader, 0, bytes, length + 1, &got));
    blob_close(reader);
    return got == length && memcmp(bytes, keep_bytes(arena, length, seed), length) == 0;
}

static void files_go_to_the_store_and_back(void **state)
{
    enum { FILES = 5 };
    struct scene *scene = scene_of(state);
    struct keep *keep = scene->keep;
    struct id ids[FILES];
    for (unsigned i = 0; i < FILES; i++)
        ids[i] = keep_file(keep, 1000 + 100000 * i, i, 10).id;
    struct blob_move_result result = move(scene, BLOB_OPEN_S3);
    assert_int_equal(result.files, FILES);
    assert_int_equal(result.copied, FILES);
    for (unsigned i = 0; i < FILES; i++) {
        assert_true(holds(scene, scene->s3, ids[i], 1000 + 100000 * i, i));
        assert_true(holds(scene, keep->service.blobs, ids[i], 1000 + 100000 * i, i));
        assert_int_equal(unlink(keep_path(keep, ids[i])), 0);
    }
    result = move(scene, BLOB_OPEN_DIRECTORY);
    assert_int_equal(result.copied, FILES);
    for (unsigned i = 0; i < FILES; i++)
        assert_true(holds(scene, keep->service.blobs, ids[i], 1000 + 100000 * i, i));
    assert_int_equal(move(scene, BLOB_OPEN_DIRECTORY).copied, 0);
    assert_int_equal(move(scene, BLOB_OPEN_S3).copied, 0);
}

static void what_is_there_is_compared_and_what_is_wrong_is_replaced(void **state)
{
    struct scene *scene = scene_of(state);
    struct keep *keep = scene->keep;
    struct id id = keep_file(keep, 5000, 1, 10).id;
    assert_int_equal(move(scene, BLOB_OPEN_S3).copied, 1);
    keep_flip(keep, id, 777);
    /* The right bytes come back from the store, and the wrong ones lie in the quarantine. */
    assert_int_equal(move(scene, BLOB_OPEN_DIRECTORY).copied, 1);
    assert_true(holds(scene, keep->service.blobs, id, 5000, 1));
    const char *aside = arena_format(keep->arena, "quarantine/%s", strchr(blob_path(keep->arena, id), '/') + 1);
    assert_int_equal(access(keep_below(keep, aside), F_OK), 0);
}

static void lost_bytes_are_told_and_the_rest_is_copied(void **state)
{
    struct scene *scene = scene_of(state);
    struct keep *keep = scene->keep;
    struct id gone = keep_file(keep, 100, 1, 10).id;
    struct id wrong = keep_file(keep, 200, 2, 10).id;
    struct id good = keep_file(keep, 300, 3, 10).id;
    assert_int_equal(unlink(keep_path(keep, gone)), 0);
    keep_flip(keep, wrong, 9);
    struct blob_move_result result = move(scene, BLOB_OPEN_S3);
    assert_int_equal(result.lost, 2);
    assert_int_equal(result.copied, 1);
    assert_int_equal(scene->lost, 2);
    assert_true(holds(scene, scene->s3, good, 300, 3));
    assert_false(holds(scene, scene->s3, wrong, 200, 2));
}

static bool ends(void *context)
{
    return --*(int *)context <= 0;
}

static void an_interrupted_run_is_gone_on_with(void **state)
{
    struct scene *scene = scene_of(state);
    struct keep *keep = scene->keep;
    for (unsigned i = 0; i < 6; i++)
        (void)keep_file(keep, 1000, i, 10);
    int left = 5;
    int64_t copied = 0;
    struct blob_move_result result = {.interrupted = true};
    for (int run = 0; result.interrupted && run < 20; run++) {
        keep->progress = (struct progress){.ending = ends, .context = &left};
        result = move(scene, BLOB_OPEN_S3);
        copied += result.copied;
        left = 5 + 5 * run;
    }
    assert_false(result.interrupted);
    assert_int_equal(result.files, 6);
    assert_int_equal(copied, 6);
}

static void a_store_that_does_not_answer_ends_the_run(void **state)
{
    struct scene *scene = scene_of(state);
    struct keep *keep = scene->keep;
    struct blob_move_result result;
    const struct blob_move_options options = {.to = BLOB_OPEN_S3, .progress = &keep->progress};
    (void)keep_file(keep, 100, 1, 10);
    (void)harness_write(keep->arena, scene->server, "script", "PUT error 403 AccessDenied\n", 27);
    struct error *error = blob_move_run(&keep->service, keep->arena, keep->scratch, &options, &result);
    assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
    assert_non_null(strstr(error->detail, "does not allow to store an object"));
    assert_int_equal(result.copied, 0);
    assert_int_equal(move(scene, BLOB_OPEN_S3).copied, 1);
}

/* One is in the other store, one is another one there, one is not there, and the bytes of one are lost. */
static void each_statement_may_be_refused_and_the_next_run_finishes(void **state)
{
    struct scene *scene = scene_of(state);
    struct keep *keep = scene->keep;
    struct blob_move_result result;
    const struct blob_move_options options = {.to = BLOB_OPEN_DIRECTORY, .progress = &keep->progress};
    struct id ids[3];
    for (unsigned i = 0; i < 3; i++)
        ids[i] = keep_file(keep, 1000, i, 10).id;
    struct id lost = keep_file(keep, 100, 9, 10).id;
    assert_int_equal(unlink(keep_path(keep, lost)), 0);
    assert_int_equal(move(scene, BLOB_OPEN_S3).lost, 1);
    bool refused = true;
    for (unsigned nth = 1; refused; nth++) {
        keep_flip(keep, ids[1], 5);
        assert_int_equal(unlink(keep_path(keep, ids[2])), 0);
        refusal_begin(nth);
        struct error *error = blob_move_run(&keep->service, keep->arena, keep->scratch, &options, &result);
        refused = refusal_end();
        if (error != NULL)
            assert_true(refused && error->code == ERROR_INTERNAL);
        sql(keep->service.database, keep->arena, "UPDATE maintenance SET holder = NULL, held_until = NULL");
        expect_ok(blob_move_run(&keep->service, keep->arena, keep->scratch, &options, &result));
        assert_int_equal(result.files, 3);
        assert_int_equal(result.lost, 1);
        for (unsigned i = 0; i < 3; i++) {
            assert_true(holds(scene, keep->service.blobs, ids[i], 1000, i));
            assert_true(holds(scene, scene->s3, ids[i], 1000, i));
        }
        assert_true(nth < 100);
    }
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(each_statement_may_be_refused_and_the_next_run_finishes),
    HARNESS_TEST(files_go_to_the_store_and_back),
    HARNESS_TEST(what_is_there_is_compared_and_what_is_wrong_is_replaced),
    HARNESS_TEST(lost_bytes_are_told_and_the_rest_is_copied),
    HARNESS_TEST(an_interrupted_run_is_gone_on_with),
    HARNESS_TEST(a_store_that_does_not_answer_ends_the_run),
};
HARNESS_MODULE(blob_move, tests)
