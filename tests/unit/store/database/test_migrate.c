/* SPDX-License-Identifier: MIT */
/* Migrations: once, in order, unchanged, one process at a time, resumed where they failed. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "store/database/migrate.h"
#include "store/source_int.h"
#include "store/support.h"
#include "support_database.h"

static const struct statement list_words = {"SELECT word FROM t ORDER BY word"};
static const struct statement count_words = {"SELECT COUNT(*) FROM t"};

struct place {
    struct arena *arena;
    const char *directory;
    struct database *database;
    int reported;
    char last[64];
};

static struct place place_new(void **state)
{
    struct place place = {.arena = harness_arena(state)};
    struct database_options options = support_database_empty("migrations");
    options.query_timeout_seconds = 0;
    place.database = help_open(place.arena, &options);
    place.directory = harness_directory(place.arena);
    return place;
}

static void put(struct place *place, const char *name, const char *text)
{
    (void)harness_write(place->arena, place->directory, name, text, strlen(text));
}

static void report(void *context, const char *file_name)
{
    struct place *place = context;
    place->reported++;
    (void)snprintf(place->last, sizeof place->last, "%s", file_name);
}

static struct error *run(struct place *place)
{
    place->reported = 0;
    return migrate(place->database, place->arena, place->directory, report, place);
}

static void expect_refusal(const struct error *error, const char *words)
{
    help_error(error, ERROR_INTERNAL);
    if (strstr(error->message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error->message, words);
}

static size_t pending(struct place *place)
{
    size_t count = 99;
    help_none(migrate_pending(place->database, place->arena, place->directory, &count));
    return count;
}

static bool applied(struct place *place, unsigned count)
{
    bool all = false;
    help_none(migrate_applied(place->database, place->arena, count, &all));
    return all;
}

static void files_are_applied_once_and_in_order(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    put(&place, "010-more.sql", "INSERT INTO t VALUES ('c;');\n");
    put(&place, "001-first.sql", "-- head\nCREATE TABLE t (word CHAR(9));\nINSERT INTO t VALUES ('a');\n");
    put(&place, "002-next.sql", "INSERT INTO t VALUES ('b')");
    put(&place, "README", "not a migration");
    put(&place, ".003-hidden.sql", "INSERT INTO t VALUES ('hidden')");
    assert_int_equal(pending(&place), 3);
    unsigned count = 99;
    help_none(migrate_count(place.arena, place.directory, &count));
    assert_int_equal(count, 3);
    assert_false(applied(&place, 0));
    help_none(run(&place));
    assert_true(applied(&place, 0) && applied(&place, 3));
    assert_false(applied(&place, 4));
    assert_int_equal(place.reported, 3);
    assert_string_equal(place.last, "010-more.sql");
    assert_int_equal(pending(&place), 0);
    help_none(run(&place));
    assert_int_equal(place.reported, 0);
    help_none(database_query(place.database, place.arena, &list_words, NO_VALUES, &rows));
    assert_int_equal(rows->count, 3);
    assert_string_equal(rows_text(rows, 2, 0), "c;");
    put(&place, "011-last.sql", "INSERT INTO t VALUES ('d')");
    assert_int_equal(pending(&place), 1);
    help_none(run(&place));
    assert_int_equal(place.reported, 1);
}

static void triggers_that_a_copy_left_behind_are_made_again(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    put(&place, "001-first.sql",
        "CREATE TABLE t (word CHAR(9));\n-- loud\nCREATE TRIGGER IF NOT EXISTS loud BEFORE INSERT ON t"
        " FOR EACH ROW SET NEW.word = UPPER(NEW.word);");
    help_none(run(&place));
    help_none(database_execute(place.database, place.arena, "DROP TRIGGER loud", 17));
    help_none(run(&place));
    assert_int_equal(place.reported, 0);
    put(&place, "002-next.sql", "INSERT INTO t VALUES ('b')");
    help_none(run(&place));
    help_none(database_query(place.database, place.arena, &list_words, NO_VALUES, &rows));
    assert_string_equal(rows_text(rows, 0, 0), "B");
}

/* One account for everything, and later another one for migrations: nothing may depend on what the first may do. */
static void triggers_of_another_account_are_made_anew(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    struct secret password = secret_of("f");
    put(&place, "001-first.sql",
        "CREATE TABLE t (word CHAR(9));\nCREATE TABLE seen (word CHAR(9));\n-- twice\n"
        "CREATE TRIGGER IF NOT EXISTS one AFTER INSERT ON t FOR EACH ROW INSERT INTO seen VALUES ('1');\n"
        "CREATE TRIGGER IF NOT EXISTS two AFTER INSERT ON t FOR EACH ROW FOLLOWS one"
        " UPDATE seen SET word = CONCAT(word, '2');");
    help_none(migrate_account(place.database, place.arena, "former", "localhost", password));
    help_execute(place.database, place.arena, "GRANT ALL ON migrations.* TO former@localhost");
    struct database_options options = support_database_options();
    options.user = "former";
    options.password = password;
    options.name = "migrations";
    struct place former = place;
    former.database = help_open(place.arena, &options);
    help_none(run(&former));
    help_execute(former.database, place.arena, "INSERT INTO t VALUES ('a')");
    help_none(run(&place));
    help_execute(place.database, place.arena, "REVOKE ALL ON migrations.* FROM former@localhost");
    help_execute(place.database, place.arena, "DELETE FROM seen");
    help_execute(place.database, place.arena, "INSERT INTO t VALUES ('b')");
    static const struct statement list_seen = {"SELECT word FROM seen"};
    help_none(database_query(place.database, place.arena, &list_seen, NO_VALUES, &rows));
    assert_int_equal(rows->count, 1);
    assert_string_equal(rows_text(rows, 0, 0), "12");
}

