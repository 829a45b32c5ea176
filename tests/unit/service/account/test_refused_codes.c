/* SPDX-License-Identifier: MIT */
/* Addresses, passwords and the codes for them: each statement on the way is refused once. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/email_change.h"
#include "domain/account/one_time_code.h"
#include "domain/outbox.h"
#include "service/account/email_cancel.h"
#include "service/account/email_change.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/support_refused.h"

#define SERVICE(stage) (&(stage)->scene->service)

static const char *person(struct stage *stage)
{
    return sql_id(stage->scene->arena, stage->person.id);
}

static int64_t count_mails(struct stage *stage)
{
    return mails_waiting(stage->scene, stage->person.id);
}

static void expect_address(struct stage *stage, const char *address)
{
    assert_string_equal(
        sql_text(stage->scene->database, stage->scene->arena, "SELECT email FROM user WHERE id = %s", person(stage)),
        address);
}

/* ---- another address ------------------------------------------------------------------------------ */

static struct error *ask_change(struct stage *stage, struct arena *arena)
{
    return email_change_ask(SERVICE(stage), arena, stage->caller, stage->text, secret_of(CHOSEN));
}

static void prepare_asking(struct stage *stage)
{
    stage_person(stage);
    stage->text = stage_address(stage);
}

static int64_t count_asked(struct stage *stage)
{
    int64_t jobs = stage_rows(stage, "outbox WHERE kind = '" EMAIL_CHANGE_KIND "' AND user_id = %s", person(stage));
    assert_int_equal(stage_rows(stage, "email_change WHERE user_id = %s", person(stage)), jobs);
    assert_int_equal(stage_audited(stage, "user.emailChangeRequested"), jobs);
    return jobs;
}

static void claim_change(struct stage *stage)
{
    stage_claim(stage, EMAIL_CHANGE_KIND);
}

static void prepare_answer(struct stage *stage)
{
    prepare_asking(stage);
    expect_ok(ask_change(stage, stage->scene->arena));
    claim_change(stage);
}

static void prepare_answer_about_taken(struct stage *stage)
{
    stage_person(stage);
    const char *taken = stage->person.email;
    stage_person(stage);
    stage->text = taken;
    expect_ok(ask_change(stage, stage->scene->arena));
    claim_change(stage);
}

static struct error *answer_change(struct stage *stage, struct arena *arena)
{
    return email_change_run(SERVICE(stage), arena, stage->item);
}

static int64_t count_noticed(struct stage *stage)
{
    return stage_rows(stage, "email_change WHERE user_id = %s AND cancel_hash IS NOT NULL", person(stage));
}

/* The new address has its code; the text is the code, and that of the notice is in the mail. */
static void prepare_confirming(struct stage *stage)
{
    prepare_answer(stage);
    expect_ok(answer_change(stage, stage->scene->arena));
    stage->text = sql_text(stage->scene->database, stage->scene->arena,
                           "SELECT new_email FROM email_change WHERE user_id = %s", person(stage));
}

/* The mail to the new address is not the newest one, so the code is made anew. */
static const char *new_code(struct stage *stage)
{
    struct scene *scene = stage->scene;
    struct email_change *change = NULL;
    struct secret code;
    expect_ok(email_change_find_waiting(scene->database, scene->arena, stage->person.id, &change));
    expect_ok(one_time_code_issue(scene->database, scene->arena, scene->service.master, stage->person.id,
                                  ONE_TIME_CODE_EMAIL, EMAIL_CHANGE_SECONDS, &code));
    return secret_reveal(code);
}

static void prepare_confirm(struct stage *stage)
{
    prepare_confirming(stage);
    stage->text = new_code(stage);
}

static struct error *confirm_change(struct stage *stage, struct arena *arena)
{
    struct user *user = NULL;
    TRY(email_change_confirm(SERVICE(stage), arena, stage->caller, stage->text, &user));
    assert_string_not_equal(user->email, stage->person.email);
    return NULL;
}

static int64_t count_confirmed(struct stage *stage)
{
    int64_t changed = stage_rows(stage, "email_change WHERE user_id = %s AND changed_at IS NOT NULL", person(stage));
    assert_int_equal(stage_audited(stage, "user.emailChanged"), changed);
    if (changed == 0)
        expect_address(stage, stage->person.email);
    return changed;
}

static void prepare_cancel(struct stage *stage)
{
    prepare_confirm(stage);
    const char *notice = mailed(stage->scene, stage->person.id, "code");
    expect_ok(confirm_change(stage, stage->scene->arena));
    stage->text = notice;
}

