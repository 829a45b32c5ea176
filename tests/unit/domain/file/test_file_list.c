/* SPDX-License-Identifier: MIT */
/* Listing files, against a plain filter over the records that were inserted. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "domain/file/file.h"
#include "domain/support.h"
#include "support_database.h"

#define FILES 60

static const char *const tags[] = {"red", "Red", "red ", "r_d", "%"};
static const char *const prefixes[] = {"", "a", "A", "a%", "a_", "\xc3\xa4", "ab", "abc.pdf", "b"};
static const char *const names[] = {"abc.pdf", "ABC.pdf", "a%c", "a_c", "\xc3\xa4pfel", "b", "ab", "a"};

struct shelf {
    struct id organisations[2];
    struct id users[3];
    struct file_record files[FILES];
};

static int compare_ids(const void *a, const void *b)
{
    const struct file_record *one = a;
    const struct file_record *other = b;
    return memcmp(one->id.bytes, other->id.bytes, ID_BYTES);
}

/* Files of two organisations that differ in everything that can be filtered by, some archived; by id. */
static struct shelf *given_shelf(struct database *database, struct arena *arena, struct harness_random *random)
{
    struct shelf *shelf = arena_alloc(arena, sizeof *shelf);
    for (size_t i = 0; i < 2; i++)
        shelf->organisations[i] = given_organisation(database, arena);
    for (size_t i = 0; i < 3; i++)
        shelf->users[i] = id_new();
    for (size_t i = 0; i < FILES; i++) {
        struct file_record *file = &shelf->files[i];
        *file = a_file(arena, shelf->organisations[harness_random_below(random, 4) == 0],
                       shelf->users[harness_random_below(random, 3)]);
        file->bucket = file_buckets[harness_random_below(random, 2)];
        file->type = harness_random_below(random, 2) == 0 ? "misc" : "vehicle";
        file->name = names[harness_random_below(random, 8)];
        file->tags.items = arena_array(arena, 3, sizeof(char *));
        file->tags.count = harness_random_below(random, 3);
        for (size_t t = 0; t < file->tags.count; t++)
            file->tags.items[t] = tags[harness_random_below(random, 5)];
        assert_false(insert_file(database, arena, file));
        if (harness_random_below(random, 3) != 0)
            continue;
        enum file_outcome outcome;
        expect_ok(file_archive(database, arena, file->organisation_id, file->id, &outcome));
        file->status = FILE_ARCHIVED;
    }
    qsort(shelf->files, FILES, sizeof *shelf->files, compare_ids);
    return shelf;
}

static struct file_filter a_filter(const struct shelf *shelf, struct harness_random *random)
{
    return (struct file_filter){
        .organisation_id = shelf->organisations[harness_random_below(random, 4) == 0],
        .bucket = harness_random_below(random, 3) == 0 ? file_buckets[harness_random_below(random, 2)] : NULL,
        .type = harness_random_below(random, 3) == 0 ? "misc" : NULL,
        .tag = harness_random_below(random, 3) == 0 ? tags[harness_random_below(random, 5)] : NULL,
        .name_prefix = harness_random_below(random, 2) == 0 ? prefixes[harness_random_below(random, 9)] : NULL,
        .any_status = harness_random_below(random, 2) == 0,
        .status = harness_random_below(random, 2) == 0 ? FILE_ACTIVE : FILE_ARCHIVED,
        .user_id =
            harness_random_below(random, 3) == 0 ? shelf->users[harness_random_below(random, 3)] : (struct id){{0}},
        .limit = 1 + harness_random_below(random, 30),
    };
}

static bool fits(const struct file_record *file, const struct file_filter *filter)
{
    return id_equal(file->organisation_id, filter->organisation_id) &&
           (filter->bucket == NULL || strcmp(file->bucket, filter->bucket) == 0) &&
           (filter->type == NULL || strcmp(file->type, filter->type) == 0) &&
           (filter->tag == NULL || text_list_has(&file->tags, filter->tag)) &&
           (filter->name_prefix == NULL ||
            strncmp(file->name, filter->name_prefix, strlen(filter->name_prefix)) == 0) &&
           (filter->any_status || file->status == filter->status) &&
           (id_is_none(filter->user_id) || id_equal(file->user_id, filter->user_id));
}

