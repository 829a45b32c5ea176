/* SPDX-License-Identifier: MIT */
/* Archiving, restoring and renaming files: each change is whole and in the audit trail, or nothing changes. */
#include "harness.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "service/file/file_update.h"
#include "service/file/support_files.h"

#define SIZE 900

struct scene {
    struct keep *keep;
    struct caller caller;
    struct file_record file;
    struct file_record *changed;
};

static struct scene scene_new(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record file = keep_file(keep, SIZE, 1, 0);
    return (struct scene){.keep = keep, .caller = files_caller(keep), .file = file};
}

static struct error *archive(struct scene *scene)
{
    return file_update_archive(&scene->keep->service, scene->keep->arena, &scene->caller, &scene->file,
                               &scene->changed);
}

static struct error *restore(struct scene *scene, const struct file_record *file)
{
    return file_update_restore(&scene->keep->service, scene->keep->arena, &scene->caller, file, &scene->changed);
}

static struct error *patch(struct scene *scene, const char *name, const struct text_list *tags)
{
    struct file_patch patch = {.name = name, .tags = tags};
    return file_update_attributes(&scene->keep->service, scene->keep->arena, &scene->caller, &scene->file, &patch,
                                  &scene->changed);
}

/* The row as it is: status, name, and how many tags. */
static const char *row(struct scene *scene)
{
    struct arena *arena = scene->keep->arena;
    return sql_text(
        scene->keep->service.database, arena,
        "SELECT CONCAT(status, ' ', name, ' ', (SELECT COUNT(*) FROM file_tag WHERE file_id = file.id)) FROM file"
        " WHERE id = %s",
        sql_id(arena, scene->file.id));
}

static const char *trail(struct scene *scene)
{
    return sql_text(scene->keep->service.database, scene->keep->arena,
                    "SELECT GROUP_CONCAT(action, ' ', outcome ORDER BY id SEPARATOR ', ') FROM audit");
}

static void a_file_is_archived_once_and_restored_once(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(archive(&scene));
    assert_int_equal(scene.changed->status, FILE_ARCHIVED);
    assert_non_null(scene.changed->archived_at);
    expect_error(archive(&scene), ERROR_FILE_ARCHIVED);
    expect_ok(restore(&scene, &scene.file));
    assert_int_equal(scene.changed->status, FILE_ACTIVE);
    assert_null(scene.changed->archived_at);
    expect_error(restore(&scene, &scene.file), ERROR_FILE_ACTIVE);
    assert_string_equal(trail(&scene), "file.archive success, file.restore success");
}

static void a_patch_sets_what_it_names_and_the_trail_tells_from_what(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    struct text_list tags = TEXTS(arena, "blue \"sky\"");
    expect_ok(patch(&scene, "new.pdf", NULL));
    assert_string_equal(scene.changed->name, "new.pdf");
    assert_int_equal(scene.changed->tags.count, 2);
    expect_ok(patch(&scene, NULL, &tags));
    assert_string_equal(scene.changed->name, "new.pdf");
    assert_int_equal(scene.changed->tags.count, 1);
    assert_string_equal(scene.changed->tags.items[0], "blue \"sky\"");
    assert_string_equal(sql_text(scene.keep->service.database, arena, "SELECT details FROM audit ORDER BY id LIMIT 1"),
                        arena_format(arena, "{\"from\":\"%s\",\"name\":\"new.pdf\"}", scene.file.name));
    assert_string_equal(
        sql_text(scene.keep->service.database, arena, "SELECT details FROM audit ORDER BY id DESC LIMIT 1"),
        "{\"tags\":[\"blue \\\"sky\\\"\"]}");
}

static void an_archived_file_is_not_patched(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(archive(&scene));
    const char *before = row(&scene);
    expect_error(patch(&scene, "new.pdf", NULL), ERROR_FILE_ARCHIVED);
    assert_string_equal(row(&scene), before);
}

static void a_file_that_is_gone_or_another_organisation_s_is_unknown(void **state)
{
    struct scene scene = scene_new(state);
    const char *before = row(&scene);
    struct file_record mine = scene.file;
    scene.file.organisation_id = caller_home(&(struct caller){.principal = files_stranger(scene.keep).principal});
    files_expect_entry(archive(&scene), ERROR_FILE_UNKNOWN, "id", "unknown");
    files_expect_entry(patch(&scene, "new.pdf", NULL), ERROR_FILE_UNKNOWN, "id", "unknown");
    scene.file = mine;
    assert_string_equal(row(&scene), before);
    scene.file.id = id_new();
    files_expect_entry(restore(&scene, &scene.file), ERROR_FILE_UNKNOWN, "id", "unknown");
    assert_int_equal(files_rows(scene.keep, "audit"), 0);
}

