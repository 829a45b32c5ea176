/* SPDX-License-Identifier: MIT */
/* Broken connections, silent servers, deadlines, refused logins. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/database/migrate.h"
#include "store/proxy.h"
#include "store/support.h"
#include "support_database.h"

/*
 * Milliseconds that a busy machine may add to what ends by a deadline: less than a repetition would take. A machine
 * that stands still for longer does not do so at each of several tries.
 */
#define SLACK 900
#define TRIES 5
/* Milliseconds in which what waits for nothing has surely happened, and seconds that a wait would take in its place. */
#define SOON 20000
#define LONG_SECONDS 60

static const struct statement one = {"SELECT 1"};
static const struct statement echo = {"SELECT ?"};
static const struct statement slow = {"SELECT SLEEP(30)"};
static const struct statement count_word = {"SELECT COUNT(*) FROM sample WHERE word = ?"};

static int64_t count(struct arena *arena, const char *word)
{
    struct database_options options = help_options();
    struct database *database = help_open(arena, &options);
    struct rows *rows;
    help_none(database_query(database, arena, &count_word, VALUES(database_text(word)), &rows));
    return rows_integer(rows, 0, 0);
}

/* Unavailable, with a time to come back, within so many milliseconds. */
static void help_unavailable(const struct error *error, int64_t start, int64_t milliseconds)
{
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_true(error->retry_after > 0);
    int64_t took = (clock_monotonic() - start) / 1000;
    if (took > milliseconds)
        fail_msg("it took %lld ms, more than %lld", (long long)took, (long long)milliseconds);
}

/* A handle that goes through a proxy, with these deadlines for connecting and for a statement. */
static struct database *through(struct arena *arena, const char *trigger, enum proxy_fault fault, unsigned connecting,
                                unsigned asking)
{
    struct database_options options = help_options();
    options.socket = proxy_start(arena, harness_directory(arena), options.socket, trigger, fault);
    options.connect_timeout_seconds = connecting;
    options.query_timeout_seconds = asking;
    return help_open(arena, &options);
}

/* A handle without a proxy, whose own deadlines are far away. */
static struct database *patient(struct arena *arena)
{
    struct database_options options = help_options();
    options.connect_timeout_seconds = LONG_SECONDS;
    options.query_timeout_seconds = LONG_SECONDS;
    return help_open(arena, &options);
}

/* Runs a statement that must fail by its deadline; returns the error. */
typedef struct error *help_failing(struct database *database, struct arena *arena);

/* The milliseconds until it is told that the database is unavailable, or `least` where that is less. */
static int64_t help_least(struct database *database, struct arena *arena, help_failing *run, int64_t least)
{
    int64_t start = clock_monotonic();
    help_error(run(database, arena), ERROR_DATABASE_UNAVAILABLE);
    int64_t took = (clock_monotonic() - start) / 1000;
    return took < least ? took : least;
}

/* Unavailable after so many milliseconds. */
static void help_given_up(struct database *database, struct arena *arena, help_failing *run, int64_t milliseconds)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES && least > milliseconds + SLACK; i++)
        least = help_least(database, arena, run, least);
    assert_in_range(least, milliseconds - 100, milliseconds + SLACK);
}

static struct error *ask(struct database *database, struct arena *arena)
{
    struct rows *rows;
    return database_query(database, arena, &one, NO_VALUES, &rows);
}

static struct error *ask_slowly(struct database *database, struct arena *arena)
{
    struct rows *rows;
    return database_query(database, arena, &slow, NO_VALUES, &rows);
}

/* Runs a statement with a word. */
typedef struct error *help_with_word(struct database *database, struct arena *arena, const char *word);

static struct error *ask_for(struct database *database, struct arena *arena, const char *word)
{
    struct rows *rows;
    return database_query(database, arena, &echo, VALUES(database_text(word)), &rows);
}

/* Where it fails, whether it has happened is unknown. */
static struct error *insert_unknown(struct database *database, struct arena *arena, const char *word)
{
    struct change change;
    struct error *error = help_insert_new(database, arena, word, &change);
    assert_true(error == NULL || change.unknown);
    return error;
}

