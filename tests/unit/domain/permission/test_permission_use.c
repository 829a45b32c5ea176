/* SPDX-License-Identifier: MIT */
/* Tests the rows that say when permissions were used last, and for which patterns each row counts. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "domain/permission/permission_use.h"
#include "domain/support.h"
#include "support_database.h"

static void add(struct database *database, struct arena *arena, struct id user, const char *permission, int64_t day)
{
    struct permission_use use = {user, permission, day};
    expect_ok(permission_use_add(database, arena, &(struct permission_uses){&use, 1}));
}

static int64_t stored_day(struct database *database, struct arena *arena, struct id user, const char *permission)
{
    struct permission_uses uses;
    expect_ok(permission_use_of_user(database, arena, user, 0, &uses));
    for (size_t i = 0; i < uses.count; i++)
        if (strcmp(uses.items[i].permission, permission) == 0)
            return uses.items[i].day;
    return PERMISSION_USE_NEVER;
}

static void the_newest_day_stays(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_worker();
    struct database *operator= support_database_new();
    support_database_clear();
    struct id user = given_user(operator, arena, given_organisation(operator, arena), NULL, NULL)->id;
    static const int64_t days[] = {20000, 20001, 19000, 20001, 0};
    static const int64_t after[] = {20000, 20001, 20001, 20001, 20001};
    for (unsigned i = 0; i < sizeof days / sizeof *days; i++) {
        add(database, arena, user, "cus:file:r", days[i]);
        assert_int_equal(stored_day(database, arena, user, "cus:file:r"), after[i]);
    }
    assert_string_equal(sql_text(operator, arena, "SELECT CAST(last_day AS CHAR) FROM permission_use"), "2024-10-05");
    assert_int_equal(sql_integer(operator, arena, "SELECT COUNT(*) FROM permission_use"), 1);
    database_free(&database);
    database_free(&operator);
}

static void a_batch_is_stored_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct permission_use items[PERMISSION_USE_BATCH];
    struct permission_uses uses;
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    struct id user = given_user(database, arena, organisation, NULL, NULL)->id;
    struct id nobody = id_new();
    for (unsigned i = 0; i < PERMISSION_USE_BATCH; i++)
        items[i] = (struct permission_use){i % 4 == 0 ? nobody : user, arena_format(arena, "cus:area-%u:w", i / 2), i};
    expect_ok(permission_use_add(database, arena, &(struct permission_uses){items, PERMISSION_USE_BATCH}));
    expect_ok(permission_use_of_user(database, arena, user, 0, &uses));
    assert_int_equal(uses.count, PERMISSION_USE_BATCH / 2);
    for (unsigned i = 0; i < PERMISSION_USE_BATCH; i++)
        if (i % 4 != 0)
            assert_true(stored_day(database, arena, user, items[i].permission) >= i);
    /* Nobody's uses are left out, whatever else the statement holds. */
    assert_int_equal(
        sql_integer(database, arena, "SELECT COUNT(*) FROM permission_use WHERE user_id = %s", sql_id(arena, nobody)),
        0);
    expect_ok(permission_use_add(database, arena, &(struct permission_uses){NULL, 0}));
    database_free(&database);
}

static void reads_a_period(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct permission_uses uses;
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    struct id users[3];
    for (unsigned i = 0; i < 3; i++) {
        users[i] = given_user(database, arena, organisation, NULL, NULL)->id;
        add(database, arena, users[i], "cus:file:r", 100 + i);
    }
    add(database, arena, users[1], "cus:file:w", 90);
    expect_ok(permission_use_of_user(database, arena, users[1], 91, &uses));
    assert_int_equal(uses.count, 1);
    expect_ok(permission_use_of_user(database, arena, users[1], 90, &uses));
    assert_int_equal(uses.count, 2);
    expect_ok(permission_use_of_users(database, arena, users[0], users[2], 101, &uses));
    assert_int_equal(uses.count, 2);
    assert_true(id_equal(uses.items[0].user, users[1]) && id_equal(uses.items[1].user, users[2]));
    expect_ok(permission_use_of_users(database, arena, (struct id){{0}}, users[0], 0, &uses));
    assert_int_equal(uses.count, 1);
    database_free(&database);
}

