/* SPDX-License-Identifier: MIT */
/* Storage of organisations: counted exactly, bounded by quotas, counted again. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/file/file_usage.h"
#include "domain/support.h"
#include "support_database.h"

struct taking {
    struct id organisation;
    struct file_usage more;
    bool exceeded;
};

static struct error *take_body(struct database *database, struct arena *arena, void *context)
{
    struct taking *taking = context;
    TRY(file_usage_take(database, arena, taking->organisation, taking->more, &taking->exceeded));
    return taking->exceeded ? error_plain(arena, ERROR_QUOTA_EXCEEDED) : NULL;
}

/* Whether there was room. */
static bool take(struct database *database, struct arena *arena, struct id organisation, int64_t bytes, int64_t files)
{
    struct taking taking = {organisation, {bytes, files}, false};
    struct error *error = database_transaction(database, arena, take_body, &taking, NULL);
    assert_true((error != NULL) == taking.exceeded);
    return !taking.exceeded;
}

static struct error *release_body(struct database *database, struct arena *arena, void *context)
{
    const struct taking *taking = context;
    return file_usage_release(database, arena, taking->organisation, taking->more);
}

static void release(struct database *database, struct arena *arena, struct id organisation, int64_t bytes,
                    int64_t files)
{
    struct taking taking = {organisation, {bytes, files}, false};
    expect_ok(database_transaction(database, arena, release_body, &taking, NULL));
}

static void assert_usage(struct database *database, struct arena *arena, struct id organisation, int64_t bytes,
                         int64_t files)
{
    struct file_usage usage;
    expect_ok(file_usage_find(database, arena, organisation, &usage));
    assert_int_equal(usage.bytes, bytes);
    assert_int_equal(usage.files, files);
}

static void set_quota(struct database *database, struct arena *arena, struct id organisation, const char *bytes,
                      const char *files)
{
    sql(database, arena, "UPDATE organisation SET quota_bytes = %s, quota_files = %s WHERE id = %s", bytes, files,
        sql_id(arena, organisation));
}

static void without_a_quota_everything_is_counted_and_nothing_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    assert_usage(database, arena, organisation, 0, 0);
    assert_true(take(database, arena, organisation, 1, 1));
    assert_true(take(database, arena, organisation, INT64_C(5000000000000000), 10));
    assert_usage(database, arena, organisation, INT64_C(5000000000000001), 11);
    release(database, arena, organisation, 1, 1);
    assert_usage(database, arena, organisation, INT64_C(5000000000000000), 10);
    release(database, arena, organisation, INT64_MAX, INT64_MAX);
    assert_usage(database, arena, organisation, 0, 0);
    release(database, arena, given_organisation(database, arena), 1, 1);
    database_free(&database);
}

static void a_quota_holds_to_the_byte_and_to_the_file(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id neighbour = given_organisation(database, arena);
    set_quota(database, arena, organisation, "100", "NULL");
    assert_false(take(database, arena, organisation, 101, 1)); /* the first one, too */
    assert_usage(database, arena, organisation, 0, 0);
    assert_true(take(database, arena, organisation, 60, 1));
    assert_false(take(database, arena, organisation, 41, 1));
    assert_true(take(database, arena, organisation, 40, 1));
    assert_false(take(database, arena, organisation, 1, 1));
    assert_usage(database, arena, organisation, 100, 2);
    assert_true(take(database, arena, neighbour, 1000, 1000));

    set_quota(database, arena, organisation, "NULL", "3");
    assert_false(take(database, arena, organisation, 1, 2));
    assert_true(take(database, arena, organisation, 1, 1));
    assert_false(take(database, arena, organisation, 1, 1));
    set_quota(database, arena, organisation, "0", "0"); /* lowered below what is there: nothing more, nothing less */
    assert_false(take(database, arena, organisation, 1, 1));
    assert_usage(database, arena, organisation, 101, 3);
    set_quota(database, arena, organisation, "NULL", "NULL");
    assert_true(take(database, arena, organisation, 1, 1));
    database_free(&database);
}

static int take_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct taking taking = *(const struct taking *)context;
    (void)index;
    struct error *error = database_transaction(database, arena, take_body, &taking, NULL);
    if (error == NULL)
        return 0;
    return error->code == ERROR_QUOTA_EXCEEDED ? 1 : 99;
}

static void of_many_at_once_just_as_many_as_fit_get_in(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    static const char *const quotas[][2] = {{"70", "NULL"}, {"NULL", "7"}, {"75", "100"}};
    for (size_t i = 0; i < 3; i++) {
        struct taking taking = {given_organisation(database, arena), {10, 1}, false};
        set_quota(database, arena, taking.organisation, quotas[i][0], quotas[i][1]);
        int results[RACERS_MAX];
        race(30, take_racer, &taking, results); /* the row of the count is not there yet */
        assert_int_equal(race_count(results, 30, 0), 7);
        assert_int_equal(race_count(results, 30, 1), 23);
        assert_usage(database, arena, taking.organisation, 70, 7);
    }
    database_free(&database);
}