/* Unavailable a second and a half after a proxy has met its trigger; connected and prepared before. */
static void help_given_up_at_marker(struct arena *arena, enum proxy_fault fault, help_with_word *run)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES && least > 1500 + SLACK; i++) {
        struct database *database = through(arena, "marker", fault, LONG_SECONDS, 1);
        help_none(database_ping(database, arena));
        help_none(run(database, arena, "before"));
        int64_t start = clock_monotonic();
        help_error(run(database, arena, "marker"), ERROR_DATABASE_UNAVAILABLE);
        int64_t took = (clock_monotonic() - start) / 1000;
        least = took < least ? took : least;
    }
    assert_in_range(least, 1400, 1500 + SLACK);
}

/* ---- broken connections -------------------------------------------------------------------------- */

static void a_query_after_the_connection_was_killed_succeeds(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    int64_t before = help_connection(database, arena);
    help_kill(arena, before);
    struct rows *rows;
    help_none(database_query(database, arena, &one, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 1);
    assert_true(help_connection(database, arena) != before);
}

static void a_change_after_the_connection_was_killed_happens_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct change change;
    help_none(help_insert_new(database, arena, "before", &change));
    help_kill(arena, help_connection(database, arena));
    help_none(help_insert_new(database, arena, "after", &change));
    assert_int_equal(change.affected, 1);
    assert_int_equal(count(arena, "after"), 1);
}

static void a_query_whose_answer_was_lost_is_asked_again(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = through(arena, "marker", PROXY_LOSE_ANSWER, LONG_SECONDS, LONG_SECONDS);
    struct rows *rows;
    help_none(database_query(database, arena, &echo, VALUES(database_text("warm")), &rows));
    help_none(database_query(database, arena, &echo, VALUES(database_text("marker")), &rows));
    assert_string_equal(rows_text(rows, 0, 0), "marker");
}

static void a_change_whose_answer_was_lost_is_unknown_and_not_repeated(void **state)
{
    struct arena *arena = harness_arena(state);
    (void)help_database(arena);
    struct database *database = through(arena, "lost-answer", PROXY_LOSE_ANSWER, LONG_SECONDS, LONG_SECONDS);
    struct change change;
    int64_t start = clock_monotonic();
    help_unavailable(help_insert_new(database, arena, "lost-answer", &change), start, SOON);
    assert_true(change.unknown);
    assert_int_equal(count(arena, "lost-answer"), 1);
    /* The same handle goes on. */
    help_none(help_insert_new(database, arena, "next", &change));
    assert_false(change.unknown);
}

static void a_change_that_did_not_arrive_is_unknown_too(void **state)
{
    struct arena *arena = harness_arena(state);
    (void)help_database(arena);
    struct database *database = through(arena, "lost-request", PROXY_LOSE_REQUEST, LONG_SECONDS, LONG_SECONDS);
    struct change change;
    int64_t start = clock_monotonic();
    help_unavailable(help_insert_new(database, arena, "lost-request", &change), start, SOON);
    assert_true(change.unknown);
    assert_int_equal(count(arena, "lost-request"), 0);
}

static void the_handle_survives_a_crash_of_the_server(void **state)
{
    struct arena *arena = harness_arena(state);
    (void)help_database(arena);
    struct database *database = patient(arena);
    struct change change;
    struct rows *rows;
    help_none(help_insert_new(database, arena, "kept", &change));
    support_database_kill();
    int64_t start = clock_monotonic();
    help_unavailable(database_query(database, arena, &one, NO_VALUES, &rows), start, SOON);
    help_unavailable(help_insert_new(database, arena, "refused", &change), start, SOON);
    assert_false(change.unknown);
    help_unavailable(database_ping(database, arena), start, SOON);
    support_database_restart(NULL);
    help_none(database_query(database, arena, &one, NO_VALUES, &rows));
    assert_int_equal(count(arena, "kept"), 1);
    assert_int_equal(count(arena, "refused"), 0);
}

/* ---- deadlines ----------------------------------------------------------------------------------- */

static void a_slow_statement_is_ended_and_the_connection_kept(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database_options options = help_options();
    options.query_timeout_seconds = 1;
    struct database *database = help_open(arena, &options);
    help_given_up(database, arena, ask_slowly, 1000);
    /* It is closed where the server does not say soon that it has ended the statement. */
    bool kept = false;
    for (int i = 0; i < TRIES && !kept; i++) {
        int64_t connection = help_connection(database, arena);
        help_error(ask_slowly(database, arena), ERROR_DATABASE_UNAVAILABLE);
        kept = help_connection(database, arena) == connection;
    }
    assert_true(kept);
}

