/* SPDX-License-Identifier: MIT */
/*
 * The throttle's promises, second by second. The clock is the database's, so time passes here by moving a
 * row's times into the past; what a wait is worth is read off the row, where both ends of it come from one
 * statement.
 */
#include "harness.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/throttle.h"
#include "domain/support.h"
#include "support_database.h"

static unsigned fail_once(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    unsigned wait = 77;
    expect_ok(throttle_fail(database, arena, key, &wait));
    return wait;
}

static unsigned succeed(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    unsigned wait = 77;
    expect_ok(throttle_succeed(database, arena, key, &wait));
    return wait;
}

static unsigned wait_now(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    unsigned wait = 77;
    expect_ok(throttle_check(database, arena, key, &wait));
    return wait;
}

static const char *where(struct arena *arena, const struct throttle_key *key)
{
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_format(&text, "scope = '%s' AND subject = x'", key->scope);
    for (size_t i = 0; i < sizeof key->subject; i++)
        buffer_add_format(&text, "%02x", key->subject[i]);
    buffer_add_text(&text, "'");
    return text.bytes;
}

/* Time passes for that row. */
static void pass(struct database *database, struct arena *arena, const struct throttle_key *key, int seconds)
{
    sql(database, arena,
        "UPDATE throttle SET since = since - INTERVAL %d SECOND, updated_at = updated_at - INTERVAL %d SECOND,"
        " locked_until = locked_until - INTERVAL %d SECOND WHERE %s",
        seconds, seconds, seconds, where(arena, key));
}

/* The whole row as one text; NULL when there is none. */
static const char *row(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    return sql_text(database, arena,
                    "SELECT CONCAT_WS('|', failures, since, COALESCE(locked_until, 'free'), updated_at) FROM throttle"
                    " WHERE %s",
                    where(arena, key));
}

/* The wait that the last failure started: 0 for none. */
static int64_t started(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    return sql_integer(database, arena,
                       "SELECT COALESCE(TIMESTAMPDIFF(MICROSECOND, updated_at, locked_until) DIV 1000, 0)"
                       " FROM throttle WHERE %s",
                       where(arena, key));
}

static void fail_times(struct database *database, struct arena *arena, const struct throttle_key *key, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(fail_once(database, arena, key), 0);
}

/* A row with that many failures and no wait running. */
static void given_failures(struct database *database, struct arena *arena, const struct throttle_key *key, int failures)
{
    sql(database, arena, "DELETE FROM throttle WHERE %s", where(arena, key));
    fail_times(database, arena, key, 1);
    sql(database, arena, "UPDATE throttle SET failures = %d WHERE %s", failures, where(arena, key));
}

static void five_failures_are_free_and_the_fifth_starts_a_second(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    assert_int_equal(wait_now(database, arena, &key), 0);
    for (unsigned i = 1; i <= 4; i++) {
        assert_int_equal(fail_once(database, arena, &key), 0);
        assert_int_equal(started(database, arena, &key), 0);
        assert_int_equal(wait_now(database, arena, &key), 0);
    }
    assert_int_equal(fail_once(database, arena, &key), 0);
    assert_int_equal(started(database, arena, &key), 1000);
    struct timespec pause = {1, 20000000};
    (void)nanosleep(&pause, NULL);
    assert_int_equal(wait_now(database, arena, &key), 0);
    database_free(&database);
}

static void every_failure_after_a_wait_doubles_it_up_to_fifteen_minutes(void **state)
{
    static const int seconds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900};
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    fail_times(database, arena, &key, 4);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        assert_int_equal(fail_once(database, arena, &key), 0);
        assert_int_equal(started(database, arena, &key), (int64_t)seconds[i] * 1000);
        unsigned wait = wait_now(database, arena, &key);
        assert_true(wait <= (unsigned)seconds[i] && (seconds[i] < 30 || wait + 20 > (unsigned)seconds[i]));
        pass(database, arena, &key, seconds[i]);
    }
    sql(database, arena, "UPDATE throttle SET failures = %d WHERE %s", THROTTLE_ACCOUNT_MOST - 2, where(arena, &key));
    assert_int_equal(fail_once(database, arena, &key), 0);
    assert_int_equal(started(database, arena, &key), 900000);
    database_free(&database);
}