static void of_many_first_uploads_at_once_none_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    for (unsigned round = 0; round < 5; round++) {
        struct taking taking = {given_organisation(database, arena), {10, 1}, false};
        int results[RACERS_MAX];
        race(12, take_racer, &taking, results);
        assert_int_equal(race_count(results, 12, 0), 12);
        assert_usage(database, arena, taking.organisation, 120, 12);
    }
    database_free(&database);
}

static void a_recount_finds_what_the_rows_add_up_to(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    bool wrong = true;
    expect_ok(file_usage_recount(database, arena, organisation, &wrong));
    assert_false(wrong);
    struct file_record first = given_file(database, arena, organisation, id_new());
    enum file_outcome outcome;
    expect_ok(file_archive(database, arena, organisation, first.id, &outcome)); /* archived ones count */
    (void)given_file(database, arena, organisation, id_new());
    (void)given_file(database, arena, given_organisation(database, arena), id_new());
    expect_ok(file_usage_recount(database, arena, organisation, &wrong));
    assert_true(wrong);
    assert_usage(database, arena, organisation, 2 * first.size, 2);
    expect_ok(file_usage_recount(database, arena, organisation, &wrong));
    assert_false(wrong);
    expect_ok(file_usage_recount(database, arena, organisation, NULL));
    database_free(&database);
}

struct counted_upload {
    const struct file_record *record;
    bool duplicate;
    bool exceeded;
};

static struct error *counted_upload_body(struct database *database, struct arena *arena, void *context)
{
    struct counted_upload *upload = context;
    const struct file_record *record = upload->record;
    struct file_usage more = {record->size, 1};
    TRY(file_insert(database, arena, record, &upload->duplicate));
    return file_usage_take(database, arena, record->organisation_id, more, &upload->exceeded);
}

/* An upload's rows and their count; even racers count anew all the time. */
static int recount_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct id *organisation = context;
    for (unsigned i = 0; i < 10; i++) {
        if (index % 2 == 0) {
            if (file_usage_recount(database, arena, *organisation, NULL) != NULL)
                return 99;
            continue;
        }
        struct file_record record = a_file(arena, *organisation, id_new());
        struct counted_upload upload = {&record, false, false};
        record.size = 5;
        if (database_transaction(database, arena, counted_upload_body, &upload, NULL) != NULL)
            return 99;
    }
    return 0;
}

static void a_recount_among_uploads_loses_none(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    int results[RACERS_MAX];
    race(8, recount_racer, &organisation, results);
    assert_int_equal(race_count(results, 8, 0), 8);
    assert_usage(database, arena, organisation, 200, 40);
    database_free(&database);
}

static bool exceeds(struct database *database, struct arena *arena, struct id organisation, int64_t bytes,
                    int64_t files)
{
    bool answer = false;
    expect_ok(file_usage_exceeds(database, arena, organisation, (struct file_usage){bytes, files}, &answer));
    return answer;
}

static void whether_there_is_room_is_told_to_the_byte_and_nothing_is_taken(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id neighbour = given_organisation(database, arena);
    assert_false(exceeds(database, arena, organisation, INT64_MAX, INT64_MAX));
    set_quota(database, arena, organisation, "100", "NULL");
    assert_true(exceeds(database, arena, organisation, 101, 1)); /* without a row of its count, too */
    assert_false(exceeds(database, arena, organisation, 100, INT64_MAX));
    assert_true(take(database, arena, organisation, 60, 1));
    assert_true(exceeds(database, arena, organisation, 41, 1));
    assert_false(exceeds(database, arena, organisation, 40, 1));
    set_quota(database, arena, organisation, "NULL", "1");
    assert_true(exceeds(database, arena, organisation, 1, 1));
    assert_false(exceeds(database, arena, organisation, INT64_MAX / 2, 0));
    set_quota(database, arena, organisation, "0", "0");
    assert_true(exceeds(database, arena, organisation, 1, 1));
    assert_false(exceeds(database, arena, neighbour, 1, 1));
    assert_false(exceeds(database, arena, id_new(), 1, 1));
    assert_usage(database, arena, organisation, 60, 1);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(whether_there_is_room_is_told_to_the_byte_and_nothing_is_taken),
    HARNESS_TEST(without_a_quota_everything_is_counted_and_nothing_refused),
    HARNESS_TEST(a_quota_holds_to_the_byte_and_to_the_file),
    HARNESS_TEST(of_many_at_once_just_as_many_as_fit_get_in),
    HARNESS_TEST(of_many_first_uploads_at_once_none_is_refused),
    HARNESS_TEST(a_recount_finds_what_the_rows_add_up_to),
    HARNESS_TEST(a_recount_among_uploads_loses_none),
};
HARNESS_MODULE(file_usage, cases)
