/* SPDX-License-Identifier: MIT */
/* Which provider a configuration opens, what it must say for that, and what is assumed where it says nothing. */
#include "identity/provider_open.h"

#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/provider_provision.h"
#include "identity/support_remote.h"

static struct configuration configuration_of(struct arena *arena, const char *provider)
{
    const char *directory = harness_directory(arena);
    const char *secret = harness_write(arena, directory, "secret", "a secret\n", 9);
    return (struct configuration){
        .identity = {.provider = provider, .codes = "service", .calls_max = 1, .refresh_token_seconds = 60},
        .cache = {.file = arena_format(arena, "%s/cache", directory)},
        .cognito = {.region = "eu-central-1",
                    .user_pool_id = "eu-central-1_Pool",
                    .client_id = "client",
                    .access_key_id = "AKID",
                    .secret_access_key_file = secret},
        .keycloak = {.url = "https://keycloak.example",
                     .realm = "people",
                     .client_id = "client",
                     .client_secret_file = secret,
                     .admin_client_id = "admin",
                     .admin_client_secret_file = secret},
    };
}

static struct error *open(struct arena *arena, const struct configuration *configuration,
                          struct provider **provider_out)
{
    const struct provider_dependencies parts = {.configuration = configuration,
                                                .master = secret_of("0123456789abcdef0123456789abcdef")};
    *provider_out = NULL;
    return provider_open(arena, &parts, provider_out);
}

/* Opens none, and names the setting that is missing. */
static void expect_needed(struct arena *arena, struct configuration *configuration, const char **setting,
                          const char *name)
{
    const char *value = *setting;
    struct provider *provider;
    *setting = NULL;
    struct error *error = open(arena, configuration, &provider);
    *setting = value;
    expect_error(error, ERROR_INTERNAL);
    assert_null(provider);
    assert_string_equal(error->message,
                        arena_format(arena, "[identity] provider = %s needs %s in [%s].",
                                     configuration->identity.provider, name, configuration->identity.provider));
}

static void a_provider_opens_with_all_its_settings_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration cognito = configuration_of(arena, "cognito");
    struct configuration keycloak = configuration_of(arena, "keycloak");
    struct provider *provider;
    expect_needed(arena, &cognito, &cognito.cognito.region, "region");
    expect_needed(arena, &cognito, &cognito.cognito.user_pool_id, "user_pool_id");
    expect_needed(arena, &cognito, &cognito.cognito.client_id, "client_id");
    expect_needed(arena, &cognito, &cognito.cognito.access_key_id, "access_key_id");
    expect_needed(arena, &cognito, &cognito.cognito.secret_access_key_file, "secret_access_key_file");
    expect_needed(arena, &keycloak, &keycloak.keycloak.url, "url");
    expect_needed(arena, &keycloak, &keycloak.keycloak.realm, "realm");
    expect_needed(arena, &keycloak, &keycloak.keycloak.client_id, "client_id");
    expect_needed(arena, &keycloak, &keycloak.keycloak.client_secret_file, "client_secret_file");
    expect_needed(arena, &keycloak, &keycloak.keycloak.admin_client_id, "admin_client_id");
    expect_needed(arena, &keycloak, &keycloak.keycloak.admin_client_secret_file, "admin_client_secret_file");
    cognito.cognito.secret_access_key_file = "/nowhere/secret";
    struct error *error = open(arena, &cognito, &provider);
    expect_error(error, ERROR_INTERNAL);
    assert_string_equal(error->message, "The secret file /nowhere/secret cannot be read.");
    assert_null(provider);
}

static void expect_addresses(struct arena *arena, const struct configuration *configuration, const char *issuer,
                             const char *keys)
{
    struct provider *provider;
    struct token_rules rules;
    expect_ok(open(arena, configuration, &provider));
    provider_rules(provider, &rules);
    assert_string_equal(rules.issuer, issuer);
    assert_string_equal(remote_of(provider)->driver->keys_url(remote_of(provider)), keys);
    provider_free(&provider);
}

static void addresses_follow_from_the_region_or_the_realm(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration cognito = configuration_of(arena, "cognito");
    struct configuration keycloak = configuration_of(arena, "keycloak");
    expect_addresses(arena, &cognito, "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Pool",
                     "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Pool/.well-known/jwks.json");
    cognito.cognito.endpoint = "https://pools.example";
    cognito.cognito.issuer = "https://issuer.example/eu-central-1_Pool";
    cognito.cognito.jwks_url = "https://keys.example/keys";
    expect_addresses(arena, &cognito, cognito.cognito.issuer, cognito.cognito.jwks_url);
    expect_addresses(arena, &keycloak, "https://keycloak.example/realms/people",
                     "https://keycloak.example/realms/people/protocol/openid-connect/certs");
    keycloak.keycloak.issuer = "https://issuer.example/realms/people";
    keycloak.keycloak.jwks_url = "https://keys.example/keys";
    expect_addresses(arena, &keycloak, keycloak.keycloak.issuer, keycloak.keycloak.jwks_url);
}

static void say_nothing(void *context, enum provision_result result, const char *sentence)
{
    (void)context;
    (void)result;
    (void)sentence;
}

static void a_provider_that_there_is_not_is_an_error(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration configuration = configuration_of(arena, "another");
    const struct provider_provision provision = {.configuration = &configuration, .tell = say_nothing};
    struct provider *provider;
    const char *text;
    expect_error(open(arena, &configuration, &provider), ERROR_INTERNAL);
    assert_null(provider);
    expect_error(provider_provision_describe(arena, &provision, &text), ERROR_INTERNAL);
    expect_error(provider_provision_apply(arena, &provision, &text), ERROR_INTERNAL);
}

/* What only some providers have is not asked of the others. */
static void what_a_provider_has_not_it_does_not_do(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct scene *own = embedded_scene_new(state);
    struct person member = scene_given(own, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    struct id *users;
    size_t count;
    bool other = true;
    expect_ok(provider_rotate_keys(scene->provider, scene->arena, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    expect_ok(
        provider_holds_address(own->provider, own->arena, member.subject, member.id, "other@example.com", &other));
    assert_false(other);
    expect_ok(provider_unreconciled(own->provider, own->arena, 10, &users, &count));
    assert_int_equal(count, 0);
    scene_end(own);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_provider_opens_with_all_its_settings_only),
    HARNESS_TEST(addresses_follow_from_the_region_or_the_realm),
    HARNESS_TEST(a_provider_that_there_is_not_is_an_error),
    HARNESS_TEST(what_a_provider_has_not_it_does_not_do),
};
HARNESS_MODULE(provider_open, cases)
