/* SPDX-License-Identifier: MIT */
/*
 * Each statement of a migration and of a grant is refused once; the next run finishes. And names that are not right. It
 * stands with the tests of the domain, whose program refuses statements: that of the store has faults of another kind.
 */
#include "store/database/migrate.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/secret.h"
#include "domain/support.h"
#include "harness.h"
#include "store/database/database.h"
#include "store/database/row_lock.h"
#include "support_database.h"
#include "support_refusal.h"

struct place {
    struct arena *arena;
    const char *directory;
    struct database *database;
};

static void close_database(void *database)
{
    struct database *closed = database;
    database_free(&closed);
}

static struct place place_new(void **state)
{
    struct place place = {.arena = harness_arena(state)};
    struct database_options options = support_database_empty("migrations");
    options.query_timeout_seconds = 0;
    place.database = database_new(&options);
    arena_defer(place.arena, close_database, place.database);
    place.directory = harness_directory(place.arena);
    return place;
}

static void put(const struct place *place, const char *name, const char *text)
{
    (void)harness_write(place->arena, place->directory, name, text, strlen(text));
}

/* Runs the call with each of its statements refused, then once more without. How many statements it has made. */
static unsigned refuse_each(const struct place *place, struct error *(*call)(const struct place *place))
{
    for (unsigned nth = 1;; nth++) {
        refusal_begin(nth);
        struct error *error = call(place);
        bool refused = refusal_end();
        if (!refused) {
            expect_ok(error);
            return nth - 1;
        }
        if (error != NULL)
            expect_error(error, ERROR_INTERNAL);
        assert_false(database_in_transaction(place->database));
        expect_ok(call(place));
    }
}

static struct error *run(const struct place *place)
{
    return migrate(place->database, place->arena, place->directory, NULL, NULL);
}

/* As if it had never run; the statements of the file may be repeated. */
static struct error *run_anew(const struct place *place)
{
    static const char drop[] = "DROP TABLE IF EXISTS schema_migration";
    size_t pending = 99;
    TRY(run(place));
    TRY(migrate_pending(place->database, place->arena, place->directory, &pending));
    assert_int_equal(pending, 0);
    return database_execute(place->database, place->arena, drop, sizeof drop - 1);
}

static void each_statement_of_a_migration_may_be_refused(void **state)
{
    struct place place = place_new(state);
    put(&place, "001-first.sql",
        "CREATE TABLE IF NOT EXISTS t (word VARCHAR(20));\n"
        "CREATE TRIGGER IF NOT EXISTS s AFTER INSERT ON t FOR EACH ROW SET @a = 1;\n");
    put(&place, "002-second.sql", "UPDATE t SET word = 'a';\n");
    assert_true(refuse_each(&place, run_anew) > 15);
    expect_ok(run(&place));
    assert_true(refuse_each(&place, run) > 3);
}

static struct error *ask(const struct place *place)
{
    size_t pending;
    bool all;
    const char *newest;
    TRY(migrate_pending(place->database, place->arena, place->directory, &pending));
    assert_int_equal(pending, 1);
    TRY(migrate_newest(place->database, place->arena, &newest));
    assert_string_equal(newest, "001-first.sql");
    return migrate_applied(place->database, place->arena, 1, &all);
}

static void each_question_may_be_refused(void **state)
{
    struct place place = place_new(state);
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\n");
    expect_ok(run(&place));
    put(&place, "002-second.sql", "UPDATE t SET word = 'a';\n");
    assert_true(refuse_each(&place, ask) > 3);
}

static struct error *give(struct arena *arena, void *context)
{
    const struct place *place = context;
    static const struct grant narrow[] = {{"trail", "SELECT, INSERT"}, {"missing", "SELECT"}};
    const struct secret password = secret_of("n");
    TRY(migrate_create_database(place->database, arena, "a_b\\c%migrations"));
    TRY(migrate_account(place->database, arena, "narrowed", "localhost", password));
    return migrate_grant(place->database, arena, "migrations", "narrowed", "localhost", narrow, 1);
}

static void each_statement_of_a_grant_may_be_refused(void **state)
{
    struct place place = place_new(state);
    sql(place.database, place.arena, "%s", "CREATE TABLE trail (a INT)");
    expect_ok(migrate_account(place.database, place.arena, "narrowed", "localhost", secret_of("n")));
    sql(place.database, place.arena, "%s", "GRANT DELETE, UPDATE ON migrations.trail TO narrowed@localhost");
    assert_true(refusal_each(place.database, give, &place) > 10);
    sql(place.database, place.arena, "%s", "DROP DATABASE `a_b\\c%migrations`");
    sql(place.database, place.arena, "%s", "DROP USER narrowed@localhost");
}

