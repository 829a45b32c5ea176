/* SPDX-License-Identifier: MIT */
/*
 * Codes that Cognito mails and verifies ([identity] codes = provider). SignUp mails the first one by itself where the
 * pool verifies addresses. All calls are the app client's, so the pool answers for a name that nobody has as it does
 * for others.
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/cognito/cognito_int.h"

/* `subject` NULL is nobody: a name that no account has. */
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
    static const struct cognito_meaning meanings[] = {
        {COGNITO_LIMIT_EXCEEDED, PROVIDER_OK},
        {COGNITO_USER_NOT_FOUND, PROVIDER_ABSENT},
        {COGNITO_INVALID_PARAMETER, PROVIDER_STATE}, /* confirmed already, or no verified address */
        {COGNITO_NOT_AUTHORIZED, PROVIDER_STATE},
    };
    struct cognito_call call;
    begin(remote, arena, code == PROVIDER_CODE_CONFIRM ? "ResendConfirmationCode" : "ForgotPassword", subject, &call);
    TRY(cognito_call(cognito_of(remote), arena, &call));
    if (call.fault == COGNITO_LIMIT_EXCEEDED)
        LOG(WARN, IDENTITY, "cognito mails an account no more codes for a while", LOG_TEXT("detail", call.message));
    TRY(cognito_outcome(arena, &call, meanings, sizeof meanings / sizeof *meanings, outcome_out));
    return *outcome_out == PROVIDER_STATE && cognito_is_misconfigured(&call) ? cognito_unexpected(arena, &call) : NULL;
}

/* What became of a code that was tried. An error is for the operator to correct. */
static struct error *outcome_of_code(struct arena *arena, const struct cognito_call *call,
                                     enum provider_outcome *outcome_out)
{
    static const struct cognito_meaning meanings[] = {
        {COGNITO_CODE_MISMATCH, PROVIDER_CODE_WRONG},
        {COGNITO_EXPIRED_CODE, PROVIDER_CODE_WRONG},
        {COGNITO_LIMIT_EXCEEDED, PROVIDER_CODE_WRONG}, /* too many tries */
        {COGNITO_USER_NOT_FOUND, PROVIDER_CODE_WRONG},
        {COGNITO_USER_NOT_CONFIRMED, PROVIDER_CODE_WRONG},
        {COGNITO_NOT_AUTHORIZED, PROVIDER_CODE_WRONG},
        {COGNITO_INVALID_PARAMETER, PROVIDER_CODE_WRONG}, /* it has not the form of a code */
    };
    *outcome_out = PROVIDER_PASSWORD_REFUSED;
    if (cognito_is_password_refused(call))
        return NULL;
    if (cognito_is_misconfigured(call))
        return cognito_unexpected(arena, call);
    return cognito_outcome(arena, call, meanings, sizeof meanings / sizeof *meanings, outcome_out);
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
