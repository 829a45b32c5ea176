/* SPDX-License-Identifier: MIT */
/* The Cognito provider: what its tokens say, its secrets, its table of functions, and how it is made. */
#include "identity/cognito/provider.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "identity/cognito/cognito_int.h"

static void rules(struct remote *remote, struct token_rules *rules_out)
{
    /* Emulators have no origin_jti. Then each token names the session anew. */
    static const char *const names[] = {"origin_jti", "jti", NULL};
    const struct cognito *cognito = cognito_of(remote);
    rules_out->issuer = cognito->options.issuer;
    rules_out->audience = cognito->options.client_id;
    rules_out->token_use = TOKEN_USE_ACCESS;
    rules_out->session_names = names;
}

static const char *keys_url(struct remote *remote)
{
    return cognito_of(remote)->options.keys_url;
}

static struct error *read_secrets(struct remote *remote, struct arena *arena)
{
    struct cognito *cognito = cognito_of(remote);
    const struct remote_secret secrets[] = {
        {cognito->options.client_secret_file, &cognito->client_secret},
        {cognito->options.secret_access_key_file, &cognito->access_key},
    };
    return remote_read_secrets(remote, arena, secrets, sizeof secrets / sizeof *secrets);
}

static void release(struct remote *remote)
{
    free(cognito_of(remote));
}

static const struct remote_driver_administration administration = {
    .create = cognito_user_create,
    .find = cognito_user_find,
    .set_password = cognito_password_set,
    .confirm = cognito_user_confirm,
    .set_enabled = cognito_user_set_enabled,
    .set_attributes = cognito_user_set_attributes,
    .remove = cognito_user_remove,
};

static const struct remote_driver_codes codes = {
    .send = cognito_code_send,
    .confirm = cognito_code_confirm,
    .reset = cognito_code_reset,
};

static const struct remote_driver driver = {
    .name = "cognito",
    .rules = rules,
    .keys_url = keys_url,
    .login = cognito_login,
    .answer = cognito_login_answer,
    .refresh = cognito_session_refresh,
    .revoke = cognito_session_revoke,
    .sign_out = cognito_session_sign_out,
    .change_password = cognito_password_change,
    .check = cognito_check,
    .read_secrets = read_secrets,
    .free = release,
    .administration = &administration,
    .codes = &codes,
};

struct error *cognito_new(struct arena *arena, const struct remote_options *remote,
                          const struct cognito_options *options, struct provider **provider_out)
{
    TRY(remote_check_address(arena, &driver, "endpoint", options->endpoint));
    TRY(remote_check_address(arena, &driver, "jwks_url", options->keys_url));
    struct cognito *cognito = memory_new(sizeof *cognito);
    struct error *error = remote_init(&cognito->remote, &driver, remote);
    struct arena *own = cognito->remote.arena;
    cognito->options = (struct cognito_options){
        .region = arena_text(own, options->region),
        .endpoint = arena_text(own, options->endpoint),
        .issuer = arena_text(own, options->issuer),
        .keys_url = arena_text(own, options->keys_url),
        .user_pool_id = arena_text(own, options->user_pool_id),
        .client_id = arena_text(own, options->client_id),
        .client_secret_file = arena_text(own, options->client_secret_file),
        .access_key_id = arena_text(own, options->access_key_id),
        .secret_access_key_file = arena_text(own, options->secret_access_key_file),
    };
    return remote_ready(&cognito->remote, arena, error, provider_out);
}
