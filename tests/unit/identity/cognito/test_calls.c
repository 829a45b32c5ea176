/* SPDX-License-Identifier: MIT */
/* Calls to Cognito that are slowed down, explained in a header, or made for an app client without a secret. */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"
#include "identity/support_answers.h"

#define THROTTLED(name) "{\"__type\":\"" name "\",\"message\":\"Rate exceeded\"}"

/* A call that was not carried out is made again, and then it is: once. */
static void a_call_that_is_throttled_is_made_again(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    scene_fault(scene, "InitiateAuth", "throttle");
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    scene_expect_calls(scene, "InitiateAuth", 2);
    scene_fault(scene, "AdminSetUserPassword", "throttle");
    size_t before = scene_count(scene, "AdminSetUserPassword");
    expect_ok(provider_set_password(scene->provider, scene->arena, member.subject, secret_of(OTHER), false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_expect_calls(scene, "AdminSetUserPassword", before + 2);
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
    scene_end(scene);
}

/*
 * Asks with too little time for another call. On a busy machine that may be too little for the first one as well; the
 * server, too, may take a while to note it.
 */
static void expect_one_call(struct scene *scene, struct asking *asking, ask_function *ask, const char *call,
                            const char *answer)
{
    size_t before = scene_count(scene, call);
    for (int i = 0; i < 10 && scene_count(scene, call) == before; i++) {
        expect_answer(scene, asking, ask, 0, call, answer);
        for (int j = 0; j < 500 && scene_count(scene, call) == before; j++)
            (void)usleep(10000);
    }
    scene_expect_calls(scene, call, before + 1);
}

/* It is made three times at most, and not again where no time is left. A change of a password was not made then. */
static void a_pool_that_goes_on_to_throttle_is_away(void **state)
{
    static const char *const answers[] = {THROTTLED("ThrottlingException"), THROTTLED("TooManyRequestsException")};
    struct scene *scene = cognito_scene_new(state);
    struct asking asking = given_asking(scene);
    struct remote_options *options = &remote_of(scene->provider)->options;
    for (size_t i = 0; i < 2; i++) {
        const struct remote_options before = *options;
        size_t logins = scene_count(scene, "InitiateAuth");
        scene_answer(scene, "InitiateAuth", 400, answers[i]);
        expect_answer(scene, &asking, ask_log_in, 0, "login", answers[i]);
        scene_expect_calls(scene, "InitiateAuth", logins + 3);
        options->login_milliseconds = 700;
        expect_one_call(scene, &asking, ask_log_in, "InitiateAuth", answers[i]);
        size_t changes = scene_count(scene, "AdminSetUserPassword");
        scene_answer(scene, "AdminSetUserPassword", 429, answers[i]);
        expect_answer(scene, &asking, ask_set, 0, "password", answers[i]);
        scene_expect_calls(scene, "AdminSetUserPassword", changes + 3);
        options->admin_milliseconds = 700;
        expect_one_call(scene, &asking, ask_set, "AdminSetUserPassword", answers[i]);
        *options = before;
    }
    expect_unchanged(scene, &asking);
}

/* Amazon may name the exception in a header, behind a name space, and with a message in capitals. */
static void an_exception_is_known_however_it_is_named(void **state)
{
    static const struct {
        const char *answer;
        int outcome;
    } rows[] = {
        {"\"headers\":{\"x-amzn-ErrorType\":\"UserNotFoundException:http://internal\"},\"body\":\"<html>\"",
         AS(ABSENT)},
        {"\"headers\":{\"x-amzn-ErrorType\":\"UserNotFoundException\"},\"body\":\"\"", AS(ABSENT)},
        {"\"headers\":{\"x-amzn-ErrorType\":\"UserNotFoundException\"},\"body\":[]", AS(ABSENT)},
        {"\"body\":{\"__type\":\"com.amazonaws.cognito#UserNotFoundException\",\"Message\":\"gone\"}", AS(ABSENT)},
        {"\"body\":{\"__type\":\"UserNotFoundException\",\"message\":7}", AS(ABSENT)},
        {"\"body\":{\"__type\":\"UserNotFoundExceptionally\"}", 0},
        {"\"body\":{\"__type\":\"a#UserNotFoundException#b\"}", 0},
        {"\"body\":{\"__type\":\"\"}", 0},
        {"\"body\":{\"__type\":7}", 0},
        {"\"headers\":{\"x-amzn-ErrorType\":\"AccessDeniedException\"},\"body\":{}", 0},
    };
    struct scene *scene = cognito_scene_new(state);
    struct asking asking = given_asking(scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)scene_put(scene, "answer",
                        arena_format(scene->arena, "{\"call\":\"AdminEnableUser\",\"status\":400,%s}", rows[i].answer));
        expect_answer(scene, &asking, ask_enable, rows[i].outcome, "enable", rows[i].answer);
    }
    expect_unchanged(scene, &asking);
}

/* Some pools call the account's own address one that an account has. It is left out then; another account's is not. */
static void an_address_of_the_account_itself_is_no_conflict(void **state)
{
    static const char conflict[] = "{\"__type\":\"AliasExistsException\",\"message\":\"exists\"}";
    struct scene *scene = cognito_scene_new(state);
    struct asking asking = given_asking(scene);
    struct provider_attributes attributes = {.email = asking.owner.email, .set_verified = true, .email_verified = true};
    enum provider_outcome outcome;
    size_t before = scene_count(scene, "AdminUpdateUserAttributes");
    (void)scene_put(scene, "answer",
                    arena_format(scene->arena,
                                 "{\"call\":\"AdminUpdateUserAttributes\",\"status\":400,\"times\":1,\"body\":%s}",
                                 conflict));
    (void)scene_put(scene, "alone", "");
    expect_ok(ask_describe(scene, &asking, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_expect_calls(scene, "AdminUpdateUserAttributes", before + 2);
    scene_answer(scene, "AdminUpdateUserAttributes", 400, conflict);
    struct error *error =
        provider_set_attributes(scene->provider, scene->arena, asking.member.subject, &attributes, &outcome);
    expect_error(error, ERROR_IDENTITY_UNAVAILABLE);
    assert_non_null(strstr(error->detail, "another account has the address"));
    scene_expect_calls(scene, "AdminUpdateUserAttributes", before + 3);
    /* Whose address it is cannot be found out. */
    scene_answer_end(scene);
    (void)scene_put(scene, "answer",
                    arena_format(scene->arena,
                                 "{\"call\":\"AdminUpdateUserAttributes\",\"status\":400,\"times\":1,\"body\":%s}",
                                 conflict));
    scene_fault(scene, "AdminGetUser", "status-500");
    expect_error(ask_describe(scene, &asking, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    expect_unchanged(scene, &asking);
}

/* The code of the last mail. */
static const char *last_code(struct scene *scene)
{
    const char *mails = harness_read(scene->arena, arena_format(scene->arena, "%s/mails", scene->directory), NULL);
    const char *code = NULL;
    for (const char *at = mails; (at = strstr(at, "\"code\": \"")) != NULL; at++)
        code = at + strlen("\"code\": \"");
    assert_non_null(code);
    return arena_copy(scene->arena, code, 6);
}

/* A pool whose app client has no secret refuses a call that carries the hash of one. */
static void an_app_client_without_a_secret_is_sent_none(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct cognito_options options = cognito_scene_options(scene);
    const struct remote_options remote = remote_of(scene->provider)->options;
    struct provider_tokens tokens, next;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    (void)scene_put(scene, "nosecret", "");
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {.subject = member.subject, .user_id = member.id, .password = secret_of(PERMANENT)};
    expect_error(provider_login(scene->provider, scene->arena, &attempt, &tokens, &challenge, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    provider_free(&scene->provider);
    options.client_secret_file = NULL;
    expect_ok(cognito_new(scene->arena, &remote, &options, &scene->provider));
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_refresh(scene->provider, scene->arena, tokens.refresh_token, &next, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_logout(scene->provider, scene->arena, member.subject, tokens.session_id));
    scene_expect_calls(scene, "RevokeToken", 1);
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    struct person awaiting = scene_given(scene, PROVIDER_AWAITING_CODE);
    expect_ok(provider_confirm_by_code(scene->provider, scene->arena, awaiting.subject, last_code(scene), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_send_code(scene->provider, scene->arena, awaiting.subject, PROVIDER_CODE_RESET, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_call_that_is_throttled_is_made_again),
    HARNESS_TEST(a_pool_that_goes_on_to_throttle_is_away),
    HARNESS_TEST(an_exception_is_known_however_it_is_named),
    HARNESS_TEST(an_address_of_the_account_itself_is_no_conflict),
    HARNESS_TEST(an_app_client_without_a_secret_is_sent_none),
};
HARNESS_MODULE(cognito_calls, cases)
