/* SPDX-License-Identifier: MIT */
/*
 * Locks in rows: one holder, a bounded wait, and what happens to those of processes that died or stood still. And
 * what else a cluster needs of the tables.
 */
#include "harness.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/database/row_lock.h"
#include "store/support.h"
#include "support_database.h"

#define PROCESSES 4
#define ROUNDS 25

struct pair {
    struct arena *arena;
    struct database *one;
    struct database *other;
    struct row_lock ones;
    struct row_lock others;
};

/* Two handles on a database without locks, and the same lock as each of them takes it. */
static struct pair pair_new(void **state)
{
    struct pair pair = {.arena = harness_arena(state)};
    struct database_options options = help_options();
    pair.one = help_database(pair.arena);
    pair.other = help_open(pair.arena, &options);
    help_none(row_lock_create(pair.one, pair.arena));
    help_execute(pair.one, pair.arena, "DELETE FROM row_lock");
    pair.ones = row_lock_of(pair.one, "kind", "key", 3);
    pair.others = row_lock_of(pair.other, "kind", "key", 3);
    return pair;
}

static bool take(struct pair *pair, bool first, unsigned patience)
{
    bool held = false;
    struct database *database = first ? pair->one : pair->other;
    help_none(row_lock_take(database, pair->arena, first ? &pair->ones : &pair->others, 30, patience, &held));
    return held;
}

static bool renew(struct pair *pair)
{
    bool held = false;
    help_none(row_lock_renew(pair->one, pair->arena, &pair->ones, 30, &held));
    return held;
}