static void a_changed_file_is_refused(void **state)
{
    struct place place = place_new(state);
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\n");
    help_none(run(&place));
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20)); \n");
    put(&place, "002-next.sql", "INSERT INTO t VALUES ('b')");
    expect_refusal(run(&place), "001-first.sql was changed after it was applied");
    assert_int_equal(place.reported, 0);
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\n");
    help_none(run(&place));
    assert_int_equal(place.reported, 1);
}

static void a_newer_database_is_refused(void **state)
{
    struct place place = place_new(state);
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\n");
    put(&place, "002-next.sql", "INSERT INTO t VALUES ('b')");
    help_none(run(&place));
    assert_int_equal(unlink(arena_format(place.arena, "%s/002-next.sql", place.directory)), 0);
    expect_refusal(run(&place), "002-next.sql, which this version does not know");
    assert_int_equal(pending(&place), 0);
}

static void a_file_put_in_between_is_refused(void **state)
{
    struct place place = place_new(state);
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\n");
    put(&place, "003-third.sql", "INSERT INTO t VALUES ('c')");
    help_none(run(&place));
    put(&place, "002-second.sql", "INSERT INTO t VALUES ('b')");
    expect_refusal(run(&place), "not all that come before it");
}

static void a_file_that_fails_half_way_is_reported_and_resumed(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    put(&place, "001-first.sql",
        "CREATE TABLE t (word CHAR(9) PRIMARY KEY);\nINSERT INTO t VALUES ('a');\n\n"
        "INSERT INTO missing VALUES ('b');\nINSERT INTO t VALUES ('c');\n");
    put(&place, "002-next.sql", "INSERT INTO t VALUES ('d')");
    struct error *error = run(&place);
    expect_refusal(error, "001-first.sql, line 4");
    assert_non_null(strstr(error->message, "statement 3 of 4"));
    assert_non_null(strstr(error->message, "missing"));
    assert_int_equal(place.reported, 0);
    assert_int_equal(pending(&place), 2);
    /* The same again while the cause is there; nothing is done twice. */
    expect_refusal(run(&place), "001-first.sql, line 4");
    help_execute(place.database, place.arena, "CREATE TABLE missing (word VARCHAR(20))");
    help_none(run(&place));
    assert_int_equal(place.reported, 2);
    help_none(database_query(place.database, place.arena, &count_words, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 3);
}

static void a_file_that_was_begun_must_not_change_either(void **state)
{
    struct place place = place_new(state);
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\nSELEKT;\n");
    expect_refusal(run(&place), "line 2");
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\nSELECT 1;\n");
    expect_refusal(run(&place), "changed after it was begun");
}

static void directories_that_cannot_be_right_are_refused(void **state)
{
    static const char *const names[] = {"1-first.sql",  "001_first.sql", "001-First.sql",
                                        "000-zero.sql", "001-.sqlx.sql", "first.sql"};
    struct place place = place_new(state);
    expect_refusal(run(&place), "There are no migrations in");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put(&place, names[i], "SELECT 1");
        expect_refusal(run(&place), names[i]);
        assert_int_equal(unlink(arena_format(place.arena, "%s/%s", place.directory, names[i])), 0);
    }
    put(&place, "001-a.sql", "SELECT 1");
    put(&place, "001-b.sql", "SELECT 1");
    expect_refusal(run(&place), "same number");
    place.directory = "/nowhere/at/all";
    expect_refusal(run(&place), "cannot be read");
}

