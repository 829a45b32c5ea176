/* SPDX-License-Identifier: MIT */
/* File records: added, found, listed, changed, archived, inside one organisation. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/file/file.h"
#include "domain/support.h"
#include "support_database.h"

static struct file_record *find(struct database *database, struct arena *arena, struct id organisation, struct id id)
{
    struct file_record *found;
    expect_ok(file_find(database, arena, organisation, id, &found));
    return found;
}

static enum file_outcome archive(struct database *database, struct arena *arena, const struct file_record *file)
{
    enum file_outcome outcome;
    expect_ok(file_archive(database, arena, file->organisation_id, file->id, &outcome));
    return outcome;
}

static enum file_outcome restore(struct database *database, struct arena *arena, const struct file_record *file)
{
    enum file_outcome outcome;
    expect_ok(file_restore(database, arena, file->organisation_id, file->id, &outcome));
    return outcome;
}

/* A copy of the record under another id. */
static struct file_record copy_of(const struct file_record *record)
{
    struct file_record copy = *record;
    copy.id = id_new();
    return copy;
}

static void what_is_inserted_is_found(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record record = a_file(arena, organisation, id_new());
    record.name = "Lieferschein № 7 \"süß\" 🚚.pdf";
    record.tags = TEXTS(arena, "eins zwei", "Eins zwei", "a,b", "%");
    assert_false(insert_file(database, arena, &record));
    struct file_record *found = find(database, arena, organisation, record.id);
    assert_non_null(found);
    assert_true(id_equal(found->organisation_id, organisation));
    assert_true(id_equal(found->user_id, record.user_id));
    assert_string_equal(found->bucket, record.bucket);
    assert_string_equal(found->type, record.type);
    assert_string_equal(found->name, record.name);
    assert_memory_equal(found->hash, record.hash, FILE_HASH_BYTES);
    assert_int_equal(found->size, INT64_C(123456789012));
    assert_string_equal(found->content_type, record.content_type);
    assert_int_equal(found->status, FILE_ACTIVE);
    assert_string_equal(text_list_join(arena, &found->tags, "|"), "eins zwei|Eins zwei|a,b|%");
    assert_int_equal(strlen(found->created_at), 24);
    assert_null(found->archived_at);

    struct file_record plain = given_file(database, arena, organisation, record.user_id);
    assert_int_equal(find(database, arena, organisation, plain.id)->tags.count, 0);
    database_free(&database);
}

static void the_name_of_the_user_is_the_present_one_and_none_once_it_is_gone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, NULL, NULL);
    struct file_record record = given_file(database, arena, organisation, user->id);
    assert_string_equal(find(database, arena, organisation, record.id)->user_name,
                        arena_format(arena, "%s %s", user->first_name, user->last_name));
    sql(database, arena, "UPDATE user SET first_name = '', last_name = '' WHERE id = %s", sql_id(arena, user->id));
    assert_null(find(database, arena, organisation, record.id)->user_name);
    record = given_file(database, arena, given_organisation(database, arena), user->id);
    assert_null(find(database, arena, record.organisation_id, record.id)->user_name);
    database_free(&database);
}

static void many_are_found_in_the_order_of_their_ids_as_asked(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id stranger = given_organisation(database, arena);
    struct id ids[FILE_FIND_MAX];
    struct file_record *found[FILE_FIND_MAX];
    for (size_t i = 0; i < FILE_FIND_MAX; i++)
        ids[i] =
            i % 10 == 9 ? id_new() : given_file(database, arena, i % 10 == 8 ? stranger : organisation, id_new()).id;
    for (size_t count = 1; count <= FILE_FIND_MAX; count += 9) {
        expect_ok(file_find_each(database, arena, organisation, ids, count, found));
        for (size_t i = 0; i < count; i++)
            if (i % 10 >= 8)
                assert_null(found[i]);
            else
                assert_true(id_equal(found[i]->id, ids[i]));
    }
    expect_ok(file_find_each(database, arena, (struct id){{0}}, ids, 10, found));
    assert_true(id_equal(found[8]->organisation_id, stranger));
    assert_null(found[9]);
    database_free(&database);
}

