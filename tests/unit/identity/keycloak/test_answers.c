/* SPDX-License-Identifier: MIT */
/*
 * Each call of the driver for Keycloak with each answer that Keycloak, or whatever stands before it, may give: a
 * refusal is an outcome, everything else an error, and nothing is taken for a success.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"
#include "identity/keycloak/keycloak_int.h"
#include "identity/support_answers.h"

enum answer {
    WRONG,
    DISABLED,
    PENDING,
    NO_SESSION,
    BAD_REQUEST,
    BAD_CLIENT,
    BAD_SECRET,
    UNAUTHORIZED,
    FORBIDDEN,
    NO_USER,
    NO_SUBJECT,
    NO_REALM,
    METHOD,
    CONFLICT,
    MEDIA,
    SLOW_DOWN,
    SHORT,
    HISTORY,
    POLICY,
    NOTHING,
    EMPTY,
    LIST,
    OBJECT,
    TEXT,
    CREATED,
    PAGE,
    NO_PAGE,
    MOVED,
    FAILED,
    AWAY,
    ANSWERS
};

static const struct {
    int status;
    const char *body;
} answers[ANSWERS] = {
    [WRONG] = {401, "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid user credentials\"}"},
    [DISABLED] = {400, "{\"error\":\"invalid_grant\",\"error_description\":\"Account disabled\"}"},
    [PENDING] = {400, "{\"error\":\"invalid_grant\",\"error_description\":\"Account is not fully set up\"}"},
    [NO_SESSION] = {400, "{\"error\":\"invalid_grant\",\"error_description\":\"Session not active\"}"},
    [BAD_REQUEST] = {400, "{\"error\":\"invalid_request\",\"error_description\":\"Missing parameter\"}"},
    [BAD_CLIENT] = {401, "{\"error\":\"invalid_client\",\"error_description\":\"Invalid client credentials\"}"},
    [BAD_SECRET] = {401, "{\"error\":\"unauthorized_client\"}"},
    [UNAUTHORIZED] = {401, "{\"error\":\"HTTP 401 Unauthorized\"}"},
    [FORBIDDEN] = {403, "{\"error\":\"HTTP 403 Forbidden\"}"},
    [NO_USER] = {404, "{\"error\":\"User not found\"}"},
    [NO_SUBJECT] = {404, "{\"error\":\"User not found by id\"}"},
    [NO_REALM] = {404, "{\"error\":\"Realm not found.\"}"},
    [METHOD] = {405, "{\"error\":\"HTTP 405 Method Not Allowed\"}"},
    [CONFLICT] = {409, "{\"errorMessage\":\"User exists with same email\"}"},
    [MEDIA] = {415, "{\"error\":\"HTTP 415 Unsupported Media Type\"}"},
    [SLOW_DOWN] = {429, "{\"error\":\"too_many_requests\"}"},
    [SHORT] = {400, "{\"error\":\"invalidPasswordMinLengthMessage\"}"},
    [HISTORY] = {400, "{\"error_description\":\"invalidPasswordHistoryMessage\"}"},
    [POLICY] = {400, "{\"errorMessage\":\"Password policy not met\"}"},
    [NOTHING] = {204, ""},
    [EMPTY] = {200, ""},
    [LIST] = {200, "[]"},
    [OBJECT] = {200, "{}"},
    [TEXT] = {200, "\"\\\"a text\\\"\""},
    [CREATED] = {201, ""},
    [PAGE] = {200, "\"<html>Welcome</html>\""},
    [NO_PAGE] = {404, "\"<html>Not here</html>\""},
    [MOVED] = {302, ""},
    [FAILED] = {500, "{\"error\":\"unknown_error\"}"},
    [AWAY] = {503, "\"<html>Be right back</html>\""},
};

/* ---- operations ----------------------------------------------------------------------------------- */

#define OPERATION(name)                                                                                                \
    static struct error *name(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)

OPERATION(end_others)
{
    struct remote *remote = remote_of(scene->provider);
    remote_start(remote, remote->options.admin_milliseconds);
    *outcome = PROVIDER_OK;
    return keycloak_session_end_others(remote, scene->arena, asking->member.subject, asking->tokens.session_id);
}

/* Ends the session of another application. */
OPERATION(end_other)
{
    struct remote *remote = remote_of(scene->provider);
    remote_start(remote, remote->options.admin_milliseconds);
    *outcome = PROVIDER_OK;
    return keycloak_session_end_others(remote, scene->arena, asking->member.subject, id_new());
}

