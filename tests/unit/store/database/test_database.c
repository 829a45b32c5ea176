/* SPDX-License-Identifier: MIT */
/* Statements and results against a real server. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "store/database/database_int.h"
#include "store/support.h"
#include "support_database.h"

/* ---- values and results -------------------------------------------------------------------------- */

static const struct statement insert_sample = {
    "INSERT INTO sample (id, name, word, bytes, amount, big, flag, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"};
static const struct statement find_sample = {"SELECT id, name, word, bytes, amount, big, flag, at, NULL, amount + 0.5,"
                                             " (SELECT SUM(amount) FROM sample) FROM sample WHERE id = ?"};
static const struct statement count_samples = {"SELECT COUNT(*) FROM sample"};
static const struct statement delete_samples = {"DELETE FROM sample"};

static void values_come_back_as_they_went(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    const struct id id = id_new();
    static const char bytes[] = {'a', '\0', '\'', '\\', '\xff', '\0'};
    static const char name[] = "Zo\xc3\xab \xf0\x9f\x90\x98 O'Brien \\ % _ \"";
    help_none(database_change(database, arena, &insert_sample,
                              VALUES(database_id(id), database_text(name), database_text(""),
                                     database_bytes(bytes, sizeof bytes), database_integer(INT64_MIN),
                                     database_integer(INT64_MAX), database_boolean(true),
                                     database_time(arena, 1763715120123)),
                              NULL));
    struct rows *rows;
    help_none(database_query(database, arena, &find_sample, VALUES(database_id(id)), &rows));
    assert_int_equal(rows->count, 1);
    assert_int_equal(rows->columns, 11);
    assert_true(id_equal(rows_id(rows, 0, 0), id));
    assert_string_equal(rows_text(rows, 0, 1), name);
    assert_string_equal(rows_text(rows, 0, 2), "");
    size_t length;
    assert_memory_equal(rows_bytes(rows, 0, 3, &length), bytes, sizeof bytes);
    assert_int_equal(length, sizeof bytes);
    assert_true(rows_integer(rows, 0, 4) == INT64_MIN);
    assert_true(rows_integer(rows, 0, 5) == INT64_MAX);
    assert_string_equal(rows_text(rows, 0, 4), "-9223372036854775808");
    assert_true(rows_boolean(rows, 0, 6));
    assert_string_equal(rows_time(rows, 0, 7), "2025-11-21T08:52:00.123Z");
    assert_true(rows_time_milliseconds(rows, 0, 7) == 1763715120123);
    assert_true(rows_is_null(rows, 0, 8));
    assert_string_equal(rows_text(rows, 0, 9), "-9223372036854775807.5");
    assert_true(rows_integer(rows, 0, 10) == INT64_MIN);
}

static void null_reads_as_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    const struct id id = id_new();
    const struct id none = {{0}};
    help_none(database_change(database, arena, &insert_sample,
                              VALUES(database_id(id), database_text(NULL), database_null(), database_null(),
                                     database_null(), database_null(), database_null(), database_null()),
                              NULL));
    struct rows *rows;
    help_none(database_query(database, arena, &find_sample, VALUES(database_id(id)), &rows));
    assert_false(rows_is_null(rows, 0, 0));
    for (size_t column = 1; column < 9; column++)
        assert_true(rows_is_null(rows, 0, column));
    assert_null(rows_text(rows, 0, 1));
    size_t length = 7;
    assert_null(rows_bytes(rows, 0, 3, &length));
    assert_int_equal(length, 0);
    assert_int_equal(rows_integer(rows, 0, 4), 0);
    assert_false(rows_boolean(rows, 0, 6));
    assert_null(rows_time(rows, 0, 7));
    assert_int_equal(rows_time_milliseconds(rows, 0, 7), 0);
    assert_true(id_is_none(rows_id(rows, 0, 8)));
    assert_int_equal(database_id_or_null(none).kind, DATABASE_NULL);
    assert_int_equal(database_id_or_null(id).kind, DATABASE_ID);
}

static const struct statement largest = {"SELECT CAST(18446744073709551615 AS UNSIGNED), CAST(5 AS UNSIGNED), -7"};

static void unsigned_integers_stop_at_the_largest_signed_one(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    help_none(database_query(database, arena, &largest, NO_VALUES, &rows));
    assert_true(rows_integer(rows, 0, 0) == INT64_MAX);
    assert_int_equal(rows_integer(rows, 0, 1), 5);
    assert_int_equal(rows_integer(rows, 0, 2), -7);
}

