/* SPDX-License-Identifier: MIT */
/*
 * Each statement of fsck, scrub, purge and backup is refused once: bytes stay, what is told as done is done, and the
 * next run finishes.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "harness.h"
#include "service/integrity/fsck.h"
#include "service/integrity/scrub.h"
#include "service/maintenance/backup.h"
#include "service/maintenance/purge.h"
#include "service/support_maintenance.h"
#include "store/database/database.h"
#include "support_database.h"
#include "support_refusal.h"

#define DAY 86400
#define SECRET "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define STATEMENTS_MAX 500

/* A file that is good, one that is damaged before each run, and its twin of the same inode; and a backup of them. */
struct scene {
    struct keep *keep;
    struct file_record good, hurt, twin;
    const char *backups;
    struct id archived;
    struct arena *arena; /* of the run */
};

static struct scene *scene_of(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    struct keep *keep = keep_new(arena);
    const struct database_options options = support_database_options();
    keep->configuration.database.socket = options.socket;
    keep->configuration.database.user = "root";
    keep->configuration.database.admin_user = "root";
    keep->configuration.database.name = "gatehouse";
    keep->configuration.database.connect_timeout_seconds = KEEP_CONNECT_SECONDS;
    keep->configuration.database.query_timeout_seconds = KEEP_QUERY_SECONDS;
    keep->configuration.service.secret_file =
        harness_write(arena, harness_directory(arena), "secret", SECRET, strlen(SECRET));
    scene->keep = keep;
    scene->good = keep_file(keep, 500, 1, DAY);
    scene->hurt = keep_file(keep, 3000, 2, DAY);
    scene->twin = keep_file(keep, 3000, 2, DAY);
    assert_int_equal(unlink(keep_path(keep, scene->twin.id)), 0);
    assert_int_equal(link(keep_path(keep, scene->hurt.id), keep_path(keep, scene->twin.id)), 0);
    scene->backups = arena_format(arena, "%s/backups", harness_directory(arena));
    return scene;
}

static bool is_whole(const struct scene *scene, const struct file_record *record, unsigned seed)
{
    size_t length = 0;
    const char *path = keep_path(scene->keep, record->id);
    if (access(path, F_OK) != 0)
        return false;
    const char *bytes = harness_read(scene->arena, path, &length);
    return length == (size_t)record->size && memcmp(bytes, keep_bytes(scene->arena, length, seed), length) == 0;
}

/* Leases of a run that could not give them back end by themselves later; here they end at once. */
static void end_leases(struct scene *scene)
{
    sql(scene->keep->service.database, scene->arena, "UPDATE maintenance SET holder = NULL, held_until = NULL");
}

struct flow {
    void (*prepare)(struct scene *scene);
    struct error *(*run)(struct scene *scene);
    /* After each run, `error` is what it answered; and after the run that met no refusal. */
    void (*check)(struct scene *scene, const struct error *error);
};

/* How many statements were refused. */
static unsigned refuse_each(struct scene *scene, const struct flow *flow)
{
    for (unsigned nth = 1; nth < STATEMENTS_MAX; nth++) {
        scene->arena = arena_new();
        flow->prepare(scene);
        refusal_begin(nth);
        struct error *error = flow->run(scene);
        bool refused = refusal_end();
        assert_false(database_in_transaction(scene->keep->service.database));
        assert_true(is_whole(scene, &scene->good, 1));
        if (error != NULL)
            assert_true(refused && error->code == ERROR_INTERNAL && error->detail != NULL);
        flow->check(scene, error);
        end_leases(scene);
        if (refused) {
            expect_ok(flow->run(scene));
            flow->check(scene, NULL);
            end_leases(scene);
        }
        arena_free(&scene->arena);
        if (!refused)
            return nth - 1;
    }
    fail_msg("there is no end of statements");
    return 0;
}

/* ---- fsck ---------------------------------------------------------------------------------------- */

static struct error *back_up(struct scene *scene)
{
    struct backup_result result;
    const struct backup_options options = {
        .directory = scene->backups, .include_secret = true, .progress = &scene->keep->progress};
    return backup_run(&scene->keep->service, scene->arena, scene->keep->scratch, &options, &result);
}

