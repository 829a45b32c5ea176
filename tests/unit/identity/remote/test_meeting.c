/* SPDX-License-Identifier: MIT */
/*
 * Somebody signs in, refreshes or brings a token, and at the same moment an administrator locks the account out. Before
 * each statement of the one, another process does all of the other: whichever comes first, nobody is left inside.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/token.h"
#include "domain/support.h"
#include "identity/support.h"
#include "identity/support_failure.h"
#include "support_database.h"
#include "support_refusal.h"

#define STATEMENTS_MAX 40

/* The other process, with a handle and a provider of its own. */
struct other {
    struct scene scene;
    struct ground *ground;
    struct database *mine; /* what is done meanwhile waits for no transaction of ours */
    struct error *(*run)(struct other *other);
    bool done;
};

static struct error *disable(struct other *other)
{
    return provider_set_enabled(other->scene.provider, other->scene.arena, other->ground->person.subject, false,
                                &other->ground->outcome);
}

static struct error *set_password(struct other *other)
{
    return provider_set_password(other->scene.provider, other->scene.arena, other->ground->person.subject,
                                 secret_of(OTHER), false, &other->ground->outcome);
}

static struct error *remove_account(struct other *other)
{
    return provider_remove(other->scene.provider, other->scene.arena, other->ground->person.id,
                           other->ground->person.email);
}

static void meet(void *context)
{
    struct other *other = context;
    if (database_in_transaction(other->mine))
        return;
    expect_ok(other->run(other));
    other->done = true;
}

/* ---- what is met ---------------------------------------------------------------------------------- */

static struct error *sign_in(struct scene *scene, struct ground *ground)
{
    struct provider_login attempt = {.subject = ground->person.subject,
                                     .user_id = ground->person.id,
                                     .email = ground->person.email,
                                     .password = secret_of(PERMANENT)};
    return provider_login(scene->provider, scene->arena, &attempt, &ground->others, &ground->challenge,
                          &ground->outcome);
}

static struct error *renew(struct scene *scene, struct ground *ground)
{
    return provider_refresh(scene->provider, scene->arena, ground->tokens.refresh_token, &ground->others,
                            &ground->outcome);
}

/* A token whose session has no row here: it began on a page of the provider's own. */
static struct error *bring(struct scene *scene, struct ground *ground)
{
    ground->others = ground->tokens;
    (void)scene_opens(scene, &ground->person, ground->tokens.access_token);
    return NULL;
}

static struct error *change(struct scene *scene, struct ground *ground)
{
    return provider_change_password(scene->provider, scene->arena, ground->person.subject, ground->tokens.session_id,
                                    secret_of(PERMANENT), secret_of("a third password, 3"), &ground->outcome);
}

static struct ground given_ground(struct scene *scene, bool has_row)
{
    struct ground ground = {.failure = FAILURE_STATEMENT};
    ground.person = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    assert_int_equal(scene_login(scene, &ground.person, PERMANENT, false, &ground.tokens, NULL), PROVIDER_OK);
    if (!has_row)
        sql(scene->database, scene->arena, "DELETE FROM session WHERE user_id = %s",
            sql_id(scene->arena, ground.person.id));
    return ground;
}

static void expect_nobody_inside(struct scene *scene, struct ground *ground, const char *name, unsigned nth)
{
    const char *tokens[] = {ground->tokens.access_token, ground->others.access_token};
    for (size_t i = 0; i < 2; i++)
        if (tokens[i] != NULL && scene_opens(scene, &ground->person, tokens[i]))
            fail_msg("%s: statement %u: token %zu opens", name, nth, i);
    if (flow_sessions(scene, &ground->person) != 0)
        fail_msg("%s: statement %u: a session is open", name, nth);
}

static struct other other_of(struct scene *scene, struct error *(*run)(struct other *))
{
    struct other other = {.scene = *scene, .mine = scene->database, .run = run};
    other.scene.database = support_database_new();
    if (scene->calls == NULL)
        other.scene.provider = given_provider(scene->arena, other.scene.database);
    else if (strcmp(remote_of(scene->provider)->driver->name, "keycloak") == 0)
        other.scene.provider = keycloak_scene_provider(scene, other.scene.database);
    else {
        struct remote_options remote = remote_of(scene->provider)->options;
        struct cognito_options options = cognito_scene_options(scene);
        remote.database = other.scene.database;
        remote.slots_file = NULL;
        expect_ok(cognito_new(scene->arena, &remote, &options, &other.scene.provider));
    }
    return other;
}

