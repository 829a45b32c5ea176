/* SPDX-License-Identifier: MIT */
/* Codes that Cognito itself mails and verifies, with a strict pool of the tests' own (cognito_server.py). */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/provider_open.h"
#include "identity/support_remote.h"

/* The code of the last mail. */
static const char *last_code(struct scene *scene)
{
    const char *mails = harness_read(scene->arena, arena_format(scene->arena, "%s/mails", scene->directory), NULL);
    const char *found = NULL;
    for (const char *at = strstr(mails, "\"code\": \""); at != NULL; at = strstr(at + 1, "\"code\": \""))
        found = at + strlen("\"code\": \"");
    assert_non_null(found);
    return arena_copy(scene->arena, found, 6);
}

static const char *wrong_code(struct scene *scene)
{
    char *code = arena_text(scene->arena, last_code(scene));
    code[0] = code[0] == '9' ? '0' : (char)(code[0] + 1);
    return code;
}

static enum provider_outcome confirm(struct scene *scene, const char *subject, const char *code)
{
    enum provider_outcome outcome;
    expect_ok(provider_confirm_by_code(scene->provider, scene->arena, subject, code, &outcome));
    return outcome;
}

static enum provider_outcome send(struct scene *scene, const char *subject, enum provider_code code)
{
    enum provider_outcome outcome;
    expect_ok(provider_send_code(scene->provider, scene->arena, subject, code, &outcome));
    return outcome;
}

static enum provider_outcome reset(struct scene *scene, const char *subject, const char *code, const char *password)
{
    enum provider_outcome outcome;
    expect_ok(provider_reset_by_code(scene->provider, scene->arena, subject, code, secret_of(password), &outcome));
    return outcome;
}

static void a_member_confirms_with_the_code_of_the_pool(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    assert_true(provider_has_codes(scene->provider));
    struct person member = scene_given(scene, PROVIDER_AWAITING_CODE);
    const char *first = last_code(scene);
    assert_int_equal(confirm(scene, member.subject, wrong_code(scene)), PROVIDER_CODE_WRONG);
    assert_int_equal(confirm(scene, NULL, first), PROVIDER_CODE_WRONG);
    assert_int_equal(send(scene, member.subject, PROVIDER_CODE_CONFIRM), PROVIDER_OK);
    if (strcmp(first, last_code(scene)) != 0)
        assert_int_equal(confirm(scene, member.subject, first), PROVIDER_CODE_WRONG);
    assert_int_equal(confirm(scene, member.subject, last_code(scene)), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    assert_int_equal(confirm(scene, member.subject, last_code(scene)), PROVIDER_STATE);
    assert_int_equal(send(scene, member.subject, PROVIDER_CODE_CONFIRM), PROVIDER_STATE);
    scene_end(scene);
}

static void wrong_codes_are_counted_by_the_pool(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_AWAITING_CODE);
    for (int i = 0; i < 5; i++)
        assert_int_equal(confirm(scene, member.subject, wrong_code(scene)), PROVIDER_CODE_WRONG);
    assert_int_equal(confirm(scene, member.subject, last_code(scene)), PROVIDER_CODE_WRONG);
    scene_end(scene);
}

static void a_confirmation_whose_answer_is_lost_shows_with_the_next(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    scene_fault(scene, "ConfirmSignUp", "lost");
    struct error *error =
        provider_confirm_by_code(scene->provider, scene->arena, member.subject, last_code(scene), &outcome);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(confirm(scene, member.subject, last_code(scene)), PROVIDER_STATE);
    scene_end(scene);
}

static void a_reset_takes_the_code_and_ends_sessions(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_AWAITING_CODE);
    struct provider_tokens tokens;
    assert_int_equal(confirm(scene, member.subject, last_code(scene)), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    assert_int_equal(send(scene, member.subject, PROVIDER_CODE_RESET), PROVIDER_OK);
    assert_int_equal(reset(scene, member.subject, wrong_code(scene), OTHER), PROVIDER_CODE_WRONG);
    assert_int_equal(reset(scene, NULL, last_code(scene), OTHER), PROVIDER_CODE_WRONG);
    assert_int_equal(reset(scene, member.subject, last_code(scene), "short"), PROVIDER_PASSWORD_REFUSED);
    assert_int_equal(reset(scene, member.subject, last_code(scene), " begins with a blank"), PROVIDER_PASSWORD_REFUSED);
    assert_true(scene_opens(scene, &member, tokens.access_token));
    assert_int_equal(reset(scene, member.subject, last_code(scene), OTHER), PROVIDER_OK);
    assert_false(scene_opens(scene, &member, tokens.access_token));
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
    assert_int_equal(reset(scene, member.subject, last_code(scene), OTHER), PROVIDER_CODE_WRONG);
    scene_end(scene);
}

static void who_awaits_the_first_login_gets_no_reset(void **state)
{
    struct scene *scene = cognito_codes_scene_new(state);
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    assert_int_equal(send(scene, owner.subject, PROVIDER_CODE_RESET), PROVIDER_STATE);
    scene_end(scene);
}

/* provider_open() refuses codes = provider for a provider that mails none, and says what to set. */
static void only_a_provider_that_mails_codes_may_be_told_to(void **state)
{
    static const char *const names[] = {"embedded", "keycloak"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct configuration configuration = {.identity = {.provider = names[i], .codes = "provider"}};
        struct provider_dependencies parts = {.configuration = &configuration};
        struct provider *provider = NULL;
        struct error *error = provider_open(arena, &parts, &provider);
        assert_non_null(error);
        assert_non_null(strstr(error->message, "[identity] codes = provider"));
        assert_non_null(strstr(error->message, names[i]));
    }
}

static void codes_are_ours_where_nothing_else_is_said(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    assert_false(provider_has_codes(scene->provider));
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_member_confirms_with_the_code_of_the_pool),
    HARNESS_TEST(wrong_codes_are_counted_by_the_pool),
    HARNESS_TEST(a_confirmation_whose_answer_is_lost_shows_with_the_next),
    HARNESS_TEST(a_reset_takes_the_code_and_ends_sessions),
    HARNESS_TEST(who_awaits_the_first_login_gets_no_reset),
    HARNESS_TEST(only_a_provider_that_mails_codes_may_be_told_to),
    HARNESS_TEST(codes_are_ours_where_nothing_else_is_said),
};
HARNESS_MODULE(cognito_codes, cases)