static struct error *cancel_change(struct stage *stage, struct arena *arena)
{
    return email_cancel(SERVICE(stage), arena, &stage->scene->stranger, id_text(arena, stage->person.id), stage->text);
}

static int64_t count_cancelled(struct stage *stage)
{
    int64_t cancelled = stage_audited(stage, "user.emailChangeCancelled");
    assert_int_equal(scene_reload(stage->scene, stage->caller) == NULL, cancelled == 1);
    if (cancelled == 1)
        expect_address(stage, stage->person.email);
    return cancelled;
}

static void claim_cancel(struct stage *stage)
{
    stage_claim(stage, EMAIL_CANCEL_KIND);
}

static void prepare_following(struct stage *stage)
{
    prepare_cancel(stage);
    expect_ok(cancel_change(stage, stage->scene->arena));
    claim_cancel(stage);
}

static struct error *follow_cancel(struct stage *stage, struct arena *arena)
{
    return email_cancel_run(SERVICE(stage), arena, stage->item);
}

static int64_t count_followed(struct stage *stage)
{
    return stage_rows(stage, "outbox WHERE id = %llu AND status = 'done'", (unsigned long long)stage->item->number);
}

static void an_address_is_changed_wholly_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        FLOW("asking for another address", prepare_asking, ask_change, count_asked),
        FLOW("mails about another address", prepare_answer, answer_change, count_noticed, .again = claim_change,
             .job = true),
        FLOW("mails about an address that is taken", prepare_answer_about_taken, answer_change, count_noticed,
             .again = claim_change, .job = true),
        FLOW("confirming another address", prepare_confirm, confirm_change, count_confirmed),
        FLOW("cancelling a change", prepare_cancel, cancel_change, count_cancelled),
        FLOW("following a cancelled change", prepare_following, follow_cancel, count_followed, .again = claim_cancel,
             .job = true, .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- mails that are asked for --------------------------------------------------------------------- */

static struct error *ask_reset_mail(struct stage *stage, struct arena *arena)
{
    return recovery_ask(SERVICE(stage), arena, &stage->scene->stranger, RECOVERY_FORGOTTEN, stage->person.email);
}

static struct error *ask_again(struct stage *stage, struct arena *arena)
{
    return recovery_ask(SERVICE(stage), arena, &stage->scene->stranger, RECOVERY_RESEND, stage->person.email);
}

static int64_t count_questions(struct stage *stage)
{
    return stage_rows(stage, "outbox WHERE kind = '" RECOVERY_FORGOTTEN "'");
}

static void claim_reset_mail(struct stage *stage)
{
    stage_claim(stage, RECOVERY_FORGOTTEN);
}

static void claim_mail_again(struct stage *stage)
{
    stage_claim(stage, RECOVERY_RESEND);
}

static void prepare_reset_mail(struct stage *stage)
{
    stage_person(stage);
    expect_ok(ask_reset_mail(stage, stage->scene->arena));
    claim_reset_mail(stage);
}

static void prepare_confirmation_mail(struct stage *stage)
{
    expect_ok(make_member(stage->scene, stage->owner, stage_address(stage), &stage->person));
    expect_ok(ask_again(stage, stage->scene->arena));
    claim_mail_again(stage);
}

static void prepare_invitation_mail(struct stage *stage)
{
    expect_ok(make_customer(stage->scene, stage->staff, stage_address(stage), &stage->person));
    expect_ok(ask_again(stage, stage->scene->arena));
    claim_mail_again(stage);
}

/* The first login has happened, and a crash has kept our row from learning of it. */
static void prepare_late_invitation(struct stage *stage)
{
    prepare_invitation_mail(stage);
    expect_ok(scene_login(stage->scene, stage->person.email,
                          mailed(stage->scene, stage->person.id, "temporaryPassword"), CHOSEN, NULL));
    sql(stage->scene->database, stage->scene->arena, "UPDATE user SET status = 'awaiting-first-login' WHERE id = %s",
        person(stage));
}

static struct error *answer_question(struct stage *stage, struct arena *arena)
{
    return recovery_run(SERVICE(stage), arena, stage->item);
}

/* Only a login activates the user, so the question ends without that. */
static int64_t count_ended(struct stage *stage)
{
    return stage_rows(stage,
                      "user u, outbox o WHERE u.id = %s AND u.status = 'awaiting-first-login' AND o.id = %llu"
                      " AND o.status = 'done'",
                      person(stage), (unsigned long long)stage->item->number);
}

static void a_mail_is_counted_sent_and_recorded_or_nothing_of_it(void **state)
{
    static const struct flow flows[] = {
        FLOW("asking for a code", stage_person, ask_reset_mail, count_questions),
        FLOW("a code for a new password", prepare_reset_mail, answer_question, count_mails, .again = claim_reset_mail,
             .job = true),
        FLOW("a code to confirm with", prepare_confirmation_mail, answer_question, count_mails,
             .again = claim_mail_again, .job = true),
        FLOW("an invitation", prepare_invitation_mail, answer_question, count_mails, .again = claim_mail_again,
             .job = true, .apart = true),
        FLOW("an invitation that is late", prepare_late_invitation, answer_question, count_ended,
             .again = claim_mail_again, .job = true, .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- passwords ------------------------------------------------------------------------------------ */

static struct error *change_password(struct stage *stage, struct arena *arena)
{
    return password_change(SERVICE(stage), arena, stage->caller, secret_of(CHOSEN), secret_of(OTHER));
}

static int64_t count_changed(struct stage *stage)
{
    return stage_audited(stage, "user.changePassword");
}

static void prepare_reset(struct stage *stage)
{
    prepare_reset_mail(stage);
    expect_ok(answer_question(stage, stage->scene->arena));
    stage->text = mailed(stage->scene, stage->person.id, "code");
}

static struct error *reset_password(struct stage *stage, struct arena *arena)
{
    return password_reset(SERVICE(stage), arena, &stage->scene->stranger, stage->person.email, stage->text,
                          secret_of(OTHER));
}

/* With a reset, all sessions are over. */
static int64_t count_reset(struct stage *stage)
{
    int64_t reset = stage_audited(stage, "user.resetPassword");
    assert_int_equal(scene_reload(stage->scene, stage->caller) == NULL, reset == 1);
    return reset;
}

static struct error *set_password(struct stage *stage, struct arena *arena)
{
    return password_set(SERVICE(stage), arena, stage->staff, stage->person.email, secret_of(OTHER), false);
}

static int64_t count_set(struct stage *stage)
{
    int64_t set = stage_audited(stage, "user.setTemporaryPassword");
    assert_int_equal(scene_reload(stage->scene, stage->caller) == NULL, set == 1);
    return set;
}

static void a_password_is_changed_with_all_that_follows_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        FLOW("changing one's password", stage_person, change_password, count_changed),
        FLOW("a new password by code", prepare_reset, reset_password, count_reset),
        FLOW("a password by an administrator", stage_person, set_password, count_set),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- without an address --------------------------------------------------------------------------- */

/* A web server that names no client: nothing is counted against an address, and every code is compared all the same. */
static void who_has_no_address_is_answered_like_everybody(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), "owner@example.com");
    struct caller elsewhere = scene->stranger;
    struct user *user = NULL;
    elsewhere.client_address = "";
    for (unsigned i = 0; i < 20; i++)
        expect_error(email_cancel(&scene->service, scene->arena, &elsewhere, "nobody@example.com", "000000"),
                     ERROR_CODE_MISMATCH);
    expect_error(email_change_confirm(&scene->service, scene->arena, owner, "000000", &user), ERROR_CODE_MISMATCH);
    expect_error(
        password_reset(&scene->service, scene->arena, &elsewhere, "nobody@example.com", "000000", secret_of(OTHER)),
        ERROR_CODE_MISMATCH);
    expect_ok(recovery_ask(&scene->service, scene->arena, &elsewhere, RECOVERY_FORGOTTEN, "nobody@example.com"));
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM audit WHERE outcome = 'failure'"),
                     22);
}

static void a_code_whose_commit_got_no_answer_has_changed_something_or_is_good(void **state)
{
    static const struct flow flows[] = {
        FLOW("confirming another address", prepare_confirm, confirm_change, count_confirmed),
        FLOW("cancelling a change", prepare_cancel, cancel_change, count_cancelled),
        FLOW("a code for a new password", prepare_reset_mail, answer_question, count_mails, .again = claim_reset_mail,
             .job = true),
        FLOW("a new password by code", prepare_reset, reset_password, count_reset),
    };
    stage_lose_each_commit(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_address_is_changed_wholly_or_not_at_all),
    HARNESS_TEST(a_mail_is_counted_sent_and_recorded_or_nothing_of_it),
    HARNESS_TEST(a_password_is_changed_with_all_that_follows_or_not_at_all),
    HARNESS_TEST(who_has_no_address_is_answered_like_everybody),
    HARNESS_TEST(a_code_whose_commit_got_no_answer_has_changed_something_or_is_good),
};
HARNESS_MODULE(refused_codes, cases)
