/* SPDX-License-Identifier: MIT */
/* Broken connections, silent servers, deadlines, refused logins, TLS. */
#include "harness.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/certificate.h"
#include "store/database/migrate.h"
#include "store/proxy.h"
#include "store/support.h"
#include "support_database.h"

/* Milliseconds that a busy machine may add; far less than a repetition or a drip would take. */
#define SLACK 900

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

/* A handle that goes through a proxy, with short deadlines. */
static struct database *through(struct arena *arena, const char *trigger, enum proxy_fault fault)
{
    struct database_options options = help_options();
    options.socket = proxy_start(arena, harness_directory(arena), options.socket, trigger, fault);
    options.connect_timeout_seconds = 1;
    options.query_timeout_seconds = 1;
    return help_open(arena, &options);
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
    struct database *database = through(arena, "marker", PROXY_LOSE_ANSWER);
    struct rows *rows;
    help_none(database_query(database, arena, &echo, VALUES(database_text("warm")), &rows));
    help_none(database_query(database, arena, &echo, VALUES(database_text("marker")), &rows));
    assert_string_equal(rows_text(rows, 0, 0), "marker");
}

static void a_change_whose_answer_was_lost_is_unknown_and_not_repeated(void **state)
{
    struct arena *arena = harness_arena(state);
    (void)help_database(arena);
    struct database *database = through(arena, "lost-answer", PROXY_LOSE_ANSWER);
    struct change change;
    int64_t start = clock_monotonic();
    help_unavailable(help_insert_new(database, arena, "lost-answer", &change), start, SLACK);
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
    struct database *database = through(arena, "lost-request", PROXY_LOSE_REQUEST);
    struct change change;
    int64_t start = clock_monotonic();
    help_unavailable(help_insert_new(database, arena, "lost-request", &change), start, SLACK);
    assert_true(change.unknown);
    assert_int_equal(count(arena, "lost-request"), 0);
}

static void the_handle_survives_a_crash_of_the_server(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct change change;
    struct rows *rows;
    help_none(help_insert_new(database, arena, "kept", &change));
    support_database_kill();
    int64_t start = clock_monotonic();
    help_unavailable(database_query(database, arena, &one, NO_VALUES, &rows), start, SLACK);
    help_unavailable(help_insert_new(database, arena, "refused", &change), start, SLACK);
    assert_false(change.unknown);
    help_unavailable(database_ping(database, arena), start, SLACK);
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
    int64_t connection = help_connection(database, arena);
    struct rows *rows;
    int64_t start = clock_monotonic();
    help_unavailable(database_query(database, arena, &slow, NO_VALUES, &rows), start, 1000 + SLACK);
    assert_int_equal(help_connection(database, arena), connection);
}

static void a_server_that_stops_answering_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database_options options = help_options();
    options.query_timeout_seconds = 1;
    options.connect_timeout_seconds = 1;
    struct database *database = help_open(arena, &options);
    struct rows *rows;
    help_none(database_query(database, arena, &one, NO_VALUES, &rows));
    int status;
    assert_int_equal(kill(support_database_pid(), SIGSTOP), 0);
    assert_int_equal(waitpid(support_database_pid(), &status, WUNTRACED), support_database_pid());
    assert_true(WIFSTOPPED(status));
    int64_t start = clock_monotonic();
    struct error *query = database_query(database, arena, &one, NO_VALUES, &rows);
    int64_t middle = clock_monotonic();
    struct error *connect = database_query(database, arena, &one, NO_VALUES, &rows);
    int64_t end = clock_monotonic();
    assert_int_equal(kill(support_database_pid(), SIGCONT), 0);
    help_error(query, ERROR_DATABASE_UNAVAILABLE);
    help_error(connect, ERROR_DATABASE_UNAVAILABLE);
    assert_in_range((middle - start) / 1000, 1400, 1500 + SLACK);
    assert_in_range((end - middle) / 1000, 900, 1000 + SLACK);
    help_none(database_query(database, arena, &one, NO_VALUES, &rows));
}

static void a_server_that_drips_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = through(arena, "marker", PROXY_DRIP);
    struct rows *rows;
    help_none(database_query(database, arena, &echo, VALUES(database_text("warm")), &rows));
    int64_t start = clock_monotonic();
    struct error *error = database_query(database, arena, &echo, VALUES(database_text("marker")), &rows);
    help_unavailable(error, start, 1500 + SLACK);
    assert_true(clock_monotonic() - start > 1400000);
}

static void a_greeting_that_drips_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = through(arena, "", PROXY_DRIP);
    int64_t start = clock_monotonic();
    help_unavailable(database_ping(database, arena), start, 1000 + SLACK);
    assert_true(clock_monotonic() - start > 900000);
}