/* A second active file with the same bytes under the name. */
static struct file_record twin(struct scene *scene, const char *name)
{
    struct file_record record = scene->file;
    record.id = id_new();
    record.name = name;
    assert_false(insert_file(scene->keep->service.database, scene->keep->arena, &record));
    return record;
}

static void a_change_that_would_make_two_of_one_file_names_the_other(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    struct file_record other = twin(&scene, "taken.pdf");
    const char *before = row(&scene);
    struct error *error = patch(&scene, "taken.pdf", NULL);
    expect_error(error, ERROR_FILE_DUPLICATE);
    assert_string_equal(files_member(error, "id"), id_text(arena, other.id));
    assert_string_equal(row(&scene), before);
    expect_ok(archive(&scene));
    struct file_record again = twin(&scene, scene.file.name);
    error = restore(&scene, &scene.file);
    expect_error(error, ERROR_FILE_DUPLICATE);
    assert_string_equal(files_member(error, "id"), id_text(arena, again.id));
    assert_string_equal(trail(&scene), "file.archive success");
}

static void a_name_that_stands_for_another_kind_of_file_is_refused(void **state)
{
    struct scene scene = scene_new(state);
    const char *before = row(&scene);
    files_expect_entry(patch(&scene, "picture.png", NULL), ERROR_REQUEST_INVALID, "name", "mismatch");
    assert_string_equal(row(&scene), before);
    assert_int_equal(unlink(keep_path(scene.keep, scene.file.id)), 0);
    expect_ok(patch(&scene, "the bytes are not asked.pdf", NULL));
}

static void write_bytes(struct scene *scene, const char *text)
{
    FILE *file = fopen(keep_path(scene->keep, scene->file.id), "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The bytes themselves are asked: what a browser shows as text must be some. */
static void bytes_without_a_type_are_named_as_text_where_they_are_text(void **state)
{
    struct scene scene = scene_new(state);
    scene.file.content_type = "application/octet-stream";
    const char *before = row(&scene);
    files_expect_entry(patch(&scene, "notes.txt", NULL), ERROR_REQUEST_INVALID, "name", "mismatch");
    write_bytes(&scene, "");
    files_expect_entry(patch(&scene, "notes.txt", NULL), ERROR_REQUEST_INVALID, "name", "mismatch");
    assert_int_equal(unlink(keep_path(scene.keep, scene.file.id)), 0);
    expect_error(patch(&scene, "notes.txt", NULL), ERROR_STORAGE_UNAVAILABLE);
    assert_string_equal(row(&scene), before);
    write_bytes(&scene, "a line of text\n");
    expect_ok(patch(&scene, "notes.txt", NULL));
    assert_string_equal(scene.changed->name, "notes.txt");
}

static void a_change_that_cannot_be_written_into_the_trail_is_not_made(void **state)
{
    struct scene scene = scene_new(state);
    const char *before = row(&scene);
    files_break_audit(scene.keep);
    assert_non_null(archive(&scene));
    assert_non_null(patch(&scene, "new.pdf", NULL));
    assert_string_equal(row(&scene), before);
    assert_int_equal(files_rows(scene.keep, "audit"), 0);
}

static void without_a_database_the_change_is_refused_as_that(void **state)
{
    struct scene scene = scene_new(state);
    files_lose_database(scene.keep);
    expect_error(archive(&scene), ERROR_DATABASE_UNAVAILABLE);
    expect_error(patch(&scene, "new.pdf", NULL), ERROR_DATABASE_UNAVAILABLE);
    assert_null(scene.changed);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_file_is_archived_once_and_restored_once),
    HARNESS_TEST(a_patch_sets_what_it_names_and_the_trail_tells_from_what),
    HARNESS_TEST(an_archived_file_is_not_patched),
    HARNESS_TEST(a_file_that_is_gone_or_another_organisation_s_is_unknown),
    HARNESS_TEST(a_change_that_would_make_two_of_one_file_names_the_other),
    HARNESS_TEST(a_name_that_stands_for_another_kind_of_file_is_refused),
    HARNESS_TEST(bytes_without_a_type_are_named_as_text_where_they_are_text),
    HARNESS_TEST(a_change_that_cannot_be_written_into_the_trail_is_not_made),
    HARNESS_TEST(without_a_database_the_change_is_refused_as_that),
};
HARNESS_MODULE(file_update, cases)