static void pages_hold_what_the_filter_says_newest_first(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct harness_random random = {11};
    struct shelf *shelf = given_shelf(database, arena, &random);
    size_t listed = 0;
    for (unsigned round = 0; round < 400; round++) {
        struct file_filter filter = a_filter(shelf, &random);
        struct file_page page = {.more = true};
        size_t expected = FILES; /* newest first: walk backwards */
        while (page.more) {
            expect_ok(file_list(database, arena, &filter, &page));
            assert_true(page.count <= filter.limit);
            for (size_t i = 0; i < page.count; i++, listed++) {
                do
                    assert_true(expected-- > 0);
                while (!fits(&shelf->files[expected], &filter));
                const struct file_record *file = &shelf->files[expected];
                assert_true(id_equal(page.items[i].id, file->id));
                assert_int_equal(page.items[i].status, file->status);
                assert_string_equal(text_list_join(arena, &page.items[i].tags, "|"),
                                    text_list_join(arena, &file->tags, "|"));
            }
            if (page.more) {
                assert_int_equal(page.count, filter.limit);
                filter.before = page.items[page.count - 1].id;
            }
        }
        while (expected-- > 0)
            assert_false(fits(&shelf->files[expected], &filter));
    }
    assert_true(listed > 1000);
    database_free(&database);
}

static void a_full_last_page_has_no_next(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct file_filter filter = {.organisation_id = given_organisation(database, arena), .limit = 3};
    struct file_page page;
    expect_ok(file_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 0);
    assert_false(page.more);
    for (unsigned i = 0; i < 3; i++)
        (void)given_file(database, arena, filter.organisation_id, id_new());
    expect_ok(file_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 3);
    assert_false(page.more);
    (void)given_file(database, arena, filter.organisation_id, id_new());
    expect_ok(file_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 3);
    assert_true(page.more);
    database_free(&database);
}

/*
 * More files than a search for a name goes through in the order of the listing: 5000, with "old" the 40 oldest and
 * "half" every other one, every tenth of both archived.
 */
static struct id given_thousands(struct database *database, struct arena *arena)
{
    struct id organisation = given_organisation(database, arena);
    char hex[ID_HEX_BYTES];
    id_hex(organisation, hex);
    sql(database, arena,
        "INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, status)"
        " SELECT UNHEX(CONCAT('0193', LPAD(HEX(seq), 28, '0'))), UNHEX('%s'), UNHEX('%s'), IF(seq MOD 3 = 0, 'images', "
        "'files'),"
        " 'misc', CONCAT(IF(seq <= 40, 'old ', IF(seq MOD 2 = 0, 'half ', 'other ')), seq), UNHEX(SHA2(seq, 256)), 1,"
        " 'image/png', IF(seq MOD 10 = 0, 'archived', 'active') FROM seq_1_to_5000",
        hex, hex);
    return organisation;
}

/* Goes through all pages; the number of files, each of which must begin as asked and be older than the one before. */
static size_t count_listed(struct database *database, struct arena *arena, struct file_filter filter)
{
    size_t count = 0;
    struct file_page page = {.more = true};
    filter.before = (struct id){{0}};
    while (page.more) {
        expect_ok(file_list(database, arena, &filter, &page));
        for (size_t i = 0; i < page.count; i++, count++) {
            assert_int_equal(strncmp(page.items[i].name, filter.name_prefix, strlen(filter.name_prefix)), 0);
            if (!id_is_none(filter.before))
                assert_true(memcmp(page.items[i].id.bytes, filter.before.bytes, ID_BYTES) < 0);
            filter.before = page.items[i].id;
        }
    }
    return count;
}