static void a_black_hole_is_given_up_in_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = through(arena, "", PROXY_SWALLOW);
    int64_t start = clock_monotonic();
    help_unavailable(database_ping(database, arena), start, 1000 + SLACK);
    database = through(arena, "marker", PROXY_SWALLOW);
    struct change change;
    start = clock_monotonic();
    help_unavailable(help_insert_new(database, arena, "marker", &change), start, 1500 + SLACK);
    assert_true(change.unknown);
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
    struct database_options options = help_options();
    int64_t start = clock_monotonic();
    options.socket = "/nowhere/at/all";
    help_unavailable(database_ping(help_open(arena, &options), arena), start, SLACK);
    options = help_options();
    options.user = "stranger";
    options.password = secret_of("Secret-Password-1");
    struct error *error = database_ping(help_open(arena, &options), arena);
    help_unavailable(error, start, SLACK);
    assert_non_null(strstr(error->detail, "1045"));
    assert_null(strstr(error->detail, "Secret-Password-1"));
    options = help_options();
    options.name = "there_is_none";
    help_unavailable(database_ping(help_open(arena, &options), arena), start, SLACK);
    options = (struct database_options){.host = "127.0.0.1", .port = 1, .user = "root", .name = "samples"};
    help_unavailable(database_ping(help_open(arena, &options), arena), start, 1000 + SLACK);
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

/* ---- TLS ----------------------------------------------------------------------------------------- */

/* Below the ports that the kernel gives to connections: one of these could take it before the server does. */
static unsigned free_port(void)
{
    struct harness_random random = {.state = (uint64_t)getpid()};
    for (unsigned tries = 0; tries < 1000; tries++) {
        unsigned port = 10000 + harness_random_below(&random, 20000);
        struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_true(fd >= 0);
        bool free = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        (void)close(fd);
        if (free)
            return port;
    }
    fail_msg("no port can be had");
    return 0;
}

struct encryption {
    struct arena *arena; /* for the server's arguments */
    const char *good;
    const char *other;
    struct database_options options;
};

/* Restarts the server with TLS on a port of the loopback interface; NULL for the certificate: without TLS. */
static void restart_encrypted(struct encryption *encryption, const char *certificate)
{
    struct arena *arena = encryption->arena;
    encryption->options.port = free_port();
    const char **arguments = arena_array(arena, 8, sizeof *arguments);
    size_t count = 0;
    arguments[count++] = arena_format(arena, "--port=%u", encryption->options.port);
    arguments[count++] = "--bind-address=127.0.0.1";
    if (certificate != NULL) {
        arguments[count++] = arena_format(arena, "--ssl-cert=%s-cert.pem", certificate);
        arguments[count++] = arena_format(arena, "--ssl-key=%s-key.pem", certificate);
    }
    support_database_kill();
    support_database_restart(arguments);
}

static struct error *reach(struct encryption *encryption, const char *authority)
{
    encryption->options.tls_ca_file = arena_format(encryption->arena, "%s-cert.pem", authority);
    return database_ping(help_open(encryption->arena, &encryption->options), encryption->arena);
}

static const struct statement cipher = {"SELECT variable_value FROM information_schema.session_status"
                                        " WHERE variable_name = 'SSL_VERSION'"};

static void tls_takes_the_right_certificate_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *administrator = help_database(arena);
    const char *directory = harness_directory(arena);
    struct encryption encryption = {.arena = arena, .options = help_options()};
    help_none(migrate_account(administrator, arena, "remote", "127.0.0.1", secret_of("r")));
    help_none(migrate_grant(administrator, arena, "samples", "remote", "127.0.0.1", &all_of_sample, 1));
    encryption.good = certificate_make(arena, directory, "good", "localhost", 30);
    encryption.other = certificate_make(arena, directory, "other", "localhost", 30);
    const char *elsewhere = certificate_make(arena, directory, "elsewhere", "elsewhere.example", 30);
    const char *expired = certificate_make(arena, directory, "expired", "localhost", -1);
    encryption.options.socket = NULL;
    encryption.options.host = "localhost";
    encryption.options.user = "remote";
    encryption.options.password = secret_of("r");

    restart_encrypted(&encryption, encryption.good);
    struct error *good = reach(&encryption, encryption.good);
    struct rows *rows = NULL;
    struct database *database = help_open(arena, &encryption.options);
    struct error *asked = database_query(database, arena, &cipher, NO_VALUES, &rows);
    struct error *unknown_authority = reach(&encryption, encryption.other);
    encryption.options.tls_ca_file = NULL;
    struct rows *clear = NULL;
    struct error *though_offered =
        database_query(help_open(arena, &encryption.options), arena, &cipher, NO_VALUES, &clear);
    restart_encrypted(&encryption, elsewhere);
    struct error *wrong_host = reach(&encryption, elsewhere);
    restart_encrypted(&encryption, expired);
    struct error *too_late = reach(&encryption, expired);
    restart_encrypted(&encryption, NULL);
    struct error *in_the_clear = reach(&encryption, encryption.good);
    encryption.options.tls_ca_file = NULL;
    struct error *not_asked_for = database_ping(help_open(arena, &encryption.options), arena);
    support_database_kill();
    support_database_restart(NULL);

    help_none(good);
    help_none(asked);
    assert_non_null(strstr(rows_text(rows, 0, 0), "TLSv1."));
    help_error(unknown_authority, ERROR_DATABASE_UNAVAILABLE);
    help_none(though_offered);
    assert_string_equal(rows_text(clear, 0, 0), "");
    help_error(wrong_host, ERROR_DATABASE_UNAVAILABLE);
    help_error(too_late, ERROR_DATABASE_UNAVAILABLE);
    help_error(in_the_clear, ERROR_DATABASE_UNAVAILABLE);
    help_none(not_asked_for);
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
    HARNESS_TEST(tls_takes_the_right_certificate_only),
};
HARNESS_MODULE(connection, cases)