/* Wrong bytes, bytes without a row, bytes whose removal was begun, and a wrong count. */
static void hurt_everything(struct scene *scene)
{
    struct keep *keep = scene->keep;
    if (is_whole(scene, &scene->hurt, 2))
        keep_flip(keep, scene->hurt.id, 77);
    if (is_whole(scene, &scene->twin, 2))
        assert_int_equal(unlink(keep_path(keep, scene->twin.id)), 0);
    (void)keep_orphan(keep, DAY);
    sql(keep->service.database, scene->arena, "INSERT INTO file_removal (file_id) VALUES (%s)",
        sql_id(scene->arena, keep_orphan(keep, DAY)));
    sql(keep->service.database, scene->arena, "UPDATE file_usage SET files = files + 5");
}

static struct error *repair(struct scene *scene)
{
    struct fsck_result result;
    const struct fsck_options options = {
        .repair = true, .from = scene->backups, .min_age_seconds = 3600, .progress = &scene->keep->progress};
    return fsck_run(&scene->keep->service, scene->arena, scene->keep->scratch, &options, &result);
}

static void everything_is_repaired(struct scene *scene, const struct error *error)
{
    if (error != NULL)
        return;
    assert_true(is_whole(scene, &scene->hurt, 2));
    assert_true(is_whole(scene, &scene->twin, 2));
    struct fsck_result result;
    const struct fsck_options options = {.min_age_seconds = 3600, .progress = &scene->keep->progress};
    end_leases(scene);
    expect_ok(fsck_run(&scene->keep->service, scene->arena, scene->keep->scratch, &options, &result));
    assert_int_equal(result.unrepaired, 0);
}

static void each_statement_of_a_repair_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    scene->arena = arena_new();
    expect_ok(back_up(scene));
    arena_free(&scene->arena);
    const struct flow flow = {hurt_everything, repair, everything_is_repaired};
    assert_true(refuse_each(scene, &flow) > 10);
}

static struct error *resume(struct scene *scene)
{
    struct fsck_result result;
    const struct fsck_options options = {.resume = true, .progress = &scene->keep->progress};
    return fsck_run(&scene->keep->service, scene->arena, scene->keep->scratch, &options, &result);
}

static void nothing_to_prepare(struct scene *scene)
{
    (void)scene;
}

static void nothing_to_check(struct scene *scene, const struct error *error)
{
    (void)scene;
    (void)error;
}

static void each_statement_of_a_run_that_goes_on_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    const struct flow flow = {nothing_to_prepare, resume, nothing_to_check};
    assert_true(refuse_each(scene, &flow) > 5);
}

/* ---- scrub --------------------------------------------------------------------------------------- */

static void hurt_some(struct scene *scene)
{
    /* The twin has the same bytes. */
    if (is_whole(scene, &scene->hurt, 2))
        keep_flip(scene->keep, scene->hurt.id, 77);
    sql(scene->keep->service.database, scene->arena, "UPDATE file SET damaged_at = NULL");
    sql(scene->keep->service.database, scene->arena, "DELETE FROM file_lost");
}

static struct error *scrub_all(struct scene *scene, const struct scrub_options *options)
{
    struct scrub *scrub = scrub_new(&scene->keep->service, options);
    enum scrub_state state = SCRUB_READING;
    struct error *error = NULL;
    for (int i = 0; i < 1000 && error == NULL && state != SCRUB_DONE; i++)
        error = scrub_step(scrub, clock_monotonic(), &state);
    if (error != NULL)
        error = error_new(scene->arena, error->code, "%s", error->detail);
    else
        assert_int_equal(state, SCRUB_DONE);
    scrub_free(&scrub);
    return error;
}

static struct error *scrub_everything(struct scene *scene)
{
    const struct scrub_options options = {.every_days = 7, .now = true, .patient = true};
    return scrub_all(scene, &options);
}

static void both_are_marked(struct scene *scene, const struct error *error)
{
    if (error == NULL)
        assert_int_equal(sql_integer(scene->keep->service.database, scene->arena,
                                     "SELECT COUNT(*) FROM file WHERE damaged_at IS NOT NULL"),
                         2);
}

static void each_statement_of_a_scrub_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    const struct flow flow = {hurt_some, scrub_everything, both_are_marked};
    assert_true(refuse_each(scene, &flow) > 10);
}

