/* SPDX-License-Identifier: MIT */
/* The principal: one statement reads the user, the session, the rights and the change version. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/permission/principal.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "support_database.h"

/* A caller with a good session. */
struct caller {
    struct database *database;
    struct arena *arena;
    struct id organisation;
    struct user *user;
    struct id session;
};

static struct caller given_caller(struct arena *arena, const char *role, const char *permissions)
{
    struct caller caller = {.database = support_database_new(), .arena = arena};
    caller.organisation = given_organisation(caller.database, arena);
    caller.user = given_user(caller.database, arena, caller.organisation, role, permissions);
    caller.session = given_session(caller.database, arena, caller.user->id);
    return caller;
}

static struct principal *load(const struct caller *caller)
{
    struct principal *principal;
    expect_ok(principal_load(caller->database, caller->arena, caller->user->id, caller->session, &principal));
    return principal;
}

static bool holds_now(const struct caller *caller, const char *required)
{
    return principal_holds(load(caller), required);
}

static void everything_about_the_caller_is_loaded(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, NULL, "cus:file:r sys:audit:a");
    const char *id = sql_id(arena, caller.user->id);
    sql(caller.database, arena,
        "INSERT INTO user_role (user_id, role_id, position) VALUES (%s, 'log-manage', 0), (%s, 'gone', 1),"
        " (%s, 'inv-manage', 2)",
        id, id, id);
    struct principal *principal = load(&caller);
    assert_non_null(principal);
    assert_true(id_equal(principal->user.id, caller.user->id));
    assert_true(id_equal(principal->session_id, caller.session));
    assert_true(principal->session_good);
    assert_true(principal_stands(principal));
    assert_null(principal->user.email);
    assert_null(principal->organisation.name);
    struct user *user;
    struct organisation *organisation;
    expect_ok(principal_details(caller.database, arena, principal, &user, &organisation));
    assert_string_equal(user->email, caller.user->email);
    assert_string_equal(user->first_name, "Ada");
    assert_string_equal(organisation->name, "Quarry Ltd");
    assert_string_equal(text_list_join(arena, &user->roles, " "), "log-manage gone inv-manage");
    assert_true(id_equal(principal->organisation.id, caller.organisation));
    assert_string_equal(text_list_join(arena, &principal->user.roles, " "), "log-manage gone inv-manage");
    assert_string_equal(text_list_join(arena, &principal->user.permissions, " "), "cus:file:r sys:audit:a");
    assert_int_equal(principal->grant_count, 3);
    assert_string_equal(principal->grants[0].role, "log-manage");
    assert_string_equal(text_list_join(arena, &principal->grants[0].permissions, " "), "cus:*:w log:*:w");
    assert_int_equal(principal->grants[1].permissions.count, 0);
    assert_string_equal(text_list_join(arena, &principal->grants[2].permissions, " "), "cus:*:w inv:*:w");
    struct text_list all = principal_permissions(arena, principal);
    assert_string_equal(text_list_join(arena, &all, " "), "cus:file:r sys:audit:a cus:*:w log:*:w inv:*:w");
    database_free(&caller.database);
}

static void a_caller_without_roles_is_loaded(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, NULL, NULL);
    struct principal *principal = load(&caller);
    assert_non_null(principal);
    assert_int_equal(principal->grant_count, 0);
    assert_int_equal(principal->user.roles.count, 0);
    assert_int_equal(principal_permissions(arena, principal).count, 0);
    assert_true(principal_stands(principal));
    assert_false(principal_holds(principal, "cus:file:r"));

    struct principal *nobody;
    expect_ok(principal_load(caller.database, arena, id_new(), caller.session, &nobody));
    assert_null(nobody);
    assert_false(principal_stands(nobody));
    database_free(&caller.database);
}