/* With no token of the service account in memory. */
OPERATION(find_freshly)
{
    keycloak_service_token_forget(keycloak_of(remote_of(scene->provider)));
    return ask_find(scene, asking, outcome);
}

OPERATION(put)
{
    struct remote *remote = remote_of(scene->provider);
    struct keycloak_user user = {.id = asking->member.subject, .username = asking->member.email, .enabled = true};
    remote_start(remote, remote->options.admin_milliseconds);
    return keycloak_user_put(keycloak_of(remote), scene->arena, &user, NULL, 0, outcome);
}

/* ---- what each answer means ----------------------------------------------------------------------- */

#define SKIPPED (-1) /* it would change the account, or leave open whether it has */
#define REFUSED [SHORT] = AS(PASSWORD_REFUSED), [HISTORY] = AS(PASSWORD_REFUSED), [POLICY] = AS(PASSWORD_REFUSED)
#define GONE(outcome) [NO_USER] = AS(outcome), [NO_SUBJECT] = AS(outcome)
/* Whether a password was set cannot be told after these; test_account_failure.c has that. */
#define UNKNOWN [NOTHING... AWAY] = SKIPPED

static const struct operation {
    const char *name;
    const char *call;
    ask_function *ask;
    int outcomes[ANSWERS];
} operations[] = {
    {"login",
     "grant password",
     ask_log_in,
     {[WRONG] = AS(BAD_CREDENTIALS), [DISABLED] = AS(BAD_CREDENTIALS), [NO_SESSION] = AS(BAD_CREDENTIALS)}},
    {"answer: password",
     "grant password",
     ask_answer,
     {[WRONG] = AS(CHALLENGE_SPENT),
      [DISABLED] = AS(CHALLENGE_SPENT),
      [NO_SESSION] = AS(CHALLENGE_SPENT),
      [OBJECT] = AS(CHALLENGE_SPENT),
      [LIST] = AS(CHALLENGE_SPENT),
      [TEXT] = AS(CHALLENGE_SPENT),
      [EMPTY] = AS(CHALLENGE_SPENT),
      [PENDING] = SKIPPED}},
    {"answer: account", "GET user", ask_answer, {GONE(CHALLENGE_SPENT)}},
    {"answer: new password", "PUT user/reset-password", ask_answer, {GONE(ABSENT), REFUSED}},
    {"refresh",
     "grant refresh_token",
     ask_refresh,
     {[WRONG] = AS(TOKEN_INVALID),
      [DISABLED] = AS(TOKEN_INVALID),
      [PENDING] = AS(TOKEN_INVALID),
      [NO_SESSION] = AS(TOKEN_INVALID)}},
    {"change: account", "GET user", ask_change, {GONE(ABSENT)}},
    {"change: password",
     "grant password",
     ask_change,
     {[WRONG] = AS(BAD_CREDENTIALS),
      [DISABLED] = AS(BAD_CREDENTIALS),
      [NO_SESSION] = AS(BAD_CREDENTIALS),
      [PENDING] = SKIPPED,
      UNKNOWN}},
    {"change: new password", "PUT user/reset-password", ask_change, {GONE(ABSENT), REFUSED, UNKNOWN}},
    {"set", "PUT user/reset-password", ask_set, {GONE(ABSENT), REFUSED, UNKNOWN}},
    {"confirm", "GET user", ask_confirm, {GONE(ABSENT)}},
    {"put", "PUT user", put, {GONE(ABSENT), [NOTHING] = AS(OK)}},
    {"attributes: account", "GET user", ask_describe, {GONE(ABSENT)}},
    {"attributes", "PUT user", ask_describe, {GONE(ABSENT), [NOTHING] = AS(OK)}},
    {"enable: account", "GET user", ask_enable, {GONE(ABSENT)}},
    {"enable", "PUT user", ask_enable, {GONE(ABSENT), [NOTHING] = AS(OK)}},
    {"delete", "DELETE user", ask_delete, {GONE(OK), [NOTHING] = AS(OK)}},
    {"find", "GET users", ask_find, {[LIST] = AS(OK)}},
    {"token of the service account", "grant client_credentials", find_freshly, {0}},
    {"create", "POST users", ask_invite, {[CONFLICT] = AS(EXISTS), REFUSED}},
    {"create: reading back", "GET user", ask_invite, {0}},
    {"revoke",
     "logout",
     ask_revoke,
     {[NOTHING] = AS(OK), [WRONG] = AS(OK), [DISABLED] = AS(OK), [PENDING] = AS(OK), [NO_SESSION] = AS(OK)}},
    {"sign out", "POST user/logout", ask_sign_out, {GONE(OK), [NOTHING] = AS(OK)}},
    {"end others", "GET user/sessions", end_others, {GONE(OK), [LIST] = AS(OK)}},
    {"end another", "DELETE session", end_other, {GONE(OK), [NO_REALM] = AS(OK), [NOTHING] = AS(OK)}},
};

