/* SPDX-License-Identifier: MIT */
/* Sessions and the audit trail. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/audit.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "support_database.h"

static bool good(struct database *database, struct arena *arena, struct id id, struct id user)
{
    bool result;
    expect_ok(session_check(database, arena, id, user, &result));
    return result;
}

static void a_session_is_its_users_until_it_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = id_new();
    struct id session = id_new();
    expect_ok(session_insert(database, arena, session, user, 60));
    assert_true(good(database, arena, session, user));
    assert_false(good(database, arena, session, id_new()));
    assert_false(good(database, arena, id_new(), user));
    assert_in_range(sql_integer(database, arena,
                                "SELECT TIMESTAMPDIFF(MICROSECOND, created_at, expires_at) DIV 1000 FROM session"
                                " WHERE id = %s",
                                sql_id(arena, session)),
                    59900, 60100);

    bool ended;
    expect_ok(session_end(database, arena, session, id_new(), &ended));
    assert_false(ended);
    assert_true(good(database, arena, session, user));
    expect_ok(session_end(database, arena, session, user, &ended));
    assert_true(ended);
    assert_false(good(database, arena, session, user));
    expect_ok(session_end(database, arena, session, user, &ended));
    assert_false(ended);
    database_free(&database);
}

static void all_sessions_end_but_the_one_kept(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = id_new();
    struct id other = id_new();
    struct id sessions[4];
    for (size_t i = 0; i < 4; i++) {
        sessions[i] = id_new();
        expect_ok(session_insert(database, arena, sessions[i], i == 3 ? other : user, 60));
    }
    uint64_t count;
    expect_ok(session_end_all(database, arena, user, sessions[1], &count));
    assert_int_equal(count, 2);
    assert_false(good(database, arena, sessions[0], user));
    assert_true(good(database, arena, sessions[1], user));
    assert_false(good(database, arena, sessions[2], user));
    assert_true(good(database, arena, sessions[3], other));
    expect_ok(session_end_all(database, arena, user, (struct id){{0}}, &count));
    assert_int_equal(count, 1);
    assert_false(good(database, arena, sessions[1], user));
    expect_ok(session_end_all(database, arena, user, (struct id){{0}}, &count));
    assert_int_equal(count, 0);
    database_free(&database);
}

static void only_what_ran_out_long_ago_is_purged(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id user = id_new();
    static const int hours[] = {-25, -26, -23, 1};
    for (size_t i = 0; i < 4; i++) {
        struct id id = id_new();
        expect_ok(session_insert(database, arena, id, user, 60));
        sql(database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) + INTERVAL %d HOUR WHERE id = %s",
            hours[i], sql_id(arena, id));
    }
    uint64_t count;
    expect_ok(session_purge(database, arena, 1, &count));
    assert_int_equal(count, 1);
    expect_ok(session_purge(database, arena, 100, &count));
    assert_int_equal(count, 1);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM session"), 2);
    database_free(&database);
}

static const char *audit_column(struct database *database, struct arena *arena, const char *column)
{
    return sql_text(database, arena, "SELECT %s FROM audit", column);
}

static void an_audit_row_holds_what_it_was_given(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct audit_entry entry = {
        .action = "file.upload",
        .organisation_id = id_new(),
        .user_id = id_new(),
        .target_type = "file",
        .target_id = "0190",
        .client_address = "2001:db8::1",
        .request_id = "request-0001",
        .outcome = "success",
        .details = "{\"name\":\"Ünïcode\"}",
    };
    expect_ok(audit_insert(database, arena, &entry));
    assert_string_equal(audit_column(database, arena, "action"), entry.action);
    assert_string_equal(audit_column(database, arena, "target_type"), entry.target_type);
    assert_string_equal(audit_column(database, arena, "target_id"), entry.target_id);
    assert_string_equal(audit_column(database, arena, "client_address"), entry.client_address);
    assert_string_equal(audit_column(database, arena, "request_id"), entry.request_id);
    assert_string_equal(audit_column(database, arena, "outcome"), entry.outcome);
    assert_string_equal(audit_column(database, arena, "details"), entry.details);
    assert_int_equal(sql_integer(database, arena,
                                 "SELECT COUNT(*) FROM audit WHERE organisation_id = %s AND user_id = %s"
                                 " AND at BETWEEN UTC_TIMESTAMP(3) - INTERVAL 9 SECOND AND UTC_TIMESTAMP(3)",
                                 sql_id(arena, entry.organisation_id), sql_id(arena, entry.user_id)),
                     1);
    database_free(&database);
}

static void an_audit_row_is_written_whatever_the_texts(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    char *endless = arena_alloc(arena, 9000);
    memset(endless, 'x', 8999);
    struct audit_entry entry = {.action = "user.login", .outcome = "failure"};
    expect_ok(audit_insert(database, arena, &entry));
    assert_null(audit_column(database, arena, "organisation_id"));
    assert_null(audit_column(database, arena, "target_id"));
    assert_string_equal(audit_column(database, arena, "details"), "{}");

    support_database_clear();
    entry = (struct audit_entry){endless, id_new(), id_new(), endless, endless, endless, endless, endless, endless};
    expect_ok(audit_insert(database, arena, &entry));
    assert_string_equal(audit_column(database, arena, "details"), "{\"truncated\":true}");
    assert_int_equal(strlen(audit_column(database, arena, "target_id")), 64);
    assert_int_equal(strlen(audit_column(database, arena, "request_id")), 128);

    support_database_clear();
    entry =
        (struct audit_entry){.action = "a.b", .target_id = "\xc3\xa4\n\x01x", .outcome = "success", .details = "\xff"};
    expect_ok(audit_insert(database, arena, &entry));
    assert_string_equal(audit_column(database, arena, "target_id"), "????x");
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_session_is_its_users_until_it_ends),       HARNESS_TEST(all_sessions_end_but_the_one_kept),
    HARNESS_TEST(only_what_ran_out_long_ago_is_purged),       HARNESS_TEST(an_audit_row_holds_what_it_was_given),
    HARNESS_TEST(an_audit_row_is_written_whatever_the_texts),
};
HARNESS_MODULE(session, cases)