static void a_server_that_stops_answering_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database_options options = help_options();
    options.query_timeout_seconds = 1;
    options.connect_timeout_seconds = LONG_SECONDS;
    struct database *connected[TRIES];
    for (int i = 0; i < TRIES; i++) {
        connected[i] = help_open(arena, &options);
        help_none(ask(connected[i], arena));
    }
    options.connect_timeout_seconds = 1;
    int status;
    assert_int_equal(kill(support_database_pid(), SIGSTOP), 0);
    assert_int_equal(waitpid(support_database_pid(), &status, WUNTRACED), support_database_pid());
    assert_true(WIFSTOPPED(status));
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES && least > 1500 + SLACK; i++)
        least = help_least(connected[i], arena, ask, least);
    int64_t connecting = INT64_MAX;
    for (int i = 0; i < TRIES && connecting > 1000 + SLACK; i++)
        connecting = help_least(help_open(arena, &options), arena, ask, connecting);
    assert_int_equal(kill(support_database_pid(), SIGCONT), 0);
    assert_in_range(least, 1400, 1500 + SLACK);
    assert_in_range(connecting, 900, 1000 + SLACK);
    help_none(ask(connected[0], arena));
}

static void a_server_that_drips_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    help_given_up_at_marker(arena, PROXY_DRIP, ask_for);
}

static void a_greeting_that_drips_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    help_given_up(through(arena, "", PROXY_DRIP, 1, LONG_SECONDS), arena, database_ping, 1000);
}

static void a_black_hole_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    help_given_up(through(arena, "", PROXY_SWALLOW, 1, LONG_SECONDS), arena, database_ping, 1000);
    help_given_up_at_marker(arena, PROXY_SWALLOW, insert_unknown);
}

/* The handle's own bounds would let each of these take a minute. */
static void a_common_deadline_bounds_everything(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database_options options = help_options();
    struct rows *rows;
    options.connect_timeout_seconds = 60;
    options.query_timeout_seconds = 60;
    struct database_options silent = options;
    silent.socket = proxy_start(arena, harness_directory(arena), options.socket, "", PROXY_SWALLOW);
    struct database *unheard = help_open(arena, &silent);
    struct database *database = help_open(arena, &options);
    help_none(database_ping(database, arena));
    int64_t start = clock_monotonic();
    clock_set_horizon(start + 500000);
    struct error *query = database_query(database, arena, &slow, NO_VALUES, &rows);
    struct error *connect = database_ping(unheard, arena);
    struct error *late = database_query(database, arena, &one, NO_VALUES, &rows);
    clock_set_horizon(0);
    help_unavailable(query, start, 20000);
    help_unavailable(connect, start, 20000);
    help_unavailable(late, start, 20000);
    assert_true(clock_monotonic() - start > 400000);
    help_none(database_query(database, arena, &one, NO_VALUES, &rows));
}

/* ---- refused ------------------------------------------------------------------------------------- */

static void what_cannot_be_reached_is_unavailable(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database_options usual = help_options();
    usual.connect_timeout_seconds = LONG_SECONDS;
    int64_t start = clock_monotonic();
    struct database_options options = usual;
    options.socket = "/nowhere/at/all";
    help_unavailable(database_ping(help_open(arena, &options), arena), start, SOON);
    options = usual;
    options.user = "stranger";
    options.password = secret_of("Secret-Password-1");
    struct error *error = database_ping(help_open(arena, &options), arena);
    help_unavailable(error, start, SOON);
    assert_non_null(strstr(error->detail, "1045"));
    assert_null(strstr(error->detail, "Secret-Password-1"));
    options = usual;
    options.name = "there_is_none";
    help_unavailable(database_ping(help_open(arena, &options), arena), start, SOON);
    options = (struct database_options){
        .host = "127.0.0.1", .port = 1, .user = "root", .name = "samples", .connect_timeout_seconds = LONG_SECONDS};
    help_unavailable(database_ping(help_open(arena, &options), arena), start, SOON);
}

static const struct grant all_of_sample = {"sample", "SELECT, INSERT, UPDATE, DELETE"};

static struct database_options options_of_worker(struct arena *arena)
{
    struct database_options administrator = help_options();
    struct database *database = help_open(arena, &administrator);
    struct secret password = secret_of("it's a \\ 'password'");
    help_none(migrate_account(database, arena, "worker", "localhost", password));
    help_none(migrate_grant(database, arena, "samples", "worker", "localhost", &all_of_sample, 1));
    struct database_options options = help_options();
    options.user = "worker";
    options.password = password;
    return options;
}

