/* SPDX-License-Identifier: MIT */
/* Manifests, lists and folders of backups that are not what they should be: nothing of them is believed. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/support.h"
#include "harness.h"
#include "service/backup_int.h"
#include "support_database.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID "0192f0a17b3c7def8123456789abcdef"

static const char text[] = "{\"format\": 1, \"id\": \"a\", \"createdAt\": \"b\", \"migration\": \"c\", \"rows\": 1,"
                           " \"rowsHash\": \"d\", \"files\": 2, \"bytes\": 3, \"lost\": 4, \"filesHash\": \"e\","
                           " \"secretFingerprint\": \"f\", \"secretIncluded\": true}";

/* What is wrong with a manifest of this text; NULL: nothing. */
static const char *fault_of(struct arena *arena, const char *manifest, size_t length)
{
    struct backup_manifest read;
    const char *directory = harness_directory(arena);
    const char *path = harness_write(arena, directory, BACKUP_MANIFEST, manifest, length);
    struct error *error = backup_manifest_read(arena, directory, &read);
    if (error == NULL)
        return NULL;
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_non_null(strstr(error->message, path));
    return error->message;
}

static void a_manifest_is_read_as_it_was_written(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const struct backup_manifest written = {.id = "an \"id\"",
                                            .created_at = "2026-11-21T08:52:00Z",
                                            .migration = "029-file-lost.sql",
                                            .rows_hash = HASH,
                                            .rows = 12,
                                            .list_hash = HASH,
                                            .files = 3,
                                            .bytes = INT64_C(5000000000),
                                            .lost = 1,
                                            .secret = HASH,
                                            .secret_included = true};
    struct backup_manifest read;
    expect_ok(backup_manifest_write(arena, directory, &written));
    expect_ok(backup_manifest_read(arena, directory, &read));
    assert_string_equal(read.id, written.id);
    assert_string_equal(read.migration, written.migration);
    assert_true(read.rows == 12 && read.files == 3 && read.bytes == written.bytes && read.lost == 1);
    assert_true(read.secret_included);
    assert_int_equal(backup_manifest_write(arena, "/nowhere/at/all", &written)->code, ERROR_INTERNAL);
}

static void each_member_is_needed(void **state)
{
    static const char *const members[] = {
        "id",    "createdAt", "migration", "rows",   "rowsHash",          "files",
        "bytes", "lost",      "filesHash", "format", "secretFingerprint", "secretIncluded"};
    struct arena *arena = harness_arena(state);
    assert_null(fault_of(arena, text, sizeof text - 1));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char *without = arena_text(arena, text);
        char *name = strstr(without, arena_format(arena, "\"%s\"", members[i]));
        name[1] = 'X';
        assert_non_null(fault_of(arena, without, strlen(without)));
    }
}

static void a_manifest_that_is_cut_off_is_refused_wherever_it_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t length = 0; length < sizeof text - 1; length += 7)
        assert_non_null(strstr(fault_of(arena, text, length), "it is not JSON"));
}

static void foreign_manifests_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char newer[] = "{\"format\": 2}", other[] = "{\"format\": \"tar\"}", list[] = "[]";
    assert_non_null(strstr(fault_of(arena, newer, sizeof newer - 1), "its format is another one"));
    assert_non_null(strstr(fault_of(arena, other, sizeof other - 1), "its format is another one"));
    assert_non_null(strstr(fault_of(arena, list, sizeof list - 1), "its format is another one"));
    struct backup_manifest read;
    const char *directory = harness_directory(arena);
    struct error *error = backup_manifest_read(arena, directory, &read);
    assert_non_null(strstr(error->message, "cannot be read"));
    /* A folder in its place. */
    assert_int_equal(mkdir(arena_format(arena, "%s/" BACKUP_MANIFEST, directory), 0700), 0);
    error = backup_manifest_read(arena, directory, &read);
    assert_non_null(strstr(error->message, "cannot be read"));
}

static void lines_that_are_malformed_are_refused(void **state)
{
    static const char *const lines[] = {
        ID " " HASH " 12",                                /* cut off */
        ID " " HASH "\n",                                 /* no size */
        ID " " HASH " 1 2\n",                             /* a word too many */
        "x192f0a17b3c7def8123456789abcdef " HASH " 12\n", /* no id */
        "0192f0a17b3c7def8123456789abcd " HASH " 12\n",   /* a short one */
        ID " x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef 12\n",
        ID " 0123456789abcdef 12\n",
        ID " " HASH " -1\n",
        ID " " HASH " twelve\n",
    };
    struct arena *arena = harness_arena(state);
    struct backup_item item;
    bool more;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        FILE *list = fmemopen(arena_text(arena, lines[i]), strlen(lines[i]), "r");
        struct error *error = backup_item_read(arena, list, &item, &more);
        (void)fclose(list);
        assert_non_null(error);
        assert_string_equal(error->message, "A line of " BACKUP_LIST " cannot be understood.");
    }
    FILE *list = fopen(harness_directory(arena), "re");
    assert_non_null(list);
    assert_non_null(strstr(backup_item_read(arena, list, &item, &more)->message, "cannot be read"));
    (void)fclose(list);
}

