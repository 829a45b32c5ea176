/* SPDX-License-Identifier: MIT */
/* The Keycloak provider: what its tokens say, its secrets, its table of functions, and how it is made. */
#include "identity/keycloak/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "codec/encoding.h"
#include "identity/keycloak/keycloak_int.h"

/*
 * An access token says typ = Bearer, and azp names the client that it was given to. aud names the services that it
 * opens ("account"), so it says nothing to us.
 */
static void rules(struct remote *remote, struct token_rules *rules_out)
{
    static const char *const names[] = {"sid", NULL};
    const struct keycloak *keycloak = keycloak_of(remote);
    rules_out->issuer = keycloak->options.issuer;
    rules_out->audience = keycloak->options.client_id;
    rules_out->audience_claim = "azp";
    rules_out->token_use = "Bearer";
    rules_out->use_claim = "typ";
    rules_out->session_names = names;
}

static const char *keys_url(struct remote *remote)
{
    return keycloak_of(remote)->options.keys_url;
}

/* ---- secrets -------------------------------------------------------------------------------------- */

static struct error *read_secrets(struct remote *remote, struct arena *arena)
{
    struct keycloak *keycloak = keycloak_of(remote);
    const struct remote_secret secrets[] = {
        {keycloak->options.client_secret_file, &keycloak->client_secret},
        {keycloak->options.admin_client_secret_file, &keycloak->admin_secret},
    };
    keycloak_service_token_forget(keycloak);
    return remote_read_secrets(remote, arena, secrets, sizeof secrets / sizeof *secrets);
}

static void release(struct remote *remote)
{
    struct keycloak *keycloak = keycloak_of(remote);
    keycloak_service_token_forget(keycloak);
    free(keycloak);
}

/* ---- the driver ----------------------------------------------------------------------------------- */

static const struct remote_driver_administration administration = {
    .create = keycloak_user_create,
    .find = keycloak_user_find,
    .set_password = keycloak_password_set,
    .confirm = keycloak_user_confirm,
    .set_enabled = keycloak_user_set_enabled,
    .set_attributes = keycloak_user_set_attributes,
    .remove = keycloak_user_remove,
};

static const struct remote_driver driver = {
    .name = "keycloak",
    .rules = rules,
    .keys_url = keys_url,
    .login = keycloak_login,
    .answer = keycloak_login_answer,
    .refresh = keycloak_session_refresh,
    .revoke = keycloak_session_revoke,
    .sign_out = keycloak_session_sign_out,
    .end_others = keycloak_session_end_others,
    .change_password = keycloak_password_change,
    .check = keycloak_check,
    .read_secrets = read_secrets,
    .free = release,
    .administration = &administration,
};

/* Works out the addresses that the calls go to. */
static void set_addresses(struct keycloak *keycloak, struct arena *own)
{
    const char *realm = percent_encode(own, keycloak->options.realm, strlen(keycloak->options.realm));
    keycloak->oidc = arena_format(own, "%s/realms/%s/protocol/openid-connect", keycloak->options.url, realm);
    keycloak->sessions = arena_format(own, "%s/admin/realms/%s/sessions", keycloak->options.url, realm);
    keycloak->users = arena_format(own, "%s/admin/realms/%s/users", keycloak->options.url, realm);
}

struct error *keycloak_new(struct arena *arena, const struct remote_options *remote,
                           const struct keycloak_options *options, struct provider **provider_out)
{
    TRY(remote_check_address(arena, &driver, "url", options->url));
    TRY(remote_check_address(arena, &driver, "jwks_url", options->keys_url));
    struct keycloak *keycloak = memory_new(sizeof *keycloak);
    struct error *error = remote_init(&keycloak->remote, &driver, remote);
    struct arena *own = keycloak->remote.arena;
    keycloak->options = (struct keycloak_options){
        .url = arena_text(own, options->url),
        .realm = arena_text(own, options->realm),
        .issuer = arena_text(own, options->issuer),
        .keys_url = arena_text(own, options->keys_url),
        .client_id = arena_text(own, options->client_id),
        .client_secret_file = arena_text(own, options->client_secret_file),
        .admin_client_id = arena_text(own, options->admin_client_id),
        .admin_client_secret_file = arena_text(own, options->admin_client_secret_file),
    };
    set_addresses(keycloak, own);
    return remote_ready(&keycloak->remote, arena, error, provider_out);
}