static void after_a_hundred_failures_the_account_stops(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key keys[] = {throttle_of_user(id_new()), throttle_of_device(id_new())};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct throttle_key *key = &keys[i];
        uint64_t count = 0;
        given_failures(database, arena, key, THROTTLE_ACCOUNT_MOST - 1);
        assert_int_equal(fail_once(database, arena, key), 0);
        assert_int_equal(started(database, arena, key), THROTTLE_ACCOUNT_STOP_SECONDS * INT64_C(1000));
        assert_in_range(wait_now(database, arena, key), THROTTLE_ACCOUNT_STOP_SECONDS - 60,
                        THROTTLE_ACCOUNT_STOP_SECONDS);
        assert_true(succeed(database, arena, key) > 0);
        /* It is not forgotten while it lasts, and goes on with the next failure after it. */
        pass(database, arena, key, THROTTLE_ACCOUNT_STOP_SECONDS - 3600);
        expect_ok(throttle_purge(database, arena, 1000, &count));
        assert_true(wait_now(database, arena, key) > 3000);
        pass(database, arena, key, 3600);
        assert_int_equal(wait_now(database, arena, key), 0);
        sql(database, arena, "UPDATE throttle SET failures = 4000000 WHERE %s", where(arena, key));
        assert_int_equal(fail_once(database, arena, key), 0);
        assert_int_equal(started(database, arena, key), THROTTLE_ACCOUNT_STOP_SECONDS * INT64_C(1000));
        expect_ok(throttle_lift(database, arena, key));
        assert_int_equal(wait_now(database, arena, key), 0);
    }
    database_free(&database);
}

static void tries_within_a_wait_neither_count_nor_lengthen_it(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    given_failures(database, arena, &key, 11);
    fail_times(database, arena, &key, 1);
    assert_int_equal(started(database, arena, &key), 128000);
    const char *before = row(database, arena, &key);
    for (int i = 0; i < 20; i++) {
        unsigned wait = fail_once(database, arena, &key);
        assert_true(wait > 60 && wait <= 128);
    }
    unsigned refused = succeed(database, arena, &key);
    assert_true(refused > 60 && refused <= 128);
    assert_string_equal(row(database, arena, &key), before);
    /* A wait is rounded up: whoever comes back after that many seconds is let in. */
    sql(database, arena, "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 29100000 MICROSECOND WHERE %s",
        where(arena, &key));
    assert_in_range(wait_now(database, arena, &key), 20, 30);
    pass(database, arena, &key, 30);
    assert_int_equal(wait_now(database, arena, &key), 0);
    database_free(&database);
}

static void success_starts_afresh(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    struct throttle_key other = throttle_of_user(id_new());
    assert_int_equal(succeed(database, arena, &key), 0);
    fail_times(database, arena, &key, 4);
    fail_times(database, arena, &other, 4);
    assert_int_equal(succeed(database, arena, &key), 0);
    assert_null(row(database, arena, &key));
    fail_times(database, arena, &key, 4);
    assert_int_equal(started(database, arena, &key), 0);
    /* Nobody else's count went with it. */
    fail_times(database, arena, &other, 1);
    assert_int_equal(started(database, arena, &other), 1000);
    /* After long waits as after short ones. */
    given_failures(database, arena, &key, 15);
    fail_times(database, arena, &key, 1);
    pass(database, arena, &key, 900);
    assert_int_equal(succeed(database, arena, &key), 0);
    fail_times(database, arena, &key, 5);
    assert_int_equal(started(database, arena, &key), 1000);
    database_free(&database);
}

