/* SPDX-License-Identifier: MIT */
/*
 * Each operation with each exception that Cognito documents for any of its calls, and with answers that Cognito never
 * gives: a refusal is an outcome, everything else an error, and nothing is taken for a success.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"
#include "identity/support_answers.h"

enum exception {
    NOT_AUTHORIZED,
    NOT_FOUND,
    NOT_CONFIRMED,
    USERNAME_EXISTS,
    ALIAS_EXISTS,
    INVALID_PASSWORD,
    HISTORY,
    INVALID_PARAMETER,
    CODE_MISMATCH,
    EXPIRED_CODE,
    RESET_REQUIRED,
    RESOURCE,
    LIMIT,
    FAILED_ATTEMPTS,
    KNOWN,
    INTERNAL = KNOWN,
    LAMBDA,
    LAMBDA_ANSWER,
    FORBIDDEN,
    ACCESS_DENIED,
    DELIVERY,
    POOL_CONFIGURATION,
    UNSUPPORTED,
    EXCEPTIONS
};

static const char *const names[EXCEPTIONS] = {
    [NOT_AUTHORIZED] = "NotAuthorizedException",
    [NOT_FOUND] = "UserNotFoundException",
    [NOT_CONFIRMED] = "UserNotConfirmedException",
    [USERNAME_EXISTS] = "UsernameExistsException",
    [ALIAS_EXISTS] = "AliasExistsException",
    [INVALID_PASSWORD] = "InvalidPasswordException",
    [HISTORY] = "PasswordHistoryPolicyViolationException",
    [INVALID_PARAMETER] = "InvalidParameterException",
    [CODE_MISMATCH] = "CodeMismatchException",
    [EXPIRED_CODE] = "ExpiredCodeException",
    [RESET_REQUIRED] = "PasswordResetRequiredException",
    [RESOURCE] = "ResourceNotFoundException",
    [LIMIT] = "LimitExceededException",
    [FAILED_ATTEMPTS] = "TooManyFailedAttemptsException",
    [INTERNAL] = "InternalErrorException",
    [LAMBDA] = "UserLambdaValidationException",
    [LAMBDA_ANSWER] = "InvalidLambdaResponseException",
    [FORBIDDEN] = "ForbiddenException",
    [ACCESS_DENIED] = "AccessDeniedException",
    [DELIVERY] = "CodeDeliveryFailureException",
    [POOL_CONFIGURATION] = "InvalidUserPoolConfigurationException",
    [UNSUPPORTED] = "UnsupportedOperationException",
};

/* ---- operations of its own codes ------------------------------------------------------------------ */

#define OPERATION(name)                                                                                                \
    static struct error *name(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)

OPERATION(send_confirmation)
{
    return provider_send_code(scene->provider, scene->arena, asking->member.subject, PROVIDER_CODE_CONFIRM, outcome);
}

OPERATION(send_reset)
{
    return provider_send_code(scene->provider, scene->arena, asking->member.subject, PROVIDER_CODE_RESET, outcome);
}

OPERATION(confirm_by_code)
{
    return provider_confirm_by_code(scene->provider, scene->arena, asking->member.subject, "123456", outcome);
}

OPERATION(reset_by_code)
{
    return provider_reset_by_code(scene->provider, scene->arena, asking->member.subject, "123456", secret_of(OTHER),
                                  outcome);
}

/* ---- what each exception means -------------------------------------------------------------------- */

#define FAILS (-1)
#define CODE                                                                                                           \
    {[NOT_AUTHORIZED] = AS(CODE_WRONG),                                                                                \
     [NOT_FOUND] = AS(CODE_WRONG),                                                                                     \
     [NOT_CONFIRMED] = AS(CODE_WRONG),                                                                                 \
     [INVALID_PARAMETER] = AS(CODE_WRONG),                                                                             \
     [CODE_MISMATCH] = AS(CODE_WRONG),                                                                                 \
     [EXPIRED_CODE] = AS(CODE_WRONG),                                                                                  \
     [LIMIT] = AS(CODE_WRONG),                                                                                         \
     [FAILED_ATTEMPTS] = AS(CODE_WRONG),                                                                               \
     [INVALID_PASSWORD] = AS(PASSWORD_REFUSED),                                                                        \
     [HISTORY] = AS(PASSWORD_REFUSED)}
#define SENDING                                                                                                        \
    {[LIMIT] = AS(OK),                                                                                                 \
     [FAILED_ATTEMPTS] = AS(OK),                                                                                       \
     [NOT_FOUND] = AS(ABSENT),                                                                                         \
     [INVALID_PARAMETER] = AS(STATE),                                                                                  \
     [NOT_AUTHORIZED] = AS(STATE)}
