/* SPDX-License-Identifier: MIT */
/* Tests the sessions that people see of themselves, and how often the last use of one is written. */
#include "domain/session/session_list.h"

#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/session/session.h"
#include "domain/session/session_family.h"
#include "domain/support.h"
#include "support_database.h"

static const struct session_client client = {"192.0.2.7", "Browser/1"};
static const struct session_client later = {"2001:db8::1", "Browser/2"};

static struct session_list list_of(struct database *database, struct arena *arena, struct id user, struct id current,
                                   unsigned limit)
{
    struct session_list list;
    expect_ok(session_list(database, arena, user, current, limit, &list));
    return list;
}

static int64_t note(struct database *database, struct arena *arena, struct id session,
                    const struct session_client *from)
{
    int64_t due = -1;
    expect_ok(session_note_use(database, arena, session, from, &due));
    return due;
}

/* Lets the last note of a session become older. */
static void age(struct database *database, struct arena *arena, struct id session, int seconds)
{
    sql(database, arena, "UPDATE session SET last_used_at = last_used_at - INTERVAL %d SECOND WHERE id = %s", seconds,
        sql_id(arena, session));
}

static void open_sessions_are_listed_the_last_used_first(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = id_new(), other = id_new();
    struct id sessions[5];
    for (size_t i = 0; i < 5; i++) {
        sessions[i] = given_session(database, arena, i == 4 ? other : user);
        expect_ok(session_describe(database, arena, sessions[i], &client, i == 1));
        age(database, arena, sessions[i], (int)(i * 100));
    }
    expect_ok(session_end(database, arena, sessions[2], user, NULL));
    struct session_list list = list_of(database, arena, user, sessions[1], 10);
    assert_int_equal(list.count, 3);
    assert_true(id_equal(list.items[0].id, sessions[0]) && !list.items[0].current && !list.items[0].in_cookie);
    assert_true(id_equal(list.items[1].id, sessions[1]) && list.items[1].current && list.items[1].in_cookie);
    assert_true(id_equal(list.items[2].id, sessions[3]));
    assert_string_equal(list.items[0].client_address, "192.0.2.7");
    assert_string_equal(list.items[0].user_agent, "Browser/1");
    assert_in_range(list.items[0].seconds_left, 3590, 3600);
    assert_int_equal(list_of(database, arena, user, sessions[1], 2).count, 2);
    assert_int_equal(list_of(database, arena, id_new(), sessions[1], 2).count, 0);

    struct session_record *record;
    expect_ok(session_find(database, arena, user, sessions[3], false, &record));
    assert_true(record != NULL && id_equal(record->id, sessions[3]));
    expect_ok(session_find(database, arena, user, sessions[2], false, &record));
    assert_null(record);
    expect_ok(session_find(database, arena, user, sessions[4], true, &record));
    assert_null(record);
    sql(database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) WHERE id = %s", sql_id(arena, sessions[3]));
    expect_ok(session_find(database, arena, user, sessions[3], false, &record));
    assert_null(record);
    database_free(&database);
}

static void a_family_is_one_session(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = id_new();
    struct id head = given_session(database, arena, user), name = given_session(database, arena, user);
    expect_ok(session_family_insert(database, arena, head, head, "sealed", 6));
    expect_ok(session_family_insert(database, arena, name, head, NULL, 0));
    expect_ok(session_describe(database, arena, head, &client, false));
    struct session_list list = list_of(database, arena, user, name, 10);
    assert_int_equal(list.count, 1);
    assert_true(id_equal(list.items[0].id, head) && list.items[0].current);

    struct session_record *record;
    expect_ok(session_find(database, arena, user, name, false, &record));
    assert_null(record);
    expect_ok(session_find(database, arena, user, name, true, &record));
    assert_true(record != NULL && id_equal(record->id, head));
    age(database, arena, head, 61);
    assert_int_equal(note(database, arena, name, &later), SESSION_USE_SECONDS * 1000);
    assert_string_equal(list_of(database, arena, user, head, 10).items[0].user_agent, "Browser/2");
    database_free(&database);
}