static int race_to_fail(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    unsigned wait = 0;
    if (throttle_fail(database, arena, context, &wait) != NULL)
        return 99;
    return wait == 0 ? 0 : 1;
}

static int64_t deadlocks(struct database *database, struct arena *arena)
{
    return sql_integer(database, arena,
                       "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                       " WHERE VARIABLE_NAME = 'INNODB_DEADLOCKS'");
}

static int race_to_succeed(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    unsigned wait = 0;
    if (throttle_succeed(database, arena, context, &wait) != NULL)
        return 99;
    return wait == 0 ? 0 : 1;
}

/*
 * Five count at once. The sixth counts only when the first wait of a second is over, the seventh two seconds later, and
 * so on: on a machine that is slow enough some more count with every right, and the row tells when the last one did.
 */
static void of_fifty_at_once_five_count(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    int results[RACERS_MAX];
    int64_t before = deadlocks(database, arena);
    race(50, race_to_fail, &key, results);
    int64_t failures = sql_integer(database, arena, "SELECT failures FROM throttle WHERE %s", where(arena, &key));
    int64_t took =
        sql_integer(database, arena, "SELECT TIMESTAMPDIFF(MICROSECOND, since, updated_at) FROM throttle WHERE %s",
                    where(arena, &key));
    assert_int_equal(race_count(results, 50, 0), failures);
    assert_int_equal(race_count(results, 50, 1), 50 - failures);
    assert_in_range(failures, 5, 15);
    assert_true(took >= ((INT64_C(1) << (failures - 5)) - 1) * 1000000);
    /* They queue; whoever is sent round again by a deadlock would wait for nothing, and in the end fail. */
    assert_int_equal(deadlocks(database, arena), before);
    database_free(&database);
}

static void after_a_long_wait_one_of_fifty_counts(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    int results[RACERS_MAX];
    given_failures(database, arena, &key, 11);
    race(50, race_to_fail, &key, results);
    assert_int_equal(race_count(results, 50, 0), 1);
    assert_int_equal(race_count(results, 50, 1), 49);
    assert_int_equal(sql_integer(database, arena, "SELECT failures FROM throttle WHERE %s", where(arena, &key)), 12);
    database_free(&database);
}

static void right_tries_in_parallel_all_pass(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    int results[RACERS_MAX];
    given_failures(database, arena, &key, 4);
    race(20, race_to_succeed, &key, results);
    assert_int_equal(race_count(results, 20, 0), 20);
    assert_null(row(database, arena, &key));
    database_free(&database);
}

static void address_has_thirty_in_five_minutes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_address("192.0.2.1");
    sql(database, arena, "DELETE FROM throttle");
    fail_times(database, arena, &key, 10);
    pass(database, arena, &key, 100);
    fail_times(database, arena, &key, 19);
    assert_int_equal(started(database, arena, &key), 0);
    assert_int_equal(wait_now(database, arena, &key), 0);
    fail_times(database, arena, &key, 1);
    /* The window began with the first, not with the last: some 200 seconds of it are left. */
    assert_in_range(wait_now(database, arena, &key), 150, 200);
    const char *before = row(database, arena, &key);
    assert_in_range(fail_once(database, arena, &key), 150, 200);
    assert_string_equal(row(database, arena, &key), before);
    pass(database, arena, &key, 200);
    assert_int_equal(wait_now(database, arena, &key), 0);
    /* And begins anew: another thirty. */
    fail_times(database, arena, &key, 29);
    assert_int_equal(wait_now(database, arena, &key), 0);
    fail_times(database, arena, &key, 1);
    assert_in_range(wait_now(database, arena, &key), 250, 300);
    struct throttle_key other = throttle_of_address("192.0.2.2");
    assert_int_equal(wait_now(database, arena, &other), 0);
    database_free(&database);
}

