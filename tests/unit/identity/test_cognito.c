/* SPDX-License-Identifier: MIT */
/* Cognito's adapter against a strict pool of the tests' own (cognito_server.py). */
#include "harness.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "database_fixture.h"
#include "domain/session.h"
#include "domain/support.h"
#include "identity/cognito.h"
#include "identity/outside_int.h"
#include "identity/provider.h"
#include "store/script_server.h"

#define TEMPORARY "temporary-password-1"
#define PERMANENT "permanent-password-1"
#define OTHER "another-password-2"
#define ACCESS_KEY "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

struct stage {
    struct arena *arena;
    struct database *database;
    struct provider *provider;
    const char *directory;
};

static const char *number(struct arena *arena, const EVP_PKEY *key, const char *name)
{
    BIGNUM *value = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &value), 1);
    char *hex = BN_bn2hex(value);
    const char *copy = arena_text(arena, hex);
    OPENSSL_free(hex);
    BN_free(value);
    return copy;
}

/* The pool's key, made once for the whole program. */
static const char *pool_key(struct arena *arena)
{
    static EVP_PKEY *key;
    if (key == NULL)
        key = EVP_RSA_gen(2048);
    assert_non_null(key);
    return arena_format(arena, "{\"n\":\"%s\",\"d\":\"%s\",\"kid\":\"pool-key\"}", number(arena, key, OSSL_PKEY_PARAM_RSA_N),
                        number(arena, key, OSSL_PKEY_PARAM_RSA_D));
}

static struct stage *stage_new(void **state)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct stage *stage = arena_alloc(arena, sizeof *stage);
    stage->arena = arena;
    stage->database = database_fixture_new();
    stage->directory = harness_directory(arena);
    const char *key = pool_key(arena);
    (void)harness_write(arena, stage->directory, "key.json", key, strlen(key));
    const char *port = script_server_start(arena, "tests/unit/identity/cognito_server.py", stage->directory, none);
    const char *endpoint = arena_format(arena, "http://127.0.0.1:%s", port);
    struct outside_options outside = {
        .database = stage->database,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .refresh_token_seconds = 2592000,
        .temporary_password_seconds = 604800,
        .places_file = arena_format(arena, "%s/calls", stage->directory),
        .calls_max = 1,
        .rest_seconds = 2,
    };
    struct cognito_options options = {
        .region = "eu-central-1",
        .endpoint = endpoint,
        .issuer = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Tests",
        .keys_url = arena_format(arena, "%s/eu-central-1_Tests/.well-known/jwks.json", endpoint),
        .user_pool_id = "eu-central-1_Tests",
        .client_id = "testclient",
        .client_secret_file = harness_write(arena, stage->directory, "client-secret", "client secret\n", 14),
        .access_key_id = "AKIDEXAMPLE",
        .secret_access_key_file =
            harness_write(arena, stage->directory, "access-key", ACCESS_KEY, sizeof ACCESS_KEY - 1),
    };
    expect_ok(cognito_new(arena, &outside, &options, &stage->provider));
    return stage;
}

static void stage_end(struct stage *stage)
{
    provider_free(&stage->provider);
    assert_null(stage->provider);
    database_free(&stage->database);
}

/* A user of ours with an account in the pool. */
struct person {
    struct id id;
    const char *email;
    const char *subject;
};

static enum provider_outcome create(struct stage *stage, enum provider_account_kind kind, struct id id,
                                    const char *email, const char *password, const char **subject_out)
{
    struct provider_account account = {.kind = kind,
                                       .user_id = id,
                                       .email = email,
                                       .phone = "+4930123456",
                                       .permissions = "rwx:*",
                                       .password = secret_of(password)};
    enum provider_outcome outcome;
    expect_ok(provider_create(stage->provider, stage->arena, &account, subject_out, &outcome));
    return outcome;
}

static struct person given(struct stage *stage, enum provider_account_kind kind)
{
    struct arena *arena = stage->arena;
    struct user *user = given_user(stage->database, arena, given_organisation(stage->database, arena), "owner", NULL);
    struct person person = {.id = user->id, .email = user->email};
    const char *password = kind == PROVIDER_INVITED ? TEMPORARY : PERMANENT;
    assert_int_equal(create(stage, kind, person.id, person.email, password, &person.subject), PROVIDER_OK);
    sql(stage->database, arena, "UPDATE user SET provider_subject = '%s', status = '%s' WHERE id = %s", person.subject,
        kind == PROVIDER_INVITED ? "awaiting-first-login" : "active", sql_id(arena, person.id));
    return person;
}