static struct error *count_excess(const struct place *place)
{
    static const struct grant narrow[] = {{"trail", "SELECT"}};
    size_t excess;
    return migrate_excess(place->database, place->arena, narrow, 1, &excess);
}

static void names_that_no_server_takes_are_refused_before_it_is_asked(void **state)
{
    struct place place = place_new(state);
    static const struct grant none[] = {{"t", "SELECT"}};
    const struct secret password = secret_of("n");
    const char *longest = arena_format(place.arena, "%0300d", 0);
    expect_error(migrate_create_database(place.database, place.arena, longest), ERROR_INTERNAL);
    expect_error(migrate_create_database(place.database, place.arena, "\xff"), ERROR_INTERNAL);
    expect_error(migrate_account(place.database, place.arena, "", "localhost", password), ERROR_INTERNAL);
    expect_error(migrate_account(place.database, place.arena, longest, "localhost", password), ERROR_INTERNAL);
    expect_error(migrate_grant(place.database, place.arena, longest, "u", "localhost", none, 1), ERROR_INTERNAL);
    expect_error(migrate_grant(place.database, place.arena, "migrations", "", "localhost", none, 1), ERROR_INTERNAL);
    expect_error(migrate_grant(place.database, place.arena, "migrations", "u", "", none, 1), ERROR_INTERNAL);
    assert_int_equal(refuse_each(&place, count_excess), 1);
}

static void an_account_without_a_password_is_known_by_the_socket(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    static const struct statement plugin = {"SELECT plugin FROM mysql.user WHERE user = 'by_socket'"};
    expect_ok(migrate_account(place.database, place.arena, "by_socket", "localhost", (struct secret){0}));
    expect_ok(database_query(place.database, place.arena, &plugin, NO_VALUES, &rows));
    assert_int_equal(rows->count, 1);
    assert_string_equal(rows_text(rows, 0, 0), "unix_socket");
    sql(place.database, place.arena, "%s", "DROP USER by_socket@localhost");
}

static void names_of_files_that_are_not_right_are_named(void **state)
{
    static const char *const names[] = {"1-a.sql",       "01-ab.sql",    "000-zero.sql", "001_under.sql",
                                        "001-Upper.sql", "001-a b.sql",  "abc-defg.sql", "001-{.sql",
                                        "001-.sql",      "0a1-name.sql", "001-a.b.sql"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct place place = place_new(state);
        put(&place, "README", "no migration");
        put(&place, names[i], "SELECT 1;\n");
        struct error *error = run(&place);
        expect_error(error, ERROR_INTERNAL);
        assert_non_null(strstr(error->message, names[i]));
    }
    struct place place = place_new(state);
    const char *longest = arena_format(place.arena, "001-%0120d.sql", 1);
    put(&place, longest, "SELECT 1;\n");
    assert_non_null(strstr(run(&place)->message, "is not named NNN-name.sql"));
}

static void a_folder_in_the_place_of_a_file_is_refused(void **state)
{
    struct place place = place_new(state);
    assert_int_equal(mkdir(arena_format(place.arena, "%s/001-folder.sql", place.directory), 0700), 0);
    expect_error(run(&place), ERROR_INTERNAL);
    unsigned count;
    expect_ok(migrate_count(place.arena, place.directory, &count));
    assert_int_equal(count, 1);
    expect_error(migrate_count(place.arena, "/nowhere/at/all", &count), ERROR_INTERNAL);
    size_t pending;
    expect_error(migrate_pending(place.database, place.arena, "/nowhere/at/all", &pending), ERROR_INTERNAL);
}

/* Another process has the lock now, since ours was not renewed. */
static void a_lock_that_is_lost_ends_the_migration(void **state)
{
    struct place place = place_new(state);
    struct row_lock lock;
    expect_ok(migrate_lock(place.database, place.arena, &lock));
    expect_ok(migrate_lock_renew(place.database, place.arena, &lock));
    sql(place.database, place.arena, "%s", "DELETE FROM row_lock");
    struct error *error = migrate_lock_renew(place.database, place.arena, &lock);
    expect_error(error, ERROR_INTERNAL);
    assert_non_null(strstr(error->message, "Another migration has begun meanwhile"));
    row_lock_release(place.database, place.arena, &lock);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_statement_of_a_migration_may_be_refused),
    HARNESS_TEST(each_question_may_be_refused),
    HARNESS_TEST(each_statement_of_a_grant_may_be_refused),
    HARNESS_TEST(names_that_no_server_takes_are_refused_before_it_is_asked),
    HARNESS_TEST(an_account_without_a_password_is_known_by_the_socket),
    HARNESS_TEST(names_of_files_that_are_not_right_are_named),
    HARNESS_TEST(a_folder_in_the_place_of_a_file_is_refused),
    HARNESS_TEST(a_lock_that_is_lost_ends_the_migration),
};
HARNESS_MODULE(migrate_refusal, cases)
