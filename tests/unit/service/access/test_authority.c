/* SPDX-License-Identifier: MIT */
/* Who may do what is decided by the rights at the moment of the change, and the last owner or administrator stays. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/permission/principal.h"
#include "service/account/member.h"
#include "service/account/password.h"
#include "service/support_accounts.h"

#define OWNER "owner@example.com"
#define MEMBER "member@example.com"
#define STAFF "staff@gatehouse.test"
#define WRITE "cus:user:w"
#define ROUNDS 20

static const struct member_patch off = {.has_status = true, .status = USER_DISABLED};
static const struct member_patch on = {.has_status = true, .status = USER_ACTIVE};
static const struct text_list nothing = {NULL, 0};
static const struct member_patch bare = {.roles = &nothing, .permissions = &nothing};
static const struct member_patch name = {.first_name = "Cleo"};

static struct error *update(struct scene *scene, const struct caller *caller, struct id id,
                            const struct member_patch *patch)
{
    struct user *user = NULL;
    return member_update(&scene->service, scene->arena, caller, WRITE, id, patch, &user);
}

static struct error *operate(struct scene *scene, const char *username, const struct member_patch *patch)
{
    struct user *user = NULL;
    return member_update_as_operator(&scene->service, scene->arena, username, patch, &user);
}

/* Another active owner of the organisation. */
static struct id another_owner(struct scene *scene, const struct caller *owner, const char *email)
{
    struct text_list roles = TEXTS(scene->arena, "owner");
    struct member_patch promotion = {.roles = &roles};
    struct user user = given_member(scene, owner, email);
    expect_ok(update(scene, owner, user.id, &promotion));
    return user.id;
}

static int64_t active_owners(struct scene *scene, struct id organisation)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT COUNT(*) FROM user u JOIN user_role r ON r.user_id = u.id AND r.role_id = 'owner'"
                       " WHERE u.status = 'active' AND u.organisation_id = %s",
                       sql_id(scene->arena, organisation));
}

/* ---- the last one -------------------------------------------------------------------------------- */

static void an_organisation_keeps_an_active_owner(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct id only = caller_user(owner);
    struct text_list kept = TEXTS(scene->arena, "inv-manage", "owner", "log-manage");
    struct member_patch more = {.roles = &kept};
    expect_error(update(scene, staff, only, &off), ERROR_USER_LAST_OWNER);
    expect_error(update(scene, staff, only, &bare), ERROR_USER_LAST_OWNER);
    expect_error(operate(scene, OWNER, &off), ERROR_USER_LAST_OWNER);
    expect_error(operate(scene, OWNER, &bare), ERROR_USER_LAST_OWNER);
    assert_non_null(scene_reload(scene, owner));
    expect_ok(update(scene, staff, only, &name));
    expect_ok(update(scene, staff, only, &more));
    /* Whoever is not active, or is another organisation's, takes nobody's place. */
    struct id second = another_owner(scene, owner, MEMBER);
    (void)given_owner(scene, staff, "stranger@example.com");
    expect_ok(update(scene, owner, second, &off));
    expect_error(update(scene, staff, only, &off), ERROR_USER_LAST_OWNER);
    expect_ok(update(scene, owner, second, &on));
    expect_ok(update(scene, staff, only, &bare));
    expect_error(update(scene, staff, second, &bare), ERROR_USER_LAST_OWNER);
    assert_int_equal(active_owners(scene, caller_home(owner)), 1);
}

static void an_organisation_without_an_active_owner_is_not_held_up(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct user invited;
    expect_ok(make_customer(scene, staff, OWNER, &invited));
    expect_ok(update(scene, staff, invited.id, &bare));
}

static void internal_staff_keep_an_administrator(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct id second = given_user(scene->database, scene->arena, organisation_internal_id(), NULL, "sys:audit:a")->id;
    const char *key = sql_id(scene->arena, second);
    /* Neither a customer's user nor a malformed text is an administrator of internal staff. */
    sql(scene->database, scene->arena, "UPDATE user SET permissions = '*:*:a' WHERE email = '" OWNER "'");
    sql(scene->database, scene->arena, "UPDATE user SET permissions = 'sys:*:a  *:*:a' WHERE id = %s", key);
    expect_error(operate(scene, STAFF, &off), ERROR_USER_LAST_OWNER);
    expect_error(operate(scene, STAFF, &bare), ERROR_USER_LAST_OWNER);
    expect_error(update(scene, scene_reload(scene, owner), caller_user(staff), &off), ERROR_USER_LAST_OWNER);
    sql(scene->database, scene->arena,
        "UPDATE user SET permissions = 'sys:audit:a *:*:a', status = 'disabled' WHERE id = %s", key);
    expect_error(operate(scene, STAFF, &off), ERROR_USER_LAST_OWNER);
    sql(scene->database, scene->arena, "UPDATE user SET status = 'active' WHERE id = %s", key);
    expect_ok(operate(scene, STAFF, &off));
    assert_null(scene_reload(scene, staff));
    expect_error(operate(scene, id_text(scene->arena, second), &bare), ERROR_USER_LAST_OWNER);
}

