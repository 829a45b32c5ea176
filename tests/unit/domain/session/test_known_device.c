/* SPDX-License-Identifier: MIT */
/* Marks of devices: whose they are, how many there are, how long they hold and what takes them back. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/session/known_device.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "support_database.h"

static const struct id nobody = {{0}};

static bool known(struct database *database, struct arena *arena, struct id user, const char *mark)
{
    struct id device = id_new();
    expect_ok(known_device_find(database, arena, user, mark, &device));
    return !id_is_none(device);
}

/* A new device of the user, used for that session. */
static const char *given_device(struct database *database, struct arena *arena, struct id user, struct id session)
{
    const char *mark = NULL;
    expect_ok(known_device_note(database, arena, user, nobody, session, &mark));
    assert_int_equal(strlen(mark), KNOWN_DEVICE_MARK_BYTES);
    return mark;
}

static struct id given_person(struct database *database, struct arena *arena)
{
    return given_user(database, arena, given_organisation(database, arena), NULL, NULL)->id;
}

static void a_mark_is_its_users_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    struct id other = given_person(database, arena);
    const char *mark = given_device(database, arena, user, id_new());
    assert_true(known(database, arena, user, mark));
    assert_false(known(database, arena, other, mark));
    assert_false(known(database, arena, nobody, mark));
    assert_false(known(database, arena, user, NULL));
    assert_false(known(database, arena, user, ""));
    for (size_t i = 0; i < KNOWN_DEVICE_MARK_BYTES; i++) {
        char *forged = arena_copy(arena, mark, KNOWN_DEVICE_MARK_BYTES);
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        assert_false(known(database, arena, user, forged));
        assert_false(known(database, arena, user, arena_copy(arena, mark, i)));
    }
    database_free(&database);
}

static void the_eleventh_device_replaces_the_one_used_longest_ago(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *marks[KNOWN_DEVICES_MAX];
    for (int i = 0; i < KNOWN_DEVICES_MAX; i++) {
        marks[i] = given_device(database, arena, user, id_new());
        sql(database, arena, "UPDATE known_device SET used_at = used_at - INTERVAL 1 MINUTE WHERE user_id = %s",
            sql_id(arena, user));
    }
    struct id device;
    const char *untouched = "untouched";
    expect_ok(known_device_find(database, arena, user, marks[0], &device));
    expect_ok(known_device_note(database, arena, user, device, id_new(), &untouched));
    assert_string_equal(untouched, "untouched");
    assert_true(known(database, arena, user, given_device(database, arena, user, id_new())));
    for (int i = 0; i < KNOWN_DEVICES_MAX; i++)
        assert_int_equal(known(database, arena, user, marks[i]), i != 1);
    struct id devices[KNOWN_DEVICES_MAX];
    size_t count = 0;
    expect_ok(known_device_list(database, arena, user, &devices, &count));
    assert_int_equal(count, KNOWN_DEVICES_MAX);
    assert_false(id_equal(devices[0], devices[1]));
    expect_ok(known_device_list(database, arena, nobody, &devices, &count));
    assert_int_equal(count, 0);
    database_free(&database);
}

static void a_mark_holds_for_its_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *mark = given_device(database, arena, user, id_new());
    uint64_t count = 0;
    sql(database, arena, "UPDATE known_device SET used_at = UTC_TIMESTAMP(3) - INTERVAL %lld SECOND WHERE user_id = %s",
        (long long)KNOWN_DEVICE_SECONDS - 60, sql_id(arena, user));
    expect_ok(known_device_purge(database, arena, 100, &count));
    assert_true(known(database, arena, user, mark));
    sql(database, arena, "UPDATE known_device SET used_at = used_at - INTERVAL 2 MINUTE WHERE user_id = %s",
        sql_id(arena, user));
    assert_false(known(database, arena, user, mark));
    expect_ok(known_device_purge(database, arena, 100, &count));
    assert_int_equal(count, 1);
    database_free(&database);
}

static void what_ends_sessions_takes_marks_back(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    struct id sessions[3] = {id_new(), id_new(), id_new()};
    const char *marks[3];
    for (size_t i = 0; i < 3; i++) {
        expect_ok(session_insert(database, arena, sessions[i], user, 60));
        marks[i] = given_device(database, arena, user, sessions[i]);
    }
    expect_ok(session_end(database, arena, sessions[0], user, NULL));
    assert_true(known(database, arena, user, marks[0]));
    expect_ok(known_device_forget_session(database, arena, user, sessions[0]));
    assert_false(known(database, arena, user, marks[0]));
    expect_ok(session_end_all(database, arena, user, sessions[2], NULL));
    assert_false(known(database, arena, user, marks[1]));
    assert_true(known(database, arena, user, marks[2]));
    expect_ok(session_delete_all(database, arena, user));
    assert_false(known(database, arena, user, marks[2]));
    marks[0] = given_device(database, arena, user, id_new());
    expect_ok(known_device_forget_everyones(database, arena));
    assert_false(known(database, arena, user, marks[0]));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_mark_is_its_users_alone),
    HARNESS_TEST(the_eleventh_device_replaces_the_one_used_longest_ago),
    HARNESS_TEST(a_mark_holds_for_its_time),
    HARNESS_TEST(what_ends_sessions_takes_marks_back),
};
HARNESS_MODULE(known_device, cases)