static void one_organisation_does_not_see_or_change_anothers_files(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id here = given_organisation(database, arena);
    struct file_record file = given_file(database, arena, given_organisation(database, arena), id_new());
    assert_null(find(database, arena, here, file.id));
    struct file_record *found;
    expect_ok(file_find_any(database, arena, file.id, &found));
    assert_true(id_equal(found->organisation_id, file.organisation_id));
    expect_ok(file_find_any(database, arena, id_new(), &found));
    assert_null(found);

    struct file_record disguised = file;
    disguised.organisation_id = here;
    assert_int_equal(archive(database, arena, &disguised), FILE_ABSENT);
    assert_int_equal(restore(database, arena, &disguised), FILE_ABSENT);
    struct id duplicate;
    bool there;
    struct file_record same = copy_of(&disguised);
    expect_ok(file_find_duplicate(database, arena, &same, &duplicate, &there));
    assert_false(there);
    assert_int_equal(find(database, arena, file.organisation_id, file.id)->status, FILE_ACTIVE);
    database_free(&database);
}

static void the_very_same_file_is_told_with_its_id(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record first = given_file(database, arena, organisation, id_new());
    struct file_record again = copy_of(&first);
    again.size = 1; /* not part of what makes files the same: the hash is */
    again.content_type = "text/plain";
    assert_true(insert_file(database, arena, &again));
    assert_null(find(database, arena, organisation, again.id));
    struct id id;
    bool found;
    expect_ok(file_find_duplicate(database, arena, &again, &id, &found));
    assert_true(found);
    assert_true(id_equal(id, first.id));
    /* A file is no duplicate of itself. */
    expect_ok(file_find_duplicate(database, arena, &first, &id, &found));
    assert_false(found);
    database_free(&database);
}

static void another_of_anything_is_another_file(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record first = a_file(arena, organisation, id_new());
    first.name = "name";
    assert_false(insert_file(database, arena, &first));
    enum { OTHER_ORGANISATION, OTHER_USER, OTHER_BUCKET, OTHER_TYPE, OTHER_HASH, OTHER_NAME, OTHER_END };
    static const char *const names[] = {"Name", "name ", "nam", "names", "n\xc3\xa1me", "\xef\xbd\x8e\x61me", ""};
    for (size_t i = 0; i < OTHER_END + sizeof names / sizeof *names; i++) {
        struct file_record other = copy_of(&first);
        if (i == OTHER_ORGANISATION)
            other.organisation_id = given_organisation(database, arena);
        else if (i == OTHER_USER)
            other.user_id = id_new();
        else if (i == OTHER_BUCKET)
            other.bucket = "images";
        else if (i == OTHER_TYPE)
            other.type = "misc";
        else if (i == OTHER_HASH)
            other.hash[31] ^= 1;
        else
            other.name = i == OTHER_NAME ? "other" : names[i - OTHER_END];
        struct id id;
        bool found;
        expect_ok(file_find_duplicate(database, arena, &other, &id, &found));
        assert_false(found);
        assert_false(insert_file(database, arena, &other));
    }
    database_free(&database);
}

static void the_key_of_the_database_is_the_one_computed_here(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    static const char *const names[] = {"plain.txt", "Zoë № 7.pdf", "🚚", "a/b'c\"d\\e", " ", "%_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t t = 0; file_types[t] != NULL; t++) {
            struct file_record record = a_file(arena, organisation, id_new());
            record.name = names[i];
            record.type = file_types[t];
            record.bucket = file_buckets[t % 2];
            assert_false(insert_file(database, arena, &record));
            struct file_record probe = copy_of(&record);
            struct id id;
            bool found;
            expect_ok(file_find_duplicate(database, arena, &probe, &id, &found));
            if (!found || !id_equal(id, record.id))
                fail_msg("'%s' of type %s is not found by its key", names[i], file_types[t]);
        }
    }
    database_free(&database);
}