static void address_window_slips_by_without_a_wait(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_address("2001:db8::1");
    sql(database, arena, "DELETE FROM throttle");
    fail_times(database, arena, &key, 29);
    pass(database, arena, &key, 300);
    fail_times(database, arena, &key, 1);
    assert_int_equal(sql_integer(database, arena, "SELECT failures FROM throttle WHERE %s", where(arena, &key)), 1);
    assert_int_equal(wait_now(database, arena, &key), 0);
    database_free(&database);
}

/* The clock ran a year ahead when the rows were written, and was put right. */
static void stepped_clock_cannot_lock_out_for_longer(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key account = throttle_of_user(id_new());
    struct throttle_key address = throttle_of_address("192.0.2.3");
    given_failures(database, arena, &account, 8);
    given_failures(database, arena, &address, 29);
    fail_times(database, arena, &account, 1);
    fail_times(database, arena, &address, 1);
    pass(database, arena, &account, -31536000);
    pass(database, arena, &address, -31536000);
    assert_in_range(wait_now(database, arena, &account), 850, 900);
    assert_in_range(wait_now(database, arena, &address), 250, 300);
    assert_in_range(fail_once(database, arena, &account), 850, 900);
    /* It is a wait that ends, not one that is always fifteen minutes. */
    pass(database, arena, &account, 901);
    pass(database, arena, &address, 301);
    assert_int_equal(wait_now(database, arena, &account), 0);
    assert_int_equal(wait_now(database, arena, &address), 0);
    assert_int_equal(succeed(database, arena, &account), 0);
    assert_int_equal(fail_once(database, arena, &address), 0);
    assert_int_equal(wait_now(database, arena, &address), 0);
    database_free(&database);
}

/* The same where the first to come is not a check but a failure, or a success, of a parallel try. */
static void stepped_clock_is_seen_by_every_step(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_user(id_new());
    for (int success = 0; success < 2; success++) {
        given_failures(database, arena, &key, 8);
        fail_times(database, arena, &key, 1);
        pass(database, arena, &key, -31536000);
        unsigned wait = success ? succeed(database, arena, &key) : fail_once(database, arena, &key);
        assert_in_range(wait, 850, 900);
        pass(database, arena, &key, 901);
        assert_int_equal(success ? succeed(database, arena, &key) : fail_once(database, arena, &key), 0);
    }
    database_free(&database);
}

/* Two at once are answered as each alone. */
static void two_are_asked_about_at_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    const struct throttle_key keys[] = {throttle_of_address("192.0.2.4"), throttle_of_user(id_new())};
    const struct throttle_key turned[] = {keys[1], keys[0]};
    unsigned waits[2] = {77, 77};
    expect_ok(throttle_check_both(database, arena, keys, waits));
    assert_int_equal(waits[0], 0);
    assert_int_equal(waits[1], 0);
    given_failures(database, arena, &keys[0], 3);
    given_failures(database, arena, &keys[1], 14);
    fail_times(database, arena, &keys[1], 1);
    expect_ok(throttle_check_both(database, arena, keys, waits));
    assert_int_equal(waits[0], 0);
    assert_in_range(waits[1], 850, 900);
    expect_ok(throttle_check_both(database, arena, turned, waits));
    assert_in_range(waits[0], 850, 900);
    assert_int_equal(waits[1], 0);
    given_failures(database, arena, &keys[0], 29);
    fail_times(database, arena, &keys[0], 1);
    pass(database, arena, &keys[0], -31536000);
    pass(database, arena, &keys[1], -31536000);
    for (int round = 0; round < 2; round++) {
        expect_ok(throttle_check_both(database, arena, keys, waits));
        assert_in_range(waits[0], 250, 300);
        assert_in_range(waits[1], 850, 900);
    }
    pass(database, arena, &keys[0], 301);
    pass(database, arena, &keys[1], 901);
    expect_ok(throttle_check_both(database, arena, keys, waits));
    assert_int_equal(waits[0], 0);
    assert_int_equal(waits[1], 0);
    database_free(&database);
}