static void a_worker_may_change_rows_and_nothing_else(void **state)
{
    static const char *const forbidden[] = {
        "DROP TABLE sample", "CREATE TABLE x (a INT)", "ALTER TABLE sample ADD b INT", "SELECT * FROM mysql.user",
        "CREATE DATABASE y", "TRUNCATE TABLE sample",  "SELECT * FROM samplesX.t"};
    struct arena *arena = harness_arena(state);
    struct database *administrator = help_database(arena);
    help_execute(administrator, arena, "CREATE OR REPLACE DATABASE samplesX");
    help_execute(administrator, arena, "CREATE TABLE samplesX.t (a INT)");
    struct database_options options = options_of_worker(arena);
    /* Granting again changes nothing. */
    options = options_of_worker(arena);
    struct database *database = help_open(arena, &options);
    struct change change;
    help_none(help_insert_new(database, arena, "by-worker", &change));
    assert_int_equal(count(arena, "by-worker"), 1);
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        struct error *error = database_execute(database, arena, forbidden[i], strlen(forbidden[i]));
        assert_non_null(error);
        assert_non_null(strstr(error->detail, "denied"));
    }
}

static void a_read_only_server_is_unavailable_for_changes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *administrator = help_database(arena);
    struct database_options options = options_of_worker(arena);
    struct database *database = help_open(arena, &options);
    struct change change;
    struct rows *rows;
    help_execute(administrator, arena, "SET GLOBAL read_only = ON");
    struct error *error = help_insert_new(database, arena, "read-only", &change);
    struct error *reading = database_query(database, arena, &one, NO_VALUES, &rows);
    help_execute(administrator, arena, "SET GLOBAL read_only = OFF");
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_false(change.unknown);
    help_none(reading);
}

static const struct statement escaping = {"SELECT COUNT(*) FROM `under_score`.t"};

static void a_grant_is_for_the_very_database(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *administrator = help_database(arena);
    struct secret password = secret_of("p");
    struct rows *rows;
    help_execute(administrator, arena, "CREATE OR REPLACE DATABASE `under_score`");
    help_execute(administrator, arena, "CREATE OR REPLACE DATABASE `underXscore`");
    help_execute(administrator, arena, "CREATE TABLE `under_score`.t (a INT)");
    help_execute(administrator, arena, "CREATE TABLE `underXscore`.t (a INT)");
    const struct grant grant = {"t", "SELECT"};
    help_none(migrate_account(administrator, arena, "narrow", "localhost", password));
    help_none(migrate_grant(administrator, arena, "under_score", "narrow", "localhost", &grant, 1));
    struct database_options options = help_options();
    options.user = "narrow";
    options.password = password;
    options.name = "under_score";
    struct database *database = help_open(arena, &options);
    help_none(database_query(database, arena, &escaping, NO_VALUES, &rows));
    static const char other[] = "SELECT * FROM `underXscore`.t";
    help_error(database_execute(database, arena, other, sizeof other - 1), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_query_after_the_connection_was_killed_succeeds),
    HARNESS_TEST(a_change_after_the_connection_was_killed_happens_once),
    HARNESS_TEST(a_query_whose_answer_was_lost_is_asked_again),
    HARNESS_TEST(a_change_whose_answer_was_lost_is_unknown_and_not_repeated),
    HARNESS_TEST(a_change_that_did_not_arrive_is_unknown_too),
    HARNESS_TEST(the_handle_survives_a_crash_of_the_server),
    HARNESS_TEST(a_slow_statement_is_ended_and_the_connection_kept),
    HARNESS_TEST(a_server_that_stops_answering_is_given_up_in_time),
    HARNESS_TEST(a_server_that_drips_is_given_up_in_time),
    HARNESS_TEST(a_greeting_that_drips_is_given_up_in_time),
    HARNESS_TEST(a_black_hole_is_given_up_in_time),
    HARNESS_TEST(a_common_deadline_bounds_everything),
    HARNESS_TEST(what_cannot_be_reached_is_unavailable),
    HARNESS_TEST(a_worker_may_change_rows_and_nothing_else),
    HARNESS_TEST(a_read_only_server_is_unavailable_for_changes),
    HARNESS_TEST(a_grant_is_for_the_very_database),
};
HARNESS_MODULE(connection, cases)
