/* SPDX-License-Identifier: MIT */
/* Listing files in each order, against plain SQL over the same rows. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "domain/file/file.h"
#include "domain/support.h"
#include "support_database.h"

/* More than are looked at before a set is sorted; a third of them is more than what is sorted at once. */
#define FILES 3200
#define NOON INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */

struct shelf {
    struct arena *arena;
    struct database *database;
    struct id organisation;
    struct id user;
};

/*
 * Files of which many are alike in time, size or name, every tenth archived. A few have a tag that is rare, the others
 * one that is not; 30 begin with "rare". In the order of names "half" stands behind "Half", and has a tag of its own.
 * Ids follow neither time, size nor name. Another organisation has the same.
 */
static void fill(struct shelf *shelf, struct id organisation)
{
    const char *home = sql_id(shelf->arena, organisation);
    sql(shelf->database, shelf->arena,
        "INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, status, "
        "created_at)"
        " SELECT UNHEX(LEFT(SHA2(CONCAT(seq, HEX(%s)), 256), 32)), %s, %s, IF(seq MOD 3 = 0, 'images', 'files'), "
        "'misc',"
        " CONCAT(IF(seq <= 30, 'rare ', IF(seq MOD 3 = 0, 'half ', 'Half ')), seq MOD 1700), UNHEX(SHA2(seq, 256)),"
        " seq MOD 7, 'image/png', IF(seq MOD 10 = 0, 'archived', 'active'),"
        " '2026-01-01 12:00:00' + INTERVAL (seq * 37) MOD 1201 SECOND FROM seq_1_to_%d",
        home, home, sql_id(shelf->arena, shelf->user), FILES);
    sql(shelf->database, shelf->arena,
        "INSERT INTO file_tag (file_id, organisation_id, tag) SELECT id, organisation_id, IF(CONV(HEX(RIGHT(id, 1)), "
        "16, 10)"
        " < 4, 'seldom', 'often') FROM file WHERE organisation_id = %s",
        home);
    sql(shelf->database, shelf->arena,
        "INSERT INTO file_tag (file_id, organisation_id, tag) SELECT id, organisation_id, 'behind' FROM file"
        " WHERE organisation_id = %s AND name LIKE 'half %%'",
        home);
}

static struct shelf given_shelf(void **state)
{
    struct shelf shelf = {.arena = harness_arena(state), .database = support_database_new()};
    sql(shelf.database, shelf.arena, "SET SESSION group_concat_max_len = 1000000");
    shelf.user = id_new();
    shelf.organisation = given_organisation(shelf.database, shelf.arena);
    fill(&shelf, shelf.organisation);
    fill(&shelf, given_organisation(shelf.database, shelf.arena));
    sql(shelf.database, shelf.arena, "INSERT INTO file_usage (organisation_id, bytes, files) VALUES (%s, 1, %d)",
        sql_id(shelf.arena, shelf.organisation), FILES);
    return shelf;
}

/* A filter, and what it says in SQL. */
struct question {
    const char *where;
    struct file_filter filter;
};

static const struct question questions[] = {
    {"f.status = 'active'", {.limit = 100}},
    {"f.status = 'archived'", {.status = FILE_ARCHIVED, .limit = 7}},
    {"1", {.any_status = true, .limit = 100}},
    {"f.bucket = 'images'", {.any_status = true, .bucket = "images", .limit = 64}},
    {"f.name LIKE 'rare %'", {.any_status = true, .name_prefix = "rare ", .limit = 4}},
    {"f.name LIKE 'half %' AND f.status = 'active'", {.name_prefix = "half ", .limit = 100}},
    {"EXISTS (SELECT 1 FROM file_tag t WHERE t.file_id = f.id AND t.tag = 'seldom')",
     {.any_status = true, .tag = "seldom", .limit = 9}},
    {"EXISTS (SELECT 1 FROM file_tag t WHERE t.file_id = f.id AND t.tag = 'often') AND f.status = 'active'",
     {.tag = "often", .limit = 100}},
    {"f.created_at >= '2026-01-01 12:10:00' AND f.created_at < '2026-01-01 12:11:00'",
     {.any_status = true, .period = true, .since = NOON + 600000, .until = NOON + 660000, .limit = 11}},
    {"f.created_at >= '2026-01-01 12:05:00' AND f.status = 'active'",
     {.period = true, .since = NOON + 300000, .until = INT64_MAX, .limit = 100}},
    {"f.created_at < '2026-01-01 12:00:03' AND f.name LIKE 'Half %'",
     {.any_status = true,
      .period = true,
      .since = INT64_MIN,
      .until = NOON + 3000,
      .name_prefix = "Half ",
      .limit = 2}},
    {"f.name LIKE 'half %'", {.any_status = true, .tag = "behind", .limit = 100}},
    {"f.name LIKE 'half %' AND f.status = 'active'", {.tag = "behind", .limit = 30}},
    {"0", {.any_status = true, .tag = "none", .limit = 5}},
};

