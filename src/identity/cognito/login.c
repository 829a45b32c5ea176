/* SPDX-License-Identifier: MIT */
/* Signing in: what the app client may ask, and the tokens that come of it. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/cognito/cognito_int.h"

static void read_grant(const struct document *answer, struct remote_grant *grant_out)
{
    const struct document *result = document_member(answer, "AuthenticationResult");
    const char *refresh = document_text(document_member(result, "RefreshToken"));
    *grant_out = (struct remote_grant){
        .access_token = document_text(document_member(result, "AccessToken")),
        .id_token = document_text(document_member(result, "IdToken")),
        .refresh_token = secret_of(refresh),
    };
}

static void add_parameter(struct cognito_call *call, const char *name, const char *value, bool first)
{
    if (!first)
        buffer_add_char(&call->body, ',');
    buffer_add_json_text(&call->body, name);
    buffer_add_char(&call->body, ':');
    buffer_add_json_text(&call->body, value);
}

static void begin_auth(struct cognito *cognito, struct arena *arena, const char *username, struct secret password,
                       struct cognito_call *call)
{
    const char *hash = cognito_secret_hash(cognito, arena, username);
    cognito_client_begin(cognito, arena, "InitiateAuth", call);
    cognito_call_add(call, "AuthFlow", "USER_PASSWORD_AUTH");
    buffer_add_text(&call->body, ",\"AuthParameters\":{");
    add_parameter(call, "USERNAME", username, true);
    add_parameter(call, "PASSWORD", secret_reveal(password), false);
    if (hash != NULL)
        add_parameter(call, "SECRET_HASH", hash, false);
    buffer_add_char(&call->body, '}');
    call->once = true;
}

/* Session and name of the challenge as the answer to it needs them, one text; the wire's own. */
static const char *proof_of(struct arena *arena, const struct document *answer, const char *username)
{
    const struct document *parameters = document_member(answer, "ChallengeParameters");
    const char *named = document_text(document_member(parameters, "USER_ID_FOR_SRP"));
    const char *session = document_text(document_member(answer, "Session"));
    return arena_format(arena, "%s\n%s", named != NULL ? named : username, session != NULL ? session : "");
}

/*
 * Only what a right password is answered with tells anything of the account. Cognito says of a user who is not confirmed
 * that it is so whatever the password was, and may say of a disabled one that it is before it looks at
 * the password: both are wrong credentials to the outside.
 */
struct error *cognito_login(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                            struct remote_grant *grant_out, const char **proof_out, enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    const char *username = attempt->subject != NULL ? attempt->subject : id_text(arena, id_new());
    begin_auth(cognito, arena, username, attempt->password, &call);
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (cognito_is_misconfigured(&call))
        return cognito_unexpected(arena, &call);
    if (call.fault != COGNITO_OK)
        return NULL;
    const char *challenge = document_text(document_member(call.answer, "ChallengeName"));
    if (challenge == NULL) {
        read_grant(call.answer, grant_out);
        *outcome_out = PROVIDER_OK;
        return NULL;
    }
    if (strcmp(challenge, "NEW_PASSWORD_REQUIRED") != 0) {
        LOG(WARN, IDENTITY,
            "cognito asks of an account what cannot be answered here; while it does nobody signs in to it",
            LOG_TEXT("subject", username), LOG_TEXT("challenge", challenge));
        *outcome_out = PROVIDER_DISABLED;
        return NULL;
    }
    *proof_out = proof_of(arena, call.answer, username);
    *outcome_out = PROVIDER_NEW_PASSWORD_REQUIRED;
    return NULL;
}

