/* SPDX-License-Identifier: MIT */
/* Calls to Cognito and what their failures mean; for cognito*.c. */
#ifndef GATEHOUSE_IDENTITY_COGNITO_COGNITO_INT_H
#define GATEHOUSE_IDENTITY_COGNITO_COGNITO_INT_H

#include "base/text.h"
#include "codec/document.h"
#include "identity/cognito/provider.h"
#include "identity/remote_int.h"

struct cognito {
    struct remote remote;
    struct cognito_options options;
    struct secret client_secret; /* no secret: the app client has none */
    struct secret access_key;
    struct secret session_token; /* of temporary keys, for a set-up; no secret: none */
};

static inline struct cognito *cognito_of(struct remote *remote)
{
    return (struct cognito *)remote;
}

/* The exceptions that are told apart; which of them mean what depends on the operation. */
enum cognito_fault {
    COGNITO_OK,
    COGNITO_NOT_AUTHORIZED,
    COGNITO_USER_NOT_FOUND,
    COGNITO_USER_NOT_CONFIRMED,
    COGNITO_USERNAME_EXISTS,
    COGNITO_ALIAS_EXISTS,
    COGNITO_INVALID_PASSWORD,
    COGNITO_INVALID_PARAMETER,
    COGNITO_CODE_MISMATCH,
    COGNITO_EXPIRED_CODE,
    COGNITO_RESET_REQUIRED,
    COGNITO_RESOURCE_NOT_FOUND,
    COGNITO_LIMIT_EXCEEDED, /* of one account: mails, or wrong codes */
    COGNITO_OTHER
};

/* One call. The body is an object that is begun here and closed by cognito_call(). */
struct cognito_call {
    const char *operation;
    struct buffer body;
    bool is_signed;
    bool once; /* must not be carried out twice */
    bool sets_password;
    enum cognito_fault fault;
    const char *message;           /* of the fault, for telling apart what one exception means twice; never shown */
    const struct document *answer; /* where the fault is COGNITO_OK */
};

/* Begins a call of the administrator, naming the pool, or one of the app client. */
void cognito_admin_begin(struct cognito *cognito, struct arena *arena, const char *operation,
                         struct cognito_call *call_out);
void cognito_client_begin(struct cognito *cognito, struct arena *arena, const char *operation,
                          struct cognito_call *call_out);

/* Begins a signed call that names nothing yet. */
void cognito_signed_begin(struct arena *arena, const char *operation, struct cognito_call *call_out);

/* Adds a member of text. */
void cognito_call_add(struct cognito_call *call, const char *name, const char *value);

/* Adds, between members of a text array's or object's inside, {"Name":…,"Value":…}; `first` leaves the comma out. */
void cognito_call_add_attribute(struct cognito_call *call, const char *name, const char *value, bool first);

/*
 * Base64(HMAC-SHA256(client secret, username || client id)); NULL where the app client has no secret.
 */
const char *cognito_secret_hash(struct cognito *cognito, struct arena *arena, const char *username);

/*
 * Makes the call. A fault that Cognito names is no error; throttling is tried again within the deadline. Errors are
 * IDENTITY_UNAVAILABLE: no answer, none that can be read, or one that says that the service itself is set up wrongly.
 */
struct error *cognito_call(struct cognito *cognito, struct arena *arena, struct cognito_call *call);

/* Whether the new password is what it does not take, by the pool's policy or by Cognito's own form of one. */
bool cognito_is_password_refused(const struct cognito_call *call);

/* The error of a fault that the operation should not meet. */
struct error *cognito_unexpected(struct arena *arena, const struct cognito_call *call);

/*
 * Whether it is something that an operator has to mend and nobody's password or code: no such pool or client, a wrong client
 * secret, a flow that the app client does not allow. Only the message tells that.
 */
bool cognito_is_misconfigured(const struct cognito_call *call);

/* ---- cognito_codes.c: functions of the wire ------------------------------------------------------- */

struct error *cognito_code_send(struct remote *remote, struct arena *arena, const char *subject,
                                enum provider_code code, enum provider_outcome *outcome_out);
struct error *cognito_code_confirm(struct remote *remote, struct arena *arena, const char *subject, const char *code,
                                   enum provider_outcome *outcome_out);
struct error *cognito_code_reset(struct remote *remote, struct arena *arena, const char *subject, const char *code,
                                 struct secret new_password, enum provider_outcome *outcome_out);

/* ---- cognito_check.c: a function of the wire ------------------------------------------------------ */

struct error *cognito_check(struct remote *remote, struct arena *arena);

/* ---- cognito_token.c: functions of the wire ------------------------------------------------------- */

struct error *cognito_login(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                            struct remote_grant *grant_out, const char **proof_out, enum provider_outcome *outcome_out);
struct error *cognito_login_answer(struct remote *remote, struct arena *arena,
                                   const struct provider_challenge *challenge, struct secret new_password,
                                   struct remote_grant *grant_out, enum provider_outcome *outcome_out);
struct error *cognito_session_refresh(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret refresh_token, struct remote_grant *grant_out,
                                      enum provider_outcome *outcome_out);
struct error *cognito_session_revoke(struct remote *remote, struct arena *arena, struct secret refresh_token);
struct error *cognito_password_change(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out);

#endif