static void names_are_found_among_thousands_however_rare_and_old(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct file_filter filter = {.organisation_id = given_thousands(database, arena), .limit = 25};
    static const struct {
        const char *prefix;
        const char *bucket;
        size_t active;
        size_t any;
    } expected[] = {
        {"old ", NULL, 36, 40},      {"old ", "images", 12, 13},   {"old 7", NULL, 1, 1},
        {"half ", NULL, 1984, 2480}, {"other ", NULL, 2480, 2480}, {"none", NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        filter.name_prefix = expected[i].prefix;
        filter.bucket = expected[i].bucket;
        filter.any_status = false;
        assert_int_equal(count_listed(database, arena, filter), expected[i].active);
        filter.any_status = true;
        assert_int_equal(count_listed(database, arena, filter), expected[i].any);
    }
    database_free(&database);
}

static int64_t counter(struct database *database, struct arena *arena, const char *name)
{
    return sql_integer(database, arena,
                       "SELECT variable_value FROM information_schema.session_status WHERE variable_name = '%s'", name);
}

static void what_a_filter_leaves_out_is_passed_over_in_the_index(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct file_filter filter = {.organisation_id = given_organisation(database, arena), .limit = 3};
    struct file_page page;
    for (unsigned i = 0; i < 40; i++)
        (void)given_file(database, arena, filter.organisation_id, id_new());
    struct file_filter filters[4] = {filter, filter, filter, filter};
    filters[0].bucket = "images";
    filters[1].type = "vehicle";
    filters[2].name_prefix = "no such name";
    filters[3].user_id = id_new();
    for (size_t i = 0; i < 4; i++) {
        int64_t tested = counter(database, arena, "HANDLER_ICP_ATTEMPTS");
        int64_t read = counter(database, arena, "HANDLER_ICP_MATCH");
        expect_ok(file_list(database, arena, &filters[i], &page));
        assert_int_equal(page.count, 0);
        assert_int_equal(counter(database, arena, "HANDLER_ICP_ATTEMPTS") - tested, 40);
        assert_int_equal(counter(database, arena, "HANDLER_ICP_MATCH") - read, 0);
    }
    database_free(&database);
}

struct toggling {
    struct file_record file;
    struct id organisation;
};

/* The first racers archive and restore one file for as long as the last one lists all. */
static int toggle_or_list(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct toggling *toggling = context;
    struct file_filter filter = {.organisation_id = toggling->organisation, .any_status = true, .limit = 10};
    for (unsigned i = 0; i < 200; i++) {
        enum file_outcome outcome;
        struct file_page page;
        if (index == 0) {
            if (file_list(database, arena, &filter, &page) != NULL)
                return 99;
            if (page.count != 3)
                return (int)page.count;
        } else if (file_archive(database, arena, toggling->organisation, toggling->file.id, &outcome) != NULL ||
                   file_restore(database, arena, toggling->organisation, toggling->file.id, &outcome) != NULL) {
            return 99;
        }
    }
    return 50;
}

static void a_file_that_changes_its_status_is_listed_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct toggling toggling = {.organisation = given_organisation(database, arena)};
    (void)given_file(database, arena, toggling.organisation, id_new());
    toggling.file = given_file(database, arena, toggling.organisation, id_new());
    (void)given_file(database, arena, toggling.organisation, id_new());
    int results[RACERS_MAX];
    race(3, toggle_or_list, &toggling, results);
    assert_int_equal(race_count(results, 3, 50), 3);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(pages_hold_what_the_filter_says_newest_first),
    HARNESS_TEST(a_full_last_page_has_no_next),
    HARNESS_TEST(names_are_found_among_thousands_however_rare_and_old),
    HARNESS_TEST(a_file_that_changes_its_status_is_listed_once),
    HARNESS_TEST(what_a_filter_leaves_out_is_passed_over_in_the_index),
};
HARNESS_MODULE(file_list, cases)