#define CREATION                                                                                                       \
    {[USERNAME_EXISTS] = AS(EXISTS),                                                                                   \
     [ALIAS_EXISTS] = AS(EXISTS),                                                                                      \
     [INVALID_PASSWORD] = AS(PASSWORD_REFUSED),                                                                        \
     [HISTORY] = AS(PASSWORD_REFUSED)}

static const struct operation {
    const char *name;
    const char *call;
    ask_function *ask;
    int otherwise; /* what the known exceptions mean for which `outcomes` says nothing */
    int outcomes[EXCEPTIONS];
} operations[] = {
    {"login", "InitiateAuth", ask_log_in, AS(BAD_CREDENTIALS), {[RESOURCE] = FAILS}},
    {"answer",
     "RespondToAuthChallenge",
     ask_answer,
     AS(CHALLENGE_SPENT),
     {[INVALID_PASSWORD] = AS(PASSWORD_REFUSED),
      [HISTORY] = AS(PASSWORD_REFUSED),
      [INVALID_PARAMETER] = FAILS,
      [RESOURCE] = FAILS,
      [LIMIT] = FAILS,
      [FAILED_ATTEMPTS] = FAILS}},
    {"refresh",
     "InitiateAuth",
     ask_refresh,
     AS(TOKEN_INVALID),
     {[RESOURCE] = FAILS, [LIMIT] = FAILS, [FAILED_ATTEMPTS] = FAILS}},
    {"change",
     "ChangePassword",
     ask_change,
     AS(BAD_CREDENTIALS),
     {[INVALID_PASSWORD] = AS(PASSWORD_REFUSED),
      [HISTORY] = AS(PASSWORD_REFUSED),
      [INVALID_PARAMETER] = AS(PASSWORD_REFUSED),
      [RESOURCE] = FAILS,
      [LIMIT] = FAILS,
      [FAILED_ATTEMPTS] = FAILS}},
    {"set",
     "AdminSetUserPassword",
     ask_set,
     FAILS,
     {[NOT_FOUND] = AS(ABSENT),
      [INVALID_PASSWORD] = AS(PASSWORD_REFUSED),
      [HISTORY] = AS(PASSWORD_REFUSED),
      [INVALID_PARAMETER] = AS(PASSWORD_REFUSED)}},
    {"confirm",
     "AdminConfirmSignUp",
     ask_confirm,
     FAILS,
     {[NOT_FOUND] = AS(ABSENT), [NOT_AUTHORIZED] = AS(STATE), [INVALID_PARAMETER] = AS(STATE)}},
    {"attributes", "AdminUpdateUserAttributes", ask_describe, FAILS, {[NOT_FOUND] = AS(ABSENT)}},
    {"enable", "AdminEnableUser", ask_enable, FAILS, {[NOT_FOUND] = AS(ABSENT)}},
    {"delete", "AdminDeleteUser", ask_delete, FAILS, {[NOT_FOUND] = AS(OK)}},
    {"find", "AdminGetUser", ask_find, FAILS, {[NOT_FOUND] = AS(OK)}},
    {"invite", "AdminCreateUser", ask_invite, FAILS, CREATION},
    {"sign up", "SignUp", ask_sign_up, FAILS, CREATION},
    {"mark", "AdminUpdateUserAttributes", ask_sign_up, FAILS, {0}},
    {"send a code to confirm", "ResendConfirmationCode", send_confirmation, FAILS, SENDING},
    {"send a code to reset", "ForgotPassword", send_reset, FAILS, SENDING},
    {"confirm by a code", "ConfirmSignUp", confirm_by_code, FAILS, CODE},
    {"reset by a code", "ConfirmForgotPassword", reset_by_code, FAILS, CODE},
    {"revoke", "RevokeToken", ask_revoke, FAILS, {[NOT_AUTHORIZED] = AS(OK)}},
    {"sign out", "AdminUserGlobalSignOut", ask_sign_out, FAILS, {[NOT_FOUND] = AS(OK)}},
};

static int meaning_of(const struct operation *operation, int exception)
{
    int outcome = operation->outcomes[exception];
    if (outcome == 0)
        outcome = exception < KNOWN ? operation->otherwise : FAILS;
    return outcome == FAILS ? 0 : outcome;
}

#define OPERATIONS (sizeof operations / sizeof *operations)

static void each_exception_means_one_thing(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct asking asking = given_asking(scene);
    for (size_t i = 0; i < OPERATIONS; i++)
        for (int e = 0; e < EXCEPTIONS; e++) {
            scene_answer(scene, operations[i].call, 400,
                         arena_format(scene->arena, "{\"__type\":\"%s\",\"message\":\"said by the test\"}", names[e]));
            expect_answer(scene, &asking, operations[i].ask, meaning_of(&operations[i], e), operations[i].name,
                          names[e]);
        }
    /* An account that could not be marked as ours was deleted each time. */
    assert_true(scene_count(scene, "AdminDeleteUser") >= EXCEPTIONS);
    expect_unchanged(scene, &asking);
}

