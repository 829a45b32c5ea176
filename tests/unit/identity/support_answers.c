/* SPDX-License-Identifier: MIT */
/* What the tests of answers share: operations, and what they must leave as it was. */
#include "identity/support_answers.h"

#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"

struct error *ask_log_in(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct provider_login attempt = {.subject = asking->member.subject,
                                     .user_id = asking->member.id,
                                     .email = asking->member.email,
                                     .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    return provider_login(scene->provider, scene->arena, &attempt, &tokens, &challenge, outcome);
}

struct error *ask_answer(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct provider_tokens tokens;
    return provider_answer_new_password(scene->provider, scene->arena, &asking->challenge, secret_of(OTHER), &tokens,
                                        outcome);
}

struct error *ask_refresh(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct provider_tokens tokens;
    return provider_refresh(scene->provider, scene->arena, asking->tokens.refresh_token, &tokens, outcome);
}

struct error *ask_change(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    return provider_change_password(scene->provider, scene->arena, asking->member.subject, asking->tokens.session_id,
                                    secret_of(PERMANENT), secret_of(OTHER), outcome);
}

struct error *ask_set(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    return provider_set_password(scene->provider, scene->arena, asking->member.subject, secret_of(OTHER), false,
                                 outcome);
}

struct error *ask_confirm(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    return provider_confirm(scene->provider, scene->arena, asking->member.subject, outcome);
}

struct error *ask_describe(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct provider_attributes attributes = {
        .email = asking->member.email, .set_verified = true, .email_verified = true};
    return provider_set_attributes(scene->provider, scene->arena, asking->member.subject, &attributes, outcome);
}

struct error *ask_enable(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    return provider_set_enabled(scene->provider, scene->arena, asking->member.subject, true, outcome);
}

struct error *ask_find(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    bool other = true;
    struct error *error = provider_holds_address(scene->provider, scene->arena, asking->member.subject,
                                                 asking->member.id, asking->member.email, &other);
    *outcome = PROVIDER_OK;
    return error;
}

struct error *ask_delete(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct remote *remote = remote_of(scene->provider);
    *outcome = PROVIDER_OK;
    return remote->driver->administration->remove(remote, scene->arena, asking->member.subject);
}

static struct error *create(struct scene *scene, enum provider_account_kind kind, enum provider_outcome *outcome)
{
    struct provider_account account = {
        .kind = kind,
        .user_id = id_new(),
        .email = arena_format(scene->arena, "%s@example.com", id_text(scene->arena, id_new())),
        .permissions = "",
        .password = secret_of(PERMANENT)};
    const char *subject;
    return provider_create(scene->provider, scene->arena, &account, &subject, outcome);
}

struct error *ask_invite(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    (void)asking;
    return create(scene, PROVIDER_INVITED, outcome);
}

struct error *ask_sign_up(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    (void)asking;
    return create(scene, PROVIDER_AWAITING_CODE, outcome);
}

struct error *ask_revoke(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct remote *remote = remote_of(scene->provider);
    (void)asking;
    *outcome = PROVIDER_OK;
    return remote->driver->revoke(remote, scene->arena, secret_of("a refresh token"));
}

struct error *ask_sign_out(struct scene *scene, struct asking *asking, enum provider_outcome *outcome)
{
    struct remote *remote = remote_of(scene->provider);
    *outcome = PROVIDER_OK;
    return remote->driver->sign_out(remote, scene->arena, asking->member.subject);
}

struct asking given_asking(struct scene *scene)
{
    struct asking asking = {.member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY),
                            .owner = scene_given(scene, PROVIDER_INVITED)};
    assert_int_equal(scene_login(scene, &asking.member, PERMANENT, false, &asking.tokens, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &asking.owner, TEMPORARY, true, NULL, &asking.challenge),
                     PROVIDER_NEW_PASSWORD_REQUIRED);
    log_set_level(LOG_LEVEL_FATAL);
    return asking;
}

void expect_unchanged(struct scene *scene, struct asking *asking)
{
    scene_answer_end(scene);
    scene_forget_failures(scene);
    log_set_level(LOG_LEVEL_INFO);
    assert_true(scene_opens(scene, &asking->member, asking->tokens.access_token));
    assert_int_equal(scene_login(scene, &asking->member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &asking->member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_login(scene, &asking->owner, TEMPORARY, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM outside_intent WHERE user_id = %s",
                                 sql_id(scene->arena, asking->member.id)),
                     0);
    scene_end(scene);
}

void expect_answer(struct scene *scene, struct asking *asking, ask_function *ask, int wanted, const char *name,
                   const char *answer)
{
    enum provider_outcome outcome = PROVIDER_OUTCOME_COUNT;
    scene_forget_failures(scene);
    struct error *error = ask(scene, asking, &outcome);
    const char *found = error != NULL ? error->detail : provider_outcome_text(outcome);
    if (error != NULL ? wanted != 0 : wanted == 0 || outcome != (enum provider_outcome)(wanted - 1))
        fail_msg("%s: %s: %s", name, answer, found);
    if (error == NULL)
        return;
    assert_int_equal(error->code, ERROR_IDENTITY_UNAVAILABLE);
    /* The detail goes into the log. */
    assert_null(strstr(error->detail, PERMANENT));
    assert_null(strstr(error->detail, OTHER));
}
