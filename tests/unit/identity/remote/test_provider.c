/* SPDX-License-Identifier: MIT */
/* What is the same with every remote provider; each case runs with each driver. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "identity/support_remote.h"

static void a_first_login_takes_two_steps(struct scene *scene)
{
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &owner, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(TEMPORARY), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_SAME_PASSWORD);
    expect_ok(
        provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of("short"), &tokens, &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &owner, tokens.access_token));
    assert_in_range(tokens.expires_in, 890, 900);
    expect_ok(
        provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(OTHER), &tokens, &outcome));
    assert_int_equal(outcome, PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_login(scene, &owner, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    scene_end(scene);
}

static void a_temporary_password_holds_as_long_as_we_say(struct scene *scene)
{
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    enum provider_outcome outcome;
    sql(scene->database, scene->arena,
        "UPDATE outside_account SET temporary_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
        sql_id(scene->arena, owner.id));
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_TEMPORARY_EXPIRED);
    expect_ok(provider_invite_again(scene->provider, scene->arena, owner.subject, secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_login(scene, &owner, OTHER, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    sql(scene->database, scene->arena, "UPDATE user SET status = 'active' WHERE id = %s",
        sql_id(scene->arena, owner.id));
    expect_ok(provider_invite_again(scene->provider, scene->arena, owner.subject, secret_of(TEMPORARY), &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(scene_login(scene, &owner, OTHER, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    scene_end(scene);
}

/* The process that signed a user in died before it could write the session. */
static void an_invitation_never_replaces_a_password_that_was_chosen(struct scene *scene)
{
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    sql(scene->database, scene->arena,
        "UPDATE outside_account SET temporary_until = UTC_TIMESTAMP(3) + INTERVAL 1 DAY WHERE user_id = %s",
        sql_id(scene->arena, owner.id));
    expect_ok(provider_invite_again(scene->provider, scene->arena, owner.subject, secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(scene_login(scene, &owner, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    scene_end(scene);
}

static void nobody_and_a_wrong_password_are_told_alike(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    assert_int_equal(scene_login(scene, NULL, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    scene_expect_calls(scene, scene->calls->login, 2);
    assert_int_equal(scene_login(scene, &member, PERMANENT, true, NULL, NULL), PROVIDER_PERMANENT_PASSWORD);
    scene_expect_calls(scene, scene->calls->revoke, 1);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM session WHERE user_id = %s",
                                 sql_id(scene->arena, member.id)),
                     0);
    scene_end(scene);
}

static void refresh_tokens_are_ours_rotate_and_tell_copies(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first, second, third;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &first, NULL), PROVIDER_OK);
    assert_int_equal(strlen(first.refresh_token), 43);
    expect_ok(provider_refresh(scene->provider, scene->arena, first.refresh_token, &second, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_string_not_equal(first.refresh_token, second.refresh_token);
    assert_true(scene_opens(scene, &member, second.access_token));
    /* Within the grace the spent token is answered again. */
    expect_ok(provider_refresh(scene->provider, scene->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_string_equal(third.refresh_token, second.refresh_token);
    assert_true(scene_opens(scene, &member, third.access_token));
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM identity_refresh WHERE session_id = %s",
                                 sql_id(scene->arena, first.session_id)),
                     2);
    /* So it is after the successor was used. */
    expect_ok(provider_refresh(scene->provider, scene->arena, second.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_refresh(scene->provider, scene->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_string_equal(third.refresh_token, second.refresh_token);
    sql(scene->database, scene->arena,
        "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 11 SECOND WHERE spent_at IS NOT NULL");
    expect_ok(provider_refresh(scene->provider, scene->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_REUSED);
    assert_true(id_equal(third.user_id, member.id));
    assert_false(scene_opens(scene, &member, second.access_token));
    expect_ok(provider_refresh(scene->provider, scene->arena, second.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    expect_ok(provider_refresh(scene->provider, scene->arena, "no token of ours", &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    scene_end(scene);
}

static void ended_sessions_open_nothing_though_their_tokens_verify(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    assert_true(scene_opens(scene, &member, one.access_token) && scene_opens(scene, &member, other.access_token));
    expect_ok(provider_logout(scene->provider, scene->arena, member.subject, one.session_id));
    assert_false(scene_opens(scene, &member, one.access_token));
    assert_true(scene_opens(scene, &member, other.access_token));
    scene_expect_calls(scene, scene->calls->revoke, 1);
    expect_ok(provider_set_enabled(scene->provider, scene->arena, member.subject, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(scene_opens(scene, &member, other.access_token));
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_set_enabled(scene->provider, scene->arena, member.subject, true, &outcome));
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_false(scene_opens(scene, &member, other.access_token));
    size_t told = scene_count(scene, scene->calls->sign_out);
    expect_ok(provider_logout_all(scene->provider, scene->arena, member.subject));
    assert_false(scene_opens(scene, &member, one.access_token));
    scene_expect_calls(scene, scene->calls->sign_out, told + 1);
    scene_end(scene);
}

/* All but one end: here at once, and at the provider as far as it knows how. */
static void the_others_end_and_the_kept_session_goes_on(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens kept, others[2], next;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &kept, NULL), PROVIDER_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, &others[i], NULL), PROVIDER_OK);
    expect_ok(provider_logout_others(scene->provider, scene->arena, member.subject, kept.session_id));
    assert_true(scene_opens(scene, &member, kept.access_token));
    for (size_t i = 0; i < 2; i++) {
        assert_false(scene_opens(scene, &member, others[i].access_token));
        expect_ok(provider_refresh(scene->provider, scene->arena, others[i].refresh_token, &next, &outcome));
        assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    }
    expect_ok(provider_refresh(scene->provider, scene->arena, kept.refresh_token, &next, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &member, next.access_token));
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM outside_session o JOIN session s ON s.id = o.session_id"
                                 " WHERE s.user_id = %s AND s.ended_at IS NOT NULL AND o.refresh_sealed IS NOT NULL",
                                 sql_id(scene->arena, member.id)),
                     0);
    scene_end(scene);
}

/* A token from a sign-in page of the provider's own: its session is unknown here until it comes. */
static void a_session_that_began_elsewhere_can_be_ended_here(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    sql(scene->database, scene->arena, "DELETE FROM session WHERE user_id = %s", sql_id(scene->arena, member.id));
    assert_true(scene_opens(scene, &member, one.access_token));
    expect_ok(provider_logout_all(scene->provider, scene->arena, member.subject));
    assert_false(scene_opens(scene, &member, one.access_token));
    /* Not even one of a session that was never seen before. */
    assert_false(scene_opens(scene, &member, other.access_token));
    scene_end(scene);
}

/* The database fails between the provider's answer and our rows. */
static void what_does_not_become_a_session_is_closed_at_the_provider(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {
        .subject = member.subject, .user_id = member.id, .email = member.email, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    sql(scene->database, scene->arena, "RENAME TABLE outside_session TO away");
    struct error *error = provider_login(scene->provider, scene->arena, &attempt, &tokens, &challenge, &outcome);
    sql(scene->database, scene->arena, "RENAME TABLE away TO outside_session");
    assert_non_null(error);
    scene_expect_calls(scene, scene->calls->revoke, 1);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    scene_expect_calls(scene, scene->calls->revoke, 1);
    scene_end(scene);
}

/* Later tokens of such a session name the same session, for as long as the provider renews them. */
static void a_session_that_began_elsewhere_stays_ended(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one;
    uint64_t count;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    sql(scene->database, scene->arena, "DELETE FROM session WHERE user_id = %s", sql_id(scene->arena, member.id));
    assert_true(scene_opens(scene, &member, one.access_token));
    expect_ok(provider_logout(scene->provider, scene->arena, member.subject, one.session_id));
    sql(scene->database, scene->arena,
        "UPDATE session SET expires_at = expires_at - INTERVAL 3 DAY, ended_at = ended_at - INTERVAL 3 DAY WHERE "
        "user_id = %s",
        sql_id(scene->arena, member.id));
    expect_ok(session_purge(scene->database, scene->arena, 1000, &count));
    assert_false(scene_opens(scene, &member, one.access_token));
    scene_end(scene);
}

/* A provider may renew its sessions for longer than ours live. */
static void a_session_that_began_elsewhere_ends_when_ours_do(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens old, recent;
    (void)scene_put(scene, "age", "2592001");
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &old, NULL), PROVIDER_OK);
    (void)scene_put(scene, "age", "2588400");
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &recent, NULL), PROVIDER_OK);
    sql(scene->database, scene->arena, "DELETE FROM session WHERE user_id = %s", sql_id(scene->arena, member.id));
    assert_false(scene_opens(scene, &member, old.access_token));
    assert_true(scene_opens(scene, &member, recent.access_token));
    assert_int_equal(
        sql_integer(
            scene->database, scene->arena,
            "SELECT COUNT(*) FROM session WHERE user_id = %s AND expires_at <= UTC_TIMESTAMP(3) + INTERVAL 1 HOUR",
            sql_id(scene->arena, member.id)),
        1);
    scene_end(scene);
}

static void passwords_are_changed_set_and_checked(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    struct provider *provider = scene->provider;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
#define CHANGE(old, new)                                                                                               \
    expect_ok(provider_change_password(provider, scene->arena, member.subject, one.session_id, secret_of(old),         \
                                       secret_of(new), &outcome))
    CHANGE(OTHER, TEMPORARY);
    assert_int_equal(outcome, PROVIDER_BAD_CREDENTIALS);
    CHANGE(OTHER, OTHER);
    assert_int_equal(outcome, PROVIDER_BAD_CREDENTIALS);
    CHANGE(PERMANENT, PERMANENT);
    assert_int_equal(outcome, PROVIDER_SAME_PASSWORD);
    CHANGE(PERMANENT, "short");
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    CHANGE(PERMANENT, OTHER);
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &member, one.access_token));
    assert_false(scene_opens(scene, &member, other.access_token));
    expect_ok(provider_set_password(provider, scene->arena, member.subject, secret_of("short"), false, &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_set_password(provider, scene->arena, member.subject, secret_of(TEMPORARY), true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(scene_opens(scene, &member, one.access_token));
    assert_int_equal(scene_login(scene, &member, TEMPORARY, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_set_password(provider, scene->arena, id_text(scene->arena, id_new()), secret_of(OTHER), false,
                                    &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    scene_end(scene);
}

static void a_repeated_creation_takes_its_own_account_over(struct scene *scene)
{
    struct arena *arena = scene->arena;
    struct id mine = id_new();
    const char *again_at = arena_format(arena, "%s@example.com", id_text(arena, mine));
    const char *subject, *again, *other;
    assert_int_equal(scene_create(scene, PROVIDER_INVITED, mine, again_at, TEMPORARY, &subject), PROVIDER_OK);
    assert_int_equal(scene_create(scene, PROVIDER_INVITED, mine, again_at, OTHER, &again), PROVIDER_OK);
    assert_string_equal(subject, again);
    assert_int_equal(scene_create(scene, PROVIDER_INVITED, id_new(), again_at, OTHER, &other), PROVIDER_EXISTS);
    expect_ok(provider_remove(scene->provider, arena, id_new(), again_at));
    assert_int_equal(scene_create(scene, PROVIDER_INVITED, id_new(), again_at, OTHER, &other), PROVIDER_EXISTS);
    expect_ok(provider_remove(scene->provider, arena, mine, again_at));
    expect_ok(provider_remove(scene->provider, arena, mine, again_at));
    assert_int_equal(scene_create(scene, PROVIDER_AWAITING_CODE, mine, again_at, PERMANENT, &subject), PROVIDER_OK);
    assert_int_equal(scene_create(scene, PROVIDER_AWAITING_CODE, mine, again_at, OTHER, &again), PROVIDER_OK);
    assert_string_not_equal(subject, again);
    assert_int_equal(
        scene_create(scene, PROVIDER_INVITED, id_new(), arena_format(arena, "weak-%s", again_at), "short", &other),
        PROVIDER_PASSWORD_REFUSED);
    scene_end(scene);
}

/* A refresh that the provider did not answer leaves the token unspent. */
static void a_refresh_without_an_answer_can_be_repeated(struct scene *scene)
{
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first, second;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &first, NULL), PROVIDER_OK);
    scene_fault(scene, scene->calls->refresh, "html");
    expect_error(provider_refresh(scene->provider, scene->arena, first.refresh_token, &second, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    sql(scene->database, scene->arena, "UPDATE identity_refresh SET created_at = created_at - INTERVAL 1 MINUTE");
    expect_ok(provider_refresh(scene->provider, scene->arena, first.refresh_token, &second, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_end(scene);
}

static void failures_of_the_provider_let_nobody_in(struct scene *scene)
{
    static const char *const kinds[] = {"status-500", "html", "half", "cut", "redirect", "silent"};
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {
        .subject = member.subject, .user_id = member.id, .email = member.email, .password = secret_of(PERMANENT)};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct provider_tokens tokens;
        struct provider_challenge challenge;
        enum provider_outcome outcome;
        size_t before = scene_count(scene, scene->calls->login);
        scene_forget_failures(scene);
        scene_fault(scene, scene->calls->login, kinds[i]);
        if (strcmp(kinds[i], "silent") == 0)
            remote_of(scene->provider)->options.login_milliseconds = 5000;
        expect_error(provider_login(scene->provider, scene->arena, &attempt, &tokens, &challenge, &outcome),
                     ERROR_IDENTITY_UNAVAILABLE);
        assert_int_equal(scene_count(scene, scene->calls->login), before + 1);
    }
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM session WHERE user_id = %s",
                                 sql_id(scene->arena, member.id)),
                     0);
    scene_end(scene);
}

/* ---- each with each ------------------------------------------------------------------------------- */

#define EACH(name, realm)                                                                                              \
    static void cognito_##name(void **state)                                                                           \
    {                                                                                                                  \
        name(cognito_scene_new(state));                                                                                \
    }                                                                                                                  \
    static void keycloak_##name(void **state)                                                                          \
    {                                                                                                                  \
        name(realm(state));                                                                                            \
    }
#define EACH_TEST(name) HARNESS_TEST(cognito_##name), HARNESS_TEST(keycloak_##name)

EACH(a_first_login_takes_two_steps, keycloak_scene_new)
EACH(a_temporary_password_holds_as_long_as_we_say, keycloak_scene_new)
EACH(an_invitation_never_replaces_a_password_that_was_chosen, keycloak_scene_new)
EACH(nobody_and_a_wrong_password_are_told_alike, keycloak_scripted)
EACH(refresh_tokens_are_ours_rotate_and_tell_copies, keycloak_scene_new)
EACH(ended_sessions_open_nothing_though_their_tokens_verify, keycloak_scene_new)
EACH(the_others_end_and_the_kept_session_goes_on, keycloak_scene_new)
EACH(a_session_that_began_elsewhere_can_be_ended_here, keycloak_scene_new)
EACH(what_does_not_become_a_session_is_closed_at_the_provider, keycloak_scene_new)
EACH(a_session_that_began_elsewhere_stays_ended, keycloak_scene_new)
EACH(a_session_that_began_elsewhere_ends_when_ours_do, keycloak_scripted)
EACH(passwords_are_changed_set_and_checked, keycloak_scene_new)
EACH(a_repeated_creation_takes_its_own_account_over, keycloak_scene_new)
EACH(a_refresh_without_an_answer_can_be_repeated, keycloak_scripted)
EACH(failures_of_the_provider_let_nobody_in, keycloak_scripted)

static const struct CMUnitTest cases[] = {
    EACH_TEST(a_first_login_takes_two_steps),
    EACH_TEST(a_temporary_password_holds_as_long_as_we_say),
    EACH_TEST(an_invitation_never_replaces_a_password_that_was_chosen),
    EACH_TEST(nobody_and_a_wrong_password_are_told_alike),
    EACH_TEST(refresh_tokens_are_ours_rotate_and_tell_copies),
    EACH_TEST(ended_sessions_open_nothing_though_their_tokens_verify),
    EACH_TEST(the_others_end_and_the_kept_session_goes_on),
    EACH_TEST(a_session_that_began_elsewhere_can_be_ended_here),
    EACH_TEST(what_does_not_become_a_session_is_closed_at_the_provider),
    EACH_TEST(a_session_that_began_elsewhere_stays_ended),
    EACH_TEST(a_session_that_began_elsewhere_ends_when_ours_do),
    EACH_TEST(passwords_are_changed_set_and_checked),
    EACH_TEST(a_repeated_creation_takes_its_own_account_over),
    EACH_TEST(a_refresh_without_an_answer_can_be_repeated),
    EACH_TEST(failures_of_the_provider_let_nobody_in),
};
HARNESS_MODULE(remote_provider, cases)