static const struct statement times = {"SELECT TIMESTAMP '1970-01-01 00:00:00', TIMESTAMP '2000-02-29 23:59:59.999999',"
                                       " TIMESTAMP '9999-12-31 23:59:59.1', TIMESTAMP '1900-03-01 00:00:00.001'"};

static void times_are_rfc_3339_with_milliseconds(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    help_none(database_query(database, arena, &times, NO_VALUES, &rows));
    assert_string_equal(rows_time(rows, 0, 0), "1970-01-01T00:00:00.000Z");
    assert_string_equal(rows_time(rows, 0, 1), "2000-02-29T23:59:59.999Z");
    assert_string_equal(rows_time(rows, 0, 2), "9999-12-31T23:59:59.100Z");
    assert_int_equal(rows_time_milliseconds(rows, 0, 0), 0);
    assert_true(rows_time_milliseconds(rows, 0, 1) == 951868799999);
    assert_true(rows_time_milliseconds(rows, 0, 2) == 253402300799100);
    assert_true(rows_time_milliseconds(rows, 0, 3) == -2203891199999);
}

static const struct statement many = {
    "SELECT seq, REPEAT('x', seq % 50), IF(seq % 3 = 0, NULL, seq) FROM seq_1_to_5000"};
static const struct statement long_text = {"SELECT REPEAT('y', 3000000)"};

static void long_results_come_whole_and_in_order(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    for (int round = 0; round < 3; round++) {
        help_none(database_query(database, arena, &many, NO_VALUES, &rows));
        assert_int_equal(rows->count, 5000);
        for (size_t row = 0; row < rows->count; row++) {
            assert_int_equal(rows_integer(rows, row, 0), row + 1);
            assert_int_equal(strlen(rows_text(rows, row, 1)), (row + 1) % 50);
            assert_int_equal(rows_is_null(rows, row, 2), (row + 1) % 3 == 0);
        }
    }
    help_none(database_query(database, arena, &long_text, NO_VALUES, &rows));
    assert_int_equal(strlen(rows_text(rows, 0, 0)), 3000000);
    help_none(database_query(database, arena, &find_sample, VALUES(database_id(id_new())), &rows));
    assert_int_equal(rows->count, 0);
    assert_int_equal(rows->columns, 11);
}

struct misreading {
    const struct rows *rows;
    int kind;
};

static void misread(void *context)
{
    const struct misreading *misreading = context;
    size_t length;
    if (misreading->kind == 0)
        (void)rows_text(misreading->rows, 1, 0);
    else if (misreading->kind == 1)
        (void)rows_text(misreading->rows, 0, 3);
    else if (misreading->kind == 2)
        (void)rows_id(misreading->rows, 0, 1);
    else if (misreading->kind == 3)
        (void)rows_integer(misreading->rows, 0, 1);
    else if (misreading->kind == 4)
        (void)rows_bytes(misreading->rows, 0, 0, &length);
    else
        (void)rows_time(misreading->rows, 0, 1);
}

static const struct statement two = {"SELECT 1, 'two', NULL"};