static void it_takes_one_round_trip(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "owner", NULL);
    struct file_record file = given_file(caller.database, arena, caller.organisation, caller.user->id);
    struct principal *principal;
    struct file_record *found;
    static const char asked[] = "SELECT variable_value FROM information_schema.session_status"
                                " WHERE variable_name = 'QUESTIONS'";
    for (unsigned round = 0; round < 2; round++) { /* the first prepares the statement */
        (void)load(&caller);
        expect_ok(principal_load_with_file(caller.database, arena, caller.user->id, caller.session, file.id, &principal,
                                           &found));
    }
    int64_t idle = sql_integer(caller.database, arena, asked);
    idle = sql_integer(caller.database, arena, asked) - idle;
    int64_t before = sql_integer(caller.database, arena, asked);
    (void)load(&caller);
    int64_t after = sql_integer(caller.database, arena, asked);
    assert_int_equal(after - before - idle, 1);
    expect_ok(
        principal_load_with_file(caller.database, arena, caller.user->id, caller.session, file.id, &principal, &found));
    assert_int_equal(sql_integer(caller.database, arena, asked) - after - idle, 1);
    database_free(&caller.database);
}

static void only_a_session_of_ones_own_that_lasts_is_good(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "owner", NULL);
    struct user *other = given_user(caller.database, arena, caller.organisation, "owner", NULL);
    struct principal *principal;
    struct id sessions[] = {
        id_new(),
        given_session(caller.database, arena, other->id),
        given_session(caller.database, arena, caller.user->id),
        given_session(caller.database, arena, caller.user->id),
        {{0}},
    };
    expect_ok(session_end(caller.database, arena, sessions[2], caller.user->id, NULL));
    sql(caller.database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = %s",
        sql_id(arena, sessions[3]));
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        expect_ok(principal_load(caller.database, arena, caller.user->id, sessions[i], &principal));
        assert_non_null(principal);
        assert_false(principal->session_good);
        assert_false(principal_stands(principal));
    }
    assert_true(principal_stands(load(&caller)));
    database_free(&caller.database);
}

static void a_change_by_plain_sql_holds_from_the_next_load_on(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "inv-manage", NULL);
    struct database *prompt = support_database_new();
    const char *id = sql_id(arena, caller.user->id);

    assert_true(holds_now(&caller, "inv:stock:w"));
    sql(prompt, arena,
        "UPDATE role_permission SET permission = 'inv:*:r' WHERE role_id = 'inv-manage' AND permission = "
        "'inv:*:w'");
    assert_false(holds_now(&caller, "inv:stock:w"));
    assert_true(holds_now(&caller, "inv:stock:r"));
    sql(prompt, arena, "DELETE FROM role_permission WHERE role_id = 'inv-manage' AND permission = 'inv:*:r'");
    assert_false(holds_now(&caller, "inv:stock:r"));
    sql(prompt, arena, "INSERT INTO role_permission VALUES ('inv-manage', 'inv:*:w')");
    assert_true(holds_now(&caller, "inv:stock:w"));

    sql(prompt, arena, "DELETE FROM user_role WHERE user_id = %s", id);
    assert_false(holds_now(&caller, "inv:stock:r"));
    sql(prompt, arena, "INSERT INTO user_role (user_id, role_id) VALUES (%s, 'admin')", id);
    assert_true(holds_now(&caller, "inv:stock:a"));
    sql(prompt, arena, "DELETE FROM user_role WHERE user_id = %s", id);
    sql(prompt, arena, "UPDATE user SET permissions = 'inv:stock:w' WHERE id = %s", id);
    assert_true(holds_now(&caller, "inv:stock:w"));

    sql(prompt, arena, "UPDATE user SET status = 'disabled' WHERE id = %s", id);
    assert_false(principal_stands(load(&caller)));
    sql(prompt, arena, "UPDATE user SET status = 'active' WHERE id = %s", id);
    assert_true(principal_stands(load(&caller)));
    sql(prompt, arena, "UPDATE organisation SET status = 'disabled' WHERE id = %s", sql_id(arena, caller.organisation));
    assert_false(principal_stands(load(&caller)));
    sql(prompt, arena, "UPDATE organisation SET status = 'active' WHERE id = %s", sql_id(arena, caller.organisation));
    sql(prompt, arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s", sql_id(arena, caller.session));
    assert_false(principal_stands(load(&caller)));
    database_free(&prompt);
    database_free(&caller.database);
}

