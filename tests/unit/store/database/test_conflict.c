/* SPDX-License-Identifier: MIT */
/* Two that want the same rows: waits for locks and deadlocks, which are tried again as a whole. */
#include "harness.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/support.h"

static const struct statement add_amount = {"UPDATE sample SET amount = COALESCE(amount, 0) + ? WHERE word = ?"};
static const struct statement sum_amount = {"SELECT SUM(amount) FROM sample"};

static struct error *add(struct database *database, struct arena *arena, const char *word)
{
    struct change change;
    return database_change(database, arena, &add_amount, VALUES(database_integer(1), database_text(word)), &change);
}

/* Of a handle whose time no busy machine uses up; each wait for a row lasts a second all the same. */
static struct database_options patient(void)
{
    struct database_options options = help_options();
    options.query_timeout_seconds = 60;
    return options;
}

/* ---- lock waits ---------------------------------------------------------------------------------- */

/* What the bodies below are told and tell. */
struct play {
    int runs;
    struct database *other;
    struct arena *arena;
    bool swallow;
};

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
    /* As often as there is time for, and no longer; on a busy machine each time lasts longer. */
    assert_in_range(play.runs, 2, 7);
    assert_true(clock_monotonic() - start < 20000000);
    help_error(add(database, arena, "row"), ERROR_DATABASE_UNAVAILABLE);
    help_execute(play.other, arena, "ROLLBACK");
    assert_int_equal(help_count(arena), 1);
}

/* Holds the row for 1.5 seconds: longer than one lock wait. */
static void hold_the_row(int ready)
{
    struct arena *arena = arena_new();
    struct database_options options = patient();
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
    (void)help_database(arena);
    struct database_options options = patient();
    struct database *database = help_open(arena, &options);
    struct rows *rows;
    int pipe_ends[2];
    char byte;
    help_none(help_insert_new(database, arena, "row", NULL));
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        hold_the_row(pipe_ends[1]);
    (void)close(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    help_none(add(database, arena, "row"));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)close(pipe_ends[0]);
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
    struct database_options options = patient();
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
    (void)help_database(arena);
    struct database_options options = patient();
    struct database *database = help_open(arena, &options);
    struct rows *rows;
    int ends[4], status; /* of the pipe to the parent, and of the one to the child */
    help_none(help_insert_new(database, arena, "a", NULL));
    help_none(help_insert_new(database, arena, "b", NULL));
    assert_int_equal(pipe(ends) + pipe(ends + 2), 0);
    struct pipes of_child = {.in = ends[2], .out = ends[1]};
    struct collision collision = {.pipes = {.in = ends[0], .out = ends[3]}, .watcher = help_open(arena, &options)};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        collide(&of_child);
    (void)close(ends[1]);
    (void)close(ends[2]);
    help_none(database_transaction(database, arena, meet, &collision, NULL));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(collision.runs >= 2); /* the child may have its locks for longer than one wait */
    (void)close(ends[0]);
    (void)close(ends[3]);
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
    struct database_options options = patient();
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

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_lock_wait_is_tried_again_as_a_whole),
    HARNESS_TEST(a_lock_that_stays_is_given_up),
    HARNESS_TEST(a_change_by_itself_waits_out_a_lock),
    HARNESS_TEST(a_deadlock_is_tried_again_as_a_whole),
    HARNESS_TEST(colliding_writers_get_through_without_a_double_effect),
};
HARNESS_MODULE(conflict, cases)
