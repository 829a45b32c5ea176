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
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "identity/support.h"
#include "store/script_server.h"
#include "support_database.h"

static const struct scene_calls cognito_calls = {"InitiateAuth",           "InitiateAuth",         "RevokeToken",
                                                 "AdminUserGlobalSignOut", "AdminSetUserPassword", "Keys",
                                                 "GET " POOL_KEYS_PATH};
static const struct scene_calls keycloak_calls = {
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

const char *scene_put(struct scene *scene, const char *name, const char *text)
{
    return harness_write(scene->arena, scene->directory, name, text, strlen(text));
}

/* The folder, and the script in it unless another server is at `url`. */
static struct scene *scene_new(void **state, const char *script, const char *url, const struct scene_calls *calls)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    scene->arena = arena;
    scene->database = support_database_new();
    scene->directory = harness_directory(arena);
    scene->calls = calls;
    scene->is_scripted = url == NULL;
    scene->url = url;
    (void)scene_put(scene, "key.json", signing_key(arena));
    (void)scene_put(scene, "log", "");
    if (url == NULL)
        scene->url =
            arena_format(arena, "http://127.0.0.1:%s", script_server_start(arena, script, scene->directory, none));
    return scene;
}

/* So long that no slow machine needs it, and less than the locks of accounts and sessions last, which is 30 s. */
#define REMOTE_MILLISECONDS 25000

static struct remote_options remote_options_of(struct scene *scene, struct database *database, int64_t calls_max)
{
    return (struct remote_options){
        .database = database,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .refresh_token_seconds = 2592000,
        .refresh_grace_seconds = 10,
        .login_milliseconds = REMOTE_MILLISECONDS,
        .admin_milliseconds = REMOTE_MILLISECONDS,
        .temporary_password_seconds = 604800,
        .slots_file = arena_format(scene->arena, "%s/calls", scene->directory),
        .calls_max = calls_max,
        .rest_seconds = 2,
    };
}

struct cognito_options cognito_scene_options(const struct scene *scene)
{
    return (struct cognito_options){
        .region = "eu-central-1",
        .endpoint = scene->url,
        .issuer = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Tests",
        .keys_url = arena_format(scene->arena, "%s" POOL_KEYS_PATH, scene->url),
        .user_pool_id = "eu-central-1_Tests",
        .client_id = "testclient",
        .client_secret_file = arena_format(scene->arena, "%s/client-secret", scene->directory),
        .access_key_id = "AKIDEXAMPLE",
        .secret_access_key_file = arena_format(scene->arena, "%s/access-key", scene->directory),
    };
}

static struct scene *cognito_scene(void **state, bool codes)
{
    struct scene *scene = scene_new(state, "tests/unit/identity/cognito_server.py", NULL, &cognito_calls);
    struct remote_options remote = remote_options_of(scene, scene->database, 1);
    remote.codes = codes;
    if (codes)
        (void)scene_put(scene, "codes", "");
    struct cognito_options options = cognito_scene_options(scene);
    (void)scene_put(scene, "client-secret", "client secret\n");
    (void)scene_put(scene, "access-key", POOL_ACCESS_KEY);
    expect_ok(cognito_new(scene->arena, &remote, &options, &scene->provider));
    return scene;
}

struct scene *cognito_scene_new(void **state)
{
    return cognito_scene(state, false);
}

struct scene *cognito_codes_scene_new(void **state)
{
    return cognito_scene(state, true);
}

struct scene *embedded_scene_new(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    scene->arena = arena;
    scene->database = support_database_new();
    scene->directory = harness_directory(arena);
    scene->provider = given_provider(arena, scene->database);
    return scene;
}

struct keycloak_options keycloak_scene_options(const struct scene *scene)
{
    struct arena *arena = scene->arena;
    return (struct keycloak_options){
        .url = scene->url,
        .realm = "gatehouse",
        .issuer = arena_format(arena, "%s/realms/gatehouse", scene->url),
        .keys_url = arena_format(arena, "%s/realms/gatehouse/protocol/openid-connect/certs", scene->url),
        .client_id = "gatehouse",
        .client_secret_file = arena_format(arena, "%s/client-secret", scene->directory),
        .admin_client_id = "gatehouse-admin",
        .admin_client_secret_file = arena_format(arena, "%s/admin-secret", scene->directory),
    };
}

struct provider *keycloak_scene_provider(struct scene *scene, struct database *database)
{
    struct provider *provider;
    struct remote_options remote = remote_options_of(scene, database, 8);
    struct keycloak_options options = keycloak_scene_options(scene);
    expect_ok(keycloak_new(scene->arena, &remote, &options, &provider));
    return provider;
}

/* A client's secret: the scripted realm's, or the real one's, whose file is in a folder that the environment names. */
static void put_client_secret(struct scene *scene, const char *name, const char *scripted, const char *real)
{
    const char *folder = getenv("GATEHOUSE_TEST_KEYCLOAK_SECRETS");
    const char *path = folder != NULL ? arena_format(scene->arena, "%s/%s", folder, real) : NULL;
    (void)scene_put(scene, name, path != NULL ? harness_read(scene->arena, path, NULL) : scripted);
}