static void each_answer_means_one_thing(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct asking asking = given_asking(scene);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        for (int a = 0; a < ANSWERS; a++) {
            if (operations[i].outcomes[a] == SKIPPED)
                continue;
            scene_answer(scene, operations[i].call, answers[a].status, answers[a].body);
            expect_answer(scene, &asking, operations[i].ask, operations[i].outcomes[a], operations[i].name,
                          arena_format(scene->arena, "%d %s", answers[a].status, answers[a].body));
        }
    expect_unchanged(scene, &asking);
}

/* A success that lacks what it must hold is none, and what is odd in it is passed over. */
static void a_success_without_its_contents_is_an_error(void **state)
{
    static const struct {
        ask_function *ask;
        const char *call, *body;
        int outcome;
    } rows[] = {
        {ask_log_in, "grant password", "{\"access_token\":7,\"id_token\":[],\"refresh_token\":{}}", 0},
        {ask_log_in, "grant password", "{\"access_token\":\"a.b.c\",\"id_token\":\"i\",\"refresh_token\":\"r\"}", 0},
        {ask_log_in, "grant password", "{\"access_token\":\"a.b.c\",\"id_token\":\"i\"}", 0},
        {ask_refresh, "grant refresh_token", "{\"access_token\":\"a.b.c\"}", 0},
        {ask_refresh, "grant refresh_token", "{\"access_token\":\"a.b.c\",\"id_token\":\"i\"}", 0},
        {find_freshly, "grant client_credentials", "{\"access_token\":7,\"expires_in\":300}", 0},
        {ask_find, "GET users", "[{}]", 0},
        {ask_find, "GET users", "[7]", 0},
        {ask_find, "GET users", "[{\"id\":\"somebody\",\"requiredActions\":[7,null],\"attributes\":[]}]", AS(OK)},
        {ask_confirm, "GET user", "{\"id\":\"x\"}", 0},
        {ask_confirm, "GET user", "{\"username\":\"x\"}", 0},
        {ask_confirm, "GET user", "{\"id\":\"x\",\"username\":\"y\",\"enabled\":\"yes\"}", AS(STATE)},
        {ask_enable, "GET user", "{\"id\":7,\"username\":\"x\"}", 0},
        {end_others, "GET user/sessions", "[{},7,{\"id\":null}]", AS(OK)},
        {end_others, "GET user/sessions", "{\"sessions\":[]}", 0},
    };
    struct scene *scene = keycloak_scripted(state);
    struct asking asking = given_asking(scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene_answer(scene, rows[i].call, 200, rows[i].body);
        expect_answer(scene, &asking, rows[i].ask, rows[i].outcome, rows[i].call, rows[i].body);
    }
    expect_unchanged(scene, &asking);
}

/* What Keycloak knows of an account beside what the service writes is sent back with each change of the account. */
static void what_others_have_written_stays(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct asking asking = given_asking(scene);
    struct keycloak *keycloak = keycloak_of(remote_of(scene->provider));
    struct keycloak_user user;
    enum provider_outcome outcome;
    remote_start(&keycloak->remote, keycloak->remote.options.admin_milliseconds);
    expect_ok(keycloak_user_get(keycloak, scene->arena, asking.member.subject, &user));
    user.first_name = "Mia";
    user.last_name = "M\u00fcller";
    expect_ok(keycloak_user_put(keycloak, scene->arena, &user,
                                (struct keycloak_change[]){{"phoneNumber", "+4989123"}, {"colour", "blue"}}, 2,
                                &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(ask_enable(scene, &asking, &outcome));
    expect_ok(keycloak_user_get(keycloak, scene->arena, asking.member.subject, &user));
    assert_string_equal(user.first_name, "Mia");
    assert_string_equal(user.last_name, "M\u00fcller");
    assert_string_equal(keycloak_user_attribute(&user, "colour"), "blue");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumber"), "+4989123");
    assert_string_equal(keycloak_user_attribute(&user, "svcUserId"), id_text(scene->arena, asking.member.id));
    expect_unchanged(scene, &asking);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_answer_means_one_thing),
    HARNESS_TEST(a_success_without_its_contents_is_an_error),
    HARNESS_TEST(what_others_have_written_stays),
};
HARNESS_MODULE(keycloak_answers, cases)