static void meets(struct scene *scene, const char *name, struct error *(*run)(struct scene *, struct ground *),
                  struct error *(*lock_out)(struct other *))
{
    struct other other = other_of(scene, lock_out);
    unsigned met = 0;
    for (unsigned nth = 1; nth <= STATEMENTS_MAX; nth++) {
        struct ground ground = given_ground(scene, run != bring);
        other.ground = &ground;
        other.done = false;
        refusal_meet(nth, meet, &other);
        struct error *error = run(scene, &ground);
        bool over = !refusal_end();
        if (error != NULL && !other.done)
            fail_msg("%s: %s", name, error->detail);
        met += other.done;
        if (!other.done)
            expect_ok(other.run(&other));
        if (scene->calls != NULL)
            scene_forget_failures(scene);
        expect_nobody_inside(scene, &ground, name, nth);
        if (over)
            break;
    }
    assert_true(met > 0);
    provider_free(&other.scene.provider);
    database_free(&other.scene.database);
}

static void each_meets_each(struct scene *scene, struct error *(*const *runs)(struct scene *, struct ground *))
{
    log_set_level(LOG_LEVEL_FATAL);
    for (; *runs != NULL; runs++) {
        meets(scene, "disabling", *runs, disable);
        meets(scene, "another password", *runs, set_password);
        /* An account at a remote provider is removed only after its user was disabled here. */
        if (scene->calls == NULL)
            meets(scene, "removal", *runs, remove_account);
    }
    log_set_level(LOG_LEVEL_INFO);
    scene_end(scene);
}

static struct error *(*const remote_runs[])(struct scene *, struct ground *) = {sign_in, renew, bring, NULL};
static struct error *(*const embedded_runs[])(struct scene *, struct ground *) = {sign_in, renew, NULL};

static void nobody_is_left_inside_with_cognito(void **state)
{
    each_meets_each(cognito_scene_new(state), remote_runs);
}

static void nobody_is_left_inside_with_keycloak(void **state)
{
    each_meets_each(keycloak_scripted(state), remote_runs);
}

static void nobody_is_left_inside_with_the_embedded_provider(void **state)
{
    each_meets_each(embedded_scene_new(state), embedded_runs);
}

/* Of two changes of a password at the same time one counts, and the disabling counts in any case. */
static void a_change_of_the_password_lets_nobody_back_in(void **state)
{
    struct scene *scene = embedded_scene_new(state);
    log_set_level(LOG_LEVEL_FATAL);
    meets(scene, "disabling", change, disable);
    meets(scene, "removal", change, remove_account);
    log_set_level(LOG_LEVEL_INFO);
    scene_end(scene);
}

/* ---- all sessions end again and again ------------------------------------------------------------- */

static struct error *end_all(struct other *other)
{
    return provider_logout_all(other->scene.provider, other->scene.arena, other->ground->person.subject);
}

static void meet_again(void *context)
{
    meet(context);
    refusal_meet(1, meet_again, context);
}

/* A sign-in that is overtaken by the end of all sessions each time gives up, and leaves no session. */
static void a_sign_in_that_is_always_overtaken_gives_up(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct other other = other_of(scene, end_all);
    struct ground ground = given_ground(scene, true);
    other.ground = &ground;
    log_set_level(LOG_LEVEL_FATAL);
    refusal_meet(1, meet_again, &other);
    struct error *error = sign_in(scene, &ground);
    (void)refusal_end();
    log_set_level(LOG_LEVEL_INFO);
    expect_error(error, ERROR_IDENTITY_UNAVAILABLE);
    expect_nobody_inside(scene, &ground, "the end of all sessions", 0);
    assert_int_equal(sign_in(scene, &ground) == NULL ? ground.outcome : PROVIDER_OUTCOME_COUNT, PROVIDER_OK);
    provider_free(&other.scene.provider);
    database_free(&other.scene.database);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(nobody_is_left_inside_with_cognito),
    HARNESS_TEST(nobody_is_left_inside_with_keycloak),
    HARNESS_TEST(nobody_is_left_inside_with_the_embedded_provider),
    HARNESS_TEST(a_change_of_the_password_lets_nobody_back_in),
    HARNESS_TEST(a_sign_in_that_is_always_overtaken_gives_up),
};
HARNESS_MODULE(remote_meeting, cases)
