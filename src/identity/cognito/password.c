/* SPDX-License-Identifier: MIT */
/* Passwords at Cognito: set by the administrator, and changed by an owner who knows the current one. */
#include "base/arena.h"
#include "identity/cognito/cognito_int.h"

struct error *cognito_password_set(struct remote *remote, struct arena *arena, const char *subject,
                                   struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    static const struct cognito_meaning meanings[] = {
        {COGNITO_USER_NOT_FOUND, PROVIDER_ABSENT},
        {COGNITO_INVALID_PASSWORD, PROVIDER_PASSWORD_REFUSED},
        {COGNITO_INVALID_PARAMETER, PROVIDER_PASSWORD_REFUSED},
    };
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    cognito_user_begin(cognito, arena, "AdminSetUserPassword", subject, &call);
    call.sets_password = true;
    cognito_call_add(&call, "Password", secret_reveal(password));
    buffer_add_text(&call.body, temporary ? ",\"Permanent\":false" : ",\"Permanent\":true");
    TRY(cognito_call(cognito, arena, &call));
    return cognito_outcome(arena, &call, meanings, sizeof meanings / sizeof *meanings, outcome_out);
}

/* Sends the change with the token of a session that the current password has opened. */
static struct error *send_change(struct cognito *cognito, struct arena *arena, const char *access_token,
                                 struct secret password, struct secret new_password, struct cognito_call *call)
{
    cognito_signed_begin(arena, "ChangePassword", call);
    call->is_signed = false;
    cognito_call_add(call, "AccessToken", access_token);
    cognito_call_add(call, "PreviousPassword", secret_reveal(password));
    cognito_call_add(call, "ProposedPassword", secret_reveal(new_password));
    call->once = true;
    call->sets_password = true;
    return cognito_call(cognito, arena, call);
}

/*
 * The current password opens a session, and the session's token changes the password; so Cognito itself makes sure that
 * the two belong together. Then the session is closed; where that fails the change has succeeded all the same.
 */
struct error *cognito_password_change(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out)
{
    struct provider_login attempt = {.subject = subject, .password = password};
    struct remote_grant grant = {0};
    struct cognito_call call;
    const char *proof = NULL;
    TRY(cognito_login(remote, arena, &attempt, &grant, &proof, outcome_out));
    /* The password is right, but without a session it cannot be changed. */
    if (*outcome_out == PROVIDER_DISABLED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito asks for more than the password");
    bool signed_in = *outcome_out == PROVIDER_OK && grant.access_token != NULL;
    *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (!signed_in)
        return NULL;
    TRY(send_change(cognito_of(remote), arena, grant.access_token, password, new_password, &call));
    remote_session_discard(remote, arena, &grant);
    /* The current password was right: an owner who has changed it too often must not be told that it was wrong. */
    if (cognito_is_misconfigured(&call) || call.fault == COGNITO_LIMIT_EXCEEDED)
        return cognito_unexpected(arena, &call);
    if (call.fault == COGNITO_INVALID_PASSWORD || call.fault == COGNITO_INVALID_PARAMETER)
        *outcome_out = PROVIDER_PASSWORD_REFUSED;
    else if (call.fault == COGNITO_OK)
        *outcome_out = PROVIDER_OK;
    return NULL;
}