/* ---- oneself ------------------------------------------------------------------------------------- */

static void nobody_takes_from_oneself(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct arena *arena = scene->arena;
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct id self = caller_user(owner);
    (void)another_owner(scene, owner, MEMBER);
    struct text_list turned = TEXTS(arena, "inv-manage", "owner");
    struct text_list less = TEXTS(arena, "owner");
    struct text_list permissions = TEXTS(arena, "cus:file:r", "log:*:r");
    struct text_list fewer = TEXTS(arena, "log:*:r");
    expect_ok(update(scene, owner, self, &(struct member_patch){.roles = &turned, .permissions = &permissions}));
    expect_error(update(scene, owner, self, &(struct member_patch){.roles = &less}), ERROR_USER_SELF);
    expect_error(update(scene, owner, self, &(struct member_patch){.roles = &nothing}), ERROR_USER_SELF);
    expect_error(update(scene, owner, self, &(struct member_patch){.permissions = &fewer}), ERROR_USER_SELF);
    expect_error(update(scene, owner, self, &off), ERROR_USER_SELF);
    struct caller *now = scene_reload(scene, owner);
    assert_string_equal(text_list_join(arena, &now->principal->user.roles, ","), "inv-manage,owner");
    assert_string_equal(text_list_join(arena, &now->principal->user.permissions, ","), "cus:file:r,log:*:r");
    /* A role that is gone grants nothing, and would be refused as unknown. */
    sql(scene->database, arena, "INSERT INTO user_role (user_id, role_id, position) VALUES (%s, 'gone', 9)",
        sql_id(arena, self));
    expect_ok(update(scene, owner, self, &(struct member_patch){.roles = &turned}));
}

/* ---- rights that were taken meanwhile ------------------------------------------------------------ */

static void change_nothing(struct scene *scene, const struct caller *caller, struct id member, int code)
{
    struct service *service = &scene->service;
    struct user made;
    expect_error(update(scene, caller, member, &name), code);
    expect_error(update(scene, caller, member, &off), code);
    expect_error(make_member(scene, caller, "late@example.com", &made), code);
    expect_error(make_customer(scene, caller, "new@example.com", &made), code);
    expect_error(password_set(service, scene->arena, caller, MEMBER, secret_of(OTHER), true), code);
    expect_error(member_admin_confirm(service, scene->arena, caller, MEMBER), code);
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM user WHERE status <> 'provisioning' AND email IN"
                                 " ('late@example.com', 'new@example.com')"),
                     0);
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM user WHERE email = '" MEMBER "' AND first_name = 'Ben'"
                                 " AND status = 'awaiting-confirmation'"),
                     1);
}

static void rights_of_the_moment_decide(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct user member;
    expect_ok(make_member(scene, staff, MEMBER, &member));
    /* `staff` is still what the request was let in with. */
    sql(scene->database, scene->arena, "DELETE FROM user_role WHERE user_id = %s",
        sql_id(scene->arena, caller_user(staff)));
    change_nothing(scene, staff, member.id, ERROR_PERMISSION);
    sql(scene->database, scene->arena, "UPDATE user SET status = 'disabled' WHERE id = %s",
        sql_id(scene->arena, caller_user(staff)));
    change_nothing(scene, staff, member.id, ERROR_TOKEN_REVOKED);
}

static void less_than_before_grants_less(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct user member = given_member(scene, owner, MEMBER);
    struct user late;
    struct text_list all = TEXTS(scene->arena, "owner");
    sql(scene->database, scene->arena, "DELETE FROM user_role WHERE user_id = %s AND role_id = 'owner'",
        sql_id(scene->arena, caller_user(owner)));
    expect_error(update(scene, owner, member.id, &(struct member_patch){.roles = &all}), ERROR_ROLE_NOT_GRANTABLE);
    expect_ok(make_member(scene, owner, "late@example.com", &late));
    /* No administrator any more, but a writer at home: the other organisation is out of reach. */
    sql(scene->database, scene->arena, "UPDATE user_role SET role_id = 'account-admin' WHERE user_id = %s",
        sql_id(scene->arena, caller_user(staff)));
    expect_error(update(scene, staff, member.id, &name), ERROR_USER_UNKNOWN);
}

/* ---- at the same moment -------------------------------------------------------------------------- */

struct duel {
    const struct caller *callers[2];
    struct id targets[2];
    const struct member_patch *patch;
};

enum end { END_DONE, END_REFUSED, END_LAST, END_OTHER };

static int strike(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)database;
    const struct duel *duel = context;
    struct error *error = update(scene_join(arena), duel->callers[index], duel->targets[index], duel->patch);
    if (error == NULL)
        return END_DONE;
    if (error->code == ERROR_TOKEN_REVOKED || error->code == ERROR_PERMISSION)
        return END_REFUSED;
    return error->code == ERROR_USER_LAST_OWNER ? END_LAST : END_OTHER;
}