static void only_active_users_may_call(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "owner", NULL);
    static const char *const statuses[] = {"provisioning", "awaiting-first-login", "awaiting-confirmation", "disabled"};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        sql(caller.database, arena, "UPDATE user SET status = '%s' WHERE id = %s", statuses[i],
            sql_id(arena, caller.user->id));
        assert_false(principal_stands(load(&caller)));
    }
    database_free(&caller.database);
}

static void malformed_permissions_in_the_database_grant_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "odd", NULL);
    static const char *const malformed[] = {
        "*:*:*",      "*:*",         "*",        "cus:*",      "cus:file",
        "cus:file:x", "cus:file:rw", "CUS:*:w",  "Cus:*:w",    "cus:FILE:w",
        "cus:*:W",    "cus:*:w ",    " cus:*:w", "cus:*:w\\t", "cus :*:w",
        "cus: *:w",   "**:*:w",      "cus:**:w", "c*s:*:w",    "cus::w",
        ":*:w",       "cus:*:",      "cus:*:w:", "cus:*:w:*",  "rwxa:*",
        "rrwx:*",     "rwx:**",      "rwx",      "rwx:",       ":*",
        "rwx:* ",     "a:*",         "1cus:*:w", "cus_:*:w",   "cus.x:*:w",
        "cus;*;w",    "%:%:w",       "cus:%:w",  "_us:*:w",    "cus:file:w,cus:*:w",
    };
    sql(caller.database, arena, "INSERT INTO role (id, description) VALUES ('odd', 'Odd')");
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        sql(caller.database, arena, "INSERT INTO role_permission VALUES ('odd', '%s')", malformed[i]);
        sql(caller.database, arena, "UPDATE user SET permissions = '%s' WHERE id = %s", malformed[i],
            sql_id(arena, caller.user->id));
        struct principal *principal = load(&caller);
        assert_true(principal_stands(principal));
        assert_int_equal(principal->grant_count, 1);
        assert_int_equal(principal->grants[0].permissions.count, 1);
        assert_true(principal->user.permissions.count >= 1);
        if (principal_holds(principal, "cus:file:r") || principal_holds(principal, "cus:file:w") ||
            principal_administers(principal, "cus:file:r"))
            fail_msg("'%s' grants something", malformed[i]);
        assert_int_equal(principal_permissions(arena, principal).count, 0);
        sql(caller.database, arena, "DELETE FROM role_permission WHERE role_id = 'odd'");
    }
    sql(caller.database, arena, "DELETE FROM role WHERE id = 'odd'");
    database_free(&caller.database);
}

/* What the triggers write is LENGTH:TEXT, one after the other; a backup or a hand may have cut it. */
static void a_list_of_roles_that_breaks_off_grants_nothing_more(void **state)
{
    static const struct {
        const char *roles;
        size_t count; /* of the roles that are whole */
    } rows[] = {{"5:owner", 1}, {"5:owner10:inv-", 1}, {"", 0},         {"5", 0},
                {"5:", 0},      {"9:owner", 0},        {":owner", 0},   {"owner", 0},
                {"5owner", 0},  {"-5:owner", 0},       {"+5:owner", 0}, {"99999999999999999999999:owner", 0}};
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "owner", NULL);
    assert_true(holds_now(&caller, "inv:part:w"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sql(caller.database, arena, "UPDATE principal SET roles = '%s' WHERE user_id = %s", rows[i].roles,
            sql_id(arena, caller.user->id));
        if (load(&caller)->grant_count != rows[i].count || holds_now(&caller, "inv:part:w") != (rows[i].count == 1))
            fail_msg("%s", rows[i].roles);
    }
    int64_t changed = 0;
    expect_ok(principal_rebuild(caller.database, arena, &changed));
    assert_int_equal(changed, 1);
    assert_true(holds_now(&caller, "inv:part:w"));
    database_free(&caller.database);
}

