/* SPDX-License-Identifier: MIT */
/* Accounts, members and organisations: each statement on the way is refused once. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "service/account/member.h"
#include "service/account/member_erase.h"
#include "service/account/member_help.h"
#include "service/account/organisation_update.h"
#include "service/account/own_profile.h"
#include "service/account/recovery.h"
#include "service/support_refused.h"

#define SERVICE(stage) (&(stage)->scene->service)
#define WRITE "cus:user:w"
#define ORGANISATION "cus:org:w"

static const char *person(struct stage *stage)
{
    return sql_id(stage->scene->arena, stage->person.id);
}

/* ---- accounts that are made ----------------------------------------------------------------------- */

static void prepare_address(struct stage *stage)
{
    stage->text = stage_address(stage);
}

static struct error *sign_up_owner(struct stage *stage, struct arena *arena)
{
    (void)arena;
    return make_customer(stage->scene, stage->staff, stage->text, NULL);
}

static struct error *sign_up_colleague(struct stage *stage, struct arena *arena)
{
    (void)arena;
    return make_member(stage->scene, stage->owner, stage->text, NULL);
}

static struct error *sign_up_invited(struct stage *stage, struct arena *arena)
{
    struct user user;
    struct sign_up_member member = {.email = stage->text, .first_name = "Ben", .last_name = "Brick"};
    return sign_up_member(SERVICE(stage), arena, stage->owner, &member, &user);
}

static struct error *sign_up_staff(struct stage *stage, struct arena *arena)
{
    struct user user;
    struct sign_up_customer staff = {.email = stage->text, .first_name = "Sam", .last_name = "Staff"};
    return sign_up_admin(SERVICE(stage), arena, &staff, secret_of(CHOSEN), &user);
}

static int64_t count_accounts(struct stage *stage)
{
    return stage_rows(stage, "user WHERE email = '%s' AND status <> 'provisioning'", stage->text);
}

/* Rows that a crash has left half-made a minute ago. */
static void prepare_stale(struct stage *stage)
{
    stage->text = stage_address(stage);
    expect_ok(sign_up_owner(stage, stage->scene->arena));
    sql(stage->scene->database, stage->scene->arena,
        "UPDATE user u JOIN organisation o ON o.id = u.organisation_id SET u.status = 'provisioning', o.status ="
        " 'provisioning', u.created_at = u.created_at - INTERVAL 5 MINUTE, u.updated_at = u.updated_at - INTERVAL 5"
        " MINUTE WHERE u.email = '%s'",
        stage->text);
}

static struct error *undo_stale(struct stage *stage, struct arena *arena)
{
    size_t count = 0;
    return recovery_undo_stale(SERVICE(stage), arena, &count);
}

static int64_t count_undone(struct stage *stage)
{
    return -stage_rows(stage, "user WHERE email = '%s'", stage->text);
}

