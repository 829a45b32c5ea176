/* SPDX-License-Identifier: MIT */
/*
 * The driver for Keycloak, with a strict realm of the tests' own (keycloak_server.py). With GATEHOUSE_TEST_KEYCLOAK,
 * the address of a real server, and GATEHOUSE_TEST_KEYCLOAK_SECRETS, the folder with the secrets of a quick start's
 * clients, what needs no fault runs against its realm (tools/test providers).
 */
#include "harness.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/keycloak/keycloak_int.h"
#include "identity/support_remote.h"
#include "support_database.h"

/* Only whoever knows the password is told that the account awaits its code. A new password does not confirm it. */
static void a_member_signs_in_once_confirmed(void **state)
{
    struct scene *scene = keycloak_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_UNCONFIRMED);
    assert_int_equal(scene_login(scene, &member, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_set_password(scene->provider, scene->arena, member.subject, secret_of(OTHER), false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_UNCONFIRMED);
    expect_ok(provider_confirm(scene->provider, scene->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_confirm(scene->provider, scene->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    expect_ok(provider_confirm(scene->provider, scene->arena, id_text(scene->arena, id_new()), &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
    scene_end(scene);
}

static enum provider_outcome set_permissions(struct scene *scene, const char *subject, const char *permissions)
{
    struct provider_attributes attributes = {.set_permissions = true, .permissions = permissions};
    enum provider_outcome outcome;
    expect_ok(provider_set_attributes(scene->provider, scene->arena, subject, &attributes, &outcome));
    return outcome;
}

static struct keycloak_user account_of(struct scene *scene, const struct person *person)
{
    struct keycloak_user user;
    struct remote *remote = remote_of(scene->provider);
    remote_start(remote, remote->options.admin_milliseconds);
    expect_ok(keycloak_user_get(keycloak_of(remote), scene->arena, person->subject, &user));
    return user;
}

/* What a change does not name stays, although Keycloak replaces the whole account. */
static void a_change_keeps_everything_else(void **state)
{
    struct scene *scene = keycloak_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_INVITED);
    enum provider_outcome outcome;
    struct provider_attributes attributes = {.email = member.email,
                                             .set_verified = true,
                                             .set_phone = true,
                                             .email_verified = true,
                                             .phone = "+49891",
                                             .phone_verified = true};
    expect_ok(provider_set_attributes(scene->provider, scene->arena, member.subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(set_permissions(scene, member.subject, "inv:*:w cus:*:w"), PROVIDER_OK);
    struct keycloak_user user = account_of(scene, &member);
    assert_string_equal(keycloak_user_attribute(&user, "permissions"), "inv:*:w cus:*:w");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumber"), "+49891");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumberVerified"), "true");
    assert_string_equal(keycloak_user_attribute(&user, "svcUserId"), id_text(scene->arena, member.id));
    assert_true(user.email_verified && user.enabled && keycloak_user_is_temporary(&user));
    assert_string_equal(user.email, member.email);
    assert_int_equal(set_permissions(scene, member.subject, ""), PROVIDER_OK);
    attributes.phone = NULL;
    expect_ok(provider_set_attributes(scene->provider, scene->arena, member.subject, &attributes, &outcome));
    user = account_of(scene, &member);
    assert_null(keycloak_user_attribute(&user, "permissions"));
    assert_null(keycloak_user_attribute(&user, "phoneNumber"));
    assert_int_equal(set_permissions(scene, id_text(scene->arena, id_new()), "x:y:r"), PROVIDER_ABSENT);
    assert_int_equal(scene_login(scene, &member, TEMPORARY, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    scene_end(scene);
}

#define WRITES 4

/* The lock of an account has no queue, so a change may be told that the others take too long. It is made anew then. */
static bool write_once(struct provider *provider, struct arena *arena, const char *subject,
                       const struct provider_attributes *attributes)
{
    int64_t until = clock_monotonic() + INT64_C(120000000);
    enum provider_outcome outcome = PROVIDER_OUTCOME_COUNT;
    struct error *error;
    do
        error = provider_set_attributes(provider, arena, subject, attributes, &outcome);
    while (error != NULL && error->code == ERROR_IDENTITY_UNAVAILABLE &&
           strstr(error->detail, "takes too long") != NULL && clock_monotonic() < until);
    return error == NULL && outcome == PROVIDER_OK;
}

/* Starts a process that writes one attribute several times; it ends with 0 when all went well. */
static void write_attribute(struct scene *scene, const struct person *person, int which)
{
    struct provider *provider = keycloak_scene_provider(scene, support_database_new());
    for (int i = 0; i < WRITES; i++) {
        const char *text = arena_format(scene->arena, "%d", i);
        struct provider_attributes attributes = {.set_permissions = which == 0,
                                                 .set_phone = which == 1,
                                                 .set_verified = which == 2,
                                                 .phone_verified = true,
                                                 .email_verified = true,
                                                 .permissions = text,
                                                 .phone = text};
        if (!write_once(provider, scene->arena, person->subject, &attributes))
            _exit(1);
    }
    _exit(0);
}

static void writes_at_the_same_time_lose_nothing(void **state)
{
    struct scene *scene = keycloak_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    pid_t children[3];
    (void)scene_put(scene, "slow", "");
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            write_attribute(scene, &member, i);
    }
    for (int i = 0; i < 3; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct keycloak_user user = account_of(scene, &member);
    assert_string_equal(keycloak_user_attribute(&user, "permissions"), "3");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumber"), "3");
    assert_string_equal(keycloak_user_attribute(&user, "phoneNumberVerified"), "true");
    scene_end(scene);
}

/* Nobody signs in here to an account that requires more than a new password, and nothing of it changes. */
static void other_required_actions_are_not_answered(void **state)
{
    struct scene *scene = keycloak_scene_new(state);
    struct person owner = scene_given(scene, PROVIDER_INVITED);
    struct keycloak *keycloak = keycloak_of(remote_of(scene->provider));
    struct keycloak_user user = account_of(scene, &owner);
    const char *actions[] = {"UPDATE_PASSWORD", "UPDATE_PROFILE"};
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, false, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    user.actions = (struct text_list){actions, 2};
    expect_ok(keycloak_user_put(keycloak, scene->arena, &user, NULL, 0, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_answer_new_password(scene->provider, scene->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(scene_login(scene, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_DISABLED);
    assert_int_equal(scene_login(scene, &owner, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    scene_end(scene);
}

/* A person who is signed in can change the password although an administrator has required an action at Keycloak. */
static void other_required_actions_keep_nobody_from_another_password(void **state)
{
    struct scene *scene = keycloak_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct keycloak *keycloak = keycloak_of(remote_of(scene->provider));
    struct keycloak_user user = account_of(scene, &member);
    const char *actions[] = {"CONFIGURE_TOTP"};
    struct provider_tokens tokens;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    enum provider_outcome outcome;
    user.actions = (struct text_list){actions, 1};
    expect_ok(keycloak_user_put(keycloak, scene->arena, &user, NULL, 0, &outcome));
    static const struct {
        const char *password, *new_password;
        enum provider_outcome outcome;
    } rows[] = {{TEMPORARY, OTHER, PROVIDER_BAD_CREDENTIALS},
                {TEMPORARY, TEMPORARY, PROVIDER_BAD_CREDENTIALS},
                {PERMANENT, PERMANENT, PROVIDER_SAME_PASSWORD},
                {PERMANENT, OTHER, PROVIDER_OK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_ok(provider_change_password(scene->provider, scene->arena, member.subject, tokens.session_id,
                                           secret_of(rows[i].password), secret_of(rows[i].new_password), &outcome));
        assert_int_equal(outcome, rows[i].outcome);
    }
    user = account_of(scene, &member);
    assert_true(keycloak_user_requires(&user, "CONFIGURE_TOTP"));
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_DISABLED);
    scene_end(scene);
}

/* How many sessions are open at Keycloak, of all applications. */
static size_t sessions_of(struct scene *scene, const struct person *person)
{
    struct keycloak *keycloak = keycloak_of(remote_of(scene->provider));
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, scene->arena, "GET", keycloak_user_path(scene->arena, person->subject, "/sessions"),
                         &call);
    expect_ok(keycloak_admin_call(keycloak, scene->arena, &call));
    assert_int_equal(call.status, 200);
    return document_count(call.answer);
}

static void another_password_ends_sessions_at_keycloak(void **state)
{
    struct scene *scene = keycloak_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other, next;
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    /* A session of another application, of which the service does not know. */
    sql(scene->database, scene->arena, "DELETE FROM session WHERE user_id = %s AND id <> %s",
        sql_id(scene->arena, member.id), sql_id(scene->arena, one.session_id));
    assert_int_equal(sessions_of(scene, &member), 2);
    expect_ok(provider_change_password(scene->provider, scene->arena, member.subject, one.session_id,
                                       secret_of(PERMANENT), secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(sessions_of(scene, &member), 1);
    expect_ok(provider_refresh(scene->provider, scene->arena, one.refresh_token, &next, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(scene_opens(scene, &member, next.access_token));
    expect_ok(
        provider_set_password(scene->provider, scene->arena, member.subject, secret_of(PERMANENT), false, &outcome));
    assert_int_equal(sessions_of(scene, &member), 0);
    scene_end(scene);
}

/* The password counts then; the log says that the sessions did not end. */
static void a_password_counts_although_sessions_do_not_end(void **state)
{
    static const char *const faults[] = {"GET user/sessions", "DELETE session"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct scene *scene = keycloak_scripted(state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        struct provider_tokens one;
        enum provider_outcome outcome;
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
        scene_fault(scene, faults[i], "status-500");
        expect_ok(provider_change_password(scene->provider, scene->arena, member.subject, one.session_id,
                                           secret_of(PERMANENT), secret_of(OTHER), &outcome));
        assert_int_equal(outcome, PROVIDER_OK);
        assert_int_equal(sessions_of(scene, &member), 2);
        assert_int_equal(sql_integer(scene->database, scene->arena,
                                     "SELECT COUNT(*) FROM outside_intent WHERE user_id = %s",
                                     sql_id(scene->arena, member.id)),
                         0);
        assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
        scene_end(scene);
    }
}

/* In a realm whose user names are addresses an account is renamed with its address. A login of nobody takes as long. */
static void a_renamed_account_signs_in_by_the_address_here(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct keycloak *keycloak = keycloak_of(remote_of(scene->provider));
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct keycloak_user user = account_of(scene, &member);
    enum provider_outcome outcome;
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    size_t reads = scene_count(scene, "GET user");
    assert_int_equal(scene_login(scene, NULL, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_count(scene, "GET user"), reads + 1);
    assert_int_equal(scene_count(scene, "grant password"), 2);
    user.username = user.email = "moved@example.com";
    expect_ok(keycloak_user_put(keycloak, scene->arena, &user, NULL, 0, &outcome));
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(scene_count(scene, "grant password"), 6);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_member_signs_in_once_confirmed),
    HARNESS_TEST(a_change_keeps_everything_else),
    HARNESS_TEST(writes_at_the_same_time_lose_nothing),
    HARNESS_TEST(other_required_actions_are_not_answered),
    HARNESS_TEST(other_required_actions_keep_nobody_from_another_password),
    HARNESS_TEST(another_password_ends_sessions_at_keycloak),
    HARNESS_TEST(a_password_counts_although_sessions_do_not_end),
    HARNESS_TEST(a_renamed_account_signs_in_by_the_address_here),
};
HARNESS_MODULE(keycloak_provider, cases)
