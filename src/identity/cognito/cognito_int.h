/* SPDX-License-Identifier: MIT */
/*
 * The inside of the Cognito driver. client.c makes the calls and tells exceptions apart; user.c, login.c, session.c,
 * password.c and codes.c are the functions of the driver; check.c looks for wrong settings.
 */
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
    struct secret session_token; /* of temporary keys, for provisioning; no secret: none */
};

static inline struct cognito *cognito_of(struct remote *remote)
{
    return (struct cognito *)remote;
}

/* ---- client.c ------------------------------------------------------------------------------------- */

/* The exceptions that are told apart. What each of them means depends on the operation. */
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
    COGNITO_LIMIT_EXCEEDED, /* for one account: too many mails or too many wrong codes */
    COGNITO_OTHER
};

/* One call. Its body is an object, which is begun here and which cognito_call() closes. */
struct cognito_call {
    const char *operation;
    struct buffer body;
    bool is_signed;
    bool once;          /* must not be carried out twice */
    bool sets_password; /* see remote_int.h, is_unknown */
    enum cognito_fault fault;
    const char *message; /* of the fault: tells apart what one exception means twice; never shown to a client */
    const struct document *answer; /* where the fault is COGNITO_OK */
};

/* Begins a signed call of the administrator, which names the pool, and one of those that also name an account. */
void cognito_admin_begin(struct cognito *cognito, struct arena *arena, const char *operation,
                         struct cognito_call *call_out);
void cognito_user_begin(struct cognito *cognito, struct arena *arena, const char *operation, const char *username,
                        struct cognito_call *call_out);

/* Begins an unsigned call of the app client, which names the client. */
void cognito_client_begin(struct cognito *cognito, struct arena *arena, const char *operation,
                          struct cognito_call *call_out);

/* Begins a signed call that names nothing yet. */
void cognito_signed_begin(struct arena *arena, const char *operation, struct cognito_call *call_out);

/* Adds a member with a text. */
void cognito_call_add(struct cognito_call *call, const char *name, const char *value);

/*
 * Adds an element to an array of attributes, {"Name":…,"Value":…}; `first` leaves the comma out. And a member to an
 * object of parameters, "name":"value", likewise.
 */
void cognito_call_add_attribute(struct cognito_call *call, const char *name, const char *value, bool first);
void cognito_call_add_parameter(struct cognito_call *call, const char *name, const char *value, bool first);

/* Base64(HMAC-SHA256(client secret, username || client id)); NULL where the app client has no secret. */
const char *cognito_secret_hash(struct cognito *cognito, struct arena *arena, const char *username);

/*
 * Makes the call. A fault that Cognito names is no error. A throttled call is made again within the operation's time.
 * Errors are IDENTITY_UNAVAILABLE: no answer, none that can be read, or one that says that the service itself is set up
 * wrongly.
 */
struct error *cognito_call(struct cognito *cognito, struct arena *arena, struct cognito_call *call);

/* Whether Cognito does not take the new password, because of the pool's policy or of its own form of passwords. */
bool cognito_is_password_refused(const struct cognito_call *call);

/* The error of a fault that the operation should not meet. */
struct error *cognito_unexpected(struct arena *arena, const struct cognito_call *call);

/*
 * Whether an operator must correct something, so that no password or code is to blame: no such pool or client, a wrong
 * client secret, a flow that the app client does not allow. Only the message tells.
 */
bool cognito_is_misconfigured(const struct cognito_call *call);

/* What a fault means for an operation. */
struct cognito_meaning {
    enum cognito_fault fault;
    enum provider_outcome outcome;
};

/*
 * The outcome of a call by the operation's table; cognito_unexpected() for a fault that is not in it. COGNITO_OK is OK.
 */
struct error *cognito_outcome(struct arena *arena, const struct cognito_call *call,
                              const struct cognito_meaning *meanings, size_t count, enum provider_outcome *outcome_out);

/* Makes a call whose only outcomes are OK and ABSENT. */
struct error *cognito_call_plain(struct cognito *cognito, struct arena *arena, struct cognito_call *call,
                                 enum provider_outcome *outcome_out);

/* Fills *grant_out with the tokens of an answer. */
void cognito_grant_read(const struct document *answer, struct remote_grant *grant_out);

/* ---- functions of the driver ---------------------------------------------------------------------- */

/* user.c; struct remote_driver_administration, but for the password */
struct error *cognito_user_create(struct remote *remote, struct arena *arena, const struct provider_account *account,
                                  const char **subject_out, enum provider_outcome *outcome_out);
struct error *cognito_user_find(struct remote *remote, struct arena *arena, struct id user, const char *email,
                                struct remote_account *account_out);
struct error *cognito_user_confirm(struct remote *remote, struct arena *arena, const char *subject,
                                   enum provider_outcome *outcome_out);
struct error *cognito_user_set_enabled(struct remote *remote, struct arena *arena, const char *subject, bool enabled,
                                       enum provider_outcome *outcome_out);
struct error *cognito_user_set_attributes(struct remote *remote, struct arena *arena, const char *subject,
                                          const struct provider_attributes *attributes,
                                          enum provider_outcome *outcome_out);
struct error *cognito_user_remove(struct remote *remote, struct arena *arena, const char *subject);

/* login.c */
struct error *cognito_login(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                            struct remote_grant *grant_out, const char **proof_out, enum provider_outcome *outcome_out);
struct error *cognito_login_answer(struct remote *remote, struct arena *arena,
                                   const struct provider_challenge *challenge, struct secret new_password,
                                   struct remote_grant *grant_out, enum provider_outcome *outcome_out);

/* session.c */
struct error *cognito_session_refresh(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret refresh_token, struct remote_grant *grant_out,
                                      enum provider_outcome *outcome_out);
struct error *cognito_session_revoke(struct remote *remote, struct arena *arena, struct secret refresh_token);
struct error *cognito_session_sign_out(struct remote *remote, struct arena *arena, const char *subject);

/* password.c */
struct error *cognito_password_change(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out);
struct error *cognito_password_set(struct remote *remote, struct arena *arena, const char *subject,
                                   struct secret password, bool temporary, enum provider_outcome *outcome_out);

/* codes.c */
struct error *cognito_code_send(struct remote *remote, struct arena *arena, const char *subject,
                                enum provider_code code, enum provider_outcome *outcome_out);
struct error *cognito_code_confirm(struct remote *remote, struct arena *arena, const char *subject, const char *code,
                                   enum provider_outcome *outcome_out);
struct error *cognito_code_reset(struct remote *remote, struct arena *arena, const char *subject, const char *code,
                                 struct secret new_password, enum provider_outcome *outcome_out);

/* check.c */
struct error *cognito_check(struct remote *remote, struct arena *arena);

#endif
