/* SPDX-License-Identifier: MIT */
/* The change log: versions in the order of the commits, and what a reader is told. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/change_log.h"
#include "domain/permission/principal.h"
#include "support.h"
#include "support_database.h"

struct append {
    enum change_log_kind kind;
    const char *payload;
    int64_t version;
    bool fail;
};

static struct error *append_body(struct database *database, struct arena *arena, void *context)
{
    struct append *append = context;
    TRY(change_log_append(database, arena, append->kind, append->payload, &append->version));
    return append->fail ? error_plain(arena, ERROR_USER_STATE) : NULL;
}

static int64_t append(struct database *database, struct arena *arena, enum change_log_kind kind, const char *payload)
{
    struct append what = {.kind = kind, .payload = payload};
    expect_ok(database_transaction(database, arena, append_body, &what, NULL));
    return what.version;
}

static int64_t current(struct database *database, struct arena *arena)
{
    int64_t version;
    expect_ok(change_log_current(database, arena, &version));
    return version;
}

static void versions_count_up_by_one_and_the_list_tells_what_was_appended(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct change_log_entries entries;
    int64_t start = append(database, arena, CHANGE_LOG_CACHE, "{\"keys\":[\"a\"]}");
    assert_int_equal(append(database, arena, CHANGE_LOG_SECRETS, "{}"), start + 1);
    assert_int_equal(append(database, arena, CHANGE_LOG_SETTINGS, "{}"), start + 2);
    assert_int_equal(current(database, arena), start + 2);
    expect_ok(change_log_list(database, arena, start - 1, start + 1, &entries));
    assert_true(entries.whole);
    assert_int_equal(entries.count, 2);
    assert_int_equal(entries.items[0].version, start);
    assert_int_equal(entries.items[0].kind, CHANGE_LOG_CACHE);
    assert_string_equal(entries.items[0].payload, "{\"keys\":[\"a\"]}");
    assert_int_equal(entries.items[1].kind, CHANGE_LOG_SECRETS);
    expect_ok(change_log_list(database, arena, start, start, &entries));
    assert_true(entries.whole);
    assert_int_equal(entries.count, 0);
    database_free(&database);
}

static void what_was_rolled_back_was_never_there(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    int64_t start = append(database, arena, CHANGE_LOG_CACHE, "{}");
    struct append what = {.kind = CHANGE_LOG_CACHE, .payload = "{}", .fail = true};
    expect_error(database_transaction(database, arena, append_body, &what, NULL), ERROR_USER_STATE);
    assert_int_equal(what.version, start + 1);
    assert_int_equal(current(database, arena), start);
    assert_int_equal(append(database, arena, CHANGE_LOG_CACHE, "{}"), start + 1);
    database_free(&database);
}

/* A purged log, a restored database, another database's counting, a flood. */
static void a_log_that_does_not_tell_all_says_so(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct change_log_entries entries;
    uint64_t count;
    int64_t start = append(database, arena, CHANGE_LOG_CACHE, "{}");
    for (int i = 0; i < 3; i++)
        (void)append(database, arena, CHANGE_LOG_CACHE, "{}");
    sql(database, arena, "UPDATE change_log SET at = UTC_TIMESTAMP(3) - INTERVAL 8 DAY WHERE id = %lld",
        (long long)start + 1);
    expect_ok(change_log_purge(database, arena, 7, 10, &count));
    assert_int_equal(count, 1);
    expect_ok(change_log_list(database, arena, start, start + 3, &entries));
    assert_false(entries.whole);
    assert_int_equal(entries.count, 0);
    expect_ok(change_log_list(database, arena, start + 1, start + 3, &entries));
    assert_true(entries.whole);
    expect_ok(change_log_list(database, arena, start + 3, start + 1, &entries));
    assert_false(entries.whole);
    expect_ok(change_log_list(database, arena, start + 3, start + 4 + CHANGE_LOG_LIST_MAX, &entries));
    assert_false(entries.whole);
    sql(database, arena, "UPDATE change_log SET kind = 'of tomorrow' WHERE id = %lld", (long long)start + 3);
    expect_ok(change_log_list(database, arena, start + 2, start + 3, &entries));
    assert_int_equal(entries.items[0].kind, CHANGE_LOG_UNKNOWN);
    database_free(&database);
}

#define WRITERS 8
#define APPENDS 25

static int append_many(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    (void)context;
    for (int i = 0; i < APPENDS; i++) {
        struct change_log_entries entries;
        int64_t version = append(database, arena, CHANGE_LOG_CACHE, "{}");
        /* Whoever sees a version finds every row up to it. */
        expect_ok(change_log_list(database, arena, version - 1, current(database, arena), &entries));
        if (!entries.whole)
            return 1;
    }
    return 0;
}

static void writers_at_once_leave_no_gap_at_any_moment(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    int results[RACERS_MAX];
    int64_t start = append(database, arena, CHANGE_LOG_CACHE, "{}");
    race(WRITERS, append_many, NULL, results);
    assert_int_equal(race_count(results, WRITERS, 0), WRITERS);
    assert_int_equal(current(database, arena), start + WRITERS * APPENDS);
    database_free(&database);
}

static void a_table_that_was_emptied_counts_anew_elsewhere(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    int64_t before = append(database, arena, CHANGE_LOG_CACHE, "{}");
    sql(database, arena, "DELETE FROM change_version");
    assert_int_equal(current(database, arena), 0);
    assert_true(append(database, arena, CHANGE_LOG_CACHE, "{}") > before + 1);
    database_free(&database);
}

/* The trigger of change_version that reads the roles is for a row that was taken away, not for each change. */
static void a_change_waits_for_nobody_who_holds_the_roles(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct database *other = support_database_new();
    int64_t start = append(database, arena, CHANGE_LOG_CACHE, "{}");
    sql(database, arena, "SET SESSION innodb_lock_wait_timeout = 1");
    sql(other, arena, "START TRANSACTION");
    (void)sql_integer(other, arena, "SELECT COUNT(*) FROM (SELECT role_id FROM role_permission FOR UPDATE) x");
    assert_int_equal(append(database, arena, CHANGE_LOG_CACHE, "{}"), start + 1);
    sql(other, arena, "ROLLBACK");
    database_free(&other);
    database_free(&database);
}

static void the_version_comes_with_the_caller(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct principal *principal;
    struct file_record *file;
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    struct id session = given_session(database, arena, user->id);
    for (int i = 0; i < 3; i++) {
        int64_t version = append(database, arena, CHANGE_LOG_CACHE, "{}");
        expect_ok(principal_load(database, arena, user->id, session, &principal));
        assert_int_equal(principal->change_version, version);
        expect_ok(principal_load_with_file(database, arena, user->id, session, user->id, &principal, &file));
        assert_int_equal(principal->change_version, version);
    }
    sql(database, arena, "DELETE FROM change_version");
    expect_ok(principal_load(database, arena, user->id, session, &principal));
    assert_true(principal_stands(principal));
    assert_int_equal(principal->change_version, 0);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(versions_count_up_by_one_and_the_list_tells_what_was_appended),
    HARNESS_TEST(what_was_rolled_back_was_never_there),
    HARNESS_TEST(a_log_that_does_not_tell_all_says_so),
    HARNESS_TEST(writers_at_once_leave_no_gap_at_any_moment),
    HARNESS_TEST(a_table_that_was_emptied_counts_anew_elsewhere),
    HARNESS_TEST(a_change_waits_for_nobody_who_holds_the_roles),
    HARNESS_TEST(the_version_comes_with_the_caller),
};
HARNESS_MODULE(change_log, cases)
