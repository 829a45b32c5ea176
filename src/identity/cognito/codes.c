/* SPDX-License-Identifier: MIT */
/*
 * [identity] codes = provider: Cognito mails the codes (SignUp does so by itself where the pool verifies addresses) and judges
 * them. The app client's calls, so that of a name that nobody has the pool says what it says of others.
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/cognito/cognito_int.h"

static void begin(struct remote *remote, struct arena *arena, const char *operation, const char *subject,
                  struct cognito_call *call)
{
    struct cognito *cognito = cognito_of(remote);
    const char *username = subject != NULL ? subject : id_text(arena, id_new());
    const char *hash = cognito_secret_hash(cognito, arena, username);
    cognito_client_begin(cognito, arena, operation, call);
    call->once = true;
    cognito_call_add(call, "Username", username);
    if (hash != NULL)
        cognito_call_add(call, "SecretHash", hash);
}

struct error *cognito_code_send(struct remote *remote, struct arena *arena, const char *subject,
                                enum provider_code code, enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    begin(remote, arena, code == PROVIDER_CODE_CONFIRM ? "ResendConfirmationCode" : "ForgotPassword", subject, &call);
    TRY(cognito_call(cognito_of(remote), arena, &call));
    switch (call.fault) {
    case COGNITO_LIMIT_EXCEEDED:
        LOG(WARN, IDENTITY, "cognito mails an account no more codes for a while", LOG_TEXT("detail", call.message));
        *outcome_out = PROVIDER_OK;
        return NULL;
    case COGNITO_OK:
        *outcome_out = PROVIDER_OK;
        return NULL;
    case COGNITO_USER_NOT_FOUND:
        *outcome_out = PROVIDER_ABSENT;
        return NULL;
    case COGNITO_INVALID_PARAMETER: /* confirmed already; no verified address */
    case COGNITO_NOT_AUTHORIZED:
        *outcome_out = PROVIDER_STATE;
        return cognito_is_misconfigured(&call) ? cognito_unexpected(arena, &call) : NULL;
    default:
        return cognito_unexpected(arena, &call);
    }
}

/* What a code that was tried came to; errors are what an operator has to mend. */
static struct error *outcome_of_code(struct arena *arena, const struct cognito_call *call,
                                     enum provider_outcome *outcome_out)
{
    *outcome_out = PROVIDER_PASSWORD_REFUSED;
    if (cognito_is_password_refused(call))
        return NULL;
    if (cognito_is_misconfigured(call))
        return cognito_unexpected(arena, call);
    switch (call->fault) {
    case COGNITO_OK:
        *outcome_out = PROVIDER_OK;
        return NULL;
    case COGNITO_CODE_MISMATCH:
    case COGNITO_EXPIRED_CODE:
    case COGNITO_LIMIT_EXCEEDED: /* too many tries */
    case COGNITO_USER_NOT_FOUND:
    case COGNITO_USER_NOT_CONFIRMED:
    case COGNITO_NOT_AUTHORIZED:
    case COGNITO_INVALID_PARAMETER: /* what is no code at all */
        *outcome_out = PROVIDER_CODE_WRONG;
        return NULL;
    default:
        return cognito_unexpected(arena, call);
    }
}

struct error *cognito_code_confirm(struct remote *remote, struct arena *arena, const char *subject, const char *code,
                                   enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    begin(remote, arena, "ConfirmSignUp", subject, &call);
    cognito_call_add(&call, "ConfirmationCode", code);
    TRY(cognito_call(cognito_of(remote), arena, &call));
    TRY(outcome_of_code(arena, &call, outcome_out));
    /* Cognito says so before it looks at the code. */
    if (call.fault == COGNITO_NOT_AUTHORIZED && subject != NULL && strstr(call.message, "status is CONFIRMED") != NULL)
        *outcome_out = PROVIDER_STATE;
    return NULL;
}

struct error *cognito_code_reset(struct remote *remote, struct arena *arena, const char *subject, const char *code,
                                 struct secret new_password, enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    begin(remote, arena, "ConfirmForgotPassword", subject, &call);
    cognito_call_add(&call, "ConfirmationCode", code);
    cognito_call_add(&call, "Password", secret_reveal(new_password));
    call.sets_password = true;
    TRY(cognito_call(cognito_of(remote), arena, &call));
    return outcome_of_code(arena, &call, outcome_out);
}