static void bytes_are_found_within_one_organisation_whoever_has_them(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record first = given_file(database, arena, organisation, id_new());
    struct file_record second = copy_of(&first);
    struct id id;
    bool found;
    second.user_id = id_new();
    second.name = "another.pdf";
    expect_ok(file_find_bytes(database, arena, organisation, first.hash, &id, &found));
    assert_true(found && id_equal(id, first.id));
    assert_false(insert_file(database, arena, &second));
    expect_ok(file_find_bytes(database, arena, organisation, first.hash, &id, &found));
    assert_true(found && id_equal(id, second.id));
    assert_int_equal(archive(database, arena, &second), FILE_CHANGED); /* its bytes are kept */
    expect_ok(file_find_bytes(database, arena, organisation, first.hash, &id, &found));
    assert_true(found && id_equal(id, second.id));
    expect_ok(file_find_bytes(database, arena, given_organisation(database, arena), first.hash, &id, &found));
    assert_false(found);
    second.hash[0] ^= 1;
    expect_ok(file_find_bytes(database, arena, organisation, second.hash, &id, &found));
    assert_false(found);
    database_free(&database);
}

static void archiving_happens_once_and_can_be_undone_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct file_record file = given_file(database, arena, given_organisation(database, arena), id_new());
    assert_int_equal(restore(database, arena, &file), FILE_UNCHANGED);
    assert_int_equal(archive(database, arena, &file), FILE_CHANGED);
    struct file_record *found = find(database, arena, file.organisation_id, file.id);
    assert_int_equal(found->status, FILE_ARCHIVED);
    assert_non_null(found->archived_at);
    assert_int_equal(archive(database, arena, &file), FILE_UNCHANGED);
    assert_string_equal(find(database, arena, file.organisation_id, file.id)->archived_at, found->archived_at);
    assert_int_equal(restore(database, arena, &file), FILE_CHANGED);
    found = find(database, arena, file.organisation_id, file.id);
    assert_int_equal(found->status, FILE_ACTIVE);
    assert_null(found->archived_at);
    file.id = id_new();
    assert_int_equal(archive(database, arena, &file), FILE_ABSENT);
    assert_int_equal(restore(database, arena, &file), FILE_ABSENT);
    database_free(&database);
}

static void an_archived_file_stands_in_nobodys_way(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct file_record first = given_file(database, arena, given_organisation(database, arena), id_new());
    struct file_record second = copy_of(&first);
    assert_int_equal(archive(database, arena, &first), FILE_CHANGED);
    assert_false(insert_file(database, arena, &second));
    /* But now the second stands in the way of the first. */
    assert_int_equal(restore(database, arena, &first), FILE_DUPLICATE);
    struct id id;
    bool found;
    expect_ok(file_find_duplicate(database, arena, &first, &id, &found));
    assert_true(found);
    assert_true(id_equal(id, second.id));
    assert_int_equal(find(database, arena, first.organisation_id, first.id)->status, FILE_ARCHIVED);
    assert_int_equal(archive(database, arena, &second), FILE_CHANGED);
    assert_int_equal(restore(database, arena, &first), FILE_CHANGED);
    database_free(&database);
}

/* ---- several at once ----------------------------------------------------------------------------- */

struct upload {
    struct file_record *records;
    size_t count;
    bool duplicate;
};

static struct error *upload_body(struct database *database, struct arena *arena, void *context)
{
    struct upload *upload = context;
    for (size_t i = 0; i < upload->count; i++) {
        TRY(file_insert(database, arena, &upload->records[i], &upload->duplicate));
        if (upload->duplicate)
            return error_plain(arena, ERROR_FILE_DUPLICATE);
    }
    return NULL;
}

