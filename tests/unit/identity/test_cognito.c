/* SPDX-License-Identifier: MIT */
/* Cognito's adapter against a strict pool of the tests' own (cognito_server.py). */
#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/signing_key.h"
#include "domain/support.h"
#include "identity/cognito.h"
#include "outside_stage.h"

static void a_member_signs_in_once_confirmed(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct person member = stage_given(stage, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_confirm(stage->provider, stage->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_confirm(stage->provider, stage->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    stage_end(stage);
}

/* What the change of a password leaves at the pool is not worth calling the change failed, which it is not. */
static void a_changed_password_is_changed_whatever_becomes_of_its_session(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens here, there;
    enum provider_outcome outcome;
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, &here, NULL), PROVIDER_OK);
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, &there, NULL), PROVIDER_OK);
    stage_fault(stage, "RevokeToken", "html");
    expect_ok(provider_change_password(stage->provider, stage->arena, member.subject, here.session_id,
                                       secret_of(PERMANENT), secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    stage_expect_calls(stage, "RevokeToken", 1);
    assert_true(stage_opens(stage, &member, here.access_token));
    assert_false(stage_opens(stage, &member, there.access_token));
    assert_int_equal(stage_login(stage, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
    stage_end(stage);
}

static void public_calls_are_not_signed_and_the_others_are(void **state)
{
    static const char *const open[] = {"SignUp", "InitiateAuth", "RevokeToken"};
    struct stage *stage = cognito_stage_new(state);
    (void)stage_given(stage, PROVIDER_AWAITING_CODE);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_logout(stage->provider, stage->arena, member.subject, tokens.session_id));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_non_null(strstr(stage_log(stage), arena_format(stage->arena, "\"%s\", \"signed\": false", open[i])));
    assert_non_null(strstr(stage_log(stage), "\"AdminCreateUser\", \"signed\": true"));
    assert_null(strstr(stage_log(stage), "\"type\": \"application/x-www-form-urlencoded\""));
    stage_end(stage);
}

static void attributes_are_sent_as_the_row_is(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    struct provider_attributes attributes = {.email = member.email,
                                             .set_verified = true,
                                             .set_phone = true,
                                             .set_permissions = true,
                                             .email_verified = true,
                                             .phone = NULL,
                                             .permissions = "inv:*:w cus:*:w"};
    expect_ok(provider_set_attributes(stage->provider, stage->arena, member.subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    attributes.permissions = "";
    expect_ok(provider_set_attributes(stage->provider, stage->arena, member.subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_set_attributes(stage->provider, stage->arena, id_text(stage->arena, id_new()), &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    stage_end(stage);
}

static enum web_outcome knock(struct stage *stage, const char **reason_out)
{
    struct outside *outside = outside_of(stage->provider);
    struct outside_answer answer;
    struct web_call call = {.method = "GET", .url = outside->wire->keys_url(outside)};
    outside_start(outside, OUTSIDE_LOGIN_MILLISECONDS);
    return outside_call(outside, stage->arena, &call, &answer, reason_out);
}

/* As when the time has passed that a provider is left alone for. */
static void rest_is_over(struct stage *stage)
{
    struct outside_gate gate;
    int file = open(arena_format(stage->arena, "%s/calls", stage->directory), O_RDWR);
    assert_int_equal(pread(file, &gate, sizeof gate, OUTSIDE_GATE_AT), sizeof gate);
    assert_true(gate.closed_until > clock_monotonic());
    gate.closed_until = clock_monotonic();
    assert_int_equal(pwrite(file, &gate, sizeof gate, OUTSIDE_GATE_AT), sizeof gate);
    (void)close(file);
}

static void a_provider_that_fails_is_left_alone_for_a_while(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    const char *reason = NULL;
    outside_of(stage->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++) {
        stage_fault(stage, "Keys", "status-500");
        assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    }
    size_t before = stage_count(stage, stage->calls->keys);
    for (int i = 0; i < 10; i++)
        assert_int_equal(knock(stage, &reason), WEB_UNREACHABLE);
    assert_non_null(strstr(reason, "recover"));
    assert_int_equal(stage_count(stage, stage->calls->keys), before);
    /* Its time over, a single failure is enough to close the gate again, and a success to open it. */
    rest_is_over(stage);
    stage_fault(stage, "Keys", "status-500");
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    assert_int_equal(knock(stage, &reason), WEB_UNREACHABLE);
    rest_is_over(stage);
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    stage_fault(stage, "Keys", "status-500");
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    stage_end(stage);
}

static void more_calls_than_places_are_refused_at_once(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    const char *reason = NULL;
    int other = open(arena_format(stage->arena, "%s/calls", stage->directory), O_RDWR | O_CREAT, 0600);
    struct flock place = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    assert_true(other >= 0 && fcntl(other, F_OFD_SETLK, &place) == 0);
    assert_int_equal(knock(stage, &reason), WEB_UNREACHABLE);
    assert_non_null(strstr(reason, "waiting"));
    (void)close(other); /* as when its process dies */
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    stage_end(stage);
}

static void the_last_good_key_set_goes_on(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    const struct key_set *keys = NULL, *again = NULL;
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_keys(stage->provider, stage->arena, false, &keys));
    assert_int_equal(key_set_count(keys), 1);
    size_t fetched = stage_count(stage, stage->calls->keys);
    assert_int_equal(fetched, 1);
    /* A stranger's token: asked once, and not again for a while, whatever the answer. */
    stage_fault(stage, "Keys", "html");
    for (int i = 0; i < 20; i++) {
        expect_ok(provider_keys(stage->provider, stage->arena, true, &again));
        assert_ptr_equal(keys, again);
    }
    assert_int_equal(stage_count(stage, stage->calls->keys), fetched + 1);
    assert_true(stage_opens(stage, &member, tokens.access_token));
    stage_end(stage);
}

/* What an operator changes in the files holds once the provider is told to forget. */
static void secrets_are_read_again(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    (void)stage_put(stage, "access-key", "wrong");
    provider_forget(stage->provider);
    expect_error(provider_set_enabled(stage->provider, stage->arena, member.subject, true, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)stage_put(stage, "access-key", POOL_ACCESS_KEY);
    provider_forget(stage->provider);
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    /* One that cannot be read takes nobody's place. */
    assert_int_equal(unlink(arena_format(stage->arena, "%s/access-key", stage->directory)), 0);
    provider_forget(stage->provider);
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, true, &outcome));
    stage_end(stage);
}

static void addresses_that_are_not_usable_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct outside_options outside = {.master = secret_of("0123456789abcdef0123456789abcdef")};
    struct cognito_options options = {.endpoint = "http://cognito.example.org", .keys_url = "https://x.example/jwks"};
    struct provider *provider;
    expect_error(cognito_new(arena, &outside, &options, &provider), ERROR_INTERNAL);
    options.endpoint = "https://cognito.example.org";
    options.keys_url = "ftp://x.example/jwks";
    expect_error(cognito_new(arena, &outside, &options, &provider), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_member_signs_in_once_confirmed),
    HARNESS_TEST(a_changed_password_is_changed_whatever_becomes_of_its_session),
    HARNESS_TEST(public_calls_are_not_signed_and_the_others_are),
    HARNESS_TEST(attributes_are_sent_as_the_row_is),
    HARNESS_TEST(a_provider_that_fails_is_left_alone_for_a_while),
    HARNESS_TEST(more_calls_than_places_are_refused_at_once),
    HARNESS_TEST(the_last_good_key_set_goes_on),
    HARNESS_TEST(secrets_are_read_again),
    HARNESS_TEST(addresses_that_are_not_usable_are_refused),
};
HARNESS_MODULE(cognito, cases)