static void a_list_of_permissions_that_breaks_off_grants_nothing_more(void **state)
{
    static const struct {
        const char *permissions; /* of all roles */
        bool reads;
    } rows[] = {{"5:owner7:cus:*:r", true},
                {"5:owner7:cus:*:r5:owner", true},
                {"5:owner7:cus:*:", false},
                {"5:owner", false},
                {"5:owner5:other7:cus:*:r", false},
                {"5:other7:cus:*:r", false},
                {"", false}};
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "owner", NULL);
    sql(caller.database, arena, "START TRANSACTION");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sql(caller.database, arena, "UPDATE change_version SET roles = '%s'", rows[i].permissions);
        if (holds_now(&caller, "cus:file:r") != rows[i].reads || holds_now(&caller, "inv:part:w"))
            fail_msg("%s", rows[i].permissions);
    }
    sql(caller.database, arena, "ROLLBACK");
    assert_true(holds_now(&caller, "inv:part:w"));
    database_free(&caller.database);
}

static void the_boundary_is_lifted_by_a_only(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *held;
        bool file, user;
    } rows[] = {{"*:*:a", true, true},     {"cus:*:a", true, true},     {"cus:file:a", true, false},
                {"*:user:a", false, true}, {"*:*:w", false, false},     {"rwx:*", false, false},
                {"inv:*:a", false, false}, {"cus:file:w", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct principal principal = {.user.permissions = TEXTS(arena, rows[i].held)};
        assert_int_equal(principal_administers(&principal, "cus:file:r"), rows[i].file);
        assert_int_equal(principal_administers(&principal, "cus:file:w"), rows[i].file);
        assert_int_equal(principal_administers(&principal, "cus:user:r"), rows[i].user);
        assert_false(principal_administers(&principal, "cus:*:r"));
        assert_false(principal_holds(&principal, "cus:*:r"));
        assert_false(principal_holds(&principal, ""));
    }
}

static void a_decision_is_explained_by_its_sources(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "owner", "cus:file:a cus:*:r inv:*:w");
    sql(caller.database, arena, "INSERT INTO user_role (user_id, role_id, position) VALUES (%s, 'inv-manage', 1)",
        sql_id(arena, caller.user->id));
    struct principal *principal = load(&caller);
    struct principal_source *sources;
    assert_int_equal(principal_sources(arena, principal, "cus:file:w", &sources), 3);
    assert_string_equal(sources[0].source, "user");
    assert_string_equal(sources[0].permission, "cus:file:a");
    assert_string_equal(sources[1].source, "role:owner");
    assert_string_equal(sources[1].permission, "rwx:*");
    assert_string_equal(sources[2].source, "role:inv-manage");
    assert_string_equal(sources[2].permission, "cus:*:w");
    assert_int_equal(principal_sources(arena, principal, "cus:file:a", &sources), 1);
    assert_int_equal(principal_sources(arena, principal, "sys:cache:a", &sources), 0);
    database_free(&caller.database);
}

static void what_is_held_is_listed_with_its_sources(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "log-manage", "cus:*:w cus:file:r *:*:* cus:file:r");
    struct principal_held *held;
    sql(caller.database, arena, "INSERT INTO user_role (user_id, role_id, position) VALUES (%s, 'inv-manage', 1)",
        sql_id(arena, caller.user->id));
    assert_int_equal(principal_held(arena, load(&caller), &held), 4);
    assert_string_equal(held[0].permission, "cus:*:w");
    assert_string_equal(text_list_join(arena, &held[0].sources, " "), "user role:log-manage role:inv-manage");
    assert_string_equal(held[1].permission, "cus:file:r");
    assert_string_equal(text_list_join(arena, &held[1].sources, " "), "user");
    assert_string_equal(held[2].permission, "log:*:w");
    assert_string_equal(text_list_join(arena, &held[2].sources, " "), "role:log-manage");
    assert_string_equal(held[3].permission, "inv:*:w");
    database_free(&caller.database);
}