static void reading_wrongly_ends_the_process(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    help_none(database_query(database, arena, &two, NO_VALUES, &rows));
    for (int kind = 0; kind < 6; kind++) {
        struct misreading misreading = {.rows = rows, .kind = kind};
        int status = harness_fork(misread, &misreading);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

/* ---- comparing ----------------------------------------------------------------------------------- */

static const struct statement insert_word = {"INSERT INTO sample (id, word) VALUES (?, ?)"};
static const struct statement find_word = {"SELECT COUNT(*) FROM sample WHERE word = ?"};
static const struct statement compare_literal = {"SELECT 'owner' = word FROM sample WHERE word = ?"};

static void comparison_is_exact_to_the_byte(void **state)
{
    static const char *const near[] = {"Owner",  "OWNER", "owner ",       " owner",           "owner\t",
                                       "ownner", "own",   "\xc3\xb6wner", "\xef\xbd\x8fwner", ""};
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    help_insert(database, arena, id_new(), "owner");
    help_none(database_query(database, arena, &find_word, VALUES(database_text("owner")), &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 1);
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        help_none(database_query(database, arena, &find_word, VALUES(database_text(near[i])), &rows));
        assert_int_equal(rows_integer(rows, 0, 0), 0);
        const struct id id = id_new();
        help_insert(database, arena, id, near[i]);
        help_none(database_query(database, arena, &compare_literal, VALUES(database_text(near[i])), &rows));
        assert_int_equal(rows->count, 1);
        assert_false(rows_boolean(rows, 0, 0));
    }
    help_none(database_query(database, arena, &find_word, VALUES(database_bytes("owner\0", 6)), &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 0);
}

/* ---- changes ------------------------------------------------------------------------------------- */

static const struct statement update_word = {"UPDATE sample SET word = ? WHERE id = ?"};
static const struct statement insert_numbered = {"INSERT INTO numbered (word) VALUES (?)"};
static const struct statement insert_child = {"INSERT INTO child (id, sample_id) VALUES (?, ?)"};
static const struct statement delete_sample = {"DELETE FROM sample WHERE id = ?"};

static void changes_tell_what_they_did(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    const struct id id = id_new();
    struct change change;
    help_none(database_change(database, arena, &insert_word, VALUES(database_id(id), database_text("one")), &change));
    assert_int_equal(change.affected, 1);
    assert_int_equal(change.generated, 0);
    help_none(database_change(database, arena, &update_word, VALUES(database_text("two"), database_id(id)), &change));
    assert_int_equal(change.affected, 1);
    /* Found, though not changed. */
    help_none(database_change(database, arena, &update_word, VALUES(database_text("two"), database_id(id)), &change));
    assert_int_equal(change.affected, 1);
    help_none(
        database_change(database, arena, &update_word, VALUES(database_text("x"), database_id(id_new())), &change));
    assert_int_equal(change.affected, 0);
    help_none(database_change(database, arena, &insert_numbered, VALUES(database_text("a")), &change));
    uint64_t first = change.generated;
    assert_true(first > 0);
    help_none(database_change(database, arena, &insert_numbered, VALUES(database_text("b")), &change));
    assert_int_equal(change.generated, first + 1);
    help_none(database_change(database, arena, &delete_samples, NO_VALUES, &change));
    assert_int_equal(change.affected, 1);
}

static void a_duplicate_is_an_outcome_that_names_the_key(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    const struct id id = id_new();
    struct change change;
    help_none(database_change(database, arena, &insert_word, VALUES(database_id(id), database_text("one")), &change));
    assert_false(change.duplicate);
    help_none(
        database_change(database, arena, &insert_word, VALUES(database_id(id_new()), database_text("one")), &change));
    assert_true(change.duplicate);
    assert_string_equal(change.duplicate_key, "sample_word");
    assert_int_equal(change.affected, 0);
    help_none(database_change(database, arena, &insert_word, VALUES(database_id(id), database_text("two")), &change));
    assert_true(change.duplicate);
    assert_string_equal(change.duplicate_key, "PRIMARY");
    struct error *error =
        database_change(database, arena, &insert_word, VALUES(database_id(id_new()), database_text("one")), NULL);
    help_error(error, ERROR_INTERNAL);
    assert_non_null(strstr(error->detail, "1062"));
    assert_null(strstr(error->detail, "one"));
}

static void a_missing_reference_is_an_outcome(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    const struct id id = id_new();
    struct change change;
    help_none(database_change(database, arena, &insert_child, VALUES(database_id(id_new()), database_id(id)), &change));
    assert_true(change.missing_reference);
    assert_false(change.duplicate);
    help_insert(database, arena, id, "one");
    help_none(database_change(database, arena, &insert_child, VALUES(database_id(id_new()), database_id(id)), &change));
    assert_false(change.missing_reference);
    help_none(database_change(database, arena, &delete_sample, VALUES(database_id(id)), &change));
    assert_true(change.missing_reference);
    struct error *error = database_change(database, arena, &delete_sample, VALUES(database_id(id)), NULL);
    help_error(error, ERROR_INTERNAL);
}

/* ---- mistakes ------------------------------------------------------------------------------------ */

static const struct statement bad_syntax = {"SELEKT 1"};
static const struct statement no_table = {"SELECT 1 FROM there_is_none"};
static const struct statement insert_amount = {"INSERT INTO sample (id, amount) VALUES (?, ?)"};

static void our_own_mistakes_are_internal_and_hold_no_value(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    char too_long[256];
    memset(too_long, 'Q', sizeof too_long);
    help_error(database_query(database, arena, &bad_syntax, NO_VALUES, &rows), ERROR_INTERNAL);
    help_error(database_query(database, arena, &no_table, NO_VALUES, &rows), ERROR_INTERNAL);
    help_error(database_query(database, arena, &find_word, NO_VALUES, &rows), ERROR_INTERNAL);
    const struct database_value long_word = database_bytes(too_long, sizeof too_long);
    struct error *error =
        database_change(database, arena, &insert_word, VALUES(database_id(id_new()), long_word), NULL);
    help_error(error, ERROR_INTERNAL);
    error = database_change(database, arena, &insert_amount, VALUES(database_id(id_new()), database_text("QQQ")), NULL);
    help_error(error, ERROR_INTERNAL);
    assert_null(strstr(error->detail, "QQQ"));
    /* Strict: nothing was cut or rounded to fit; and the connection is as good as before. */
    help_none(database_query(database, arena, &count_samples, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 0);
}

/* ---- the session --------------------------------------------------------------------------------- */

static const struct statement session = {
    "SELECT @@time_zone, @@tx_isolation, @@autocommit, @@innodb_lock_wait_timeout, @@max_statement_time,"
    " @@group_concat_max_len, @@collation_connection, @@character_set_client, @@sql_mode, @@local_infile,"
    " @@lc_messages, CONNECTION_ID()"};

static void the_session_is_ours_whatever_the_server_s_defaults(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    help_none(database_query(database, arena, &session, NO_VALUES, &rows));
    assert_string_equal(rows_text(rows, 0, 0), "+00:00");
    assert_string_equal(rows_text(rows, 0, 1), "READ-COMMITTED");
    assert_int_equal(rows_integer(rows, 0, 2), 1);
    assert_int_equal(rows_integer(rows, 0, 3), 1);
    assert_string_equal(rows_text(rows, 0, 4), "5.000000");
    assert_int_equal(rows_integer(rows, 0, 5), 65536);
    assert_string_equal(rows_text(rows, 0, 6), "utf8mb4_nopad_bin");
    assert_string_equal(rows_text(rows, 0, 7), "utf8mb4");
    assert_non_null(strstr(rows_text(rows, 0, 8), "STRICT_ALL_TABLES"));
    assert_null(strstr(rows_text(rows, 0, 8), "NO_BACKSLASH_ESCAPES"));
    assert_string_equal(rows_text(rows, 0, 10), "en_US");
}

static const struct statement counters = {
    "SELECT SUM(IF(variable_name = 'COM_STMT_PREPARE', CAST(variable_value AS INTEGER), 0)),"
    " SUM(IF(variable_name = 'COM_STMT_EXECUTE', CAST(variable_value AS INTEGER), 0)),"
    " SUM(IF(variable_name = 'QUESTIONS', CAST(variable_value AS INTEGER), 0)),"
    " SUM(IF(variable_name IN ('COM_STMT_RESET', 'COM_STMT_CLOSE', 'COM_STMT_FETCH'),"
    " CAST(variable_value AS INTEGER), 0))"
    " FROM information_schema.session_status"};

static void a_statement_is_prepared_once_and_then_one_round_trip(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *before, *after, *rows;
    help_none(database_query(database, arena, &find_word, VALUES(database_text("x")), &rows));
    help_none(database_query(database, arena, &many, NO_VALUES, &rows));
    help_none(database_query(database, arena, &counters, NO_VALUES, &before));
    for (int i = 0; i < 50; i++) {
        help_none(database_query(database, arena, &find_word, VALUES(database_text("x")), &rows));
        help_none(database_query(database, arena, &many, NO_VALUES, &rows));
    }
    help_none(database_query(database, arena, &counters, NO_VALUES, &after));
    assert_int_equal(rows_integer(after, 0, 0) - rows_integer(before, 0, 0), 0);
    assert_int_equal(rows_integer(after, 0, 1) - rows_integer(before, 0, 1), 101);
    assert_int_equal(rows_integer(after, 0, 2) - rows_integer(before, 0, 2), 101);
    assert_int_equal(rows_integer(after, 0, 3) - rows_integer(before, 0, 3), 0);
}

static const struct statement all_columns = {"SELECT * FROM altered"};

static void a_statement_survives_changes_of_its_tables(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct database *other = help_database(arena);
    struct rows *rows;
    help_execute(other, arena, "CREATE OR REPLACE TABLE altered (a INT) SELECT 1 AS a");
    help_none(database_query(database, arena, &all_columns, NO_VALUES, &rows));
    assert_int_equal(rows->columns, 1);
    help_execute(other, arena, "ALTER TABLE altered ADD COLUMN b VARCHAR(20) NOT NULL DEFAULT 'new'");
    help_none(database_query(database, arena, &all_columns, NO_VALUES, &rows));
    assert_int_equal(rows->columns, 2);
    assert_int_equal(rows_integer(rows, 0, 0), 1);
    assert_string_equal(rows_text(rows, 0, 1), "new");
    help_execute(other, arena, "ALTER TABLE altered MODIFY a BIGINT UNSIGNED, MODIFY b VARCHAR(200)");
    help_none(database_query(database, arena, &all_columns, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 1);
    help_execute(other, arena, "DROP TABLE altered");
    help_error(database_query(database, arena, &all_columns, NO_VALUES, &rows), ERROR_INTERNAL);
    help_execute(other, arena, "CREATE TABLE altered (a INT) SELECT 7 AS a");
    help_none(database_query(database, arena, &all_columns, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 7);
}

static void a_statement_that_the_server_forgot_is_prepared_anew(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    help_none(database_query(database, arena, &two, NO_VALUES, &rows));
    help_none(database_query(database, arena, &count_samples, NO_VALUES, &rows));
    /* The server drops the statement, the client still holds it: error 1243, "unknown statement handler". */
    for (size_t i = 0; i < PREPARED_SLOTS; i++)
        if (database->prepared[i] != NULL && database->prepared[i]->sql == two.sql)
            help_drop_on_server(database->prepared[i]->handle);
    help_none(database_query(database, arena, &two, NO_VALUES, &rows));
    assert_string_equal(rows_text(rows, 0, 1), "two");
    help_none(database_query(database, arena, &count_samples, NO_VALUES, &rows));
}

static void as_many_statements_as_allowed_are_remembered(void **state)
{
    static struct statement statements[LIMIT_STATEMENTS + 1];
    static char texts[LIMIT_STATEMENTS + 1][24];
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    for (int i = 0; i <= LIMIT_STATEMENTS; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "SELECT %d", i);
        statements[i].sql = texts[i];
    }
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < LIMIT_STATEMENTS; i++) {
            help_none(database_query(database, arena, &statements[i], NO_VALUES, &rows));
            assert_int_equal(rows_integer(rows, 0, 0), i);
        }
    assert_int_equal(database->prepared_count, LIMIT_STATEMENTS);
    struct error *error = database_query(database, arena, &statements[LIMIT_STATEMENTS], NO_VALUES, &rows);
    help_error(error, ERROR_INTERNAL);
    /* Forgetting one leaves the others where they are found. */
    for (int i = 0; i < LIMIT_STATEMENTS; i += 3)
        for (size_t place = 0; place < PREPARED_SLOTS; place++)
            if (database->prepared[place] != NULL && database->prepared[place]->sql == texts[i]) {
                prepared_forget(database, database->prepared[place]);
                break;
            }
    for (int i = 0; i < LIMIT_STATEMENTS; i++) {
        help_none(database_query(database, arena, &statements[i], NO_VALUES, &rows));
        assert_int_equal(rows_integer(rows, 0, 0), i);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(values_come_back_as_they_went),
    HARNESS_TEST(null_reads_as_nothing),
    HARNESS_TEST(unsigned_integers_stop_at_the_largest_signed_one),
    HARNESS_TEST(times_are_rfc_3339_with_milliseconds),
    HARNESS_TEST(long_results_come_whole_and_in_order),
    HARNESS_TEST(reading_wrongly_ends_the_process),
    HARNESS_TEST(comparison_is_exact_to_the_byte),
    HARNESS_TEST(changes_tell_what_they_did),
    HARNESS_TEST(a_duplicate_is_an_outcome_that_names_the_key),
    HARNESS_TEST(a_missing_reference_is_an_outcome),
    HARNESS_TEST(our_own_mistakes_are_internal_and_hold_no_value),
    HARNESS_TEST(the_session_is_ours_whatever_the_server_s_defaults),
    HARNESS_TEST(a_statement_is_prepared_once_and_then_one_round_trip),
    HARNESS_TEST(a_statement_survives_changes_of_its_tables),
    HARNESS_TEST(a_statement_that_the_server_forgot_is_prepared_anew),
    HARNESS_TEST(as_many_statements_as_allowed_are_remembered),
};
HARNESS_MODULE(database, cases)
