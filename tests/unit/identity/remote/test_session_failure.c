/* SPDX-License-Identifier: MIT */
/*
 * Signing in and out when a step fails: a statement of ours, or a call to the provider. Whoever gets an error has no
 * session of it, and comes in with the next attempt; what was answered holds; what was to end has ended, at the latest
 * when it is asked for again.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/token.h"
#include "domain/support.h"
#include "identity/support_failure.h"

static void given_member(struct scene *scene, struct ground *ground)
{
    ground->person = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
}

static void given_sessions(struct scene *scene, struct ground *ground)
{
    given_member(scene, ground);
    assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &ground->tokens, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &ground->others, NULL), PROVIDER_OK);
}

static struct provider_login attempt_of(const struct ground *ground, const char *password)
{
    return (struct provider_login){.subject = ground->person.subject,
                                   .user_id = ground->person.id,
                                   .email = ground->person.email,
                                   .password = secret_of(password)};
}

/* ---- signing in ----------------------------------------------------------------------------------- */

static struct error *log_in(struct scene *scene, struct ground *ground)
{
    struct provider_login attempt = attempt_of(ground, PERMANENT);
    return provider_login(scene->provider, scene->arena, &attempt, &ground->tokens, &ground->challenge,
                          &ground->outcome);
}

static void check_login(struct scene *scene, struct ground *ground, const struct error *error)
{
    assert_int_equal(flow_sessions(scene, &ground->person), error == NULL ? 1 : 0);
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM identity_refresh r JOIN session s ON s.id = r.session_id"
                                 " WHERE s.user_id = %s",
                                 sql_id(scene->arena, ground->person.id)),
                     error == NULL ? 1 : 0);
    if (error != NULL)
        assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &ground->tokens, NULL), PROVIDER_OK);
    assert_true(scene_opens(scene, &ground->person, ground->tokens.access_token));
}

static struct error *log_in_wrongly(struct scene *scene, struct ground *ground)
{
    struct provider_login attempt = attempt_of(ground, OTHER);
    return provider_login(scene->provider, scene->arena, &attempt, &ground->tokens, &ground->challenge,
                          &ground->outcome);
}

static void check_no_session(struct scene *scene, struct ground *ground, const struct error *error)
{
    (void)error;
    assert_int_equal(flow_sessions(scene, &ground->person), 0);
}

static void given_owner(struct scene *scene, struct ground *ground)
{
    ground->person = scene_given(scene, PROVIDER_INVITED);
}

static struct error *ask_for_challenge(struct scene *scene, struct ground *ground)
{
    struct provider_login attempt = attempt_of(ground, TEMPORARY);
    attempt.new_password_sent = true;
    return provider_login(scene->provider, scene->arena, &attempt, &ground->tokens, &ground->challenge,
                          &ground->outcome);
}