struct scene *keycloak_scene_new(void **state)
{
    struct scene *scene =
        scene_new(state, "tests/unit/identity/keycloak_server.py", getenv("GATEHOUSE_TEST_KEYCLOAK"), &keycloak_calls);
    put_client_secret(scene, "client-secret", "login-client-secret\n", "keycloak-client-secret");
    put_client_secret(scene, "admin-secret", "admin-client-secret\n", "keycloak-admin-client-secret");
    scene->provider = keycloak_scene_provider(scene, scene->database);
    return scene;
}

struct scene *keycloak_scripted(void **state)
{
    if (getenv("GATEHOUSE_TEST_KEYCLOAK") != NULL)
        skip();
    return keycloak_scene_new(state);
}

void scene_end(struct scene *scene)
{
    provider_free(&scene->provider);
    assert_null(scene->provider);
    database_free(&scene->database);
}

enum provider_outcome scene_create(struct scene *scene, enum provider_account_kind kind, struct id id,
                                   const char *email, const char *password, const char **subject_out)
{
    struct provider_account account = {.kind = kind,
                                       .user_id = id,
                                       .email = email,
                                       .phone = "+4930123456",
                                       .permissions = "rwx:*",
                                       .password = secret_of(password)};
    enum provider_outcome outcome;
    expect_ok(provider_create(scene->provider, scene->arena, &account, subject_out, &outcome));
    return outcome;
}

struct person scene_given(struct scene *scene, enum provider_account_kind kind)
{
    struct arena *arena = scene->arena;
    struct user *user = given_user(scene->database, arena, given_organisation(scene->database, arena), "owner", NULL);
    struct person person = {.id = user->id, .email = user->email};
    const char *password = kind == PROVIDER_INVITED ? TEMPORARY : PERMANENT;
    assert_int_equal(scene_create(scene, kind, person.id, person.email, password, &person.subject), PROVIDER_OK);
    sql(scene->database, arena, "UPDATE user SET provider_subject = '%s', status = '%s' WHERE id = %s", person.subject,
        kind == PROVIDER_INVITED ? "awaiting-first-login" : "active", sql_id(arena, person.id));
    return person;
}

enum provider_outcome scene_login(struct scene *scene, const struct person *person, const char *password,
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
    expect_ok(provider_login(scene->provider, scene->arena, &attempt, tokens_out != NULL ? tokens_out : &tokens,
                             challenge_out != NULL ? challenge_out : &challenge, &outcome));
    return outcome;
}

bool scene_opens(struct scene *scene, const struct person *person, const char *token)
{
    struct token_rules rules;
    struct token_claims claims;
    bool known = false, good = false;
    provider_rules(scene->provider, &rules);
    rules.leeway = LIMIT_TOKEN_LEEWAY_SECONDS;
    rules.now = clock_now() / 1000;
    expect_ok(provider_keys(scene->provider, scene->arena, false, &rules.keys));
    if (token_verify(scene->arena, &rules, token, strlen(token), &claims, NULL) != TOKEN_GOOD)
        return false;
    expect_ok(provider_resolve(scene->provider, scene->arena, &claims, &known));
    if (!known)
        return false;
    assert_true(id_equal(claims.subject, person->id));
    expect_ok(session_check(scene->database, scene->arena, claims.session, claims.subject, &good));
    return good;
}

void scene_fault(struct scene *scene, const char *call, const char *kind)
{
    (void)scene_put(scene, "fault", arena_format(scene->arena, "%s %s", call, kind));
}

void scene_answer(struct scene *scene, const char *call, int status, const char *body)
{
    (void)scene_put(scene, "answer",
                    arena_format(scene->arena, "{\"call\":\"%s\",\"status\":%d,\"body\":%s}", call, status,
                                 *body != '\0' ? body : "\"\""));
}

void scene_answer_end(struct scene *scene)
{
    (void)unlink(arena_format(scene->arena, "%s/answer", scene->directory));
}

void scene_forget_failures(struct scene *scene)
{
    (void)scene_put(scene, "calls", "");
}

const char *scene_log(struct scene *scene)
{
    return harness_read(scene->arena, arena_format(scene->arena, "%s/log", scene->directory), NULL);
}

/* A line of the log is the call's name, or an object that names it. */
size_t scene_count(struct scene *scene, const char *call)
{
    bool plain = scene->calls == &keycloak_calls;
    const char *wanted = arena_format(scene->arena, plain ? "\n%s\n" : "\"operation\": \"%s\"", call);
    const char *text = arena_format(scene->arena, "\n%s", scene_log(scene));
    size_t count = 0;
    for (const char *at = strstr(text, wanted); at != NULL; at = strstr(at + 1, wanted))
        count++;
    return count;
}

void scene_expect_calls(struct scene *scene, const char *call, size_t count)
{
    if (scene->is_scripted)
        assert_int_equal(scene_count(scene, call), count);
}
