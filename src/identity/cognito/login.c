/* SPDX-License-Identifier: MIT */
/* Signs in at Cognito by USER_PASSWORD_AUTH, and answers the challenge NEW_PASSWORD_REQUIRED of a first login. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/cognito/cognito_int.h"

static void begin_auth(struct cognito *cognito, struct arena *arena, const char *username, struct secret password,
                       struct cognito_call *call)
{
    const char *hash = cognito_secret_hash(cognito, arena, username);
    cognito_client_begin(cognito, arena, "InitiateAuth", call);
    cognito_call_add(call, "AuthFlow", "USER_PASSWORD_AUTH");
    buffer_add_text(&call->body, ",\"AuthParameters\":{");
    cognito_call_add_parameter(call, "USERNAME", username, true);
    cognito_call_add_parameter(call, "PASSWORD", secret_reveal(password), false);
    if (hash != NULL)
        cognito_call_add_parameter(call, "SECRET_HASH", hash, false);
    buffer_add_char(&call->body, '}');
    call->once = true;
}

/* What the answer to the challenge needs, as one text: "name of the user\nsession". Only this file reads it. */
static const char *proof_of(struct arena *arena, const struct document *answer, const char *username)
{
    const struct document *parameters = document_member(answer, "ChallengeParameters");
    const char *named = document_text(document_member(parameters, "USER_ID_FOR_SRP"));
    const char *session = document_text(document_member(answer, "Session"));
    return arena_format(arena, "%s\n%s", named != NULL ? named : username, session != NULL ? session : "");
}

/*
 * Tells something of the account only after a right password. Cognito says that an account is not confirmed whatever
 * the password is, and may say that one is disabled before it looks at the password: both are wrong credentials to the
 * client.
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
        cognito_grant_read(call.answer, grant_out);
        *outcome_out = PROVIDER_OK;
        return NULL;
    }
    if (strcmp(challenge, "NEW_PASSWORD_REQUIRED") != 0) {
        LOG(WARN, IDENTITY,
            "cognito asks more of an account than the service can answer; nobody can sign in to it until that changes",
            LOG_TEXT("subject", username), LOG_TEXT("challenge", challenge));
        *outcome_out = PROVIDER_DISABLED;
        return NULL;
    }
    *proof_out = proof_of(arena, call.answer, username);
    *outcome_out = PROVIDER_NEW_PASSWORD_REQUIRED;
    return NULL;
}

/* Answers the challenge that `proof` is of. */
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
    cognito_call_add_parameter(&call, "USERNAME", username, true);
    cognito_call_add_parameter(&call, "NEW_PASSWORD", secret_reveal(new_password), false);
    if (hash != NULL)
        cognito_call_add_parameter(&call, "SECRET_HASH", hash, false);
    buffer_add_char(&call.body, '}');
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = PROVIDER_PASSWORD_REFUSED;
    if (cognito_is_password_refused(&call))
        return NULL;
    /* COGNITO_INVALID_PARAMETER: the pool requires an attribute of every account. */
    if (cognito_is_misconfigured(&call) || call.fault == COGNITO_LIMIT_EXCEEDED ||
        call.fault == COGNITO_INVALID_PARAMETER)
        return cognito_unexpected(arena, &call);
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    if (call.fault != COGNITO_OK)
        return NULL;
    cognito_grant_read(call.answer, grant_out);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

/*
 * Cognito opens a challenge for everybody who sends the temporary password, and does not promise to close the others
 * with the first answer. So each answer signs in again, which shows whether the temporary password still counts.
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
