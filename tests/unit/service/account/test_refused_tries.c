/* SPDX-License-Identifier: MIT */
/*
 * Wrong passwords, codes and tokens while the server refuses a statement: none is taken, and none is told to be wrong
 * without a row of the trail, so that nobody tries more often than is counted.
 */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/throttle.h"
#include "service/account/email_cancel.h"
#include "service/account/email_change.h"
#include "service/account/member.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/support_refused.h"

#define SERVICE(stage) (&(stage)->scene->service)
#define STRANGER(stage) (&(stage)->scene->stranger)
/* No code has letters. */
#define WRONG "abcdef"

/* The answer that is wanted counts as a success of the flow. */
static struct error *wanted(struct error *error, enum error_code code)
{
    if (error == NULL)
        fail_msg("what is wrong was taken");
    return error->code == code ? NULL : error;
}

static int64_t count_failures(struct stage *stage)
{
    return stage_rows(stage, "audit WHERE outcome = 'failure'");
}

static struct error *change_with_wrong_password(struct stage *stage, struct arena *arena)
{
    return wanted(password_change(SERVICE(stage), arena, stage->caller, secret_of(OTHER), secret_of("Not " OTHER)),
                  ERROR_REQUEST_INVALID);
}

static struct error *ask_with_wrong_password(struct stage *stage, struct arena *arena)
{
    return wanted(email_change_ask(SERVICE(stage), arena, stage->caller, "new@example.com", secret_of(OTHER)),
                  ERROR_REQUEST_INVALID);
}

static struct error *sign_in_with(struct stage *stage, struct arena *arena, const char *username)
{
    struct provider_tokens tokens;
    struct user *user = NULL;
    const char *mark = NULL;
    struct sign_in_request login = {.username = username, .password = secret_of(OTHER), .device_mark = ""};
    return wanted(sign_in_with_password(SERVICE(stage), arena, STRANGER(stage), &login, &tokens, &user, &mark),
                  ERROR_CREDENTIALS);
}

static struct error *sign_in_wrong(struct stage *stage, struct arena *arena)
{
    return sign_in_with(stage, arena, stage->person.email);
}

static struct error *sign_in_as_nobody(struct stage *stage, struct arena *arena)
{
    return sign_in_with(stage, arena, "nobody@example.com");
}

static struct error *refresh_with_none(struct stage *stage, struct arena *arena)
{
    struct provider_tokens tokens;
    return wanted(sign_in_refresh(SERVICE(stage), arena, STRANGER(stage), "no token", false, &tokens),
                  ERROR_TOKEN_INVALID);
}

static void a_wrong_password_is_in_the_trail_or_not_answered(void **state)
{
    static const struct flow flows[] = {
        FLOW("a change with a wrong password", stage_person, change_with_wrong_password, count_failures, .apart = true),
        FLOW("another address with a wrong password", stage_person, ask_with_wrong_password, count_failures,
             .apart = true),
        FLOW("a wrong password", stage_person, sign_in_wrong, count_failures, .apart = true),
        FLOW("a password of nobody", stage_person, sign_in_as_nobody, count_failures, .apart = true),
        FLOW("a refresh token that is none", stage_person, refresh_with_none, count_failures, .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- codes ---------------------------------------------------------------------------------------- */

/* A code for a new password is on its way. */
static void prepare_reset(struct stage *stage)
{
    stage_person(stage);
    expect_ok(
        recovery_ask(SERVICE(stage), stage->scene->arena, STRANGER(stage), RECOVERY_FORGOTTEN, stage->person.email));
    stage_claim(stage, RECOVERY_FORGOTTEN);
    expect_ok(recovery_run(SERVICE(stage), stage->scene->arena, stage->item));
    stage->text = mailed(stage->scene, stage->person.id, "code");
}

static struct error *reset_with_wrong_code(struct stage *stage, struct arena *arena)
{
    return wanted(password_reset(SERVICE(stage), arena, STRANGER(stage), stage->person.email, WRONG, secret_of(OTHER)),
                  ERROR_CODE_MISMATCH);
}

static struct error *reset_for_nobody(struct stage *stage, struct arena *arena)
{
    return wanted(password_reset(SERVICE(stage), arena, STRANGER(stage), "nobody@example.com", WRONG, secret_of(OTHER)),
                  ERROR_CODE_MISMATCH);
}

/* The rules are told after the code, which is good for another try then. */
static struct error *reset_to_a_common_password(struct stage *stage, struct arena *arena)
{
    TRY(wanted(
        password_reset(SERVICE(stage), arena, STRANGER(stage), stage->person.email, stage->text, secret_of("short")),
        ERROR_PASSWORD_POLICY));
    stage->before--;
    return NULL;
}

static int64_t count_good_codes(struct stage *stage)
{
    assert_int_equal(stage_rows(stage, "code WHERE user_id = %s AND purpose = 'reset' AND tries < 5",
                                sql_id(stage->scene->arena, stage->person.id)),
                     1);
    return 0;
}

static void prepare_change(struct stage *stage)
{
    stage_person(stage);
    expect_ok(
        email_change_ask(SERVICE(stage), stage->scene->arena, stage->caller, stage_address(stage), secret_of(CHOSEN)));
    stage_claim(stage, EMAIL_CHANGE_KIND);
    expect_ok(email_change_run(SERVICE(stage), stage->scene->arena, stage->item));
}

static struct error *confirm_with_wrong_code(struct stage *stage, struct arena *arena)
{
    struct user *user = NULL;
    return wanted(email_change_confirm(SERVICE(stage), arena, stage->caller, WRONG, &user), ERROR_CODE_MISMATCH);
}

static struct error *cancel_with_wrong_code(struct stage *stage, struct arena *arena)
{
    return wanted(email_cancel(SERVICE(stage), arena, STRANGER(stage), id_text(arena, stage->person.id), WRONG),
                  ERROR_CODE_MISMATCH);
}

static void prepare_waiting(struct stage *stage)
{
    expect_ok(make_member(stage->scene, stage->owner, stage_address(stage), &stage->person));
}

static struct error *confirm_account_with_wrong_code(struct stage *stage, struct arena *arena)
{
    return wanted(member_confirm(SERVICE(stage), arena, STRANGER(stage), stage->person.email, WRONG),
                  ERROR_CODE_MISMATCH);
}

static void a_wrong_code_is_in_the_trail_or_not_answered(void **state)
{
    static const struct flow flows[] = {
        FLOW("a wrong code for a password", prepare_reset, reset_with_wrong_code, count_failures, .apart = true),
        FLOW("a code of nobody", prepare_reset, reset_for_nobody, count_failures, .apart = true),
        FLOW("a password that the rules refuse", prepare_reset, reset_to_a_common_password, count_good_codes,
             .apart = true),
        FLOW("a wrong code for an address", prepare_change, confirm_with_wrong_code, count_failures, .apart = true),
        FLOW("a wrong code of a notice", prepare_change, cancel_with_wrong_code, count_failures, .apart = true),
        FLOW("a wrong code for an account", prepare_waiting, confirm_account_with_wrong_code, count_failures,
             .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_wrong_password_is_in_the_trail_or_not_answered),
    HARNESS_TEST(a_wrong_code_is_in_the_trail_or_not_answered),
};
HARNESS_MODULE(refused_tries, cases)