/* What a proxy, a load balancer or a broken server says. None of it is Cognito's. */
static const struct odd {
    int status;
    const char *body;
} odd[] = {
    {200, "\"<html>Welcome</html>\""},
    {200, "[]"},
    {200, "[{}]"},
    {200, "\"\""},
    {200, "\"null\""},
    {200, "\"{\""},
    {200, "{\"__type\":\"UnknownException\"}"},
    {204, "\"\""},
    {301, "\"\""},
    {400, "{}"},
    {400, "{\"message\":\"no name\"}"},
    {401, "[]"},
    {403, "\"<html>WAF</html>\""},
    {404, "\"\""},
    {429, "\"slow down\""},
    {500, "{\"__type\":\"NotAuthorizedException\"}"},
    {503, "{\"__type\":\"UserNotFoundException\"}"},
};

static void what_cognito_never_says_is_an_error(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct asking asking = given_asking(scene);
    for (size_t i = 0; i < OPERATIONS; i++)
        for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
            /* A password whose answer is no answer is asked about later; test_account_failure.c has that. */
            if (operations[i].ask == ask_set || operations[i].ask == ask_change || operations[i].ask == reset_by_code)
                continue;
            scene_answer(scene, operations[i].call, odd[o].status, odd[o].body);
            expect_answer(scene, &asking, operations[i].ask, 0, operations[i].name,
                          arena_format(scene->arena, "%d %s", odd[o].status, odd[o].body));
        }
    expect_unchanged(scene, &asking);
}

/* A success that lacks what it must hold is none. */
static void a_success_without_its_contents_is_an_error(void **state)
{
    static const struct {
        ask_function *ask;
        const char *call, *body;
        int outcome;
    } rows[] = {
        {ask_log_in, "InitiateAuth", "{}", 0},
        {ask_log_in, "InitiateAuth", "{\"AuthenticationResult\":{}}", 0},
        {ask_log_in, "InitiateAuth",
         "{\"AuthenticationResult\":{\"AccessToken\":7,\"IdToken\":[],\"RefreshToken\":{}}}", 0},
        {ask_log_in, "InitiateAuth", "{\"AuthenticationResult\":{\"AccessToken\":\"a\",\"RefreshToken\":\"r\"}}", 0},
        {ask_log_in, "InitiateAuth", "{\"AuthenticationResult\":{\"AccessToken\":\"a\",\"IdToken\":\"i\"}}", 0},
        {ask_log_in, "InitiateAuth",
         "{\"AuthenticationResult\":{\"AccessToken\":\"a.b.c\",\"IdToken\":\"i\",\"RefreshToken\":\"r\"}}", 0},
        {ask_log_in, "InitiateAuth", "{\"ChallengeName\":\"SMS_MFA\",\"Session\":\"s\"}", AS(DISABLED)},
        {ask_log_in, "InitiateAuth", "{\"ChallengeName\":\"A_LATER_ONE\"}", AS(DISABLED)},
        {ask_log_in, "InitiateAuth", "{\"ChallengeName\":7}", 0},
        {ask_refresh, "InitiateAuth", "{}", 0},
        {ask_refresh, "InitiateAuth", "{\"AuthenticationResult\":{\"AccessToken\":\"a.b.c\",\"IdToken\":\"i\"}}", 0},
        {ask_refresh, "InitiateAuth", "{\"AuthenticationResult\":{\"AccessToken\":\"a.b.c\"}}", 0},
        {ask_answer, "RespondToAuthChallenge", "{}", 0},
        {ask_answer, "RespondToAuthChallenge", "{\"ChallengeName\":\"SOFTWARE_TOKEN_MFA\"}", 0},
        {ask_invite, "AdminCreateUser", "{}", 0},
        {ask_invite, "AdminCreateUser", "{\"User\":{\"Username\":7}}", 0},
        {ask_sign_up, "SignUp", "{}", 0},
        {ask_sign_up, "SignUp", "{\"UserSub\":null}", 0},
        {ask_find, "AdminGetUser", "{}", 0},
        {ask_find, "AdminGetUser", "{\"UserAttributes\":{},\"Username\":[]}", 0},
        {ask_find, "AdminGetUser", "{\"UserAttributes\":[7,{\"Name\":7},{\"Name\":\"sub\"}],\"Username\":\"u\"}",
         AS(OK)},
    };
    struct scene *scene = cognito_codes_scene_new(state);
    struct asking asking = given_asking(scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene_answer(scene, rows[i].call, 200, rows[i].body);
        expect_answer(scene, &asking, rows[i].ask, rows[i].outcome, rows[i].call, rows[i].body);
    }
    expect_unchanged(scene, &asking);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_exception_means_one_thing),
    HARNESS_TEST(what_cognito_never_says_is_an_error),
    HARNESS_TEST(a_success_without_its_contents_is_an_error),
};
HARNESS_MODULE(cognito_answers, cases)