static void a_list_that_cannot_be_read_lists_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct backup_item item = {.size = 12};
    bool listed = false;
    for (size_t i = 0; i < ID_BYTES; i++)
        item.id.bytes[i] = (unsigned char)i;
    const char *line = backup_item_line(arena, &item);
    const char *path = harness_write(arena, harness_directory(arena), BACKUP_LIST, line, strlen(line));
    int list = open(path, O_RDONLY | O_CLOEXEC);
    expect_ok(backup_listed(arena, list, item.id, &listed));
    assert_true(listed);
    (void)close(list);
    list = open(path, O_WRONLY | O_CLOEXEC);
    struct error *error = backup_listed(arena, list, item.id, &listed);
    (void)close(list);
    assert_non_null(strstr(error->message, BACKUP_LIST " cannot be read"));
    assert_false(listed);
}

static void hashes_are_of_files(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *hash = NULL;
    assert_non_null(strstr(backup_hash_file(arena, directory, &hash)->message, "cannot be read"));
    assert_non_null(strstr(backup_hash_file(arena, "/nowhere/at/all", &hash)->message, "cannot be read"));
    assert_null(hash);
}

static void a_secret_is_known_by_each_of_its_keys(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *old = harness_write(arena, directory, "old", HASH "\n", sizeof HASH);
    const char *both = harness_write(arena, directory, "both", ID ID "\n" HASH "\n", 2 * sizeof HASH);
    const char *fingerprint;
    bool has = false;
    expect_ok(backup_fingerprint(arena, old, &fingerprint));
    expect_ok(backup_secret_has(arena, both, fingerprint, &has));
    assert_true(has);
    expect_ok(backup_fingerprint(arena, both, &fingerprint));
    expect_ok(backup_secret_has(arena, old, fingerprint, &has));
    assert_false(has);
    assert_non_null(backup_fingerprint(arena, "/nowhere/at/all", &fingerprint));
    assert_non_null(backup_secret_has(arena, "/nowhere/at/all", fingerprint, &has));
}

/* An empty folder below `directory`, with or without a manifest. */
static void make_backup(struct arena *arena, const char *directory, const char *name, bool complete)
{
    const char *path = arena_format(arena, "%s/%s", directory, name);
    assert_int_equal(mkdir(path, 0700), 0);
    if (complete)
        (void)harness_write(arena, path, BACKUP_MANIFEST, text, sizeof text - 1);
}

static void the_newest_complete_backup_is_found_among_other_things(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *name = "untouched";
    expect_ok(backup_newest(arena, directory, &name));
    assert_null(name);
    make_backup(arena, directory, "2026-01-02", true);
    make_backup(arena, directory, "2026-01-01", true);
    make_backup(arena, directory, "2026-01-03", false);
    make_backup(arena, directory, "2026-01-04" BACKUP_PARTIAL, true);
    make_backup(arena, directory, "notes", true);
    make_backup(arena, directory, "9", false);
    (void)harness_write(arena, directory, "2026-01-05", "a file", 6);
    expect_ok(backup_newest(arena, directory, &name));
    assert_string_equal(name, "2026-01-02");
    expect_ok(backup_partial(arena, directory, &name));
    assert_string_equal(name, "2026-01-04" BACKUP_PARTIAL);
    const char *path;
    assert_non_null(strstr(backup_find(arena, "/nowhere/at/all", &path)->message, "cannot be read"));
    expect_ok(backup_find(arena, arena_format(arena, "%s/2026-01-01", directory), &path));
    assert_string_equal(path, arena_format(arena, "%s/2026-01-01", directory));
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(a_manifest_is_read_as_it_was_written),
    HARNESS_TEST(each_member_is_needed),
    HARNESS_TEST(a_manifest_that_is_cut_off_is_refused_wherever_it_ends),
    HARNESS_TEST(foreign_manifests_are_refused),
    HARNESS_TEST(lines_that_are_malformed_are_refused),
    HARNESS_TEST(a_list_that_cannot_be_read_lists_nothing),
    HARNESS_TEST(hashes_are_of_files),
    HARNESS_TEST(a_secret_is_known_by_each_of_its_keys),
    HARNESS_TEST(the_newest_complete_backup_is_found_among_other_things),
};
HARNESS_MODULE(backup_manifest, tests)