static const char *const orders[] = {
    [FILE_NEWEST] = "f.created_at DESC, f.id DESC",
    [FILE_OLDEST] = "f.created_at, f.id",
    [FILE_BY_NAME] = "f.name, f.id",
    [FILE_LARGEST] = "f.size DESC, f.id DESC",
};

static void add_id(struct buffer *list, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    if (list->length != 0)
        buffer_add_char(list, ',');
    buffer_add_text(list, hex);
}

static int64_t key_of(const struct file_filter *filter, const struct file_record *record)
{
    int64_t milliseconds = 0;
    if (filter->sort == FILE_LARGEST)
        return record->size;
    assert_true(clock_parse(record->created_at, &milliseconds));
    return milliseconds;
}

/* The ids of all pages. */
static const char *listed(const struct shelf *shelf, struct file_filter filter)
{
    struct buffer list;
    struct file_page page = {.more = true};
    buffer_init(&list, shelf->arena);
    filter.organisation_id = shelf->organisation;
    while (page.more) {
        expect_ok(file_list(shelf->database, shelf->arena, &filter, &page));
        assert_true(page.count <= filter.limit);
        for (size_t i = 0; i < page.count; i++)
            add_id(&list, page.items[i].id);
        if (!page.more)
            break;
        assert_int_equal(page.count, filter.limit);
        const struct file_record *last = &page.items[page.count - 1];
        filter.before = last->id;
        filter.before_name = last->name;
        filter.before_number = key_of(&filter, last);
    }
    buffer_add_text(&list, "");
    return list.length == 0 ? "" : list.bytes;
}

static void pages_of_every_order_join_to_what_the_filter_says(void **state)
{
    struct shelf shelf = given_shelf(state);
    for (enum file_sort sort = FILE_NEWEST; sort <= FILE_LARGEST; sort++) {
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
            struct file_filter filter = questions[i].filter;
            const char *order = sort == FILE_NEWEST && !filter.period ? "f.id DESC" : orders[sort];
            filter.sort = sort;
            const char *expected =
                sql_text(shelf.database, shelf.arena,
                         "SELECT COALESCE(GROUP_CONCAT(LOWER(HEX(f.id)) ORDER BY %s), '') FROM file f"
                         " WHERE f.organisation_id = %s AND (%s)",
                         order, sql_id(shelf.arena, shelf.organisation), questions[i].where);
            const char *found = listed(&shelf, filter);
            if (strcasecmp(found, expected) != 0)
                (void)fprintf(stderr, "# sort %d, %s\n", (int)sort, questions[i].where);
            assert_int_equal(strcasecmp(found, expected), 0);
        }
    }
    database_free(&shelf.database);
}

static int64_t reads(const struct shelf *shelf)
{
    return sql_integer(shelf->database, shelf->arena,
                       "SELECT CAST(SUM(variable_value) AS INTEGER) FROM information_schema.session_status"
                       " WHERE variable_name LIKE 'HANDLER_READ%%'");
}

static void a_first_page_reads_what_it_shows_and_not_all_files(void **state)
{
    struct shelf shelf = given_shelf(state);
    for (enum file_sort sort = FILE_NEWEST; sort <= FILE_LARGEST; sort++) {
        for (unsigned any = 0; any < 2; any++) {
            struct file_filter filter = {
                .organisation_id = shelf.organisation, .sort = sort, .any_status = any == 1, .limit = 25};
            struct file_page page;
            int64_t start = reads(&shelf);
            int64_t before = reads(&shelf);
            expect_ok(file_list(shelf.database, shelf.arena, &filter, &page));
            int64_t cost = reads(&shelf) - before - (before - start);
            assert_int_equal(page.count, 25);
            if (cost > 300)
                (void)fprintf(stderr, "# sort %d reads %lld\n", (int)sort, (long long)cost);
            assert_true(cost < 300);
        }
    }
    database_free(&shelf.database);
}

static void the_total_is_told_where_nobody_has_to_count(void **state)
{
    struct shelf shelf = given_shelf(state);
    for (enum file_sort sort = FILE_NEWEST; sort <= FILE_LARGEST; sort++) {
        struct file_filter filter = {
            .organisation_id = shelf.organisation, .sort = sort, .any_status = true, .limit = 10};
        struct file_page page;
        expect_ok(file_list(shelf.database, shelf.arena, &filter, &page));
        assert_int_equal(page.total, FILES);
        filter.any_status = false;
        expect_ok(file_list(shelf.database, shelf.arena, &filter, &page));
        assert_int_equal(page.total, FILE_TOTAL_UNKNOWN);
        filter.name_prefix = "rare 7";
        expect_ok(file_list(shelf.database, shelf.arena, &filter, &page));
        assert_int_equal(page.total, 1);
        filter.name_prefix = "no such name";
        expect_ok(file_list(shelf.database, shelf.arena, &filter, &page));
        assert_int_equal(page.total, 0);
    }
    database_free(&shelf.database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(pages_of_every_order_join_to_what_the_filter_says),
    HARNESS_TEST(a_first_page_reads_what_it_shows_and_not_all_files),
    HARNESS_TEST(the_total_is_told_where_nobody_has_to_count),
};
HARNESS_MODULE(file_list_sorted, cases)