/* As if the time of all locks were over. */
static void pass_time(struct pair *pair)
{
    help_execute(pair->other, pair->arena, "UPDATE row_lock SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
}

/* The same for locks of another node, whose clock may be behind by 30 seconds. */
static void pass_time_there(struct pair *pair)
{
    help_execute(pair->other, pair->arena, "UPDATE row_lock SET held_until = UTC_TIMESTAMP(3) - INTERVAL 31 SECOND");
}

/* As if the holder were connected to another node. */
static void move_away(struct pair *pair)
{
    help_execute(pair->other, pair->arena, "UPDATE row_lock SET server = CONCAT(server, ' elsewhere')");
}

static void one_holds_a_lock_and_the_other_waits_its_time(void **state)
{
    struct pair pair = pair_new(state);
    assert_true(take(&pair, true, 0));
    int64_t start = clock_monotonic();
    assert_false(take(&pair, false, 0));
    assert_false(take(&pair, false, 300));
    assert_true(clock_monotonic() - start < 20000000);      /* also on a busy machine */
    row_lock_release(pair.other, pair.arena, &pair.others); /* which is not its own */
    assert_false(take(&pair, false, 0));
    row_lock_release(pair.one, pair.arena, &pair.ones);
    assert_true(take(&pair, false, 0));
    assert_false(renew(&pair));
}

static void locks_of_other_names_are_free(void **state)
{
    struct pair pair = pair_new(state);
    bool held = false;
    assert_true(take(&pair, true, 0));
    struct row_lock lock = row_lock_of(pair.other, "kind", "ke", 2);
    help_none(row_lock_take(pair.other, pair.arena, &lock, 30, 0, &held));
    assert_true(held);
    lock = row_lock_of(pair.other, "kin", "d\nkey", 5);
    help_none(row_lock_take(pair.other, pair.arena, &lock, 30, 0, &held));
    assert_true(held);
}

static void a_handle_takes_its_own_lock_again(void **state)
{
    struct pair pair = pair_new(state);
    assert_true(take(&pair, true, 0));
    assert_true(take(&pair, true, 0));
    assert_true(renew(&pair));
    assert_false(take(&pair, false, 0));
    row_lock_release(pair.one, pair.arena, &pair.ones);
    assert_true(take(&pair, false, 0));
}

static void the_lock_of_a_connection_that_ended_is_free_at_once(void **state)
{
    struct pair pair = pair_new(state);
    assert_true(take(&pair, true, 0));
    help_kill(pair.arena, help_connection(pair.one, pair.arena));
    assert_true(take(&pair, false, 20000));
    assert_false(renew(&pair));
    row_lock_release(pair.one, pair.arena, &pair.ones);
    assert_false(take(&pair, true, 0));
}

static void the_lock_of_a_dead_process_on_another_node_ends_with_its_time(void **state)
{
    struct pair pair = pair_new(state);
    assert_true(take(&pair, true, 0));
    move_away(&pair);
    database_close(pair.one);
    assert_false(take(&pair, false, 300));
    pass_time(&pair);
    assert_false(take(&pair, false, 300));
    pass_time_there(&pair);
    assert_true(take(&pair, false, 0));
}

static void a_lock_whose_time_is_over_is_its_holders_until_another_takes_it(void **state)
{
    struct pair pair = pair_new(state);
    assert_true(take(&pair, true, 0));
    pass_time(&pair);
    assert_true(renew(&pair));
    assert_false(take(&pair, false, 0));
    pass_time(&pair);
    assert_true(take(&pair, false, 0));
    assert_false(renew(&pair));
}

static void a_tied_lock_lasts_as_long_as_its_connection(void **state)
{
    struct pair pair = pair_new(state);
    pair.ones.tied = pair.others.tied = true;
    assert_true(take(&pair, true, 0));
    pass_time(&pair);
    assert_false(take(&pair, false, 300));
    help_kill(pair.arena, help_connection(pair.one, pair.arena));
    assert_true(take(&pair, false, 20000));
}

/* The first look may come just before the holder's renewal. */
static void a_tied_lock_on_another_node_is_taken_after_two_looks(void **state)
{
    struct pair pair = pair_new(state);
    pair.ones.tied = pair.others.tied = true;
    assert_true(take(&pair, true, 0));
    move_away(&pair);
    pass_time_there(&pair);
    assert_false(take(&pair, false, 0));
    assert_true(take(&pair, false, 20000));
}

static const struct statement read_amount = {"SELECT amount FROM sample"};
static const struct statement write_amount = {"UPDATE sample SET amount = ?"};

/* Adds one under the lock, ROUNDS times, in a way that loses additions if two do it at once. */
static _Noreturn void add_in_child(struct arena *arena)
{
    struct database_options options = help_options();
    struct database *database = database_new(&options);
    const struct row_lock lock = row_lock_of(database, "adding", "", 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct rows *rows;
        bool held = false;
        if (row_lock_take(database, arena, &lock, 30, 120000, &held) != NULL || !held ||
            database_query(database, arena, &read_amount, NO_VALUES, &rows) != NULL ||
            database_change(database, arena, &write_amount, VALUES(database_integer(rows_integer(rows, 0, 0) + 1)),
                            NULL) != NULL)
            _exit(1);
        row_lock_release(database, arena, &lock);
    }
    database_close(database);
    _exit(0);
}

static void processes_do_one_after_the_other_what_is_done_under_a_lock(void **state)
{
    struct pair pair = pair_new(state);
    struct rows *rows;
    pid_t children[PROCESSES];
    int status;
    help_insert(pair.one, pair.arena, id_new(), "sum");
    help_none(database_change(pair.one, pair.arena, &write_amount, VALUES(database_integer(0)), NULL));
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            add_in_child(pair.arena);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    help_none(database_query(pair.one, pair.arena, &read_amount, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), PROCESSES * ROUNDS);
}

static void rows_that_nobody_wants_any_more_are_deleted(void **state)
{
    struct pair pair = pair_new(state);
    uint64_t count = 0;
    assert_true(take(&pair, true, 0));
    pass_time(&pair);
    help_none(row_lock_purge(pair.other, pair.arena, 10, &count));
    assert_int_equal(count, 0);
    help_execute(pair.other, pair.arena, "UPDATE row_lock SET held_until = held_until - INTERVAL 1 DAY");
    help_none(row_lock_purge(pair.other, pair.arena, 10, &count));
    assert_int_equal(count, 1);
}

static const struct statement without_key = {
    "SELECT t.table_name FROM information_schema.tables t WHERE t.table_schema = DATABASE() AND NOT EXISTS (SELECT 1"
    " FROM information_schema.table_constraints c WHERE c.table_schema = DATABASE() AND c.table_name = t.table_name"
    " AND c.constraint_type = 'PRIMARY KEY')"};

/* A Galera cluster wants that, since it finds the rows to change by their keys. */
static void every_table_has_a_primary_key(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct rows *rows;
    help_none(database_query(database, arena, &without_key, NO_VALUES, &rows));
    if (rows->count > 0)
        fail_msg("the table %s has no primary key", rows_text(rows, 0, 0));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(one_holds_a_lock_and_the_other_waits_its_time),
    HARNESS_TEST(locks_of_other_names_are_free),
    HARNESS_TEST(a_handle_takes_its_own_lock_again),
    HARNESS_TEST(the_lock_of_a_connection_that_ended_is_free_at_once),
    HARNESS_TEST(the_lock_of_a_dead_process_on_another_node_ends_with_its_time),
    HARNESS_TEST(a_lock_whose_time_is_over_is_its_holders_until_another_takes_it),
    HARNESS_TEST(a_tied_lock_lasts_as_long_as_its_connection),
    HARNESS_TEST(a_tied_lock_on_another_node_is_taken_after_two_looks),
    HARNESS_TEST(processes_do_one_after_the_other_what_is_done_under_a_lock),
    HARNESS_TEST(rows_that_nobody_wants_any_more_are_deleted),
    HARNESS_TEST(every_table_has_a_primary_key),
};
HARNESS_MODULE(row_lock, cases)
