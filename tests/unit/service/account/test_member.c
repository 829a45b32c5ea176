/* SPDX-License-Identifier: MIT */
/* Team members after they were made: confirming and changing them, and telling the provider, now or later. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/permission/principal.h"
#include "service/account/member.h"
#include "service/account/recovery.h"
#include "service/support_accounts.h"

#define OWNER "owner@example.com"
#define MEMBER "member@example.com"
#define WRITE "cus:user:w"

static struct error *confirm(struct scene *scene, const char *username, const char *code)
{
    return member_confirm(&scene->service, scene->arena, &scene->stranger, username, code);
}

static struct error *update(struct scene *scene, const struct caller *caller, struct id id,
                            const struct member_patch *patch, struct user **user_out)
{
    struct user *user = NULL;
    return member_update(&scene->service, scene->arena, caller, WRITE, id, patch, user_out != NULL ? user_out : &user);
}

/* A column of the provider's account. */
static const char *at_provider(struct scene *scene, const char *column, struct id user)
{
    return sql_text(scene->database, scene->arena, "SELECT %s FROM identity_account WHERE id = %s", column,
                    sql_id(scene->arena, user));
}

static int64_t audited(struct scene *scene, const char *action)
{
    return sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM audit WHERE action = '%s'", action);
}

/* ---- confirming ---------------------------------------------------------------------------------- */

static void confirming_takes_the_members_own_code_once(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct user member;
    struct user other;
    expect_ok(make_member(scene, owner, MEMBER, &member));
    expect_ok(make_member(scene, owner, "other@example.com", &other));
    assert_int_equal(member.status, USER_AWAITING_CONFIRMATION);
    const char *code = mailed(scene, member.id, "code");
    if (strcmp(code, mailed(scene, other.id, "code")) != 0)
        expect_error(confirm(scene, "other@example.com", code), ERROR_CODE_MISMATCH);
    expect_error(confirm(scene, "nobody@example.com", code), ERROR_CODE_MISMATCH);
    expect_error(confirm(scene, OWNER, code), ERROR_CODE_MISMATCH);
    expect_error(scene_login(scene, MEMBER, "wrong-password-1", NULL, NULL), ERROR_CREDENTIALS);
    expect_error(scene_login(scene, MEMBER, CHOSEN, NULL, NULL), ERROR_USER_UNCONFIRMED);
    expect_ok(confirm(scene, "MEMBER@example.com", code));
    expect_error(confirm(scene, MEMBER, code), ERROR_CODE_MISMATCH);
    assert_true(scene_caller(scene, MEMBER, CHOSEN)->principal->user.email_verified);
    assert_int_equal(audited(scene, "user.confirm"), 1);
}

static void new_code_replaces_the_old(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct user member;
    expect_ok(make_member(scene, owner, MEMBER, &member));
    const char *old = mailed(scene, member.id, "code");
    expect_ok(recovery_ask(&scene->service, scene->arena, &scene->stranger, RECOVERY_RESEND, MEMBER));
    (void)run_jobs(scene);
    assert_int_equal(mails_waiting(scene, member.id), 2);
    const char *new = mailed(scene, member.id, "code");
    if (strcmp(old, new) != 0)
        expect_error(confirm(scene, MEMBER, old), ERROR_CODE_MISMATCH);
    expect_ok(confirm(scene, id_text(scene->arena, member.id), new));
}