static void an_upload_of_several_is_all_or_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record there = given_file(database, arena, organisation, id_new());
    struct file_record records[3] = {a_file(arena, organisation, there.user_id), copy_of(&there),
                                     a_file(arena, organisation, there.user_id)};
    records[0].tags = TEXTS(arena, "tagged");
    struct upload upload = {records, 3, false};
    expect_error(database_transaction(database, arena, upload_body, &upload, NULL), ERROR_FILE_DUPLICATE);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM file WHERE organisation_id = %s",
                                 sql_id(arena, organisation)),
                     1);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM file_tag WHERE organisation_id = %s",
                                 sql_id(arena, organisation)),
                     0);
    upload = (struct upload){records + 2, 1, false};
    expect_ok(database_transaction(database, arena, upload_body, &upload, NULL));
    database_free(&database);
}

static int archive_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct file_record *file = context;
    enum file_outcome outcome;
    (void)index;
    if (file_archive(database, arena, file->organisation_id, file->id, &outcome) != NULL)
        return 99;
    return (int)outcome;
}

static void of_those_who_archive_at_once_one_does(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    for (unsigned round = 0; round < 10; round++) {
        struct file_record file = given_file(database, arena, organisation, id_new());
        int results[RACERS_MAX];
        race(4, archive_racer, &file, results);
        assert_int_equal(race_count(results, 4, FILE_CHANGED), 1);
        assert_int_equal(race_count(results, 4, FILE_UNCHANGED), 3);
    }
    database_free(&database);
}

static int upload_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct file_record record = copy_of(context);
    struct upload upload = {&record, 1, false};
    (void)index;
    struct error *error = database_transaction(database, arena, upload_body, &upload, NULL);
    if (error == NULL)
        return 0;
    struct id id;
    bool found = false;
    if (error->code != ERROR_FILE_DUPLICATE || file_find_duplicate(database, arena, &record, &id, &found) != NULL)
        return 99;
    return found ? 1 : 2;
}

static void of_those_who_upload_the_same_at_once_one_does(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    for (unsigned round = 0; round < 10; round++) {
        struct file_record record = a_file(arena, organisation, id_new());
        record.tags = TEXTS(arena, "a", "b");
        int results[RACERS_MAX];
        race(4, upload_racer, &record, results);
        assert_int_equal(race_count(results, 4, 0), 1);
        assert_int_equal(race_count(results, 4, 1), 3);
    }
    database_free(&database);
}

/* ---- changing name and tags ---------------------------------------------------------------------- */

struct patch {
    const struct file_record *file;
    const char *name;
    const struct text_list *tags;
    enum file_outcome outcome;
};

static struct error *patch_body(struct database *database, struct arena *arena, void *context)
{
    struct patch *patch = context;
    return file_update(database, arena, patch->file->organisation_id, patch->file->id, patch->name, patch->tags,
                       &patch->outcome);
}

static enum file_outcome update(struct database *database, struct arena *arena, const struct file_record *file,
                                const char *name, const struct text_list *tags)
{
    struct patch patch = {file, name, tags, FILE_ABSENT};
    expect_ok(database_transaction(database, arena, patch_body, &patch, NULL));
    return patch.outcome;
}

static void a_patch_changes_what_it_names(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record file = a_file(arena, organisation, id_new());
    file.tags = TEXTS(arena, "old", "both");
    assert_false(insert_file(database, arena, &file));
    struct text_list tags = TEXTS(arena, "both", "new");

    assert_int_equal(update(database, arena, &file, "renamed.pdf", NULL), FILE_CHANGED);
    struct file_record *found = find(database, arena, organisation, file.id);
    assert_string_equal(found->name, "renamed.pdf");
    assert_string_equal(text_list_join(arena, &found->tags, " "), "old both");
    assert_int_equal(update(database, arena, &file, NULL, &tags), FILE_CHANGED);
    found = find(database, arena, organisation, file.id);
    assert_string_equal(found->name, "renamed.pdf");
    assert_string_equal(text_list_join(arena, &found->tags, " "), "both new");
    assert_string_equal(sql_text(database, arena,
                                 "SELECT GROUP_CONCAT(tag ORDER BY tag) FROM file_tag WHERE file_id = %s",
                                 sql_id(arena, file.id)),
                        "both,new");
    tags = NO_TEXTS;
    assert_int_equal(update(database, arena, &file, NULL, &tags), FILE_CHANGED);
    assert_int_equal(find(database, arena, organisation, file.id)->tags.count, 0);

    struct file_record twin = copy_of(&file); /* bears the file's first name */
    assert_false(insert_file(database, arena, &twin));
    assert_int_equal(update(database, arena, &twin, "renamed.pdf", NULL), FILE_DUPLICATE);
    assert_string_equal(find(database, arena, organisation, twin.id)->name, twin.name);

    struct file_record disguised = file;
    disguised.organisation_id = given_organisation(database, arena);
    assert_int_equal(update(database, arena, &disguised, "stolen.pdf", NULL), FILE_ABSENT);
    assert_int_equal(archive(database, arena, &file), FILE_CHANGED);
    assert_int_equal(update(database, arena, &file, "late.pdf", NULL), FILE_UNCHANGED);
    assert_string_equal(find(database, arena, organisation, file.id)->name, "renamed.pdf");
    database_free(&database);
}