/* One is marked whose bytes are right again, one is lost whose bytes are there again. */
static void mark_both(struct scene *scene)
{
    struct database *database = scene->keep->service.database;
    sql(database, scene->arena, "UPDATE file SET damaged_at = UTC_TIMESTAMP(3) WHERE id = %s",
        sql_id(scene->arena, scene->hurt.id));
    sql(database, scene->arena, "DELETE FROM file_lost");
    sql(database, scene->arena, "INSERT INTO file_lost (file_id, found_at) VALUES (%s, UTC_TIMESTAMP(3))",
        sql_id(scene->arena, scene->twin.id));
}

static struct error *scrub_damaged(struct scene *scene)
{
    const struct scrub_options options = {.damaged = true, .patient = true};
    return scrub_all(scene, &options);
}

static void none_is_marked(struct scene *scene, const struct error *error)
{
    if (error == NULL)
        assert_int_equal(sql_integer(scene->keep->service.database, scene->arena,
                                     "SELECT COUNT(*) FROM file WHERE damaged_at IS NOT NULL") +
                             sql_integer(scene->keep->service.database, scene->arena, "SELECT COUNT(*) FROM file_lost"),
                         0);
}

static void each_statement_that_takes_a_mark_away_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    const struct flow flow = {mark_both, scrub_damaged, none_is_marked};
    assert_true(refuse_each(scene, &flow) > 5);
}

/* ---- purge --------------------------------------------------------------------------------------- */

static void archive_one(struct scene *scene)
{
    scene->archived = keep_file(scene->keep, 100, 9, 3 * DAY).id;
    keep_archive(scene->keep, scene->archived, 3 * DAY);
}

static struct error *purge(struct scene *scene)
{
    struct purge_result result;
    const struct purge_options options = {.before = clock_now() - INT64_C(1000) * DAY,
                                          .progress = &scene->keep->progress};
    return purge_files(&scene->keep->service, scene->arena, scene->keep->scratch, &options, &result);
}

/* Bytes go after their row, never before it. */
static void row_and_bytes_are_gone(struct scene *scene, const struct error *error)
{
    bool bytes = access(keep_path(scene->keep, scene->archived), F_OK) == 0;
    bool row = sql_integer(scene->keep->service.database, scene->arena, "SELECT COUNT(*) FROM file WHERE id = %s",
                           sql_id(scene->arena, scene->archived)) == 1;
    assert_true(bytes || !row);
    if (error == NULL)
        assert_false(bytes || row);
}

static void each_statement_of_a_purge_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    const struct flow flow = {archive_one, purge, row_and_bytes_are_gone};
    assert_true(refuse_each(scene, &flow) > 10);
}

static void note_removal(struct scene *scene)
{
    scene->archived = keep_orphan(scene->keep, DAY);
    sql(scene->keep->service.database, scene->arena, "INSERT INTO file_removal (file_id) VALUES (%s)",
        sql_id(scene->arena, scene->archived));
}

static struct error *finish(struct scene *scene)
{
    uint64_t count;
    return purge_finish(&scene->keep->service, scene->arena, &count);
}

static void each_statement_that_finishes_a_purge_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    const struct flow flow = {note_removal, finish, row_and_bytes_are_gone};
    assert_true(refuse_each(scene, &flow) > 3);
}

static struct error *purge_trail(struct scene *scene)
{
    struct purge_result result;
    const struct purge_options options = {.before = clock_now(), .progress = &scene->keep->progress};
    return purge_audit(&scene->keep->service, scene->arena, scene->keep->scratch, &options, &result);
}

static void each_statement_of_a_purge_of_the_trail_may_be_refused(void **state)
{
    struct scene *scene = scene_of(state);
    const struct flow flow = {nothing_to_prepare, purge_trail, nothing_to_check};
    assert_true(refuse_each(scene, &flow) >= 2);
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(each_statement_of_a_repair_may_be_refused),
    HARNESS_TEST(each_statement_of_a_run_that_goes_on_may_be_refused),
    HARNESS_TEST(each_statement_of_a_scrub_may_be_refused),
    HARNESS_TEST(each_statement_that_takes_a_mark_away_may_be_refused),
    HARNESS_TEST(each_statement_of_a_purge_may_be_refused),
    HARNESS_TEST(each_statement_that_finishes_a_purge_may_be_refused),
    HARNESS_TEST(each_statement_of_a_purge_of_the_trail_may_be_refused),
};
HARNESS_MODULE(maintenance_refusal, tests)