/* Our row says confirmed: who was told so may come in, whether or not the provider has heard of it yet. */
static void confirmation_holds_whatever_the_provider_does(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int by_job = 0; by_job < 2; by_job++)
        for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
            struct scene *scene = scene_new(arena);
            struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
            struct user member;
            expect_ok(make_member(scene, owner, MEMBER, &member));
            scene_fault(scene, fault, 0);
            expect_ok(confirm(scene, MEMBER, mailed(scene, member.id, "code")));
            assert_string_equal(at_provider(scene, "status", member.id),
                                fault == FAULT_BEFORE ? "unconfirmed" : "confirmed");
            if (by_job) {
                assert_int_equal(run_jobs(scene), 1); /* fails, and waits */
                scene_fault(scene, FAULT_NONE, 0);
                assert_int_equal(run_jobs(scene), 1);
                assert_string_equal(at_provider(scene, "status", member.id), "confirmed");
            }
            scene_fault(scene, FAULT_NONE, 0);
            assert_non_null(scene_caller(scene, MEMBER, CHOSEN));
        }
}

static void an_administrator_confirms(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct service *service = &scene->service;
    struct user member;
    expect_ok(make_member(scene, owner, MEMBER, &member));
    const char *code = mailed(scene, member.id, "code");
    expect_entry(member_admin_confirm(service, scene->arena, staff, "nobody@example.com"), ERROR_USER_UNKNOWN,
                 "username", "unknown");
    int64_t crossings = audited(scene, "access.crossOrganisation");
    expect_ok(member_admin_confirm(service, scene->arena, staff, MEMBER));
    assert_int_equal(audited(scene, "access.crossOrganisation"), crossings + 1);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM code"), 0);
    expect_error(member_admin_confirm(service, scene->arena, staff, MEMBER), ERROR_USER_ALREADY_CONFIRMED);
    expect_error(confirm(scene, MEMBER, code), ERROR_CODE_MISMATCH);
    assert_non_null(scene_caller(scene, MEMBER, CHOSEN));
    expect_ok(make_customer(scene, staff, "invited@example.com", NULL));
    expect_error(member_admin_confirm(service, scene->arena, staff, "invited@example.com"), ERROR_USER_STATE);
    sql(scene->database, scene->arena, "UPDATE user SET status = 'disabled' WHERE email = '" MEMBER "'");
    expect_error(member_admin_confirm(service, scene->arena, staff, MEMBER), ERROR_USER_STATE);
}

/* ---- changing ------------------------------------------------------------------------------------ */

static void changing_what_was_sent_and_nothing_else(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct user member = given_member(scene, owner, MEMBER);
    struct user *user = NULL;
    struct member_patch names = {.first_name = "Cleo"};
    expect_ok(update(scene, owner, member.id, &names, &user));
    assert_string_equal(user->first_name, "Cleo");
    assert_string_equal(user->last_name, "Brick");
    assert_string_equal(text_list_join(scene->arena, &user->roles, ","), "inv-manage");
    assert_string_equal(text_list_join(scene->arena, &user->permissions, ","), "cus:file:r");
    assert_int_equal(user->status, USER_ACTIVE);
    struct text_list roles = TEXTS(scene->arena, "owner");
    struct text_list permissions = TEXTS(scene->arena, "log:*:r", "cus:file:w");
    struct member_patch grants = {.roles = &roles, .permissions = &permissions};
    expect_ok(update(scene, owner, member.id, &grants, &user));
    assert_string_equal(text_list_join(scene->arena, &user->roles, ","), "owner");
    assert_string_equal(user->first_name, "Cleo");
    (void)run_jobs(scene);
    assert_string_equal(at_provider(scene, "permissions", member.id), "log:*:r cus:file:w rwx:*");
}

static void phone_number_that_is_replaced_is_not_verified(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct id id = caller_user(owner);
    struct user *user = NULL;
    struct member_patch same = {.has_phone = true, .phone = "+4512345678"};
    expect_ok(update(scene, owner, id, &same, &user));
    assert_true(user->phone_verified);
    struct member_patch other = {.has_phone = true, .phone = "+4587654321"};
    expect_ok(update(scene, owner, id, &other, &user));
    assert_string_equal(user->phone, "+4587654321");
    assert_false(user->phone_verified);
    sql(scene->database, scene->arena, "UPDATE user SET phone_verified = TRUE WHERE id = %s", sql_id(scene->arena, id));
    struct member_patch none = {.has_phone = true};
    expect_ok(update(scene, owner, id, &none, &user));
    assert_null(user->phone);
    assert_false(user->phone_verified);
    (void)run_jobs(scene);
    assert_null(at_provider(scene, "phone", id));
}

