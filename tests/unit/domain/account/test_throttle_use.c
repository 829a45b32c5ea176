/* SPDX-License-Identifier: MIT */
/* Tests the counts of what may be done only so often: the bound is exact, also at the same moment, and ends. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/throttle.h"
#include "domain/support.h"
#include "support_database.h"

static unsigned take(struct database *database, struct arena *arena, const struct throttle_key *key, int64_t most)
{
    unsigned wait = 77;
    expect_ok(throttle_take(database, arena, key, most, &wait));
    return wait;
}

static void so_many_uses_count_and_the_rest_wait_for_the_end_of_the_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct throttle_key mail = throttle_of_mail("192.0.2.1");
    struct throttle_key other = throttle_of_mail("192.0.2.2");
    struct throttle_key members = throttle_of_members(id_new());
    for (int i = 0; i < 30; i++)
        assert_int_equal(take(database, arena, &mail, 30), 0);
    assert_in_range(take(database, arena, &mail, 30), 200, 300);
    assert_int_equal(take(database, arena, &other, 30), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(database, arena, &members, 3), 0);
    assert_in_range(take(database, arena, &members, 3), 3500, 3600);
    /* A bound that the operator raised holds at once; a refused use changed nothing. */
    assert_int_equal(take(database, arena, &members, 4), 0);
    assert_in_range(take(database, arena, &members, 4), 3500, 3600);

    sql(database, arena, "UPDATE throttle SET since = since - INTERVAL 280 SECOND");
    assert_in_range(take(database, arena, &mail, 30), 1, 20);
    sql(database, arena, "UPDATE throttle SET since = since - INTERVAL 20 SECOND");
    for (int i = 0; i < 30; i++)
        assert_int_equal(take(database, arena, &mail, 30), 0);
    assert_in_range(take(database, arena, &mail, 30), 200, 300);
    assert_in_range(take(database, arena, &members, 4), 3200, 3300);
    /* A time that lies in the future of a clock that was stepped back begins anew. */
    sql(database, arena, "UPDATE throttle SET since = since + INTERVAL 1 DAY");
    assert_int_equal(take(database, arena, &mail, 30), 0);
    assert_int_equal(take(database, arena, &members, 4), 0);
    database_free(&database);
}

static void a_use_that_came_to_nothing_is_given_back(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct throttle_key key = throttle_of_customers(id_new());
    expect_ok(throttle_give_back(database, arena, &key));
    assert_int_equal(take(database, arena, &key, 1), 0);
    assert_true(take(database, arena, &key, 1) > 0);
    expect_ok(throttle_give_back(database, arena, &key));
    expect_ok(throttle_give_back(database, arena, &key));
    assert_int_equal(take(database, arena, &key, 1), 0);
    assert_true(take(database, arena, &key, 1) > 0);
    database_free(&database);
}

static void what_is_counted_together_and_what_apart(void **state)
{
    (void)state;
    static const struct id one = {{1}};
    static const struct id two = {{2}};
    const struct throttle_key keys[] = {throttle_of_mail("2001:db8::1"),    throttle_of_mail("2001:db8:0:1::1"),
                                        throttle_of_address("2001:db8::1"), throttle_of_members(one),
                                        throttle_of_members(two),           throttle_of_customers(one)};
    struct throttle_key neighbour = throttle_of_mail("2001:db8::2");
    assert_memory_equal(keys[0].subject, neighbour.subject, sizeof neighbour.subject);
    for (size_t a = 0; a < sizeof keys / sizeof *keys; a++)
        for (size_t b = 0; b < a; b++)
            assert_true(strcmp(keys[a].scope, keys[b].scope) != 0 ||
                        memcmp(keys[a].subject, keys[b].subject, sizeof keys[a].subject) != 0);
}

static int race_to_take(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    unsigned wait = 0;
    if (throttle_take(database, arena, context, 20, &wait) != NULL)
        return 99;
    return wait == 0 ? 0 : 1;
}

static void of_fifty_uses_at_once_exactly_twenty_count(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct throttle_key key = throttle_of_members(id_new());
    int results[RACERS_MAX];
    race(50, race_to_take, &key, results);
    assert_int_equal(race_count(results, 50, 0), 20);
    assert_int_equal(race_count(results, 50, 1), 30);
    assert_int_equal(sql_integer(database, arena, "SELECT MAX(failures) FROM throttle"), 20);
    database_free(&database);
}

/* A customer's network of IPv6 is one caller. IPv4 in its spelling is no network: one caller would shut out all. */
static void a_network_of_ipv6_is_one_address_and_ipv4_in_ipv6_is_not(void **state)
{
    static const struct {
        const char *one, *other;
        bool same;
    } rows[] = {{"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true},
                {"2001:db8:0:1::1", "2001:db8:0:2::1", false},
                {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
                {"::ffff:192.0.2.1", "::ffff:192.0.2.1", true},
                {"::ffff:192.0.2.1", "::", false},
                {"::1", "::2", true},
                {"0:0:0:0:fffe::1", "::2", true},
                {"1::ffff:192.0.2.1", "1::ffff:192.0.2.2", true},
                {"192.0.2.1", "192.0.2.2", false},
                {"unix:", "unix", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct throttle_key one = throttle_of_address(rows[i].one), other = throttle_of_address(rows[i].other);
        if ((memcmp(one.subject, other.subject, sizeof one.subject) == 0) != rows[i].same)
            fail_msg("%s and %s", rows[i].one, rows[i].other);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(so_many_uses_count_and_the_rest_wait_for_the_end_of_the_time),
    HARNESS_TEST(a_use_that_came_to_nothing_is_given_back),
    HARNESS_TEST(what_is_counted_together_and_what_apart),
    HARNESS_TEST(of_fifty_uses_at_once_exactly_twenty_count),
    HARNESS_TEST(a_network_of_ipv6_is_one_address_and_ipv4_in_ipv6_is_not),
};
HARNESS_MODULE(throttle_use, cases)
