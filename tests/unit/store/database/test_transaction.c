/* SPDX-License-Identifier: MIT */
/* All or nothing; conflicts tried again; a lost COMMIT told from one that failed. */
#include "harness.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/proxy.h"
#include "store/support.h"

static const struct statement add_amount = {"UPDATE sample SET amount = COALESCE(amount, 0) + ? WHERE word = ?"};
static const struct statement count_rows = {"SELECT COUNT(*) FROM sample"};
static const struct statement sum_amount = {"SELECT SUM(amount) FROM sample"};

static struct error *add(struct database *database, struct arena *arena, const char *word)
{
    struct change change;
    return database_change(database, arena, &add_amount, VALUES(database_integer(1), database_text(word)), &change);
}

/* What the bodies below are told and tell. */
struct play {
    int runs;
    int64_t connection;
    struct database *other;
    struct arena *arena;
    bool fail;
    bool swallow;
    int64_t seen_outside;
};

/* ---- all or nothing ------------------------------------------------------------------------------ */

static struct error *insert_two(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    play->runs++;
    assert_true(database_in_transaction(database));
    TRY(help_insert_new(database, arena, "one", NULL));
    play->seen_outside = help_count(arena);
    TRY(help_insert_new(database, arena, "two", NULL));
    return play->fail ? error_plain(arena, ERROR_USER_STATE) : NULL;
}

static void what_the_body_did_is_there_after_commit_and_not_before(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct play play = {.runs = 0};
    bool unknown = true;
    help_none(database_transaction(database, arena, insert_two, &play, &unknown));
    assert_int_equal(play.runs, 1);
    assert_int_equal(play.seen_outside, 0);
    assert_false(unknown);
    assert_false(database_in_transaction(database));
    assert_int_equal(help_count(arena), 2);
}

static void an_error_of_the_body_takes_everything_back(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct play play = {.fail = true};
    help_error(database_transaction(database, arena, insert_two, &play, NULL), ERROR_USER_STATE);
    assert_int_equal(play.runs, 1);
    assert_int_equal(help_count(arena), 0);
    help_none(help_insert_new(database, arena, "afterwards", NULL));
    assert_int_equal(help_count(arena), 1);
}

static struct error *outer(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    struct play inner = {.runs = 0};
    TRY(database_transaction(database, arena, insert_two, &inner, NULL));
    assert_int_equal(inner.runs, 1);
    assert_true(database_in_transaction(database));
    play->seen_outside = help_count(arena);
    return play->fail ? error_plain(arena, ERROR_USER_STATE) : NULL;
}

static void a_transaction_inside_another_joins_it(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct play play = {.fail = true};
    help_error(database_transaction(database, arena, outer, &play, NULL), ERROR_USER_STATE);
    assert_int_equal(play.seen_outside, 0);
    assert_int_equal(help_count(arena), 0);
    play.fail = false;
    help_none(database_transaction(database, arena, outer, &play, NULL));
    assert_int_equal(help_count(arena), 2);
}

static struct error *insert_twice(struct database *database, struct arena *arena, void *context)
{
    struct change change;
    (void)context;
    TRY(help_insert_new(database, arena, "same", NULL));
    TRY(help_insert_new(database, arena, "same", &change));
    assert_true(change.duplicate);
    TRY(help_insert_new(database, arena, "another", NULL));
    return NULL;
}

static void a_duplicate_does_not_end_the_transaction(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    help_none(database_transaction(database, arena, insert_twice, NULL, NULL));
    assert_int_equal(help_count(arena), 2);
}

/* ---- conflicts ----------------------------------------------------------------------------------- */

/* Meets a row that another connection holds; the other one lets go before the second try. */
static struct error *meet_a_lock(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    if (play->runs++ == 1)
        help_execute(play->other, play->arena, "COMMIT");
    TRY(help_insert_new(database, arena, "with-it", NULL));
    struct error *error = add(database, arena, "row");
    if (error != NULL && play->swallow) {
        /* Nothing that follows may run alone, outside the transaction that is gone. */
        help_error(help_insert_new(database, arena, "alone", NULL), ERROR_DATABASE_UNAVAILABLE);
        return NULL;
    }
    TRY(error);
    return NULL;
}