static void disabling_ends_sessions_at_once(void **state)
{
    struct arena *arena = harness_arena(state);
    for (enum fault fault = FAULT_NONE; fault <= FAULT_AFTER; fault++) {
        struct scene *scene = scene_new(arena);
        struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
        struct user member = given_member(scene, owner, MEMBER);
        struct caller *caller = scene_caller(scene, MEMBER, CHOSEN);
        struct user *user = NULL;
        struct member_patch off = {.has_status = true, .status = USER_DISABLED};
        struct member_patch on = {.has_status = true, .status = USER_ACTIVE};
        scene_fault(scene, fault, 0);
        expect_ok(update(scene, owner, member.id, &off, &user));
        assert_int_equal(user->status, USER_DISABLED);
        assert_null(scene_reload(scene, caller));
        scene_fault(scene, FAULT_NONE, 0);
        expect_error(scene_login(scene, MEMBER, "wrong-password-1", NULL, NULL), ERROR_CREDENTIALS);
        expect_error(scene_login(scene, MEMBER, CHOSEN, NULL, NULL), ERROR_USER_DISABLED);
        assert_int_equal(sql_integer(scene->database, arena,
                                     "SELECT COUNT(*) FROM session WHERE user_id = %s AND ended_at IS NULL",
                                     sql_id(arena, member.id)),
                         0);
        assert_int_equal(run_jobs(scene), 1);
        assert_string_equal(at_provider(scene, "enabled", member.id), "0");
        scene_fault(scene, fault, 0);
        expect_ok(update(scene, owner, member.id, &on, NULL));
        assert_null(scene_reload(scene, caller));
        scene_fault(scene, FAULT_NONE, 0);
        assert_int_equal(run_jobs(scene), 1);
        assert_non_null(scene_caller(scene, MEMBER, CHOSEN));
    }
}

static void status_has_its_rules(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct member_patch off = {.has_status = true, .status = USER_DISABLED};
    struct member_patch on = {.has_status = true, .status = USER_ACTIVE};
    struct user waiting;
    expect_error(update(scene, owner, caller_user(owner), &off, NULL), ERROR_USER_SELF);
    expect_error(update(scene, owner, caller_user(owner), &on, NULL), ERROR_USER_SELF);
    expect_ok(make_member(scene, owner, MEMBER, &waiting));
    expect_error(update(scene, owner, waiting.id, &on, NULL), ERROR_USER_STATE);
    expect_error(update(scene, owner, waiting.id, &off, NULL), ERROR_USER_STATE);
    expect_error(scene_login(scene, MEMBER, CHOSEN, NULL, NULL), ERROR_USER_UNCONFIRMED);
    assert_non_null(scene_reload(scene, owner));
}

static void nobody_changes_or_grants_beyond_their_own(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct user member = given_member(scene, owner, MEMBER);
    struct caller *weak = scene_caller(scene, MEMBER, CHOSEN);
    struct text_list roles = TEXTS(scene->arena, "inv-manage", "owner");
    struct text_list unknown = TEXTS(scene->arena, "nobody");
    struct text_list permissions = TEXTS(scene->arena, "cus:file:w", "log:*:r", "cus:*:a");
    struct text_list malformed = TEXTS(scene->arena, "*:*:*");
    struct member_patch all = {.roles = &roles, .permissions = &permissions};
    struct member_patch bad = {.roles = &unknown, .permissions = &malformed};
    struct member_patch name = {.first_name = "Cleo"};
    struct error *error = update(scene, weak, member.id, &all, NULL);
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "roles[1]", "notGrantable");
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "permissions[1]", "notGrantable");
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "permissions[2]", "notGrantable");
    assert_int_equal(error->entry_count, 3);
    error = update(scene, owner, member.id, &bad, NULL);
    expect_entry(error, ERROR_REQUEST_INVALID, "roles[0]", "unknown");
    expect_entry(error, ERROR_REQUEST_INVALID, "permissions[0]", "format");
    /* Not even the name of somebody who may do more. */
    expect_entry(update(scene, weak, caller_user(owner), &name, NULL), ERROR_ROLE_NOT_GRANTABLE, "id", "notGrantable");
    assert_string_equal(scene_reload(scene, owner)->principal->user.first_name, "Ada");
    assert_int_equal(scene_reload(scene, weak)->principal->user.roles.count, 1);
    assert_int_equal(run_jobs(scene), 0);
}