static void types_and_buckets_are_those_of_the_interface(void **state)
{
    (void)state;
    static const char *const images[] = {"avatar", "image", "logo"};
    static const char *const either[] = {"sample",  "weighbridge",      "contract",           "misc",
                                         "vehicle", "terms-conditions", "logistics-delivery", "logistics-load"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(file_content_of(images[i], "images"), FILE_CONTENT_PICTURES);
        assert_int_equal(file_content_of(images[i], "files"), FILE_CONTENT_PICTURES);
    }
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(file_content_of(either[i], "images"), FILE_CONTENT_PICTURES);
        assert_int_equal(file_content_of(either[i], "files"), FILE_CONTENT_ANYTHING);
    }
    size_t count = 0;
    while (file_types[count] != NULL)
        count++;
    assert_int_equal(count, 11);
    assert_int_equal(file_content_of("misc", "other"), FILE_CONTENT_NOTHING);
    assert_int_equal(file_content_of("other", "files"), FILE_CONTENT_NOTHING);
    assert_int_equal(file_content_of_bucket("images"), FILE_CONTENT_PICTURES);
    assert_int_equal(file_content_of_bucket("files"), FILE_CONTENT_ANYTHING);
    assert_int_equal(file_content_of_bucket("Files"), FILE_CONTENT_NOTHING);
    assert_false(file_type_known("Avatar"));
    assert_false(file_bucket_known("images "));
    assert_true(file_bucket_known("images"));
    assert_string_equal(file_buckets[0], "images");
    assert_string_equal(file_buckets[1], "files");
    assert_null(file_buckets[2]);
    assert_string_equal(FILE_BUCKET_CHOICES, "images|files");
    assert_string_equal(FILE_TYPE_CHOICES, "sample|avatar|weighbridge|contract|image|logo|misc|vehicle|"
                                           "terms-conditions|logistics-delivery|logistics-load");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_is_inserted_is_found),
    HARNESS_TEST(the_name_of_the_user_is_the_present_one_and_none_once_it_is_gone),
    HARNESS_TEST(many_are_found_in_the_order_of_their_ids_as_asked),
    HARNESS_TEST(one_organisation_does_not_see_or_change_anothers_files),
    HARNESS_TEST(the_very_same_file_is_told_with_its_id),
    HARNESS_TEST(another_of_anything_is_another_file),
    HARNESS_TEST(the_key_of_the_database_is_the_one_computed_here),
    HARNESS_TEST(bytes_are_found_within_one_organisation_whoever_has_them),
    HARNESS_TEST(archiving_happens_once_and_can_be_undone_once),
    HARNESS_TEST(an_archived_file_stands_in_nobodys_way),
    HARNESS_TEST(an_upload_of_several_is_all_or_nothing),
    HARNESS_TEST(of_those_who_archive_at_once_one_does),
    HARNESS_TEST(of_those_who_upload_the_same_at_once_one_does),
    HARNESS_TEST(a_patch_changes_what_it_names),
    HARNESS_TEST(types_and_buckets_are_those_of_the_interface),
};
HARNESS_MODULE(file, cases)