static void a_lock_wait_is_tried_again_as_a_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct database_options options = help_options();
    struct play play = {.other = help_open(arena, &options), .arena = arena};
    for (int round = 0; round < 2; round++) {
        play.runs = 0;
        play.swallow = round == 1;
        help_execute(database, arena, "DELETE FROM sample");
        help_none(help_insert_new(database, arena, "row", NULL));
        help_execute(play.other, arena, "BEGIN");
        help_none(add(play.other, arena, "row"));
        help_none(database_transaction(database, arena, meet_a_lock, &play, NULL));
        assert_int_equal(play.runs, 2);
        assert_int_equal(help_count(arena), 2);
    }
}

static struct error *always_locked(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    play->runs++;
    TRY(help_insert_new(database, arena, "with-it", NULL));
    TRY(add(database, arena, "row"));
    return NULL;
}

static void a_lock_that_stays_is_given_up(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct database_options options = help_options();
    struct play play = {.other = help_open(arena, &options)};
    help_none(help_insert_new(database, arena, "row", NULL));
    help_execute(play.other, arena, "BEGIN");
    help_none(add(play.other, arena, "row"));
    int64_t start = clock_monotonic();
    bool unknown = true;
    struct error *error = database_transaction(database, arena, always_locked, &play, &unknown);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_false(unknown);
    /* As often as there is time for, and no longer. */
    assert_in_range(play.runs, 4, 7);
    assert_true(clock_monotonic() - start < 7000000);
    help_error(add(database, arena, "row"), ERROR_DATABASE_UNAVAILABLE);
    help_execute(play.other, arena, "ROLLBACK");
    assert_int_equal(help_count(arena), 1);
}

/* Holds the row for 1.5 seconds: longer than one lock wait. */
static void hold_the_row(int ready)
{
    struct arena *arena = arena_new();
    struct database_options options = help_options();
    struct database *database = database_new(&options);
    help_execute(database, arena, "BEGIN");
    help_none(add(database, arena, "row"));
    if (write(ready, "x", 1) != 1)
        _exit(1);
    (void)usleep(1500000);
    help_execute(database, arena, "COMMIT");
    _exit(0);
}

