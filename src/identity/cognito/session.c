/* SPDX-License-Identifier: MIT */
/* Sessions at Cognito: refreshed, revoked, ended all together. */
#include "base/arena.h"
#include "identity/cognito/cognito_int.h"

struct error *cognito_session_refresh(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret refresh_token, struct remote_grant *grant_out,
                                      enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    /* The hash must be over the real user name, not over an alias, or Cognito cannot verify it. */
    const char *hash = cognito_secret_hash(cognito, arena, subject);
    cognito_client_begin(cognito, arena, "InitiateAuth", &call);
    cognito_call_add(&call, "AuthFlow", "REFRESH_TOKEN_AUTH");
    buffer_add_text(&call.body, ",\"AuthParameters\":{");
    cognito_call_add_parameter(&call, "REFRESH_TOKEN", secret_reveal(refresh_token), true);
    if (hash != NULL)
        cognito_call_add_parameter(&call, "SECRET_HASH", hash, false);
    buffer_add_char(&call.body, '}');
    call.once = true;
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = PROVIDER_TOKEN_INVALID;
    /* A limit says nothing of the token, which is good again later. */
    if (cognito_is_misconfigured(&call) || call.fault == COGNITO_LIMIT_EXCEEDED)
        return cognito_unexpected(arena, &call);
    if (call.fault != COGNITO_OK)
        return NULL;
    cognito_grant_read(call.answer, grant_out);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

struct error *cognito_session_revoke(struct remote *remote, struct arena *arena, struct secret refresh_token)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    cognito_client_begin(cognito, arena, "RevokeToken", &call);
    if (cognito->client_secret.bytes != NULL)
        cognito_call_add(&call, "ClientSecret", secret_reveal(cognito->client_secret));
    cognito_call_add(&call, "Token", secret_reveal(refresh_token));
    TRY(cognito_call(cognito, arena, &call));
    /* A token that was revoked before is not authorized. */
    return call.fault == COGNITO_OK || call.fault == COGNITO_NOT_AUTHORIZED ? NULL : cognito_unexpected(arena, &call);
}

struct error *cognito_session_sign_out(struct remote *remote, struct arena *arena, const char *subject)
{
    struct cognito_call call;
    enum provider_outcome outcome;
    cognito_user_begin(cognito_of(remote), arena, "AdminUserGlobalSignOut", subject, &call);
    return cognito_call_plain(cognito_of(remote), arena, &call, &outcome);
}
