/* SPDX-License-Identifier: MIT */
/* What the tests of remote identity providers share. */
#include "identity/support_remote.h"

#include "harness.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "store/script_server.h"
#include "support_database.h"

static const struct stage_calls cognito_calls = {"InitiateAuth",           "InitiateAuth",         "RevokeToken",
                                                 "AdminUserGlobalSignOut", "AdminSetUserPassword", "Keys",
                                                 "GET " POOL_KEYS_PATH};
static const struct stage_calls keycloak_calls = {
    "grant password", "grant refresh_token", "logout", "POST user/logout", "PUT user/reset-password", "certs", "certs"};

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

/* The provider's key, made once for the whole program. */
static const char *signing_key(struct arena *arena)
{
    static EVP_PKEY *key;
    if (key == NULL)
        key = EVP_RSA_gen(2048);
    assert_non_null(key);
    return arena_format(arena, "{\"n\":\"%s\",\"d\":\"%s\",\"kid\":\"test-key\"}",
                        number(arena, key, OSSL_PKEY_PARAM_RSA_N), number(arena, key, OSSL_PKEY_PARAM_RSA_D));
}

const char *stage_put(struct stage *stage, const char *name, const char *text)
{
    return harness_write(stage->arena, stage->directory, name, text, strlen(text));
}

/* The folder, and the script in it unless another server is at `url`. */
static struct stage *stage_new(void **state, const char *script, const char *url, const struct stage_calls *calls)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct stage *stage = arena_alloc(arena, sizeof *stage);
    stage->arena = arena;
    stage->database = database_fixture_new();
    stage->directory = harness_directory(arena);
    stage->calls = calls;
    stage->is_scripted = url == NULL;
    stage->url = url;
    (void)stage_put(stage, "key.json", signing_key(arena));
    (void)stage_put(stage, "log", "");
    if (url == NULL)
        stage->url =
            arena_format(arena, "http://127.0.0.1:%s", script_server_start(arena, script, stage->directory, none));
    return stage;
}

static struct remote_options remote_options_of(struct stage *stage, struct database *database, int64_t calls_max)
{
    return (struct remote_options){
        .database = database,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .refresh_token_seconds = 2592000,
        .refresh_grace_seconds = 10,
        .login_milliseconds = 5000,
        .admin_milliseconds = 8000,
        .temporary_password_seconds = 604800,
        .slots_file = arena_format(stage->arena, "%s/calls", stage->directory),
        .calls_max = calls_max,
        .rest_seconds = 2,
    };
}

struct cognito_options cognito_stage_options(const struct stage *stage)
{
    return (struct cognito_options){
        .region = "eu-central-1",
        .endpoint = stage->url,
        .issuer = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Tests",
        .keys_url = arena_format(stage->arena, "%s" POOL_KEYS_PATH, stage->url),
        .user_pool_id = "eu-central-1_Tests",
        .client_id = "testclient",
        .client_secret_file = arena_format(stage->arena, "%s/client-secret", stage->directory),
        .access_key_id = "AKIDEXAMPLE",
        .secret_access_key_file = arena_format(stage->arena, "%s/access-key", stage->directory),
    };
}

static struct stage *cognito_stage(void **state, bool codes)
{
    struct stage *stage = stage_new(state, "tests/unit/identity/cognito_server.py", NULL, &cognito_calls);
    struct remote_options remote = remote_options_of(stage, stage->database, 1);
    remote.codes = codes;
    if (codes)
        (void)stage_put(stage, "codes", "");
    struct cognito_options options = cognito_stage_options(stage);
    (void)stage_put(stage, "client-secret", "client secret\n");
    (void)stage_put(stage, "access-key", POOL_ACCESS_KEY);
    expect_ok(cognito_new(stage->arena, &remote, &options, &stage->provider));
    return stage;
}

struct stage *cognito_stage_new(void **state)
{
    return cognito_stage(state, false);
}

struct stage *cognito_codes_stage_new(void **state)
{
    return cognito_stage(state, true);
}