static struct error *foresee(struct scene *scene, const struct caller *caller, struct id id,
                             const struct member_patch *patch, struct member_outcome *outcome)
{
    return member_foresee(&scene->service, scene->arena, caller, "cus:user:r", id, patch, outcome);
}

static void a_foreseen_change_is_checked_as_the_change_and_writes_nothing(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct user member = given_member(scene, owner, MEMBER);
    struct caller *weak = scene_caller(scene, MEMBER, CHOSEN);
    struct text_list none = NO_TEXTS;
    struct text_list roles = TEXTS(scene->arena, "inv-manage", "owner");
    struct text_list permissions = TEXTS(scene->arena, "x:*", "log:*:r");
    struct text_list unknown = TEXTS(scene->arena, "nobody");
    struct member_patch more = {.roles = &roles, .permissions = &permissions};
    struct member_patch less = {.roles = &none};
    struct member_patch bad = {.roles = &unknown};
    struct member_outcome outcome;
    const char *tables =
        "SELECT CONCAT((SELECT GROUP_CONCAT(HEX(user_id), role_id ORDER BY user_id, role_id) FROM user_role), '/',"
        " (SELECT COUNT(*) FROM audit WHERE action <> 'access.crossOrganisation'), '/',"
        " (SELECT COUNT(*) FROM outbox))";
    const char *before = sql_text(scene->database, scene->arena, "%s", tables);
    expect_ok(foresee(scene, owner, member.id, &more, &outcome));
    assert_null(outcome.not_grantable);
    assert_string_equal(text_list_join(scene->arena, &outcome.before, " "), "cus:file:r cus:*:w inv:*:w");
    assert_string_equal(text_list_join(scene->arena, &outcome.after, " "), "x:* log:*:r cus:*:w inv:*:w rwx:*");
    expect_ok(foresee(scene, weak, member.id, &more, &outcome));
    assert_string_equal(outcome.not_grantable->path, "roles[1]");
    assert_string_equal(outcome.not_grantable->next->path, "permissions[1]");
    assert_null(outcome.not_grantable->next->next);
    assert_string_equal(text_list_join(scene->arena, &outcome.after, " "), "x:* log:*:r cus:*:w inv:*:w rwx:*");
    expect_ok(foresee(scene, weak, caller_user(owner), &less, &outcome));
    assert_string_equal(outcome.not_grantable->path, "id");
    expect_error(foresee(scene, weak, member.id, &less, &outcome), ERROR_USER_SELF);
    expect_error(foresee(scene, owner, caller_user(owner), &less, &outcome), ERROR_USER_SELF);
    expect_error(foresee(scene, staff, caller_user(owner), &less, &outcome), ERROR_USER_LAST_OWNER);
    expect_entry(foresee(scene, owner, member.id, &bad, &outcome), ERROR_REQUEST_INVALID, "roles[0]", "unknown");
    expect_entry(foresee(scene, owner, id_new(), &more, &outcome), ERROR_USER_UNKNOWN, "userId", "unknown");
    assert_string_equal(sql_text(scene->database, scene->arena, "%s", tables), before);
}