static void a_change_by_itself_waits_out_a_lock(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    int pipe_ends[2];
    char byte;
    help_none(help_insert_new(database, arena, "row", NULL));
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        hold_the_row(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    help_none(add(database, arena, "row"));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
    help_none(database_query(database, arena, &sum_amount, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 2);
}

/* ---- deadlocks ----------------------------------------------------------------------------------- */

/* One end of a conversation between two processes. */
struct pipes {
    int in, out;
};

static void tell(const struct pipes *pipes)
{
    assert_int_equal(write(pipes->out, "x", 1), 1);
}

static void hear(const struct pipes *pipes)
{
    char byte;
    assert_int_equal(read(pipes->in, &byte, 1), 1);
}

/* Takes row b, then row a, once the parent has it; with more changed rows, so that the parent is the victim. */
static void collide(const struct pipes *pipes)
{
    struct arena *arena = arena_new();
    struct database_options options = help_options();
    options.query_timeout_seconds = 60; /* longer than the parent looks for its wait */
    struct database *database = database_new(&options);
    help_execute(database, arena, "BEGIN");
    help_execute(database, arena, "INSERT INTO numbered (word) SELECT 'x' FROM seq_1_to_100");
    help_none(add(database, arena, "b"));
    tell(pipes);
    hear(pipes);
    help_none(add(database, arena, "a"));
    help_execute(database, arena, "COMMIT");
    _exit(0);
}

struct collision {
    struct pipes pipes;
    struct database *watcher;
    int runs;
};

static const struct statement waiting = {"SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"};

/*
 * Until the child waits for its second row: who comes last to the circle is who is thrown out. The server makes that
 * table anew only for who has not read it for 100 ms, so it is asked less often than that.
 */
static void wait_for_the_child(struct collision *collision, struct arena *arena)
{
    struct rows *rows = NULL;
    for (int tries = 0; tries < 300 && (rows == NULL || rows->count == 0); tries++) {
        (void)usleep(150000);
        help_none(database_query(collision->watcher, arena, &waiting, NO_VALUES, &rows));
    }
    assert_int_equal(rows->count, 1);
}

static struct error *meet(struct database *database, struct arena *arena, void *context)
{
    struct collision *collision = context;
    bool first = collision->runs++ == 0;
    TRY(add(database, arena, "a"));
    if (first) {
        tell(&collision->pipes);
        hear(&collision->pipes);
        wait_for_the_child(collision, arena);
    }
    TRY(add(database, arena, "b"));
    return NULL;
}

static void a_deadlock_is_tried_again_as_a_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    int ends[4], status; /* of the pipe to the parent, and of the one to the child */
    help_none(help_insert_new(database, arena, "a", NULL));
    help_none(help_insert_new(database, arena, "b", NULL));
    assert_int_equal(pipe(ends) + pipe(ends + 2), 0);
    struct database_options options = help_options();
    struct pipes of_child = {.in = ends[2], .out = ends[1]};
    struct collision collision = {.pipes = {.in = ends[0], .out = ends[3]}, .watcher = help_open(arena, &options)};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        collide(&of_child);
    help_none(database_transaction(database, arena, meet, &collision, NULL));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(collision.runs, 2);
    for (int end = 0; end < 4; end++)
        (void)close(ends[end]);
    help_none(database_query(database, arena, &sum_amount, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 4);
}

#define WRITERS 8
#define ROUNDS 25

struct pair {
    const char *first, *second;
};

static struct error *add_both(struct database *database, struct arena *arena, void *context)
{
    const struct pair *pair = context;
    TRY(add(database, arena, pair->first));
    (void)usleep(500);
    TRY(add(database, arena, pair->second));
    return NULL;
}

/* Half of the writers take the two rows in the other order. Tells how many of the rounds succeeded. */
static void write_pairs(int writer, int told)
{
    struct database_options options = help_options();
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    struct pair pair = {.first = writer % 2 == 0 ? "a" : "b", .second = writer % 2 == 0 ? "b" : "a"};
    int done = 0;
    for (int round = 0; round < ROUNDS; round++) {
        done += database_transaction(database, arena, add_both, &pair, NULL) == NULL;
        arena_reset(arena);
    }
    _exit(write(told, &done, sizeof done) == (ssize_t)sizeof done ? 0 : 1);
}

/* A rare transaction meets four conflicts in a row and is given up; none may take effect twice or in part. */
static void colliding_writers_get_through_without_a_double_effect(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct rows *rows;
    pid_t children[WRITERS];
    int pipe_ends[2], done, succeeded = 0, status;
    help_none(help_insert_new(database, arena, "a", NULL));
    help_none(help_insert_new(database, arena, "b", NULL));
    assert_int_equal(pipe(pipe_ends), 0);
    for (int writer = 0; writer < WRITERS; writer++) {
        children[writer] = fork();
        assert_true(children[writer] >= 0);
        if (children[writer] == 0)
            write_pairs(writer, pipe_ends[1]);
    }
    (void)close(pipe_ends[1]);
    while (read(pipe_ends[0], &done, sizeof done) == (ssize_t)sizeof done)
        succeeded += done;
    (void)close(pipe_ends[0]);
    for (int writer = 0; writer < WRITERS; writer++) {
        assert_int_equal(waitpid(children[writer], &status, 0), children[writer]);
        assert_int_equal(status, 0);
    }
    assert_in_range(succeeded, WRITERS * ROUNDS * 95 / 100, WRITERS * ROUNDS);
    help_none(database_query(database, arena, &sum_amount, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 2 * succeeded);
}

/* ---- lost connections ---------------------------------------------------------------------------- */

static struct error *lose_it_on_the_way(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    struct rows *rows;
    play->runs++;
    TRY(help_insert_new(database, arena, "one", NULL));
    help_kill(play->arena, help_connection(database, arena));
    struct error *error = help_insert_new(database, arena, "two", NULL);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    /* Neither a change nor a query gets a new connection behind the transaction's back. */
    help_error(help_insert_new(database, arena, "three", NULL), ERROR_DATABASE_UNAVAILABLE);
    help_error(database_query(database, arena, &count_rows, NO_VALUES, &rows), ERROR_DATABASE_UNAVAILABLE);
    help_error(database_execute(database, arena, "DELETE FROM sample", 18), ERROR_DATABASE_UNAVAILABLE);
    return play->swallow ? NULL : error;
}

static void a_connection_lost_on_the_way_takes_everything_back(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    for (int round = 0; round < 2; round++) {
        struct play play = {.arena = arena, .swallow = round == 1};
        bool unknown = true;
        struct error *error = database_transaction(database, arena, lose_it_on_the_way, &play, &unknown);
        help_error(error, ERROR_DATABASE_UNAVAILABLE);
        assert_false(unknown);
        assert_int_equal(play.runs, 1);
        assert_int_equal(help_count(arena), 0);
        assert_false(database_in_transaction(database));
    }
    help_none(help_insert_new(database, arena, "afterwards", NULL));
    assert_int_equal(help_count(arena), 1);
}

static struct error *lose_it_at_the_end(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    TRY(help_insert_new(database, arena, "one", NULL));
    help_kill(play->arena, help_connection(database, arena));
    return NULL;
}

static void a_connection_lost_before_commit_is_a_plain_failure(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct play play = {.arena = arena};
    bool unknown = true;
    struct error *error = database_transaction(database, arena, lose_it_at_the_end, &play, &unknown);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_false(unknown);
    assert_int_equal(help_count(arena), 0);
}

static struct error *insert_one(struct database *database, struct arena *arena, void *context)
{
    struct play *play = context;
    play->runs++;
    TRY(help_insert_new(database, arena, "one", NULL));
    return NULL;
}

static void a_lost_answer_to_commit_is_told(void **state)
{
    static const enum proxy_fault faults[] = {PROXY_LOSE_ANSWER, PROXY_LOSE_REQUEST, PROXY_SWALLOW};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        (void)help_database(arena);
        struct database_options options = help_options();
        const char *directory = harness_directory(arena);
        options.socket = proxy_start(arena, directory, options.socket, "\003COMMIT", faults[i]);
        options.connect_timeout_seconds = 60;
        options.query_timeout_seconds = faults[i] == PROXY_SWALLOW ? 3 : 60;
        struct database *database = help_open(arena, &options);
        struct play play = {.runs = 0};
        bool unknown = false;
        struct error *error = database_transaction(database, arena, insert_one, &play, &unknown);
        help_error(error, ERROR_DATABASE_UNAVAILABLE);
        assert_true(unknown);
        assert_int_equal(play.runs, 1);
        assert_int_equal(help_count(arena), faults[i] == PROXY_LOSE_ANSWER ? 1 : 0);
    }
}

static void a_connection_that_broke_before_begin_is_replaced(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = help_database(arena);
    struct play play = {.runs = 0};
    help_kill(arena, help_connection(database, arena));
    help_none(database_transaction(database, arena, insert_one, &play, NULL));
    assert_int_equal(help_count(arena), 1);
    struct database_options options = help_options();
    options.socket = proxy_start(arena, harness_directory(arena), options.socket, "START", PROXY_LOSE_ANSWER);
    help_execute(database, arena, "DELETE FROM sample");
    struct database *through = help_open(arena, &options);
    help_none(database_transaction(through, arena, insert_one, &play, NULL));
    assert_int_equal(help_count(arena), 1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_the_body_did_is_there_after_commit_and_not_before),
    HARNESS_TEST(an_error_of_the_body_takes_everything_back),
    HARNESS_TEST(a_transaction_inside_another_joins_it),
    HARNESS_TEST(a_duplicate_does_not_end_the_transaction),
    HARNESS_TEST(a_lock_wait_is_tried_again_as_a_whole),
    HARNESS_TEST(a_lock_that_stays_is_given_up),
    HARNESS_TEST(a_change_by_itself_waits_out_a_lock),
    HARNESS_TEST(a_deadlock_is_tried_again_as_a_whole),
    HARNESS_TEST(colliding_writers_get_through_without_a_double_effect),
    HARNESS_TEST(a_connection_lost_on_the_way_takes_everything_back),
    HARNESS_TEST(a_connection_lost_before_commit_is_a_plain_failure),
    HARNESS_TEST(a_lost_answer_to_commit_is_told),
    HARNESS_TEST(a_connection_that_broke_before_begin_is_replaced),
};
HARNESS_MODULE(transaction, cases)