static void keys_are_kept_apart(void **state)
{
    struct arena *arena = harness_arena(state);
    struct id id = id_new();
    struct throttle_key user = throttle_of_user(id);
    struct throttle_key name = throttle_of_name(arena, "Ann@Example.com");
    struct throttle_key same = throttle_of_name(arena, "aNN@example.COM");
    struct throttle_key address = throttle_of_address("ann@example.com");
    struct throttle_key of_text = throttle_of_name(arena, id_text(arena, id));
    assert_memory_equal(name.subject, same.subject, sizeof name.subject);
    assert_memory_not_equal(name.subject, address.subject, sizeof name.subject);
    assert_memory_not_equal(user.subject, of_text.subject, sizeof user.subject);
    static const char *const spelled_alike[] = {"élan@bücher.example", "ÉLAN@BÜCHER.example",
                                                "e\xcc\x81lan@xn--bcher-kva.example", "ÉＬＡＮ＠bücher．example"};
    struct throttle_key first = throttle_of_name(arena, spelled_alike[0]);
    for (size_t i = 1; i < sizeof spelled_alike / sizeof *spelled_alike; i++) {
        struct throttle_key other = throttle_of_name(arena, spelled_alike[i]);
        assert_memory_equal(first.subject, other.subject, sizeof first.subject);
    }
    char bytes[ID_BYTES + 1] = {0};
    memcpy(bytes, "abcdefghijklmnop", ID_BYTES);
    struct id spelled;
    memcpy(spelled.bytes, bytes, ID_BYTES);
    struct throttle_key by_id = throttle_of_user(spelled);
    struct throttle_key by_name = throttle_of_name(arena, bytes);
    assert_memory_not_equal(by_id.subject, by_name.subject, sizeof by_id.subject);
    assert_string_equal(user.scope, "account");
    assert_string_equal(name.scope, "account");
    assert_string_equal(address.scope, "address");
}

static void lifting_and_purging(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key old = throttle_of_user(id_new());
    struct throttle_key young = throttle_of_user(id_new());
    uint64_t count = 0;
    sql(database, arena, "DELETE FROM throttle");
    given_failures(database, arena, &young, 12);
    fail_times(database, arena, &young, 1);
    assert_true(wait_now(database, arena, &young) > 0);
    expect_ok(throttle_lift(database, arena, &young));
    assert_int_equal(wait_now(database, arena, &young), 0);
    fail_times(database, arena, &young, 4);
    assert_int_equal(wait_now(database, arena, &young), 0);
    expect_ok(throttle_lift(database, arena, &old)); /* nothing to lift is no error */
    fail_times(database, arena, &old, 4);
    pass(database, arena, &old, 86401);
    pass(database, arena, &young, 86300);
    expect_ok(throttle_purge(database, arena, 10, &count));
    assert_int_equal(count, 1);
    assert_null(row(database, arena, &old));
    assert_non_null(row(database, arena, &young));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(five_failures_are_free_and_the_fifth_starts_a_second),
    HARNESS_TEST(after_a_hundred_failures_the_account_stops),
    HARNESS_TEST(every_failure_after_a_wait_doubles_it_up_to_fifteen_minutes),
    HARNESS_TEST(tries_within_a_wait_neither_count_nor_lengthen_it),
    HARNESS_TEST(success_starts_afresh),
    HARNESS_TEST(of_fifty_at_once_five_count),
    HARNESS_TEST(after_a_long_wait_one_of_fifty_counts),
    HARNESS_TEST(right_tries_in_parallel_all_pass),
    HARNESS_TEST(address_has_thirty_in_five_minutes),
    HARNESS_TEST(address_window_slips_by_without_a_wait),
    HARNESS_TEST(stepped_clock_cannot_lock_out_for_longer),
    HARNESS_TEST(stepped_clock_is_seen_by_every_step),
    HARNESS_TEST(two_are_asked_about_at_once),
    HARNESS_TEST(keys_are_kept_apart),
    HARNESS_TEST(lifting_and_purging),
};
HARNESS_MODULE(throttle, cases)
