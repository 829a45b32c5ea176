/* SPDX-License-Identifier: MIT */
/*
 * Makes the provider that the configuration names, with the settings of its section. The only file that knows all
 * providers.
 */
#include "identity/provider_open.h"

#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "identity/cognito/provider.h"
#include "identity/embedded/provider.h"
#include "identity/keycloak/provider.h"
#include "identity/remote_int.h"

/* For how long a provider that fails is not called (docs/identity-providers.md). */

static struct error *open_embedded(struct arena *arena, const struct provider_dependencies *parts,
                                   struct provider **provider_out)
{
    const struct configuration *configuration = parts->configuration;
    struct embedded_options options = {
        .database = parts->database,
        .cache = parts->cache,
        .master = parts->master,
        .issuer = configuration->identity.issuer,
        .audience = configuration->identity.audience,
        .access_token_seconds = configuration->identity.access_token_seconds,
        .refresh_token_seconds = configuration->identity.refresh_token_seconds,
        .refresh_grace_seconds = configuration->testing.refresh_grace_seconds,
        .temporary_password_seconds = configuration->identity.temporary_password_seconds,
        .cost = {.memory_kib = (unsigned)configuration->password.hash_memory_kib,
                 .passes = (unsigned)configuration->password.hash_passes},
    };
    return embedded_new(arena, &options, provider_out);
}

/* A setting that a provider cannot do without. */
struct needed {
    const char *name;
    const char *value;
};

/* Whether all of them are set; `section` is theirs, and the provider's name. */
static struct error *check_needed(struct arena *arena, const char *section, const struct needed *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (settings[i].value == NULL)
            return error_message(error_new(arena, ERROR_INTERNAL, "[%s] %s is not set", section, settings[i].name),
                                 "[identity] provider = %s needs %s in [%s].", section, settings[i].name, section);
    return NULL;
}

static struct remote_options remote_options_of(struct arena *arena, const struct provider_dependencies *parts,
                                               const char *ca_file)
{
    return (struct remote_options){
        .database = parts->database,
        .master = parts->master,
        .cache = parts->cache,
        .ca_file = ca_file,
        .codes = strcmp(parts->configuration->identity.codes, "provider") == 0,
        .refresh_token_seconds = parts->configuration->identity.refresh_token_seconds,
        .temporary_password_seconds = parts->configuration->identity.temporary_password_seconds,
        .slots_file = arena_format(arena, "%s-calls", parts->configuration->cache.file),
        .calls_max = parts->configuration->identity.calls_max,
        .refresh_grace_seconds = parts->configuration->testing.refresh_grace_seconds,
        .login_milliseconds = parts->configuration->testing.provider_login_seconds * 1000,
        .admin_milliseconds = parts->configuration->testing.provider_admin_seconds * 1000,
        .rest_seconds = parts->configuration->testing.provider_rest_seconds,
    };
}

static struct error *open_cognito(struct arena *arena, const struct provider_dependencies *parts,
                                  struct provider **provider_out)
{
    const struct configuration *configuration = parts->configuration;
    struct remote_options remote = remote_options_of(arena, parts, configuration->cognito.ca_file);
    struct cognito_options options = {
        .region = configuration->cognito.region,
        .endpoint = configuration->cognito.endpoint,
        .issuer = configuration->cognito.issuer,
        .keys_url = configuration->cognito.jwks_url,
        .user_pool_id = configuration->cognito.user_pool_id,
        .client_id = configuration->cognito.client_id,
        .client_secret_file = configuration->cognito.client_secret_file,
        .access_key_id = configuration->cognito.access_key_id,
        .secret_access_key_file = configuration->cognito.secret_access_key_file,
    };
    const struct needed needed[] = {
        {"region", options.region},
        {"user_pool_id", options.user_pool_id},
        {"client_id", options.client_id},
        {"access_key_id", options.access_key_id},
        {"secret_access_key_file", options.secret_access_key_file},
    };
    TRY(check_needed(arena, "cognito", needed, sizeof needed / sizeof *needed));
    if (options.endpoint == NULL)
        options.endpoint = arena_format(arena, "https://cognito-idp.%s.amazonaws.com", options.region);
    if (options.issuer == NULL)
        options.issuer = arena_format(arena, "%s/%s", options.endpoint, options.user_pool_id);
    if (options.keys_url == NULL)
        options.keys_url = arena_format(arena, "%s/.well-known/jwks.json", options.issuer);
    return cognito_new(arena, &remote, &options, provider_out);
}

static struct error *open_keycloak(struct arena *arena, const struct provider_dependencies *parts,
                                   struct provider **provider_out)
{
    const struct configuration *configuration = parts->configuration;
    struct remote_options remote = remote_options_of(arena, parts, configuration->keycloak.ca_file);
    struct keycloak_options options = {
        .url = configuration->keycloak.url,
        .realm = configuration->keycloak.realm,
        .issuer = configuration->keycloak.issuer,
        .keys_url = configuration->keycloak.jwks_url,
        .client_id = configuration->keycloak.client_id,
        .client_secret_file = configuration->keycloak.client_secret_file,
        .admin_client_id = configuration->keycloak.admin_client_id,
        .admin_client_secret_file = configuration->keycloak.admin_client_secret_file,
    };
    const struct needed needed[] = {
        {"url", options.url},
        {"realm", options.realm},
        {"client_id", options.client_id},
        {"client_secret_file", options.client_secret_file},
        {"admin_client_id", options.admin_client_id},
        {"admin_client_secret_file", options.admin_client_secret_file},
    };
    TRY(check_needed(arena, "keycloak", needed, sizeof needed / sizeof *needed));
    if (options.issuer == NULL)
        options.issuer = arena_format(arena, "%s/realms/%s", options.url, options.realm);
    if (options.keys_url == NULL)
        options.keys_url = arena_format(arena, "%s/protocol/openid-connect/certs", options.issuer);
    return keycloak_new(arena, &remote, &options, provider_out);
}

static const struct {
    const char *name;
    struct error *(*open)(struct arena *, const struct provider_dependencies *, struct provider **);
    bool has_codes; /* it can mail and verify codes itself */
} providers[] = {
    {"embedded", open_embedded, false}, {"cognito", open_cognito, true}, {"keycloak", open_keycloak, false}};

/* Whether the provider can mail codes where the configuration says that it does. */
static struct error *check_codes(struct arena *arena, const struct configuration *configuration, bool has_codes)
{
    if (has_codes || strcmp(configuration->identity.codes, "provider") != 0)
        return NULL;
    return error_message(
        error_plain(arena, ERROR_INTERNAL),
        "[identity] codes = provider is not possible with provider = %s, which mails no codes; set codes = "
        "service.",
        configuration->identity.provider);
}

struct error *provider_open(struct arena *arena, const struct provider_dependencies *parts,
                            struct provider **provider_out)
{
    const char *name = parts->configuration->identity.provider;
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++) {
        if (strcmp(providers[i].name, name) != 0)
            continue;
        TRY(check_codes(arena, parts->configuration, providers[i].has_codes));
        return providers[i].open(arena, parts, provider_out);
    }
    return error_new(arena, ERROR_INTERNAL, "there is no provider %s", name);
}