static enum provider_outcome login(struct stage *stage, const struct person *person, const char *password,
                                   bool new_password_sent, struct provider_tokens *tokens_out,
                                   struct provider_challenge *challenge_out)
{
    struct provider_login attempt = {.password = secret_of(password), .new_password_sent = new_password_sent};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    if (person != NULL) {
        attempt.subject = person->subject;
        attempt.user_id = person->id;
        attempt.email = person->email;
    }
    expect_ok(provider_login(stage->provider, stage->arena, &attempt, tokens_out != NULL ? tokens_out : &tokens,
                             challenge_out != NULL ? challenge_out : &challenge, &outcome));
    return outcome;
}

/* Whether the API would take the token: it holds, and its session stands for this user. */
static bool opens(struct stage *stage, const struct person *person, const char *token)
{
    struct token_rules rules;
    struct token_claims claims;
    bool known = false, good = false;
    provider_rules(stage->provider, &rules);
    rules.leeway = LIMIT_TOKEN_LEEWAY_SECONDS;
    rules.now = clock_now() / 1000;
    expect_ok(provider_keys(stage->provider, stage->arena, false, &rules.keys));
    if (token_verify(stage->arena, &rules, token, strlen(token), &claims, NULL) != TOKEN_GOOD)
        return false;
    expect_ok(provider_resolve(stage->provider, stage->arena, &claims, &known));
    if (!known)
        return false;
    assert_true(id_equal(claims.subject, person->id));
    expect_ok(session_check(stage->database, stage->arena, claims.session, claims.subject, &good));
    return good;
}

static const char *log_of(struct stage *stage)
{
    return harness_read(stage->arena, arena_format(stage->arena, "%s/log", stage->directory), NULL);
}

static void fault(struct stage *stage, const char *what)
{
    (void)harness_write(stage->arena, stage->directory, "fault", what, strlen(what));
}

static size_t calls(struct stage *stage, const char *operation)
{
    const char *wanted = arena_format(stage->arena, "\"operation\": \"%s\"", operation);
    size_t count = 0;
    for (const char *at = strstr(log_of(stage), wanted); at != NULL; at = strstr(at + 1, wanted))
        count++;
    return count;
}

/* ---- cases --------------------------------------------------------------------------------------- */

