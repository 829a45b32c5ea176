/* SPDX-License-Identifier: MIT */
/* All or nothing; a lost COMMIT told from one that failed. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "store/proxy.h"
#include "store/support.h"

static const struct statement count_rows = {"SELECT COUNT(*) FROM sample"};

/* What the bodies below are told and tell. */
struct play {
    int runs;
    int64_t connection;
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
    HARNESS_TEST(a_connection_lost_on_the_way_takes_everything_back),
    HARNESS_TEST(a_connection_lost_before_commit_is_a_plain_failure),
    HARNESS_TEST(a_lost_answer_to_commit_is_told),
    HARNESS_TEST(a_connection_that_broke_before_begin_is_replaced),
};
HARNESS_MODULE(transaction, cases)