/* Session and name as in `proof`: of a challenge that nobody has answered. */
static struct error *respond(struct cognito *cognito, struct arena *arena, const char *proof,
                             struct secret new_password, struct remote_grant *grant_out,
                             enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    size_t length = strcspn(proof, "\n");
    const char *username = arena_copy(arena, proof, length);
    const char *hash = cognito_secret_hash(cognito, arena, username);
    cognito_client_begin(cognito, arena, "RespondToAuthChallenge", &call);
    call.once = true;
    cognito_call_add(&call, "ChallengeName", "NEW_PASSWORD_REQUIRED");
    cognito_call_add(&call, "Session", proof + length + 1);
    buffer_add_text(&call.body, ",\"ChallengeResponses\":{");
    add_parameter(&call, "USERNAME", username, true);
    add_parameter(&call, "NEW_PASSWORD", secret_reveal(new_password), false);
    if (hash != NULL)
        add_parameter(&call, "SECRET_HASH", hash, false);
    buffer_add_char(&call.body, '}');
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = PROVIDER_PASSWORD_REFUSED;
    if (cognito_is_password_refused(&call))
        return NULL;
    /* An attribute that the pool wants of everybody would be such a parameter. */
    if (cognito_is_misconfigured(&call) || call.fault == COGNITO_LIMIT_EXCEEDED ||
        call.fault == COGNITO_INVALID_PARAMETER)
        return cognito_unexpected(arena, &call);
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    if (call.fault != COGNITO_OK)
        return NULL;
    read_grant(call.answer, grant_out);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

/*
 * Cognito opens a session for each that knows the temporary password, and nothing says that it closes the others with the
 * first answer. So each asks anew whether the password is still the temporary one.
 */
struct error *cognito_login_answer(struct remote *remote, struct arena *arena,
                                   const struct provider_challenge *challenge, struct secret new_password,
                                   struct remote_grant *grant_out, enum provider_outcome *outcome_out)
{
    struct provider_login attempt = {.subject = challenge->subject, .password = challenge->password};
    const char *proof = NULL;
    TRY(cognito_login(remote, arena, &attempt, grant_out, &proof, outcome_out));
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED)
        return respond(cognito_of(remote), arena, proof, new_password, grant_out, outcome_out);
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    return NULL;
}

struct error *cognito_session_refresh(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret refresh_token, struct remote_grant *grant_out,
                                      enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    /* Over the real user name, not an alias, or Cognito cannot verify it. */
    const char *hash = cognito_secret_hash(cognito, arena, subject);
    cognito_client_begin(cognito, arena, "InitiateAuth", &call);
    cognito_call_add(&call, "AuthFlow", "REFRESH_TOKEN_AUTH");
    buffer_add_text(&call.body, ",\"AuthParameters\":{");
    add_parameter(&call, "REFRESH_TOKEN", secret_reveal(refresh_token), true);
    if (hash != NULL)
        add_parameter(&call, "SECRET_HASH", hash, false);
    buffer_add_char(&call.body, '}');
    call.once = true;
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (cognito_is_misconfigured(&call))
        return cognito_unexpected(arena, &call);
    if (call.fault != COGNITO_OK)
        return NULL;
    read_grant(call.answer, grant_out);
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
    /* Revoked before is revoked. */
    return call.fault == COGNITO_OK || call.fault == COGNITO_NOT_AUTHORIZED ? NULL : cognito_unexpected(arena, &call);
}

/*
 * The old password opens a session, whose token changes it; so the two belong together at Cognito, too. That the session
 * could not be closed again is not the change's concern.
 */
struct error *cognito_password_change(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct provider_login attempt = {.subject = subject, .password = password};
    struct remote_grant grant = {0};
    struct cognito_call call;
    const char *proof = NULL;
    TRY(cognito_login(remote, arena, &attempt, &grant, &proof, outcome_out));
    /* The password is right, but without a session there is no change. */
    if (*outcome_out == PROVIDER_DISABLED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito asks for more than the password");
    if (*outcome_out != PROVIDER_OK || grant.access_token == NULL) {
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
        return NULL;
    }
    *outcome_out = PROVIDER_BAD_CREDENTIALS;
    cognito_client_begin(cognito, arena, "ChangePassword", &call);
    buffer_init(&call.body, arena);
    cognito_call_add(&call, "AccessToken", grant.access_token);
    cognito_call_add(&call, "PreviousPassword", secret_reveal(password));
    cognito_call_add(&call, "ProposedPassword", secret_reveal(new_password));
    call.once = true;
    call.sets_password = true;
    TRY(cognito_call(cognito, arena, &call));
    remote_session_discard(remote, arena, &grant);
    /* The old one was right: who changed it too often must not be told that it was not. */
    if (cognito_is_misconfigured(&call) || call.fault == COGNITO_LIMIT_EXCEEDED)
        return cognito_unexpected(arena, &call);
    if (call.fault == COGNITO_INVALID_PASSWORD || call.fault == COGNITO_INVALID_PARAMETER)
        *outcome_out = PROVIDER_PASSWORD_REFUSED;
    else if (call.fault == COGNITO_OK)
        *outcome_out = PROVIDER_OK;
    return NULL;
}