static void a_pattern_is_used_by_what_it_grants(void **state)
{
    away_from_midnight();
    struct arena *arena = harness_arena(state);
    struct id one = id_new();
    struct id other = id_new();
    struct permission_use items[] = {{one, "cus:file:r", 10},
                                     {one, "cus:user:w", 7},
                                     {one, "sys:cache:a", 8},
                                     {other, "cus:file:w", 99},
                                     {one, "cus:file:r", 9}};
    const struct permission_uses uses = {items, sizeof items / sizeof *items};
    static const struct {
        const char *held;
        int64_t day;
    } rows[] = {{"cus:file:r", 10}, {"cus:file:w", 10}, {"cus:file:a", 10}, {"cus:*:r", 10},    {"*:*:a", 10},
                {"rwx:*", 10},      {"r:*", 10},        {"x:*", -1},        {"cus:user:r", -1}, {"cus:user:w", 7},
                {"*:user:w", 7},    {"sys:*:w", -1},    {"sys:*:a", 8},     {"log:*:w", -1},    {"cus:files:r", -1},
                {"cus:file", -1},   {"", -1},           {"CUS:file:r", -1}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(permission_use_last_day(&uses, one, rows[i].held), rows[i].day);
    assert_int_equal(permission_use_last_day(&uses, other, "cus:file:w"), 99);
    assert_int_equal(permission_use_last_day(&uses, other, "cus:user:w"), PERMISSION_USE_NEVER);
    assert_string_equal(permission_use_day_text(arena, 20780), "2026-11-23T00:00:00.000Z");
    assert_null(permission_use_day_text(arena, PERMISSION_USE_NEVER));
    assert_int_equal(permission_use_first_day(1), permission_use_today());
    assert_int_equal(permission_use_first_day(90), permission_use_today() - 89);
}

static struct error *forget(struct database *database, struct arena *arena, void *context)
{
    return permission_use_forget(database, arena, *(struct id *)context);
}

static void forgets_and_purges(void **state)
{
    away_from_midnight();
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    uint64_t count;
    int64_t began;
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    struct id user = given_user(database, arena, organisation, NULL, NULL)->id;
    struct id other = given_user(database, arena, organisation, NULL, NULL)->id;
    int64_t oldest = permission_use_first_day(PERMISSION_USE_DAYS_MAX);
    add(database, arena, user, "cus:file:r", oldest);
    add(database, arena, user, "cus:file:w", oldest - 1);
    add(database, arena, user, "cus:file:a", oldest - 2);
    add(database, arena, other, "cus:file:a", oldest);
    expect_ok(permission_use_purge(database, arena, 1, &count));
    assert_int_equal(count, 1);
    assert_int_equal(stored_day(database, arena, user, "cus:file:a"), PERMISSION_USE_NEVER);
    expect_ok(permission_use_purge(database, arena, 100, &count));
    assert_int_equal(count, 1);
    assert_int_equal(stored_day(database, arena, user, "cus:file:r"), oldest);
    expect_ok(database_transaction(database, arena, forget, &user, NULL));
    assert_int_equal(stored_day(database, arena, user, "cus:file:r"), PERMISSION_USE_NEVER);
    assert_int_equal(stored_day(database, arena, other, "cus:file:a"), oldest);
    expect_ok(permission_use_began(database, arena, &began));
    assert_in_range(permission_use_today() - began, 0, 1);
    database_free(&database);
}

#define RACERS 8
#define RACE_USERS 12

/* Every process adds the same pairs in the same order, with days of its own. */
static int add_many(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct id *users = context;
    for (unsigned round = 0; round < 20; round++) {
        struct permission_use items[RACE_USERS];
        for (unsigned i = 0; i < RACE_USERS; i++)
            items[i] = (struct permission_use){users[i], "cus:file:r", (int64_t)(round * RACERS + index)};
        if (permission_use_add(database, arena, &(struct permission_uses){items, RACE_USERS}) != NULL)
            return 1;
    }
    return 0;
}

static void several_processes_at_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id users[RACE_USERS];
    int results[RACERS_MAX];
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    for (unsigned i = 0; i < RACE_USERS; i++)
        users[i] = given_user(database, arena, organisation, NULL, NULL)->id;
    race(RACERS, add_many, users, results);
    assert_int_equal(race_count(results, RACERS, 0), RACERS);
    for (unsigned i = 0; i < RACE_USERS; i++)
        assert_int_equal(stored_day(database, arena, users[i], "cus:file:r"), 20 * RACERS - 1);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_newest_day_stays), HARNESS_TEST(a_batch_is_stored_whole),
    HARNESS_TEST(reads_a_period),       HARNESS_TEST(a_pattern_is_used_by_what_it_grants),
    HARNESS_TEST(forgets_and_purges),   HARNESS_TEST(several_processes_at_once),
};
HARNESS_MODULE(permission_use, cases)