static void an_account_that_was_refused_can_be_made_again(void **state)
{
    static const struct flow flows[] = {
        FLOW("a customer", prepare_address, sign_up_owner, count_accounts, .apart = true, .finds = true),
        FLOW("a member with a password", prepare_address, sign_up_colleague, count_accounts, .apart = true,
             .finds = true),
        FLOW("a member who is invited", prepare_address, sign_up_invited, count_accounts, .apart = true, .finds = true),
        FLOW("an administrator", prepare_address, sign_up_staff, count_accounts, .apart = true, .finds = true),
        FLOW("removing what is half-made", prepare_stale, undo_stale, count_undone, .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- members -------------------------------------------------------------------------------------- */

static void prepare_waiting(struct stage *stage)
{
    expect_ok(make_member(stage->scene, stage->owner, stage_address(stage), &stage->person));
    stage->text = mailed(stage->scene, stage->person.id, "code");
}

static struct error *confirm(struct stage *stage, struct arena *arena)
{
    return member_confirm(SERVICE(stage), arena, &stage->scene->stranger, stage->person.email, stage->text);
}

static struct error *admin_confirm(struct stage *stage, struct arena *arena)
{
    return member_admin_confirm(SERVICE(stage), arena, stage->staff, stage->person.email);
}

/* A code that confirmed is worth nothing any more, and an account that is not confirmed keeps its own. */
static int64_t count_active(struct stage *stage)
{
    int64_t active = stage_rows(stage, "user WHERE id = %s AND status = 'active'", person(stage));
    assert_int_equal(stage_rows(stage, "code WHERE user_id = %s AND purpose = 'confirm'", person(stage)), 1 - active);
    return active;
}

static struct error *send_again(struct stage *stage, struct arena *arena)
{
    return member_send_again(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id);
}

static int64_t count_resent(struct stage *stage)
{
    int64_t jobs = stage_rows(stage, "outbox WHERE kind = '" RECOVERY_RESEND "' AND user_id = %s", person(stage));
    assert_int_equal(stage_audited(stage, "user.resendConfirmation"), jobs);
    return jobs;
}

static void prepare_locked(struct stage *stage)
{
    stage_person(stage);
    for (unsigned i = 0; i < 6; i++)
        (void)scene_login(stage->scene, stage->person.email, OTHER, NULL, NULL);
    assert_true(stage_rows(stage, "throttle WHERE scope = 'account'") > 0);
}

static struct error *unlock(struct stage *stage, struct arena *arena)
{
    return member_unlock(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id);
}

static int64_t count_unlocked(struct stage *stage)
{
    return -stage_rows(stage, "throttle WHERE scope = 'account'");
}

static struct error *update_grants(struct stage *stage, struct arena *arena)
{
    struct user *user = NULL;
    struct text_list roles = TEXTS(arena, "owner"), permissions = NO_TEXTS;
    struct member_patch patch = {.first_name = "Cleo", .roles = &roles, .permissions = &permissions};
    return member_update(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id, &patch, &user);
}

static struct error *disable(struct stage *stage, struct arena *arena)
{
    struct user *user = NULL;
    struct member_patch patch = {.has_status = true, .status = USER_DISABLED};
    return member_update(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id, &patch, &user);
}

static struct error *disable_as_operator(struct stage *stage, struct arena *arena)
{
    struct user *user = NULL;
    struct member_patch patch = {.has_status = true, .status = USER_DISABLED};
    return member_update_as_operator(SERVICE(stage), arena, stage->person.email, &patch, &user);
}

static int64_t count_updated(struct stage *stage)
{
    int64_t updated = stage_audited(stage, "user.update");
    assert_int_equal(stage_rows(stage, "user_role WHERE role_id = 'owner' AND user_id = %s", person(stage)), updated);
    return updated;
}

/* Who is shut out has no session left, whatever failed on the way. */
static int64_t count_disabled(struct stage *stage)
{
    int64_t disabled = stage_rows(stage, "user WHERE id = %s AND status = 'disabled'", person(stage));
    assert_int_equal(stage_rows(stage, "session WHERE user_id = %s AND ended_at IS NULL", person(stage)), 1 - disabled);
    assert_int_equal(stage_audited(stage, "user.disable"), disabled);
    return disabled;
}

static struct error *update_oneself(struct stage *stage, struct arena *arena)
{
    struct user *user = NULL;
    struct own_profile_patch patch = {
        .first_name = "Cleo", .last_name = "Clay", .has_phone = true, .has_locale = true, .locale = "de"};
    return own_profile_update(SERVICE(stage), arena, stage->caller, &patch, &user);
}

static int64_t count_updated_oneself(struct stage *stage)
{
    int64_t updated = stage_audited(stage, "user.update");
    assert_int_equal(stage_rows(stage, "user WHERE id = %s AND first_name = 'Cleo' AND locale = 'de'", person(stage)),
                     updated);
    return updated;
}

static struct error *foresee(struct stage *stage, struct arena *arena)
{
    struct member_outcome outcome;
    struct text_list roles = TEXTS(arena, "owner");
    struct member_patch patch = {.roles = &roles};
    TRY(member_foresee(SERVICE(stage), arena, stage->owner, "cus:user:r", stage->person.id, &patch, &outcome));
    assert_true(outcome.before.count > 0 && outcome.after.count > 0);
    stage->before--; /* nothing is left of it but the answer */
    return NULL;
}

static int64_t count_none(struct stage *stage)
{
    (void)stage;
    return 0;
}

static void a_member_is_changed_wholly_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        FLOW("confirming", prepare_waiting, confirm, count_active),
        FLOW("confirming by an administrator", prepare_waiting, admin_confirm, count_active),
        FLOW("sending the first mail again", prepare_waiting, send_again, count_resent),
        FLOW("lifting a wait", prepare_locked, unlock, count_unlocked),
        FLOW("another role", stage_person, update_grants, count_updated),
        FLOW("disabling", stage_person, disable, count_disabled),
        FLOW("disabling by the operator", stage_person, disable_as_operator, count_disabled),
        FLOW("one's own record", stage_person, update_oneself, count_updated_oneself),
        FLOW("what a change would bring", stage_person, foresee, count_none),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- people who are erased ------------------------------------------------------------------------ */

static void prepare_disabled(struct stage *stage)
{
    stage_person(stage);
    expect_ok(disable(stage, stage->scene->arena));
}

static struct error *erase(struct stage *stage, struct arena *arena)
{
    bool finished = false;
    return member_erase(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id, &finished);
}

/* From the first step on nobody sees the person; where a later one failed a job is left to finish it. */
static int64_t count_erased(struct stage *stage)
{
    int64_t begun = stage_rows(stage, "user WHERE id = %s AND status = 'erased'", person(stage));
    int64_t left = stage_rows(stage, "user WHERE id = %s AND status = 'erased' AND email LIKE '%%@%%'", person(stage));
    assert_int_equal(stage_rows(stage, "outbox WHERE kind = '" MEMBER_ERASE_KIND "' AND user_id = %s", person(stage)),
                     left);
    return begun;
}

static void claim_erasing(struct stage *stage)
{
    stage_claim(stage, MEMBER_ERASE_KIND);
}

static void prepare_erasing(struct stage *stage)
{
    prepare_disabled(stage);
    scene_fault(stage->scene, FAULT_BEFORE, 0);
    expect_ok(erase(stage, stage->scene->arena));
    scene_fault(stage->scene, FAULT_NONE, 0);
    claim_erasing(stage);
}

static struct error *finish_erasing(struct stage *stage, struct arena *arena)
{
    return member_erase_run(SERVICE(stage), arena, stage->item);
}

static int64_t count_gone(struct stage *stage)
{
    int64_t gone =
        stage_rows(stage, "user WHERE id = %s AND first_name = '' AND email NOT LIKE '%%@%%'", person(stage));
    if (gone == 1)
        assert_int_equal(stage_rows(stage, "identity_account WHERE id = %s", person(stage)) +
                             stage_rows(stage, "session WHERE user_id = %s", person(stage)),
                         0);
    return gone;
}

static void an_erasure_that_began_is_finished(void **state)
{
    static const struct flow flows[] = {
        FLOW("erasing", prepare_disabled, erase, count_erased),
        FLOW("finishing an erasure", prepare_erasing, finish_erasing, count_gone, .again = claim_erasing, .job = true,
             .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- organisations -------------------------------------------------------------------------------- */

/* The owner of another customer, signed in. */
static void prepare_customer(struct stage *stage)
{
    const char *address = stage_address(stage);
    stage->caller = given_owner(stage->scene, stage->staff, address);
    stage->person = stage->caller->principal->user;
}

static struct error *update_organisation(struct stage *stage, struct arena *arena, const struct caller *caller,
                                         const struct organisation_admin_change *change)
{
    struct organisation *organisation = NULL;
    return organisation_update(SERVICE(stage), arena, caller, caller == stage->staff ? "cus:org:a" : ORGANISATION,
                               stage->person.organisation_id, change, &organisation);
}

static struct error *rename_own(struct stage *stage, struct arena *arena)
{
    struct organisation_admin_change change = {.name = "Pit"};
    return update_organisation(stage, arena, stage->caller, &change);
}

static struct error *change_services(struct stage *stage, struct arena *arena)
{
    struct text_list services = TEXTS(arena, "logistics");
    int64_t bytes = ORGANISATION_NO_QUOTA, files = 7;
    struct organisation_admin_change change = {.services = &services, .quota_bytes = &bytes, .quota_files = &files};
    return update_organisation(stage, arena, stage->staff, &change);
}

static struct error *set_status(struct stage *stage, struct arena *arena, enum organisation_status status)
{
    struct organisation_admin_change change = {.status = &status};
    return update_organisation(stage, arena, stage->staff, &change);
}

static struct error *disable_organisation(struct stage *stage, struct arena *arena)
{
    return set_status(stage, arena, ORGANISATION_DISABLED);
}

static struct error *enable_organisation(struct stage *stage, struct arena *arena)
{
    return set_status(stage, arena, ORGANISATION_ACTIVE);
}

/* Disabled, and a crash has left a session open. */
static void prepare_enabling(struct stage *stage)
{
    prepare_customer(stage);
    expect_ok(disable_organisation(stage, stage->scene->arena));
    sql(stage->scene->database, stage->scene->arena, "UPDATE session SET ended_at = NULL WHERE user_id = %s",
        person(stage));
}

static const char *home(struct stage *stage)
{
    return sql_id(stage->scene->arena, stage->person.organisation_id);
}

static int64_t count_renamed(struct stage *stage)
{
    return stage_rows(stage, "organisation WHERE id = %s AND name = 'Pit'", home(stage));
}

static int64_t count_services(struct stage *stage)
{
    int64_t changed = stage_rows(stage, "organisation WHERE id = %s AND quota_files = 7", home(stage));
    assert_int_equal(stage_rows(stage, "user_role WHERE role_id = 'log-manage' AND user_id = %s", person(stage)),
                     changed);
    assert_int_equal(stage_rows(stage, "user_role WHERE role_id = 'inv-manage' AND user_id = %s", person(stage)),
                     1 - changed);
    return changed;
}

static int64_t open_sessions(struct stage *stage)
{
    return stage_rows(stage, "session WHERE user_id = %s AND ended_at IS NULL", person(stage));
}

/* The sessions end later, in transactions of their own: until then nobody of the organisation may call. */
static int64_t count_shut(struct stage *stage)
{
    int64_t shut = stage_rows(stage, "organisation WHERE id = %s AND status = 'disabled'", home(stage));
    assert_int_equal(scene_reload(stage->scene, stage->caller) == NULL, shut == 1);
    return shut == 1 && open_sessions(stage) == 0;
}

/* A session that was left must not come back with the organisation. */
static int64_t count_opened(struct stage *stage)
{
    int64_t open = stage_rows(stage, "organisation WHERE id = %s AND status = 'active'", home(stage));
    if (open == 1)
        assert_int_equal(open_sessions(stage), 0);
    return open;
}

static struct error *browse(struct stage *stage, struct arena *arena)
{
    struct organisation_page page;
    struct organisation_filter filter = {.any_status = true, .limit = 1};
    TRY(organisation_browse(SERVICE(stage), arena, stage->staff, &filter, &page));
    assert_int_equal(page.count, 1);
    stage->before--;
    return NULL;
}

static struct error *show(struct stage *stage, struct arena *arena)
{
    struct organisation *organisation = NULL;
    TRY(organisation_show(SERVICE(stage), arena, stage->staff, stage->person.organisation_id, &organisation));
    assert_string_equal(organisation->name, "Quarry");
    stage->before--;
    return NULL;
}

static void an_organisation_is_changed_wholly_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        FLOW("renaming the own organisation", prepare_customer, rename_own, count_renamed),
        FLOW("other services", prepare_customer, change_services, count_services),
        FLOW("disabling an organisation", prepare_customer, disable_organisation, count_shut, .apart = true),
        FLOW("enabling an organisation", prepare_enabling, enable_organisation, count_opened, .apart = true),
        FLOW("a list of organisations", prepare_customer, browse, count_none),
        FLOW("an organisation", prepare_customer, show, count_none),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static void an_account_whose_commit_got_no_answer_is_looked_up(void **state)
{
    static const struct flow flows[] = {
        FLOW("a customer", prepare_address, sign_up_owner, count_accounts, .finds = true),
        FLOW("a member with a password", prepare_address, sign_up_colleague, count_accounts, .finds = true),
        FLOW("an administrator", prepare_address, sign_up_staff, count_accounts, .finds = true),
        FLOW("another role", stage_person, update_grants, count_updated),
        FLOW("erasing", prepare_disabled, erase, count_erased),
        FLOW("disabling an organisation", prepare_customer, disable_organisation, count_shut),
    };
    stage_lose_each_commit(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_account_that_was_refused_can_be_made_again),
    HARNESS_TEST(a_member_is_changed_wholly_or_not_at_all),
    HARNESS_TEST(an_erasure_that_began_is_finished),
    HARNESS_TEST(an_organisation_is_changed_wholly_or_not_at_all),
    HARNESS_TEST(an_account_whose_commit_got_no_answer_is_looked_up),
};
HARNESS_MODULE(refused_people, cases)