static void other_organisations_are_out_of_reach(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct caller *stranger = given_owner(scene, staff, "stranger@example.com");
    struct member_patch name = {.first_name = "Cleo"};
    struct user *user = NULL;
    struct user half;
    expect_entry(update(scene, owner, caller_user(stranger), &name, NULL), ERROR_USER_UNKNOWN, "id", "unknown");
    expect_entry(update(scene, owner, id_new(), &name, NULL), ERROR_USER_UNKNOWN, "id", "unknown");
    expect_entry(update(scene, owner, caller_user(staff), &name, NULL), ERROR_USER_UNKNOWN, "id", "unknown");
    int64_t crossings = audited(scene, "access.crossOrganisation");
    expect_ok(update(scene, staff, caller_user(stranger), &name, &user));
    assert_string_equal(user->first_name, "Cleo");
    assert_int_equal(audited(scene, "access.crossOrganisation"), crossings + 1);
    assert_string_equal(scene_reload(scene, owner)->principal->user.first_name, "Ada");
    scene_fault(scene, FAULT_BEFORE, 1);
    expect_error(make_member(scene, owner, MEMBER, &half), ERROR_IDENTITY_UNAVAILABLE);
    const char *id =
        sql_text(scene->database, scene->arena, "SELECT LOWER(HEX(id)) FROM user WHERE email = '" MEMBER "'");
    struct id half_made;
    assert_true(id_parse(arena_format(scene->arena, "%.8s-%.4s-%.4s-%.4s-%.12s", id, id + 8, id + 12, id + 16, id + 20),
                         &half_made));
    expect_entry(update(scene, owner, half_made, &name, NULL), ERROR_USER_UNKNOWN, "id", "unknown");
    expect_entry(update(scene, staff, half_made, &name, NULL), ERROR_USER_UNKNOWN, "id", "unknown");
}

/* A job sends the row as it is when it runs: late, twice, or after a newer one. */
static void mirror_follows_the_row(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct user member = given_member(scene, owner, MEMBER);
    struct text_list none = NO_TEXTS;
    struct text_list first = TEXTS(scene->arena, "cus:file:w");
    struct text_list second = TEXTS(scene->arena, "log:x:r");
    struct member_patch one = {.roles = &none, .permissions = &first};
    struct member_patch two = {.roles = &none, .permissions = &second};
    scene_fault(scene, FAULT_BEFORE, 0);
    expect_ok(update(scene, owner, member.id, &one, NULL));
    expect_ok(update(scene, owner, member.id, &two, NULL));
    assert_int_equal(run_jobs(scene), 2);
    assert_string_equal(at_provider(scene, "permissions", member.id), "cus:file:r cus:*:w inv:*:w");
    scene_fault(scene, FAULT_NONE, 0);
    assert_int_equal(run_jobs(scene), 2);
    assert_string_equal(at_provider(scene, "permissions", member.id), "log:x:r");
    assert_int_equal(run_jobs(scene), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(confirming_takes_the_members_own_code_once),
    HARNESS_TEST(new_code_replaces_the_old),
    HARNESS_TEST(confirmation_holds_whatever_the_provider_does),
    HARNESS_TEST(an_administrator_confirms),
    HARNESS_TEST(changing_what_was_sent_and_nothing_else),
    HARNESS_TEST(phone_number_that_is_replaced_is_not_verified),
    HARNESS_TEST(disabling_ends_sessions_at_once),
    HARNESS_TEST(status_has_its_rules),
    HARNESS_TEST(nobody_changes_or_grants_beyond_their_own),
    HARNESS_TEST(a_foreseen_change_is_checked_as_the_change_and_writes_nothing),
    HARNESS_TEST(other_organisations_are_out_of_reach),
    HARNESS_TEST(mirror_follows_the_row),
};
HARNESS_MODULE(member, cases)