struct keycloak_options keycloak_stage_options(const struct stage *stage)
{
    struct arena *arena = stage->arena;
    return (struct keycloak_options){
        .url = stage->url,
        .realm = "gatehouse",
        .issuer = arena_format(arena, "%s/realms/gatehouse", stage->url),
        .keys_url = arena_format(arena, "%s/realms/gatehouse/protocol/openid-connect/certs", stage->url),
        .client_id = "gatehouse",
        .client_secret_file = arena_format(arena, "%s/client-secret", stage->directory),
        .admin_client_id = "gatehouse-admin",
        .admin_client_secret_file = arena_format(arena, "%s/admin-secret", stage->directory),
    };
}

struct provider *keycloak_stage_provider(struct stage *stage, struct database *database)
{
    struct provider *provider;
    struct remote_options remote = remote_options_of(stage, database, 8);
    struct keycloak_options options = keycloak_stage_options(stage);
    expect_ok(keycloak_new(stage->arena, &remote, &options, &provider));
    return provider;
}

/* A client's secret: the scripted realm's, or the real one's, whose file is in a folder that the environment names. */
static void put_client_secret(struct stage *stage, const char *name, const char *scripted, const char *real)
{
    const char *folder = getenv("GATEHOUSE_TEST_KEYCLOAK_SECRETS");
    const char *path = folder != NULL ? arena_format(stage->arena, "%s/%s", folder, real) : NULL;
    (void)stage_put(stage, name, path != NULL ? harness_read(stage->arena, path, NULL) : scripted);
}

struct stage *keycloak_stage_new(void **state)
{
    struct stage *stage =
        stage_new(state, "tests/unit/identity/keycloak_server.py", getenv("GATEHOUSE_TEST_KEYCLOAK"), &keycloak_calls);
    put_client_secret(stage, "client-secret", "login-client-secret\n", "keycloak-client-secret");
    put_client_secret(stage, "admin-secret", "admin-client-secret\n", "keycloak-admin-client-secret");
    stage->provider = keycloak_stage_provider(stage, stage->database);
    return stage;
}

struct stage *keycloak_scripted(void **state)
{
    if (getenv("GATEHOUSE_TEST_KEYCLOAK") != NULL)
        skip();
    return keycloak_stage_new(state);
}

void stage_end(struct stage *stage)
{
    provider_free(&stage->provider);
    assert_null(stage->provider);
    database_free(&stage->database);
}

enum provider_outcome stage_create(struct stage *stage, enum provider_account_kind kind, struct id id,
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

struct person stage_given(struct stage *stage, enum provider_account_kind kind)
{
    struct arena *arena = stage->arena;
    struct user *user = given_user(stage->database, arena, given_organisation(stage->database, arena), "owner", NULL);
    struct person person = {.id = user->id, .email = user->email};
    const char *password = kind == PROVIDER_INVITED ? TEMPORARY : PERMANENT;
    assert_int_equal(stage_create(stage, kind, person.id, person.email, password, &person.subject), PROVIDER_OK);
    sql(stage->database, arena, "UPDATE user SET provider_subject = '%s', status = '%s' WHERE id = %s", person.subject,
        kind == PROVIDER_INVITED ? "awaiting-first-login" : "active", sql_id(arena, person.id));
    return person;
}

enum provider_outcome stage_login(struct stage *stage, const struct person *person, const char *password,
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

bool stage_opens(struct stage *stage, const struct person *person, const char *token)
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

void stage_fault(struct stage *stage, const char *call, const char *kind)
{
    (void)stage_put(stage, "fault", arena_format(stage->arena, "%s %s", call, kind));
}

void stage_forget_failures(struct stage *stage)
{
    (void)stage_put(stage, "calls", "");
}

const char *stage_log(struct stage *stage)
{
    return harness_read(stage->arena, arena_format(stage->arena, "%s/log", stage->directory), NULL);
}

/* A line of the log is the call's name, or an object that names it. */
size_t stage_count(struct stage *stage, const char *call)
{
    bool plain = stage->calls == &keycloak_calls;
    const char *wanted = arena_format(stage->arena, plain ? "\n%s\n" : "\"operation\": \"%s\"", call);
    const char *text = arena_format(stage->arena, "\n%s", stage_log(stage));
    size_t count = 0;
    for (const char *at = strstr(text, wanted); at != NULL; at = strstr(at + 1, wanted))
        count++;
    return count;
}

void stage_expect_calls(struct stage *stage, const char *call, size_t count)
{
    if (stage->is_scripted)
        assert_int_equal(stage_count(stage, call), count);
}