static void a_use_is_noted_once_a_minute(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = id_new();
    struct id session = given_session(database, arena, user);
    expect_ok(session_describe(database, arena, session, &client, false));
    for (int i = 0; i < 5; i++)
        assert_in_range(note(database, arena, session, &later), 50000, 60000);
    assert_string_equal(list_of(database, arena, user, session, 1).items[0].client_address, "192.0.2.7");
    age(database, arena, session, 40);
    assert_in_range(note(database, arena, session, &later), 10000, 20000);
    age(database, arena, session, 21);
    assert_int_equal(note(database, arena, session, &later), 60000);
    assert_string_equal(list_of(database, arena, user, session, 1).items[0].client_address, "2001:db8::1");
    assert_in_range(note(database, arena, session, &client), 50000, 60000);
    /* One that nobody has described, as those that begin elsewhere; and one that has ended. */
    struct id adopted = given_session(database, arena, user);
    (void)note(database, arena, adopted, &later);
    assert_string_equal(list_of(database, arena, user, adopted, 1).items[0].client_address, "2001:db8::1");
    expect_ok(session_end(database, arena, adopted, user, NULL));
    assert_int_equal(note(database, arena, adopted, &client), 60000);
    assert_int_equal(note(database, arena, id_new(), &client), 60000);
    database_free(&database);
}

static const char *stamp_of(struct database *database, struct arena *arena, struct id user)
{
    return sql_text(database, arena, "SELECT HEX(session_mark) FROM principal WHERE user_id = %s", sql_id(arena, user));
}

/* A note takes nothing from a session, so no process has to read its row again. */
static void a_note_leaves_the_users_mark(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, NULL, "");
    struct id session = given_session(database, arena, user->id);
    const char *before = stamp_of(database, arena, user->id);
    expect_ok(session_describe(database, arena, session, &client, true));
    age(database, arena, session, 100);
    (void)note(database, arena, session, &later);
    assert_string_equal(stamp_of(database, arena, user->id), before);
    expect_ok(session_end(database, arena, session, user->id, NULL));
    assert_string_not_equal(stamp_of(database, arena, user->id), before);
    database_free(&database);
}

static void a_row_that_somebody_holds_is_not_waited_for(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct database *holder = support_database_new();
    struct id session = given_session(database, arena, id_new());
    sql(holder, arena, "BEGIN");
    sql(holder, arena, "UPDATE session SET expires_at = expires_at WHERE id = %s", sql_id(arena, session));
    assert_int_equal(note(database, arena, session, &client), 60000);
    sql(holder, arena, "ROLLBACK");
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM session WHERE id = %s AND last_used_at IS NULL",
                                 sql_id(arena, session)),
                     1);
    database_free(&holder);
    database_free(&database);
}

static void the_longest_unused_sessions_are_the_surplus(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = id_new();
    struct id sessions[6];
    struct id *surplus = NULL;
    size_t count = 1;
    for (size_t i = 0; i < 6; i++) {
        sessions[i] = given_session(database, arena, user);
        expect_ok(session_describe(database, arena, sessions[i], &client, false));
        age(database, arena, sessions[i], (int)(600 - i * 100));
    }
    expect_ok(session_find_surplus(database, arena, user, 6, 8, &surplus, &count));
    assert_int_equal(count, 0);
    expect_ok(session_find_surplus(database, arena, user, 4, 8, &surplus, &count));
    assert_int_equal(count, 2);
    assert_true(id_equal(surplus[0], sessions[0]) && id_equal(surplus[1], sessions[1]));
    expect_ok(session_find_surplus(database, arena, user, 1, 3, &surplus, &count));
    assert_int_equal(count, 3);
    assert_true(id_equal(surplus[0], sessions[0]) && id_equal(surplus[2], sessions[2]));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(open_sessions_are_listed_the_last_used_first),
    HARNESS_TEST(a_family_is_one_session),
    HARNESS_TEST(a_use_is_noted_once_a_minute),
    HARNESS_TEST(a_note_leaves_the_users_mark),
    HARNESS_TEST(a_row_that_somebody_holds_is_not_waited_for),
    HARNESS_TEST(the_longest_unused_sessions_are_the_surplus),
};
HARNESS_MODULE(session_list, cases)
