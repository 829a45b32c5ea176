/* SPDX-License-Identifier: MIT */
/*
 * Keycloak's adapter against a strict realm of the tests' own (keycloak_server.py). With GATEHOUSE_TEST_KEYCLOAK, the address
 * of a real server that was started with keycloak_realm.json, what needs no fault runs against that.
 */
#include "harness.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "database_fixture.h"
#include "domain/support.h"
#include "keycloak_stage.h"

static void a_first_login_takes_two_steps(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person owner = realm_given(stage, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &owner, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(realm_login(stage, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(TEMPORARY), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_SAME_PASSWORD);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of("short"), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(realm_opens(stage, &owner, tokens.access_token));
    assert_in_range(tokens.expires_in, 890, 900);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(OTHER), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(realm_login(stage, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(realm_login(stage, &owner, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    realm_stage_end(stage);
}

static void a_temporary_password_holds_as_long_as_we_say(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person owner = realm_given(stage, PROVIDER_INVITED);
    enum provider_outcome outcome;
    sql(stage->database, stage->arena,
        "UPDATE outside_account SET temporary_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
        sql_id(stage->arena, owner.id));
    assert_int_equal(realm_login(stage, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_TEMPORARY_EXPIRED);
    expect_ok(provider_invite_again(stage->provider, stage->arena, owner.subject, secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(realm_login(stage, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(realm_login(stage, &owner, OTHER, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    sql(stage->database, stage->arena, "UPDATE user SET status = 'active' WHERE id = %s", sql_id(stage->arena, owner.id));
    expect_ok(provider_invite_again(stage->provider, stage->arena, owner.subject, secret_of(TEMPORARY), &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(realm_login(stage, &owner, OTHER, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    realm_stage_end(stage);
}

/* An account that awaits its code is told so, but only to who knows the password; a new password does not confirm it. */
static void a_member_signs_in_once_confirmed(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_UNCONFIRMED);
    assert_int_equal(realm_login(stage, &member, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_set_password(stage->provider, stage->arena, member.subject, secret_of(OTHER), false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(realm_login(stage, &member, OTHER, false, NULL, NULL), PROVIDER_UNCONFIRMED);
    expect_ok(provider_confirm(stage->provider, stage->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_confirm(stage->provider, stage->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    expect_ok(provider_confirm(stage->provider, stage->arena, id_text(stage->arena, id_new()), &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    assert_int_equal(realm_login(stage, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
    realm_stage_end(stage);
}

static void nobody_and_a_wrong_password_are_told_alike(void **state)
{
    struct realm_stage *stage = realm_scripted(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    assert_int_equal(realm_login(stage, NULL, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(realm_login(stage, &member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(realm_calls(stage, "grant password"), 2);
    assert_int_equal(realm_login(stage, &member, PERMANENT, true, NULL, NULL), PROVIDER_PERMANENT_PASSWORD);
    assert_int_equal(realm_calls(stage, "logout"), 1);
    assert_int_equal(sql_integer(stage->database, stage->arena, "SELECT COUNT(*) FROM session WHERE user_id = %s",
                                 sql_id(stage->arena, member.id)),
                     0);
    realm_stage_end(stage);
}

static void refresh_tokens_are_ours_rotate_and_tell_copies(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first, second, third;
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &first, NULL), PROVIDER_OK);
    assert_int_equal(strlen(first.refresh_token), 43);
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &second, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_string_not_equal(first.refresh_token, second.refresh_token);
    assert_true(realm_opens(stage, &member, second.access_token));
    /* Within the grace the spent one is answered once more. */
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    sql(stage->database, stage->arena,
        "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 11 SECOND WHERE spent_at IS NOT NULL");
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_REUSED);
    assert_true(id_equal(third.user_id, member.id));
    assert_false(realm_opens(stage, &member, second.access_token));
    expect_ok(provider_refresh(stage->provider, stage->arena, second.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    expect_ok(provider_refresh(stage->provider, stage->arena, "no token of ours", &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    realm_stage_end(stage);
}

static void ended_sessions_open_nothing_though_their_tokens_verify(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    assert_true(realm_opens(stage, &member, one.access_token) && realm_opens(stage, &member, other.access_token));
    expect_ok(provider_logout(stage->provider, stage->arena, member.subject, one.session_id));
    assert_false(realm_opens(stage, &member, one.access_token));
    assert_true(realm_opens(stage, &member, other.access_token));
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(realm_opens(stage, &member, other.access_token));
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, true, &outcome));
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_false(realm_opens(stage, &member, other.access_token));
    expect_ok(provider_logout_all(stage->provider, stage->arena, member.subject));
    assert_false(realm_opens(stage, &member, one.access_token));
    realm_stage_end(stage);
}

/* A token from a sign-in page of the provider's own: unknown to us until it comes. */
static void a_session_that_began_elsewhere_can_be_ended_here(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    sql(stage->database, stage->arena, "DELETE FROM session WHERE user_id = %s", sql_id(stage->arena, member.id));
    assert_true(realm_opens(stage, &member, one.access_token));
    expect_ok(provider_logout_all(stage->provider, stage->arena, member.subject));
    assert_false(realm_opens(stage, &member, one.access_token));
    /* Not even one that was never seen before. */
    assert_false(realm_opens(stage, &member, other.access_token));
    realm_stage_end(stage);
}

static void passwords_are_changed_set_and_judged(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    struct provider *provider = stage->provider;
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
#define CHANGE(old, new) \
    expect_ok(provider_change_password(provider, stage->arena, member.subject, one.session_id, secret_of(old), secret_of(new), &outcome))
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
    assert_true(realm_opens(stage, &member, one.access_token));
    assert_false(realm_opens(stage, &member, other.access_token));
    expect_ok(provider_set_password(provider, stage->arena, member.subject, secret_of("short"), false, &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_set_password(provider, stage->arena, member.subject, secret_of(TEMPORARY), true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(realm_opens(stage, &member, one.access_token));
    assert_int_equal(realm_login(stage, &member, TEMPORARY, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_set_password(provider, stage->arena, id_text(stage->arena, id_new()), secret_of(OTHER), false,
                                    &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    realm_stage_end(stage);
}

static void a_repeated_creation_takes_its_own_account_over(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct arena *arena = stage->arena;
    struct id mine = id_new();
    const char *again_at = arena_format(arena, "%s@example.com", id_text(arena, mine));
    const char *subject, *again, *other;
    assert_int_equal(realm_create(stage, PROVIDER_INVITED, mine, again_at, TEMPORARY, &subject), PROVIDER_OK);
    assert_int_equal(realm_create(stage, PROVIDER_INVITED, mine, again_at, OTHER, &again), PROVIDER_OK);
    assert_string_equal(subject, again);
    assert_int_equal(realm_create(stage, PROVIDER_INVITED, id_new(), again_at, OTHER, &other), PROVIDER_EXISTS);
    expect_ok(provider_remove(stage->provider, arena, id_new(), again_at));
    assert_int_equal(realm_create(stage, PROVIDER_INVITED, id_new(), again_at, OTHER, &other), PROVIDER_EXISTS);
    expect_ok(provider_remove(stage->provider, arena, mine, again_at));
    expect_ok(provider_remove(stage->provider, arena, mine, again_at));
    assert_int_equal(realm_create(stage, PROVIDER_AWAITING_CODE, mine, again_at, PERMANENT, &subject), PROVIDER_OK);
    assert_int_equal(realm_create(stage, PROVIDER_AWAITING_CODE, mine, again_at, OTHER, &again), PROVIDER_OK);
    assert_string_not_equal(subject, again);
    assert_int_equal(realm_create(stage, PROVIDER_INVITED, id_new(), arena_format(arena, "weak-%s", again_at), "short", &other),
                     PROVIDER_PASSWORD_REFUSED);
    realm_stage_end(stage);
}

static enum provider_outcome set_permissions(struct realm_stage *stage, const char *subject, const char *permissions)
{
    struct provider_attributes attributes = {.set_permissions = true, .permissions = permissions};
    enum provider_outcome outcome;
    expect_ok(provider_set_attributes(stage->provider, stage->arena, subject, &attributes, &outcome));
    return outcome;
}

static struct keycloak_user account_of(struct realm_stage *stage, const struct realm_person *person)
{
    struct keycloak_user user;
    keycloak_begin(keycloak_of(outside_of(stage->provider)), OUTSIDE_ADMIN_MILLISECONDS);
    expect_ok(keycloak_user_get(keycloak_of(outside_of(stage->provider)), stage->arena, person->subject, &user));
    return user;
}

/* What a change does not name stays, though Keycloak takes accounts only whole. */
static void a_change_keeps_everything_else(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_INVITED);
    enum provider_outcome outcome;
    struct provider_attributes attributes = {.email = member.email, .set_verified = true, .set_phone = true,
                                             .email_verified = true, .phone = "+49891", .phone_verified = true};
    expect_ok(provider_set_attributes(stage->provider, stage->arena, member.subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(set_permissions(stage, member.subject, "inv:*:w cus:*:w"), PROVIDER_OK);
    struct keycloak_user user = account_of(stage, &member);
    assert_string_equal(keycloak_user_attribute(&user, "permissions"), "inv:*:w cus:*:w");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumber"), "+49891");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumberVerified"), "true");
    assert_string_equal(keycloak_user_attribute(&user, "svcUserId"), id_text(stage->arena, member.id));
    assert_true(user.email_verified && user.enabled && keycloak_user_is_temporary(&user));
    assert_string_equal(user.email, member.email);
    assert_int_equal(set_permissions(stage, member.subject, ""), PROVIDER_OK);
    attributes.phone = NULL;
    expect_ok(provider_set_attributes(stage->provider, stage->arena, member.subject, &attributes, &outcome));
    user = account_of(stage, &member);
    assert_null(keycloak_user_attribute(&user, "permissions"));
    assert_null(keycloak_user_attribute(&user, "phoneNumber"));
    assert_int_equal(set_permissions(stage, id_text(stage->arena, id_new()), "x:y:r"), PROVIDER_ABSENT);
    assert_int_equal(realm_login(stage, &member, TEMPORARY, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    realm_stage_end(stage);
}

#define WRITES 4

/* A process of its own that writes one attribute several times; ends with 0 when all went well. */
static void write_attribute(struct realm_stage *stage, const struct realm_person *person, int which)
{
    struct provider *provider = realm_open_provider(stage, database_fixture_new());
    for (int i = 0; i < WRITES; i++) {
        const char *text = arena_format(stage->arena, "%d", i);
        struct provider_attributes attributes = {.set_permissions = which == 0, .set_phone = which == 1,
                                                 .set_verified = which == 2, .phone_verified = true,
                                                 .email_verified = true, .permissions = text, .phone = text};
        enum provider_outcome outcome;
        if (provider_set_attributes(provider, stage->arena, person->subject, &attributes, &outcome) != NULL ||
            outcome != PROVIDER_OK)
            _exit(1);
    }
    _exit(0);
}

static void writes_at_the_same_time_lose_nothing(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    pid_t children[3];
    realm_put(stage, "slow", "");
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            write_attribute(stage, &member, i);
    }
    for (int i = 0; i < 3; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct keycloak_user user = account_of(stage, &member);
    assert_string_equal(keycloak_user_attribute(&user, "permissions"), "3");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumber"), "3");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumberVerified"), "true");
    realm_stage_end(stage);
}

/* An account that requires more than a new password cannot be signed in to here, and nothing of it is changed. */
static void other_required_actions_are_not_answered(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person owner = realm_given(stage, PROVIDER_INVITED);
    struct keycloak *keycloak = keycloak_of(outside_of(stage->provider));
    struct keycloak_user user = account_of(stage, &owner);
    struct provider_login attempt = {
        .subject = owner.subject, .user_id = owner.id, .email = owner.email, .password = secret_of(TEMPORARY)};
    const char *actions[] = {"UPDATE_PASSWORD", "UPDATE_PROFILE"};
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &owner, TEMPORARY, false, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    user.actions = (struct text_list){actions, 2};
    expect_ok(keycloak_user_put(keycloak, stage->arena, &user, NULL, 0, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_CHALLENGE_SPENT);
    expect_error(provider_login(stage->provider, stage->arena, &attempt, &tokens, &challenge, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    realm_stage_end(stage);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_first_login_takes_two_steps),
    HARNESS_TEST(a_temporary_password_holds_as_long_as_we_say),
    HARNESS_TEST(a_member_signs_in_once_confirmed),
    HARNESS_TEST(nobody_and_a_wrong_password_are_told_alike),
    HARNESS_TEST(refresh_tokens_are_ours_rotate_and_tell_copies),
    HARNESS_TEST(ended_sessions_open_nothing_though_their_tokens_verify),
    HARNESS_TEST(a_session_that_began_elsewhere_can_be_ended_here),
    HARNESS_TEST(passwords_are_changed_set_and_judged),
    HARNESS_TEST(a_repeated_creation_takes_its_own_account_over),
    HARNESS_TEST(a_change_keeps_everything_else),
    HARNESS_TEST(writes_at_the_same_time_lose_nothing),
    HARNESS_TEST(other_required_actions_are_not_answered),
};
HARNESS_MODULE(keycloak, cases)