static void check_temporary(struct scene *scene, struct ground *ground, const struct error *error)
{
    check_no_session(scene, ground, error);
    assert_int_equal(scene_login(scene, &ground->person, TEMPORARY, true, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
}

static void given_challenge(struct scene *scene, struct ground *ground)
{
    given_owner(scene, ground);
    assert_int_equal(scene_login(scene, &ground->person, TEMPORARY, true, NULL, &ground->challenge),
                     PROVIDER_NEW_PASSWORD_REQUIRED);
}

static struct error *answer(struct scene *scene, struct ground *ground)
{
    return provider_answer_new_password(scene->provider, scene->arena, &ground->challenge, secret_of(PERMANENT),
                                        &ground->tokens, &ground->outcome);
}

/* One of the two passwords is the account's. Where it is the temporary one, the same answer replaces it. */
static void check_first_login(struct scene *scene, struct ground *ground, const struct error *error)
{
    bool chosen = flow_accepts(scene, &ground->person, PERMANENT);
    assert_true(chosen != flow_accepts(scene, &ground->person, TEMPORARY));
    if (error == NULL)
        assert_true(chosen && scene_opens(scene, &ground->person, ground->tokens.access_token));
    if (chosen)
        return;
    expect_ok(answer(scene, ground));
    assert_int_equal(ground->outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &ground->person, ground->tokens.access_token));
}

/* ---- refreshing ----------------------------------------------------------------------------------- */

static struct error *refresh(struct scene *scene, struct ground *ground)
{
    return provider_refresh(scene->provider, scene->arena, ground->tokens.refresh_token, &ground->others,
                            &ground->outcome);
}

/*
 * A refresh that was refused may be repeated. Where the provider has spent a token of its own, of which we have no
 * successor, the session has ended: never is there a second one.
 */
static void check_refresh(struct scene *scene, struct ground *ground, const struct error *error)
{
    bool rotates = strcmp(remote_of(scene->provider)->driver->name, "keycloak") == 0;
    if (error != NULL)
        expect_ok(refresh(scene, ground));
    if (ground->outcome == PROVIDER_OK)
        assert_true(scene_opens(scene, &ground->person, ground->others.access_token));
    else
        assert_true(rotates && ground->outcome == PROVIDER_TOKEN_INVALID);
    assert_true(flow_sessions(scene, &ground->person) <= 2);
}

static void check_own_refresh(struct scene *scene, struct ground *ground, const struct error *error)
{
    if (error != NULL)
        expect_ok(refresh(scene, ground));
    assert_int_equal(ground->outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &ground->person, ground->others.access_token));
    assert_int_equal(flow_sessions(scene, &ground->person), 2);
}

static void given_old_token(struct scene *scene, struct ground *ground)
{
    given_sessions(scene, ground);
    expect_ok(refresh(scene, ground));
    sql(scene->database, scene->arena,
        "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 1 HOUR WHERE spent_at IS NOT NULL");
}

/* A copy that comes too late ends its session, at the latest when it comes again. */
static void check_copy(struct scene *scene, struct ground *ground, const struct error *error)
{
    if (error != NULL)
        expect_ok(refresh(scene, ground));
    assert_int_equal(ground->outcome, PROVIDER_TOKEN_REUSED);
    assert_false(scene_opens(scene, &ground->person, ground->tokens.access_token));
}

/* ---- a session that began elsewhere ----------------------------------------------------------------- */

static void given_foreign_session(struct scene *scene, struct ground *ground)
{
    given_member(scene, ground);
    assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &ground->tokens, NULL), PROVIDER_OK);
    sql(scene->database, scene->arena, "DELETE FROM session WHERE user_id = %s",
        sql_id(scene->arena, ground->person.id));
}

static struct error *resolve(struct scene *scene, struct ground *ground)
{
    struct token_rules rules;
    struct token_claims claims;
    const char *token = ground->tokens.access_token;
    ground->flag = false;
    provider_rules(scene->provider, &rules);
    rules.leeway = LIMIT_TOKEN_LEEWAY_SECONDS;
    rules.now = clock_now() / 1000;
    TRY(provider_keys(scene->provider, scene->arena, false, &rules.keys));
    assert_int_equal(token_verify(scene->arena, &rules, token, strlen(token), &claims, NULL), TOKEN_GOOD);
    return provider_resolve(scene->provider, scene->arena, &claims, &ground->flag);
}

static void check_resolved(struct scene *scene, struct ground *ground, const struct error *error)
{
    if (error == NULL)
        assert_true(ground->flag);
    assert_int_equal(flow_sessions(scene, &ground->person), error == NULL ? 1 : 0);
    assert_true(scene_opens(scene, &ground->person, ground->tokens.access_token));
    assert_int_equal(flow_sessions(scene, &ground->person), 1);
}

/* ---- signing out ---------------------------------------------------------------------------------- */

static struct error *log_out(struct scene *scene, struct ground *ground)
{
    return provider_logout(scene->provider, scene->arena, ground->person.subject, ground->tokens.session_id);
}

