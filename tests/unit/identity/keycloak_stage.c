/* SPDX-License-Identifier: MIT */
#include "keycloak_stage.h"

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
#include "database_fixture.h"
#include "domain/session.h"
#include "domain/support.h"
#include "store/script_server.h"

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

/* The realm's key, made once for the whole program. */
static const char *realm_key(struct arena *arena)
{
    static EVP_PKEY *key;
    if (key == NULL)
        key = EVP_RSA_gen(2048);
    assert_non_null(key);
    return arena_format(arena, "{\"n\":\"%s\",\"d\":\"%s\",\"kid\":\"realm-key\"}", number(arena, key, OSSL_PKEY_PARAM_RSA_N),
                        number(arena, key, OSSL_PKEY_PARAM_RSA_D));
}

struct provider *realm_open_provider(struct realm_stage *stage, struct database *database)
{
    struct arena *arena = stage->arena;
    struct provider *provider;
    struct outside_options outside = {
        .database = database,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .refresh_token_seconds = 2592000,
        .temporary_password_seconds = 604800,
        .places_file = arena_format(arena, "%s/calls", stage->directory),
        .calls_max = 8,
        .rest_seconds = 2,
    };
    struct keycloak_options options = {
        .url = stage->url,
        .realm = "gatehouse",
        .issuer = arena_format(arena, "%s/realms/gatehouse", stage->url),
        .keys_url = arena_format(arena, "%s/realms/gatehouse/protocol/openid-connect/certs", stage->url),
        .client_id = "gatehouse",
        .client_secret_file = arena_format(arena, "%s/client-secret", stage->directory),
        .admin_client_id = "gatehouse-admin",
        .admin_client_secret_file = arena_format(arena, "%s/admin-secret", stage->directory),
    };
    expect_ok(keycloak_new(arena, &outside, &options, &provider));
    return provider;
}

void realm_put(struct realm_stage *stage, const char *name, const char *text)
{
    (void)harness_write(stage->arena, stage->directory, name, text, strlen(text));
}

struct realm_stage *realm_stage_new(void **state)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct realm_stage *stage = arena_alloc(arena, sizeof *stage);
    stage->arena = arena;
    stage->database = database_fixture_new();
    stage->directory = harness_directory(arena);
    stage->url = getenv("GATEHOUSE_TEST_KEYCLOAK");
    realm_put(stage, "key.json", realm_key(arena));
    realm_put(stage, "client-secret", "login-client-secret\n");
    realm_put(stage, "admin-secret", "admin-client-secret\n");
    realm_put(stage, "log", "");
    if (stage->url == NULL) {
        const char *port = script_server_start(arena, "tests/unit/identity/keycloak_server.py", stage->directory, none);
        stage->url = arena_format(arena, "http://127.0.0.1:%s", port);
    }
    stage->provider = realm_open_provider(stage, stage->database);
    return stage;
}

/* For cases that give the realm a fault or read its log. */
struct realm_stage *realm_scripted(void **state)
{
    if (getenv("GATEHOUSE_TEST_KEYCLOAK") != NULL)
        skip();
    return realm_stage_new(state);
}

void realm_stage_end(struct realm_stage *stage)
{
    provider_free(&stage->provider);
    assert_null(stage->provider);
    database_free(&stage->database);
}

enum provider_outcome realm_create(struct realm_stage *stage, enum provider_account_kind kind, struct id id,
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

struct realm_person realm_given(struct realm_stage *stage, enum provider_account_kind kind)
{
    struct arena *arena = stage->arena;
    struct user *user = given_user(stage->database, arena, given_organisation(stage->database, arena), "owner", NULL);
    struct realm_person person = {.id = user->id, .email = user->email};
    const char *password = kind == PROVIDER_INVITED ? TEMPORARY : PERMANENT;
    assert_int_equal(realm_create(stage, kind, person.id, person.email, password, &person.subject), PROVIDER_OK);
    sql(stage->database, arena, "UPDATE user SET provider_subject = '%s', status = '%s' WHERE id = %s", person.subject,
        kind == PROVIDER_INVITED ? "awaiting-first-login" : "active", sql_id(arena, person.id));
    return person;
}

enum provider_outcome realm_login(struct realm_stage *stage, const struct realm_person *person, const char *password,
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

bool realm_opens(struct realm_stage *stage, const struct realm_person *person, const char *token)
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

void realm_fault(struct realm_stage *stage, const char *what)
{
    realm_put(stage, "fault", what);
}

size_t realm_calls(struct realm_stage *stage, const char *name)
{
    const char *log = harness_read(stage->arena, arena_format(stage->arena, "%s/log", stage->directory), NULL);
    const char *wanted = arena_format(stage->arena, "\n%s\n", name);
    const char *text = arena_format(stage->arena, "\n%s", log);
    size_t count = 0;
    for (const char *at = strstr(text, wanted); at != NULL; at = strstr(at + 1, wanted))
        count++;
    return count;
}