static void a_first_login_takes_two_steps(void **state)
{
    struct stage *stage = stage_new(state);
    struct person owner = given(stage, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(login(stage, &owner, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(login(stage, &owner, TEMPORARY, true, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(TEMPORARY), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_SAME_PASSWORD);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of("short"), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(PERMANENT), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(opens(stage, &owner, tokens.access_token));
    assert_in_range(tokens.expires_in, 890, 900);
    expect_ok(provider_answer_new_password(stage->provider, stage->arena, &challenge, secret_of(OTHER), &tokens,
                                           &outcome));
    assert_int_equal(outcome, PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(login(stage, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(login(stage, &owner, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    stage_end(stage);
}

static void a_temporary_password_holds_as_long_as_we_say(void **state)
{
    struct stage *stage = stage_new(state);
    struct person owner = given(stage, PROVIDER_INVITED);
    enum provider_outcome outcome;
    sql(stage->database, stage->arena,
        "UPDATE outside_account SET temporary_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
        sql_id(stage->arena, owner.id));
    assert_int_equal(login(stage, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_TEMPORARY_EXPIRED);
    expect_ok(provider_invite_again(stage->provider, stage->arena, owner.subject, secret_of(OTHER), &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(login(stage, &owner, TEMPORARY, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(login(stage, &owner, OTHER, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    sql(stage->database, stage->arena, "UPDATE user SET status = 'active' WHERE id = %s", sql_id(stage->arena, owner.id));
    expect_ok(provider_invite_again(stage->provider, stage->arena, owner.subject, secret_of(TEMPORARY), &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(login(stage, &owner, OTHER, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    stage_end(stage);
}

static void a_member_signs_in_once_confirmed(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    assert_int_equal(login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_confirm(stage->provider, stage->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_confirm(stage->provider, stage->arena, member.subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    assert_int_equal(login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    stage_end(stage);
}

static void nobody_and_a_wrong_password_are_told_alike(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    assert_int_equal(login(stage, NULL, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(login(stage, &member, OTHER, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(calls(stage, "InitiateAuth"), 2);
    assert_int_equal(login(stage, &member, PERMANENT, true, NULL, NULL), PROVIDER_PERMANENT_PASSWORD);
    assert_int_equal(calls(stage, "RevokeToken"), 1);
    assert_int_equal(sql_integer(stage->database, stage->arena, "SELECT COUNT(*) FROM session WHERE user_id = %s",
                                 sql_id(stage->arena, member.id)),
                     0);
    stage_end(stage);
}

static void public_calls_are_not_signed_and_the_others_are(void **state)
{
    static const char *const open[] = {"SignUp", "InitiateAuth", "RevokeToken"};
    struct stage *stage = stage_new(state);
    (void)given(stage, PROVIDER_AWAITING_CODE);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    assert_int_equal(login(stage, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_logout(stage->provider, stage->arena, member.subject, tokens.session_id));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_non_null(strstr(log_of(stage), arena_format(stage->arena, "\"%s\", \"signed\": false", open[i])));
    assert_non_null(strstr(log_of(stage), "\"AdminCreateUser\", \"signed\": true"));
    assert_null(strstr(log_of(stage), "\"type\": \"application/x-www-form-urlencoded\""));
    stage_end(stage);
}

static void refresh_tokens_are_ours_rotate_and_tell_copies(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first, second, third;
    enum provider_outcome outcome;
    assert_int_equal(login(stage, &member, PERMANENT, false, &first, NULL), PROVIDER_OK);
    assert_int_equal(strlen(first.refresh_token), 43);
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &second, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_string_not_equal(first.refresh_token, second.refresh_token);
    assert_true(opens(stage, &member, second.access_token));
    /* Within the grace the spent one is answered once more. */
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    sql(stage->database, stage->arena,
        "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 11 SECOND WHERE spent_at IS NOT NULL");
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_REUSED);
    assert_true(id_equal(third.user_id, member.id));
    assert_false(opens(stage, &member, second.access_token));
    expect_ok(provider_refresh(stage->provider, stage->arena, second.refresh_token, &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    expect_ok(provider_refresh(stage->provider, stage->arena, "no token of ours", &third, &outcome));
    assert_int_equal(outcome, PROVIDER_TOKEN_INVALID);
    stage_end(stage);
}

/* A refresh that the provider did not answer leaves the token as it was. */
static void a_refresh_without_an_answer_can_be_repeated(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first, second;
    enum provider_outcome outcome;
    assert_int_equal(login(stage, &member, PERMANENT, false, &first, NULL), PROVIDER_OK);
    fault(stage, "InitiateAuth html");
    expect_error(provider_refresh(stage->provider, stage->arena, first.refresh_token, &second, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    sql(stage->database, stage->arena, "UPDATE identity_refresh SET created_at = created_at - INTERVAL 1 MINUTE");
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &second, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    stage_end(stage);
}

static void ended_sessions_open_nothing_though_their_tokens_verify(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    enum provider_outcome outcome;
    assert_int_equal(login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(login(stage, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    assert_true(opens(stage, &member, one.access_token) && opens(stage, &member, other.access_token));
    expect_ok(provider_logout(stage->provider, stage->arena, member.subject, one.session_id));
    assert_false(opens(stage, &member, one.access_token));
    assert_true(opens(stage, &member, other.access_token));
    assert_int_equal(calls(stage, "RevokeToken"), 1);
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(opens(stage, &member, other.access_token));
    assert_int_equal(login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, true, &outcome));
    assert_int_equal(login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_false(opens(stage, &member, other.access_token));
    expect_ok(provider_logout_all(stage->provider, stage->arena, member.subject));
    assert_false(opens(stage, &member, one.access_token));
    assert_int_equal(calls(stage, "AdminUserGlobalSignOut"), 1);
    stage_end(stage);
}

/* A token from a sign-in page of the provider's own: unknown to us until it comes. */
static void a_session_that_began_elsewhere_can_be_ended_here(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    assert_int_equal(login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(login(stage, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
    sql(stage->database, stage->arena, "DELETE FROM session WHERE user_id = %s", sql_id(stage->arena, member.id));
    assert_true(opens(stage, &member, one.access_token));
    expect_ok(provider_logout_all(stage->provider, stage->arena, member.subject));
    assert_false(opens(stage, &member, one.access_token));
    /* Not even one that was never seen before. */
    assert_false(opens(stage, &member, other.access_token));
    stage_end(stage);
}

static void passwords_are_changed_set_and_judged(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens one, other;
    struct provider *provider = stage->provider;
    enum provider_outcome outcome;
    assert_int_equal(login(stage, &member, PERMANENT, false, &one, NULL), PROVIDER_OK);
    assert_int_equal(login(stage, &member, PERMANENT, false, &other, NULL), PROVIDER_OK);
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
    assert_true(opens(stage, &member, one.access_token));
    assert_false(opens(stage, &member, other.access_token));
    expect_ok(provider_set_password(provider, stage->arena, member.subject, secret_of("short"), false, &outcome));
    assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
    expect_ok(provider_set_password(provider, stage->arena, member.subject, secret_of(TEMPORARY), true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(opens(stage, &member, one.access_token));
    assert_int_equal(login(stage, &member, TEMPORARY, false, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_set_password(provider, stage->arena, id_text(stage->arena, id_new()), secret_of(OTHER), false,
                                    &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    stage_end(stage);
}

static void a_repeated_creation_takes_its_own_account_over(void **state)
{
    struct stage *stage = stage_new(state);
    struct arena *arena = stage->arena;
    struct id mine = id_new();
    const char *subject, *again, *other;
    assert_int_equal(create(stage, PROVIDER_INVITED, mine, "again@example.com", TEMPORARY, &subject), PROVIDER_OK);
    assert_int_equal(create(stage, PROVIDER_INVITED, mine, "again@example.com", OTHER, &again), PROVIDER_OK);
    assert_string_equal(subject, again);
    assert_int_equal(create(stage, PROVIDER_INVITED, id_new(), "again@example.com", OTHER, &other), PROVIDER_EXISTS);
    expect_ok(provider_remove(stage->provider, arena, id_new(), "again@example.com"));
    assert_int_equal(create(stage, PROVIDER_INVITED, id_new(), "again@example.com", OTHER, &other), PROVIDER_EXISTS);
    expect_ok(provider_remove(stage->provider, arena, mine, "again@example.com"));
    expect_ok(provider_remove(stage->provider, arena, mine, "again@example.com"));
    assert_int_equal(create(stage, PROVIDER_AWAITING_CODE, mine, "again@example.com", PERMANENT, &subject), PROVIDER_OK);
    assert_int_equal(create(stage, PROVIDER_AWAITING_CODE, mine, "again@example.com", OTHER, &again), PROVIDER_OK);
    assert_string_not_equal(subject, again);
    assert_int_equal(create(stage, PROVIDER_INVITED, id_new(), "weak@example.com", "short", &other),
                     PROVIDER_PASSWORD_REFUSED);
    stage_end(stage);
}

static void attributes_are_sent_as_the_row_is(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
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

static void failures_of_the_provider_let_nobody_in(void **state)
{
    static const char *const kinds[] = {"status-500", "html", "half", "cut", "silent"};
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct provider_login attempt = {.subject = member.subject, .user_id = member.id, .password = secret_of(PERMANENT)};
        struct provider_tokens tokens;
        struct provider_challenge challenge;
        enum provider_outcome outcome;
        size_t before = calls(stage, "InitiateAuth");
        outside_of(stage->provider)->failures = 0;
        fault(stage, arena_format(stage->arena, "InitiateAuth %s", kinds[i]));
        expect_error(provider_login(stage->provider, stage->arena, &attempt, &tokens, &challenge, &outcome),
                     ERROR_IDENTITY_UNAVAILABLE);
        assert_int_equal(calls(stage, "InitiateAuth"), before + 1);
    }
    assert_int_equal(sql_integer(stage->database, stage->arena, "SELECT COUNT(*) FROM session WHERE user_id = %s",
                                 sql_id(stage->arena, member.id)),
                     0);
    fault(stage, "InitiateAuth throttle");
    assert_int_equal(login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    stage_end(stage);
}

static enum web_outcome knock(struct stage *stage, const char **reason_out)
{
    struct outside *outside = outside_of(stage->provider);
    struct web_answer answer;
    struct web_call call = {.method = "GET", .url = outside->wire->keys_url(outside), .milliseconds = 1000};
    return outside_call(outside, stage->arena, &call, &answer, reason_out);
}

static void a_provider_that_fails_is_left_alone_for_a_while(void **state)
{
    struct stage *stage = stage_new(state);
    const char *reason = NULL;
    for (int i = 0; i < 5; i++) {
        fault(stage, "Keys status-500");
        assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    }
    size_t before = calls(stage, "GET /eu-central-1_Tests/.well-known/jwks.json");
    for (int i = 0; i < 10; i++)
        assert_int_equal(knock(stage, &reason), WEB_UNREACHABLE);
    assert_non_null(strstr(reason, "recover"));
    assert_int_equal(calls(stage, "GET /eu-central-1_Tests/.well-known/jwks.json"), before);
    /* Its time over, a single failure is enough to close the gate again, and a success to open it. */
    struct outside *outside = outside_of(stage->provider);
    outside->closed_until = 0;
    fault(stage, "Keys status-500");
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    assert_int_equal(knock(stage, &reason), WEB_UNREACHABLE);
    outside->closed_until = 0;
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    fault(stage, "Keys status-500");
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    assert_int_equal(knock(stage, &reason), WEB_ANSWERED);
    stage_end(stage);
}

static void more_calls_than_places_are_refused_at_once(void **state)
{
    struct stage *stage = stage_new(state);
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
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens;
    const struct key_set *keys = NULL, *again = NULL;
    assert_int_equal(login(stage, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    expect_ok(provider_keys(stage->provider, stage->arena, false, &keys));
    assert_int_equal(key_set_count(keys), 1);
    size_t fetched = calls(stage, "GET /eu-central-1_Tests/.well-known/jwks.json");
    assert_int_equal(fetched, 1);
    /* A stranger's token: asked once, and not again for a while, whatever the answer. */
    fault(stage, "Keys html");
    for (int i = 0; i < 20; i++) {
        expect_ok(provider_keys(stage->provider, stage->arena, true, &again));
        assert_ptr_equal(keys, again);
    }
    assert_int_equal(calls(stage, "GET /eu-central-1_Tests/.well-known/jwks.json"), fetched + 1);
    assert_true(opens(stage, &member, tokens.access_token));
    stage_end(stage);
}

/* What an operator changes in the files holds once the provider is told to forget. */
static void secrets_are_read_again(void **state)
{
    struct stage *stage = stage_new(state);
    struct person member = given(stage, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    (void)harness_write(stage->arena, stage->directory, "access-key", "wrong", 5);
    provider_forget(stage->provider);
    expect_error(provider_set_enabled(stage->provider, stage->arena, member.subject, true, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)harness_write(stage->arena, stage->directory, "access-key", ACCESS_KEY, sizeof ACCESS_KEY - 1);
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
    HARNESS_TEST(a_first_login_takes_two_steps),
    HARNESS_TEST(a_temporary_password_holds_as_long_as_we_say),
    HARNESS_TEST(a_member_signs_in_once_confirmed),
    HARNESS_TEST(nobody_and_a_wrong_password_are_told_alike),
    HARNESS_TEST(public_calls_are_not_signed_and_the_others_are),
    HARNESS_TEST(refresh_tokens_are_ours_rotate_and_tell_copies),
    HARNESS_TEST(a_refresh_without_an_answer_can_be_repeated),
    HARNESS_TEST(ended_sessions_open_nothing_though_their_tokens_verify),
    HARNESS_TEST(a_session_that_began_elsewhere_can_be_ended_here),
    HARNESS_TEST(passwords_are_changed_set_and_judged),
    HARNESS_TEST(a_repeated_creation_takes_its_own_account_over),
    HARNESS_TEST(attributes_are_sent_as_the_row_is),
    HARNESS_TEST(failures_of_the_provider_let_nobody_in),
    HARNESS_TEST(a_provider_that_fails_is_left_alone_for_a_while),
    HARNESS_TEST(more_calls_than_places_are_refused_at_once),
    HARNESS_TEST(the_last_good_key_set_goes_on),
    HARNESS_TEST(secrets_are_read_again),
    HARNESS_TEST(addresses_that_are_not_usable_are_refused),
};
HARNESS_MODULE(cognito, cases)