static void of_two_who_shut_each_other_out_one_is_refused(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *first = given_owner(scene, given_staff(scene), OWNER);
    struct id id = another_owner(scene, first, MEMBER);
    struct caller *second = scene_caller(scene, MEMBER, CHOSEN);
    struct duel duel = {.callers = {first, second}, .targets = {id, caller_user(first)}};
    int results[RACERS_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        duel.patch = round % 2 == 0 ? &off : &bare;
        race(2, strike, &duel, results);
        assert_int_equal(race_count(results, 2, END_DONE), 1);
        assert_int_equal(race_count(results, 2, END_REFUSED), 1);
        assert_int_equal(active_owners(scene, caller_home(first)), 1);
        sql(scene->database, scene->arena, "UPDATE user SET status = 'active' WHERE status = 'disabled'");
        sql(scene->database, scene->arena, "UPDATE session SET ended_at = NULL");
        sql(scene->database, scene->arena, "INSERT IGNORE INTO user_role (user_id, role_id) VALUES (%s, 'owner')",
            sql_id(scene->arena, id));
        sql(scene->database, scene->arena, "INSERT IGNORE INTO user_role (user_id, role_id) VALUES (%s, 'owner')",
            sql_id(scene->arena, caller_user(first)));
    }
}

static void of_two_owners_whom_two_administrators_disable_one_stays(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *first = given_owner(scene, staff, OWNER);
    struct id id = another_owner(scene, first, MEMBER);
    struct duel duel = {.callers = {staff, staff}, .targets = {id, caller_user(first)}};
    int results[RACERS_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        duel.patch = round % 2 == 0 ? &off : &bare;
        race(2, strike, &duel, results);
        assert_int_equal(race_count(results, 2, END_DONE), 1);
        assert_int_equal(race_count(results, 2, END_LAST), 1);
        assert_int_equal(active_owners(scene, caller_home(first)), 1);
        sql(scene->database, scene->arena, "UPDATE user SET status = 'active' WHERE status = 'disabled'");
        sql(scene->database, scene->arena, "INSERT IGNORE INTO user_role (user_id, role_id) VALUES (%s, 'owner')",
            sql_id(scene->arena, id));
        sql(scene->database, scene->arena, "INSERT IGNORE INTO user_role (user_id, role_id) VALUES (%s, 'owner')",
            sql_id(scene->arena, caller_user(first)));
    }
}

/* ---- the operator -------------------------------------------------------------------------------- */

static void the_operator_changes_anybody(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct user member = given_member(scene, owner, MEMBER);
    struct caller *caller = scene_caller(scene, MEMBER, CHOSEN);
    struct text_list roles = TEXTS(scene->arena, "owner", "account-admin");
    struct text_list unknown = TEXTS(scene->arena, "owner", "nobody");
    expect_entry(operate(scene, "nobody@example.com", &off), ERROR_USER_UNKNOWN, "username", "unknown");
    expect_entry(operate(scene, MEMBER, &(struct member_patch){.roles = &unknown}), ERROR_REQUEST_INVALID, "roles[1]",
                 "unknown");
    expect_ok(operate(scene, id_text(scene->arena, member.id), &(struct member_patch){.roles = &roles}));
    assert_int_equal(scene_reload(scene, caller)->principal->user.roles.count, 2);
    expect_ok(operate(scene, "MEMBER@example.com", &off));
    assert_null(scene_reload(scene, caller));
    assert_string_equal(sql_text(scene->database, scene->arena, "SELECT enabled FROM identity_account WHERE id = %s",
                                 sql_id(scene->arena, member.id)),
                        "0");
    assert_int_equal(
        sql_integer(scene->database, scene->arena,
                    "SELECT COUNT(*) FROM audit WHERE action = 'user.disable' AND user_id IS NULL"
                    " AND target_id = '%s' AND organisation_id = %s AND details LIKE '%%\"status\":\"disabled\"%%'",
                    id_text(scene->arena, member.id), sql_id(scene->arena, caller_home(owner))),
        1);
    expect_ok(operate(scene, MEMBER, &on));
    assert_null(scene_reload(scene, caller));
    (void)run_jobs(scene);
    assert_non_null(scene_caller(scene, MEMBER, CHOSEN));
    assert_string_equal(sql_text(scene->database, scene->arena,
                                 "SELECT permissions FROM identity_account WHERE id = %s",
                                 sql_id(scene->arena, member.id)),
                        "cus:file:r rwx:* cus:*:w inv:*:w log:*:w");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_organisation_keeps_an_active_owner),
    HARNESS_TEST(an_organisation_without_an_active_owner_is_not_held_up),
    HARNESS_TEST(internal_staff_keep_an_administrator),
    HARNESS_TEST(nobody_takes_from_oneself),
    HARNESS_TEST(rights_of_the_moment_decide),
    HARNESS_TEST(less_than_before_grants_less),
    HARNESS_TEST(of_two_who_shut_each_other_out_one_is_refused),
    HARNESS_TEST(of_two_owners_whom_two_administrators_disable_one_stays),
    HARNESS_TEST(the_operator_changes_anybody),
};
HARNESS_MODULE(authority, cases)