static struct error *log_out_all(struct scene *scene, struct ground *ground)
{
    return provider_logout_all(scene->provider, scene->arena, ground->person.subject);
}

static struct error *log_out_others(struct scene *scene, struct ground *ground)
{
    return provider_logout_others(scene->provider, scene->arena, ground->person.subject, ground->tokens.session_id);
}

/* Rows end all together or not at all. */
static void check_ends(struct scene *scene, struct ground *ground, const struct error *error, int64_t left,
                       struct error *(*run)(struct scene *, struct ground *))
{
    assert_int_equal(flow_sessions(scene, &ground->person), error == NULL ? left : 2);
    if (error != NULL)
        expect_ok(run(scene, ground));
    assert_int_equal(flow_sessions(scene, &ground->person), left);
}

static void check_logout(struct scene *scene, struct ground *ground, const struct error *error)
{
    enum provider_outcome outcome;
    struct provider_tokens tokens;
    check_ends(scene, ground, error, 1, log_out);
    assert_false(scene_opens(scene, &ground->person, ground->tokens.access_token));
    assert_true(scene_opens(scene, &ground->person, ground->others.access_token));
    expect_ok(provider_refresh(scene->provider, scene->arena, ground->tokens.refresh_token, &tokens, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
}

static void check_logout_all(struct scene *scene, struct ground *ground, const struct error *error)
{
    check_ends(scene, ground, error, 0, log_out_all);
    assert_false(scene_opens(scene, &ground->person, ground->tokens.access_token));
}

static void check_logout_others(struct scene *scene, struct ground *ground, const struct error *error)
{
    check_ends(scene, ground, error, 1, log_out_others);
    assert_true(scene_opens(scene, &ground->person, ground->tokens.access_token));
    assert_false(scene_opens(scene, &ground->person, ground->others.access_token));
}

static struct error *tidy(struct scene *scene, struct ground *ground)
{
    (void)ground;
    return provider_tidy(scene->provider, scene->arena);
}

static void check_tidy(struct scene *scene, struct ground *ground, const struct error *error)
{
    if (error != NULL)
        expect_ok(tidy(scene, ground));
    assert_true(scene_opens(scene, &ground->person, ground->tokens.access_token));
    expect_ok(refresh(scene, ground));
    assert_int_equal(ground->outcome, PROVIDER_OK);
}

/* ---- with each provider --------------------------------------------------------------------------- */

/* Of each provider; then those that tell of a call, and then one that the embedded provider's tokens need not. */
static const struct flow common[] = {
    {"login", PROVIDER_OK, given_member, log_in, check_login},
    {"first login", PROVIDER_OK, given_challenge, answer, check_first_login},
    {"logout", PROVIDER_OK, given_sessions, log_out, check_logout},
    {"logout everywhere", PROVIDER_OK, given_sessions, log_out_all, check_logout_all},
    {"logout elsewhere", PROVIDER_OK, given_sessions, log_out_others, check_logout_others},
};
static const struct flow asking[] = {
    {"wrong password", PROVIDER_BAD_CREDENTIALS, given_member, log_in_wrongly, check_no_session},
    {"temporary password", PROVIDER_NEW_PASSWORD_REQUIRED, given_owner, ask_for_challenge, check_temporary},
    {"refresh", PROVIDER_OK, given_sessions, refresh, check_refresh},
};
static const struct flow stored[] = {
    {"session from elsewhere", PROVIDER_OK, given_foreign_session, resolve, check_resolved},
    {"copied refresh token", PROVIDER_TOKEN_REUSED, given_old_token, refresh, check_copy},
    {"tidying", PROVIDER_OK, given_sessions, tidy, check_tidy},
};
static const struct flow embedded[] = {
    {"refresh", PROVIDER_OK, given_sessions, refresh, check_own_refresh},
    {"copied refresh token", PROVIDER_TOKEN_REUSED, given_old_token, refresh, check_copy},
    {"tidying", PROVIDER_OK, given_sessions, tidy, check_tidy},
};

#define FAIL(scene, flows, failure) flows_fail((scene), (flows), sizeof(flows) / sizeof *(flows), (failure))

#define EACH(provider, make)                                                                                           \
    static void provider##_statements_are_refused(void **state)                                                        \
    {                                                                                                                  \
        FAIL(make(state), common, FAILURE_STATEMENT);                                                                  \
        FAIL(make(state), stored, FAILURE_STATEMENT);                                                                  \
        flows_fail(make(state), &asking[2], 1, FAILURE_STATEMENT);                                                     \
    }                                                                                                                  \
    static void provider##_calls_fail(void **state)                                                                    \
    {                                                                                                                  \
        FAIL(make(state), common, FAILURE_EITHER);                                                                     \
        FAIL(make(state), asking, FAILURE_EITHER);                                                                     \
    }

EACH(cognito, cognito_scene_new)
EACH(keycloak, keycloak_scripted)

static void embedded_statements_are_refused(void **state)
{
    FAIL(embedded_scene_new(state), common, FAILURE_STATEMENT);
    FAIL(embedded_scene_new(state), embedded, FAILURE_STATEMENT);
}

/* ---- another process holds the lock --------------------------------------------------------------- */

/* Who waits too long is told so, and nothing was spent meanwhile. */
static void while_another_process_refreshes_the_token_stays(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    given_sessions(scene, &ground);
    failure_lock_taken(true);
    expect_error(refresh(scene, &ground), ERROR_IDENTITY_UNAVAILABLE);
    failure_lock_taken(false);
    expect_ok(refresh(scene, &ground));
    assert_int_equal(ground.outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &ground.person, ground.others.access_token));
    scene_end(scene);
}

static void while_another_process_answers_the_challenge_stays(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    given_challenge(scene, &ground);
    failure_lock_taken(true);
    expect_error(answer(scene, &ground), ERROR_IDENTITY_UNAVAILABLE);
    failure_lock_taken(false);
    expect_ok(answer(scene, &ground));
    assert_int_equal(ground.outcome, PROVIDER_OK);
    scene_end(scene);
}

/* The temporary password became a permanent one before the challenge was answered: no session is left over. */
static void a_session_of_a_spent_challenge_is_closed(struct scene *scene)
{
    struct ground ground = {.failure = FAILURE_STATEMENT};
    struct remote *remote = remote_of(scene->provider);
    given_challenge(scene, &ground);
    remote_start(remote, remote->options.admin_milliseconds);
    expect_ok(remote->driver->administration->set_password(remote, scene->arena, ground.person.subject,
                                                           secret_of(TEMPORARY), false, &ground.outcome));
    expect_ok(answer(scene, &ground));
    assert_int_equal(ground.outcome, PROVIDER_CHALLENGE_SPENT);
    scene_expect_calls(scene, scene->calls->revoke, 1);
    assert_int_equal(flow_sessions(scene, &ground.person), 0);
    scene_end(scene);
}

static void cognito_closes_the_session_of_a_spent_challenge(void **state)
{
    a_session_of_a_spent_challenge_is_closed(cognito_scene_new(state));
}

static void keycloak_closes_the_session_of_a_spent_challenge(void **state)
{
    a_session_of_a_spent_challenge_is_closed(keycloak_scripted(state));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(while_another_process_refreshes_the_token_stays),
    HARNESS_TEST(while_another_process_answers_the_challenge_stays),
    HARNESS_TEST(cognito_closes_the_session_of_a_spent_challenge),
    HARNESS_TEST(keycloak_closes_the_session_of_a_spent_challenge),
    HARNESS_TEST(cognito_statements_are_refused),
    HARNESS_TEST(cognito_calls_fail),
    HARNESS_TEST(keycloak_statements_are_refused),
    HARNESS_TEST(keycloak_calls_fail),
    HARNESS_TEST(embedded_statements_are_refused),
};
HARNESS_MODULE(remote_session_failure, cases)
