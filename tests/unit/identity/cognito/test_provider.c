/* SPDX-License-Identifier: MIT */
/* The driver for Cognito, with a strict pool of the tests' own (cognito_server.py). */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/signing_key.h"
#include "domain/support.h"
#include "identity/cognito/provider.h"
#include "identity/support_remote.h"

static void a_member_signs_in_once_confirmed(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_confirm(scene->provider, scene->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_confirm(scene->provider, scene->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    scene_end(scene);
}

/* A change of a password succeeds although the session that it used stays open at the pool. */
static void a_changed_password_is_changed_whatever_becomes_of_its_session(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens here, there;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &here, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &there, NULL), PROVIDER_OK);
    scene_fault(scene, "RevokeToken", "html");
    expect_ok(provider_change_password(scene->provider, scene->arena, member.subject, here.session_id,
                                       secret_of(PERMANENT), secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_expect_calls(scene, "RevokeToken", 1);
    assert_true(scene_opens(scene, &member, here.access_token));
    assert_false(scene_opens(scene, &member, there.access_token));
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
    scene_end(scene);
}

static void public_calls_are_not_signed_and_the_others_are(void **state)
{
    static const char *const open[] = {"SignUp", "InitiateAuth", "RevokeToken"};
    struct scene *scene = cognito_scene_new(state);
    (void)scene_given(scene, PROVIDER_AWAITING_CODE);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_logout(scene->provider, scene->arena, member.subject, tokens.session_id));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_non_null(strstr(scene_log(scene), arena_format(scene->arena, "\"%s\", \"signed\": false", open[i])));
    assert_non_null(strstr(scene_log(scene), "\"AdminCreateUser\", \"signed\": true"));
    assert_null(strstr(scene_log(scene), "\"type\": \"application/x-www-form-urlencoded\""));
    scene_end(scene);
}

static void attributes_are_sent_as_the_row_is(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    struct provider_attributes attributes = {.email = member.email,
                                             .set_verified = true,
                                             .set_phone = true,
                                             .set_permissions = true,
                                             .email_verified = true,
                                             .phone = NULL,
                                             .permissions = "inv:*:w cus:*:w"};
    expect_ok(provider_set_attributes(scene->provider, scene->arena, member.subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    attributes.permissions = "";
    expect_ok(provider_set_attributes(scene->provider, scene->arena, member.subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(
        provider_set_attributes(scene->provider, scene->arena, id_text(scene->arena, id_new()), &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    scene_end(scene);
}

static void the_last_good_key_set_stays_in_use(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    const struct key_set *keys = NULL, *again = NULL;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_keys(scene->provider, scene->arena, false, &keys));
    assert_int_equal(key_set_count(keys), 1);
    size_t fetched = scene_count(scene, scene->calls->keys);
    assert_int_equal(fetched, 1);
    /* A token of an unknown key: the pool is asked once, and not again for a while, whatever it answers. */
    scene_fault(scene, "Keys", "html");
    for (int i = 0; i < 20; i++) {
        expect_ok(provider_keys(scene->provider, scene->arena, true, &again));
        assert_ptr_equal(keys, again);
    }
    assert_int_equal(scene_count(scene, scene->calls->keys), fetched + 1);
    assert_true(scene_opens(scene, &member, tokens.access_token));
    scene_end(scene);
}

/*
 * Keys that could not be fetched for a day are not trusted any more. A process that gets none does not ask again at
 * once.
 */
static void the_last_good_key_set_ends_after_a_day(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct remote_jwks *keys = &remote_of(scene->provider)->keys;
    const struct key_set *found = NULL;
    expect_ok(provider_keys(scene->provider, scene->arena, false, &found));
    keys->fetched_at -= INT64_C(86401000);
    keys->looked_at = 0;
    scene_fault(scene, scene->calls->keys_fault, "html");
    keys->asked_until = INT64_MAX;
    expect_error(provider_keys(scene->provider, scene->arena, false, &found), ERROR_IDENTITY_UNAVAILABLE);
    size_t asked = scene_count(scene, scene->calls->keys);
    expect_error(provider_keys(scene->provider, scene->arena, false, &found), ERROR_IDENTITY_UNAVAILABLE);
    expect_error(provider_keys(scene->provider, scene->arena, true, &found), ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(scene_count(scene, scene->calls->keys), asked);
    keys->failed = false;
    expect_ok(provider_keys(scene->provider, scene->arena, false, &found));
    assert_int_equal(key_set_count(found), 1);
    scene_end(scene);
}

/* While the set cannot be fetched, a call tries now and then and uses the last one. */
static void a_key_set_that_is_due_is_asked_for_now_and_then(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct remote_jwks *keys = &remote_of(scene->provider)->keys;
    const struct key_set *first = NULL, *again = NULL;
    expect_ok(provider_keys(scene->provider, scene->arena, false, &first));
    keys->looked_at = keys->asked_until = 0;
    scene_fault(scene, scene->calls->keys_fault, "status-500");
    for (int i = 0; i < 20; i++) {
        keys->looked_at = 0;
        expect_ok(provider_keys(scene->provider, scene->arena, false, &again));
        assert_ptr_equal(first, again);
    }
    assert_int_equal(scene_count(scene, scene->calls->keys), 2);
    scene_end(scene);
}

/* What an operator changes in the files counts after provider_forget(). */
static void secrets_are_read_again(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    (void)scene_put(scene, "access-key", "wrong");
    provider_forget(scene->provider);
    expect_error(provider_set_enabled(scene->provider, scene->arena, member.subject, true, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)scene_put(scene, "access-key", POOL_ACCESS_KEY);
    provider_forget(scene->provider);
    expect_ok(provider_set_enabled(scene->provider, scene->arena, member.subject, true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    /* A file that cannot be read replaces no secret. */
    assert_int_equal(unlink(arena_format(scene->arena, "%s/access-key", scene->directory)), 0);
    provider_forget(scene->provider);
    expect_ok(provider_set_enabled(scene->provider, scene->arena, member.subject, true, &outcome));
    scene_end(scene);
}

static void addresses_that_are_not_usable_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct remote_options remote = {.master = secret_of("0123456789abcdef0123456789abcdef")};
    struct cognito_options options = {.endpoint = "http://cognito.example.org", .keys_url = "https://x.example/jwks"};
    struct provider *provider;
    expect_error(cognito_new(arena, &remote, &options, &provider), ERROR_INTERNAL);
    options.endpoint = "https://cognito.example.org";
    options.keys_url = "ftp://x.example/jwks";
    expect_error(cognito_new(arena, &remote, &options, &provider), ERROR_INTERNAL);
}

static void an_account_whose_owner_cannot_be_written_is_deleted(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct arena *arena = scene->arena;
    struct provider_account account = {.kind = PROVIDER_AWAITING_CODE,
                                       .user_id = id_new(),
                                       .email = "nobodys@example.com",
                                       .permissions = "",
                                       .password = secret_of(PERMANENT)};
    const char *subject = NULL;
    enum provider_outcome outcome;
    const char *denied = scene_put(scene, "denied", "AdminUpdateUserAttributes");
    expect_error(provider_create(scene->provider, arena, &account, &subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    (void)unlink(denied);
    expect_ok(provider_create(scene->provider, arena, &account, &subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_end(scene);
}

static void whoever_tries_too_often_is_not_told_that_the_password_is_wrong(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    scene_fault(scene, "ChangePassword", "limit");
    expect_error(provider_change_password(scene->provider, scene->arena, member.subject, tokens.session_id,
                                          secret_of(PERMANENT), secret_of(OTHER), &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    scene_fault(scene, "RespondToAuthChallenge", "limit");
    expect_error(
        provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(OTHER), &tokens, &outcome),
        ERROR_IDENTITY_UNAVAILABLE);
    scene_end(scene);
}

/* Not the policy refuses it, but the form that Cognito asks of every password. */
static void a_password_with_blanks_at_its_ends_is_refused_as_a_password(void **state)
{
    static const char blank[] = " begins with a blank";
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    const char *subject;
    enum provider_outcome outcome;
    for (int kind = PROVIDER_INVITED; kind <= PROVIDER_CONFIRMED_ALREADY; kind++)
        assert_int_equal(
            scene_create(scene, (enum provider_account_kind)kind, id_new(), "blank@example.com", blank, &subject),
            PROVIDER_PASSWORD_REFUSED);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(
        provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(blank), &tokens, &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_change_password(scene->provider, scene->arena, member.subject, tokens.session_id,
                                       secret_of(PERMANENT), secret_of(blank), &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_set_password(scene->provider, scene->arena, member.subject, secret_of(blank), false, &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    scene_end(scene);
}

/* A change that was not sent is not asked about: one more sign-in would be a guess that nobody counts. */
static void a_change_that_was_not_sent_is_not_asked_about(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    scene_fault(scene, "InitiateAuth", "status-500");
    expect_error(provider_change_password(scene->provider, scene->arena, member.subject, tokens.session_id,
                                          secret_of(OTHER), secret_of(PERMANENT), &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    scene_expect_calls(scene, "InitiateAuth", 2);
    scene_end(scene);
}

static void an_account_with_a_second_factor_is_disabled_and_its_password_not_wrong(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    (void)scene_put(scene, "second-factor", "");
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_DISABLED);
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_error(provider_change_password(scene->provider, scene->arena, member.subject, tokens.session_id,
                                          secret_of(PERMANENT), secret_of(OTHER), &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    expect_ok(provider_change_password(scene->provider, scene->arena, member.subject, tokens.session_id,
                                       secret_of(TEMPORARY), secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_BAD_CREDENTIALS);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_member_signs_in_once_confirmed),
    HARNESS_TEST(a_changed_password_is_changed_whatever_becomes_of_its_session),
    HARNESS_TEST(public_calls_are_not_signed_and_the_others_are),
    HARNESS_TEST(attributes_are_sent_as_the_row_is),
    HARNESS_TEST(the_last_good_key_set_stays_in_use),
    HARNESS_TEST(the_last_good_key_set_ends_after_a_day),
    HARNESS_TEST(a_key_set_that_is_due_is_asked_for_now_and_then),
    HARNESS_TEST(secrets_are_read_again),
    HARNESS_TEST(addresses_that_are_not_usable_are_refused),
    HARNESS_TEST(an_account_whose_owner_cannot_be_written_is_deleted),
    HARNESS_TEST(whoever_tries_too_often_is_not_told_that_the_password_is_wrong),
    HARNESS_TEST(a_password_with_blanks_at_its_ends_is_refused_as_a_password),
    HARNESS_TEST(a_change_that_was_not_sent_is_not_asked_about),
    HARNESS_TEST(an_account_with_a_second_factor_is_disabled_and_its_password_not_wrong),
};
HARNESS_MODULE(cognito_provider, cases)