static void a_file_comes_with_its_organisation_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct caller caller = given_caller(arena, "inv-manage", NULL);
    struct id there = given_organisation(caller.database, arena);
    struct file_record own = a_file(arena, caller.organisation, caller.user->id);
    own.tags = TEXTS(arena, "second", "first", "drei vier", "second");
    assert_false(insert_file(caller.database, arena, &own));
    struct file_record foreign = given_file(caller.database, arena, there, id_new());
    struct principal *principal;
    struct file_record *found;

    expect_ok(
        principal_load_with_file(caller.database, arena, caller.user->id, caller.session, own.id, &principal, &found));
    assert_true(principal_stands(principal));
    assert_true(principal_holds(principal, "cus:file:r"));
    assert_int_equal(principal->grants[0].permissions.count, 2);
    assert_non_null(found);
    assert_true(id_equal(found->id, own.id));
    assert_true(id_equal(found->organisation_id, caller.organisation));
    assert_true(id_equal(found->user_id, caller.user->id));
    assert_string_equal(found->name, own.name);
    assert_string_equal(found->bucket, "files");
    assert_string_equal(found->type, "contract");
    assert_string_equal(found->content_type, "application/pdf");
    assert_memory_equal(found->hash, own.hash, FILE_HASH_BYTES);
    assert_int_equal(found->size, own.size);
    assert_int_equal(found->status, FILE_ACTIVE);
    assert_null(found->archived_at);
    assert_string_equal(text_list_join(arena, &found->tags, "|"), "second|first|drei vier|second");

    const struct id absent[] = {foreign.id, id_new(), {{0}}};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        expect_ok(principal_load_with_file(caller.database, arena, caller.user->id, caller.session, absent[i],
                                           &principal, &found));
        assert_true(principal_stands(principal));
        assert_null(found);
    }
    expect_ok(principal_load_with_file(caller.database, arena, id_new(), caller.session, own.id, &principal, &found));
    assert_null(principal);
    assert_null(found);

    sql(caller.database, arena, "UPDATE file SET status = 'archived', archived_at = UTC_TIMESTAMP(3) WHERE id = %s",
        sql_id(arena, own.id));
    expect_ok(
        principal_load_with_file(caller.database, arena, caller.user->id, caller.session, own.id, &principal, &found));
    assert_int_equal(found->status, FILE_ARCHIVED);
    /* The times are not read: nobody who has the file this way needs them. */
    assert_true(found->created_at == NULL && found->updated_at == NULL && found->archived_at == NULL);
    database_free(&caller.database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(everything_about_the_caller_is_loaded),
    HARNESS_TEST(a_caller_without_roles_is_loaded),
    HARNESS_TEST(it_takes_one_round_trip),
    HARNESS_TEST(only_a_session_of_ones_own_that_lasts_is_good),
    HARNESS_TEST(a_change_by_plain_sql_holds_from_the_next_load_on),
    HARNESS_TEST(only_active_users_may_call),
    HARNESS_TEST(malformed_permissions_in_the_database_grant_nothing),
    HARNESS_TEST(a_list_of_roles_that_breaks_off_grants_nothing_more),
    HARNESS_TEST(a_list_of_permissions_that_breaks_off_grants_nothing_more),
    HARNESS_TEST(the_boundary_is_lifted_by_a_only),
    HARNESS_TEST(a_decision_is_explained_by_its_sources),
    HARNESS_TEST(what_is_held_is_listed_with_its_sources),
    HARNESS_TEST(a_file_comes_with_its_organisation_only),
};
HARNESS_MODULE(principal, cases)