static void texts_that_cannot_be_read_are_refused(void **state)
{
    struct place place = place_new(state);
    char *text;
    size_t length;
    (void)harness_write(place.arena, place.directory, "nul", "a\0b", 3);
    (void)harness_write(place.arena, place.directory, "latin", "\xe9t\xe9", 3);
    char *large = arena_alloc(place.arena, SOURCE_BYTES_MAX + 1);
    memset(large, 'x', SOURCE_BYTES_MAX + 1);
    (void)harness_write(place.arena, place.directory, "large", large, SOURCE_BYTES_MAX + 1);
    (void)harness_write(place.arena, place.directory, "fits", large, SOURCE_BYTES_MAX);
    static const char *const bad[] = {"nul", "latin", "large", "missing", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = arena_format(place.arena, "%s/%s", place.directory, bad[i]);
        struct error *error = source_read(place.arena, path, &text, &length);
        help_error(error, ERROR_INTERNAL);
        assert_non_null(strstr(error->detail, path));
    }
    const char *fits = arena_format(place.arena, "%s/fits", place.directory);
    help_none(source_read(place.arena, fits, &text, &length));
    assert_int_equal(length, SOURCE_BYTES_MAX);
    assert_int_equal(text[length], '\0');
}

/* Each child migrates the same database at the same time. */
static void several_processes_migrate_one_after_the_other(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    pid_t children[4];
    int status, failed = 0;
    put(&place, "001-first.sql",
        "CREATE TABLE t (word VARCHAR(20));\nINSERT INTO t VALUES ('a');\n"
        "DO SLEEP(0.3);\nINSERT INTO t VALUES ('b');\n");
    put(&place, "002-next.sql", "INSERT INTO t VALUES ('c')");
    database_close(place.database);
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(run(&place) == NULL ? 0 : 1);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        failed += status != 0;
    }
    assert_int_equal(failed, 0);
    help_none(database_query(place.database, place.arena, &count_words, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 3);
}

static void a_database_that_is_there_is_left_alone(void **state)
{
    struct place place = place_new(state);
    struct rows *rows;
    put(&place, "001-first.sql", "CREATE TABLE t (word VARCHAR(20));\nINSERT INTO t VALUES ('a');\n");
    help_none(run(&place));
    help_none(migrate_create_database(place.database, place.arena, "migrations"));
    help_none(database_query(place.database, place.arena, &count_words, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 1);
    help_none(migrate_create_database(place.database, place.arena, "od`d na.me"));
    help_execute(place.database, place.arena, "DROP DATABASE `od``d na.me`");
    help_error(migrate_create_database(place.database, place.arena, ""), ERROR_INTERNAL);
}

static const struct statement collations = {
    "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()"
    " AND collation_name <> 'utf8mb4_nopad_bin' AND table_name <> 'schema_migration'"};
static const struct statement engines = {
    "SELECT COUNT(*), SUM(engine = 'InnoDB') FROM information_schema.tables WHERE table_schema = DATABASE()"};

/* The server's own default is latin1 here, and case-blind. */
static void our_own_migrations_depend_on_no_default(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct rows *rows;
    size_t count;
    help_none(database_query(database, arena, &collations, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 0);
    help_none(database_query(database, arena, &engines, NO_VALUES, &rows));
    assert_true(rows_integer(rows, 0, 0) > 5);
    assert_int_equal(rows_integer(rows, 0, 0), rows_integer(rows, 0, 1));
    help_none(migrate_pending(database, arena, support_database_sql(), &count));
    assert_int_equal(count, 0);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(files_are_applied_once_and_in_order),
    HARNESS_TEST(triggers_that_a_copy_left_behind_are_made_again),
    HARNESS_TEST(triggers_of_another_account_are_made_anew),
    HARNESS_TEST(a_changed_file_is_refused),
    HARNESS_TEST(a_newer_database_is_refused),
    HARNESS_TEST(a_file_put_in_between_is_refused),
    HARNESS_TEST(a_file_that_fails_half_way_is_reported_and_resumed),
    HARNESS_TEST(a_file_that_was_begun_must_not_change_either),
    HARNESS_TEST(directories_that_cannot_be_right_are_refused),
    HARNESS_TEST(texts_that_cannot_be_read_are_refused),
    HARNESS_TEST(several_processes_migrate_one_after_the_other),
    HARNESS_TEST(a_database_that_is_there_is_left_alone),
    HARNESS_TEST(our_own_migrations_depend_on_no_default),
};
HARNESS_MODULE(migrate, cases)
