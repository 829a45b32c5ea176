/* SPDX-License-Identifier: MIT */
/* Archiving and restoring several files: all of them with their rows of the trail, or none. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "service/file/file_bulk.h"
#include "service/file/support_files.h"
#include "support_database.h"

#define FILES 4

struct scene {
    struct keep *keep;
    struct caller caller;
    struct id ids[FILES]; /* not in the order of their making */
    struct file_record files[FILES];
    struct file_record **changed;
};

static struct scene scene_new(void **state)
{
    struct scene scene = {.keep = keep_new(harness_arena(state))};
    scene.caller = files_caller(scene.keep);
    for (size_t i = 0; i < FILES; i++) {
        size_t place = (i + 2) % FILES;
        scene.files[place] =
            given_file(scene.keep->service.database, scene.keep->arena, scene.keep->organisation, scene.keep->user);
        scene.ids[place] = scene.files[place].id;
    }
    return scene;
}

static struct error *change(struct scene *scene, enum file_bulk_change change, size_t count)
{
    return file_bulk_change(&scene->keep->service, scene->keep->arena, &scene->caller, change,
                            scene->keep->organisation, scene->ids, count, &scene->changed);
}

static int64_t active(struct scene *scene)
{
    return sql_integer(scene->keep->service.database, scene->keep->arena,
                       "SELECT COUNT(*) FROM file WHERE status = 'active'");
}

static void all_are_changed_in_the_order_asked_and_the_trail_tells_each(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(change(&scene, FILE_BULK_ARCHIVE, FILES));
    assert_int_equal(active(&scene), 0);
    for (size_t i = 0; i < FILES; i++) {
        assert_true(id_equal(scene.changed[i]->id, scene.ids[i]));
        assert_int_equal(scene.changed[i]->status, FILE_ARCHIVED);
    }
    assert_int_equal(files_rows(scene.keep, "audit"), FILES);
    expect_ok(change(&scene, FILE_BULK_RESTORE, FILES));
    assert_int_equal(active(&scene), FILES);
    assert_null(scene.changed[0]->archived_at);
    assert_int_equal(files_rows(scene.keep, "audit"), 2 * FILES);
}

static void every_file_in_the_wrong_state_is_named_and_none_changes(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(change(&scene, FILE_BULK_ARCHIVE, 2));
    struct error *error = change(&scene, FILE_BULK_ARCHIVE, FILES);
    files_expect_entry(error, ERROR_FILE_ARCHIVED, "ids[0]", "state");
    files_expect_entry(error, ERROR_FILE_ARCHIVED, "ids[1]", "state");
    assert_int_equal(error->entry_count, 2);
    error = change(&scene, FILE_BULK_RESTORE, FILES);
    files_expect_entry(error, ERROR_FILE_ACTIVE, "ids[3]", "state");
    assert_int_equal(error->entry_count, 2);
    assert_int_equal(active(&scene), 2);
    assert_int_equal(files_rows(scene.keep, "audit"), 2);
}

static void unknown_and_foreign_files_are_one_answer(void **state)
{
    struct scene scene = scene_new(state);
    struct database *database = scene.keep->service.database;
    scene.ids[1] = id_new();
    scene.ids[2] =
        given_file(database, scene.keep->arena, given_organisation(database, scene.keep->arena), id_new()).id;
    struct error *error = change(&scene, FILE_BULK_ARCHIVE, FILES);
    files_expect_entry(error, ERROR_FILE_UNKNOWN, "ids[1]", "unknown");
    files_expect_entry(error, ERROR_FILE_UNKNOWN, "ids[2]", "unknown");
    assert_int_equal(error->entry_count, 2);
    assert_string_equal(error->entries->message, error->entries->next->message);
    assert_int_equal(active(&scene), FILES + 1);
    assert_int_equal(files_rows(scene.keep, "audit"), 0);
}

static void a_restore_that_would_make_two_of_one_file_names_the_other(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    expect_ok(change(&scene, FILE_BULK_ARCHIVE, FILES));
    struct file_record again = scene.files[2];
    again.id = id_new();
    assert_false(insert_file(scene.keep->service.database, arena, &again));
    struct error *error = change(&scene, FILE_BULK_RESTORE, FILES);
    files_expect_entry(error, ERROR_FILE_DUPLICATE, "ids[2]", "duplicate");
    assert_string_equal(files_member(error, "id"), id_text(arena, again.id));
    assert_int_equal(active(&scene), 1);
}

static void of_two_of_one_file_that_are_restored_together_the_second_is_in_the_way(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    expect_ok(change(&scene, FILE_BULK_ARCHIVE, FILES));
    struct file_record again = scene.files[0];
    enum file_outcome outcome;
    again.id = id_new();
    assert_false(insert_file(scene.keep->service.database, arena, &again));
    expect_ok(file_archive(scene.keep->service.database, arena, scene.keep->organisation, again.id, &outcome));
    scene.ids[3] = again.id;
    struct error *error = change(&scene, FILE_BULK_RESTORE, FILES);
    files_expect_entry(error, ERROR_FILE_DUPLICATE, "ids[3]", "duplicate");
    assert_string_equal(files_member(error, "id"), id_text(arena, scene.ids[0]));
    assert_int_equal(active(&scene), 0);
}

static void internal_staff_reach_other_organisations_and_the_trail_tells_each_crossing(void **state)
{
    struct scene scene = scene_new(state);
    struct database *database = scene.keep->service.database;
    scene.ids[1] =
        given_file(database, scene.keep->arena, given_organisation(database, scene.keep->arena), id_new()).id;
    expect_ok(file_bulk_change(&scene.keep->service, scene.keep->arena, &scene.caller, FILE_BULK_ARCHIVE,
                               (struct id){{0}}, scene.ids, FILES, &scene.changed));
    assert_int_equal(sql_integer(database, scene.keep->arena,
                                 "SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation'"),
                     1);
    assert_int_equal(files_rows(scene.keep, "audit"), FILES + 1);
}

static void changes_that_cannot_be_written_into_the_trail_are_not_made(void **state)
{
    struct scene scene = scene_new(state);
    files_break_audit(scene.keep);
    assert_non_null(change(&scene, FILE_BULK_ARCHIVE, FILES));
    assert_int_equal(active(&scene), FILES);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(all_are_changed_in_the_order_asked_and_the_trail_tells_each),
    HARNESS_TEST(every_file_in_the_wrong_state_is_named_and_none_changes),
    HARNESS_TEST(unknown_and_foreign_files_are_one_answer),
    HARNESS_TEST(a_restore_that_would_make_two_of_one_file_names_the_other),
    HARNESS_TEST(of_two_of_one_file_that_are_restored_together_the_second_is_in_the_way),
    HARNESS_TEST(internal_staff_reach_other_organisations_and_the_trail_tells_each_crossing),
    HARNESS_TEST(changes_that_cannot_be_written_into_the_trail_are_not_made),
};
HARNESS_MODULE(file_bulk, cases)
