/* SPDX-License-Identifier: MIT */
/*
 * The inside of the Keycloak driver. client.c makes the calls; grant.c verifies passwords; user.c, login.c, session.c
 * and password.c are the functions of the driver; check.c looks for wrong settings.
 */
#ifndef GATEHOUSE_IDENTITY_KEYCLOAK_KEYCLOAK_INT_H
#define GATEHOUSE_IDENTITY_KEYCLOAK_KEYCLOAK_INT_H

#include "base/text.h"
#include "codec/document.h"
#include "identity/keycloak/provider.h"
#include "identity/remote_int.h"

#define KEYCLOAK_UPDATE_PASSWORD "UPDATE_PASSWORD" /* a required action: the password is temporary */
#define KEYCLOAK_VERIFY_EMAIL "VERIFY_EMAIL"       /* a required action: the account awaits its code */

struct keycloak {
    struct remote remote;
    struct keycloak_options options;
    const char *oidc;     /* {url}/realms/{realm}/protocol/openid-connect */
    const char *users;    /* {url}/admin/realms/{realm}/users */
    const char *sessions; /* {url}/admin/realms/{realm}/sessions */
    struct secret client_secret;
    struct secret admin_secret;
    struct arena *token_arena; /* of the next; NULL: there is none */
    const char *token;         /* the service account's access token */
    int64_t token_until;       /* clock_monotonic(); 30 s before its end */
};

static inline struct keycloak *keycloak_of(struct remote *remote)
{
    return (struct keycloak *)remote;
}

/* One call to Keycloak. */
struct keycloak_call {
    const char *name; /* for the log */
    const char *method;
    const char *url;
    struct buffer body;
    bool once; /* must not be carried out twice */
    bool sets_password;
    long status;
    const struct document *answer; /* NULL: not JSON, or nothing */
    const char *location;          /* of what was created; NULL: none named */
};

/*
 * Begins a call to an end point of OpenID Connect ("token", "logout"), with id and secret of the client that signs
 * people in.
 */
void keycloak_form_begin(struct keycloak *keycloak, struct arena *arena, const char *endpoint,
                         struct keycloak_call *call_out);

/* Adds a field to the form. */
void keycloak_form_add(struct keycloak_call *call, const char *name, const char *value);

/* Makes the call. Errors are IDENTITY_UNAVAILABLE: no answer, or a fault of the server's. */
struct error *keycloak_form_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call);

/* Begins a call about users; `path` (may be "") follows .../users. The body, where there is one, is JSON. */
void keycloak_admin_begin(struct keycloak *keycloak, struct arena *arena, const char *method, const char *path,
                          struct keycloak_call *call_out);

/*
 * Makes the call with the service account's token. The token is fetched when neither this process nor the host's cache
 * has one, and once more when Keycloak refuses it (401). IDENTITY_UNAVAILABLE also where Keycloak answers 401 or 403.
 */
struct error *keycloak_admin_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call);

/* Begins a call to any address. And makes a call with that access token; every status below 500 is an answer. */
void keycloak_url_begin(struct arena *arena, const char *method, const char *url, struct keycloak_call *call_out);
struct error *keycloak_bearer_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call,
                                   const char *token);

/* "/{subject}{rest}" */
const char *keycloak_user_path(struct arena *arena, const char *subject, const char *rest);

/* Whether the answer says that there is no such user. A 404 of a wrong address does not say so. */
bool keycloak_is_absent(const struct keycloak_call *call);

/* Whether it says that the password does not meet the realm's policy. */
bool keycloak_is_refused(const struct keycloak_call *call);

/* What a failure says: its name and its text; "" where it says nothing. */
const char *keycloak_error_name(const struct keycloak_call *call);
const char *keycloak_error_text(const struct keycloak_call *call);

/* The error of an answer that the operation should not get. */
struct error *keycloak_unexpected(struct arena *arena, const struct keycloak_call *call);

/* Requests a token for the service account; keeps it where the answer is one. *call tells what Keycloak answered. */
struct error *keycloak_service_token_request(struct keycloak *keycloak, struct arena *arena,
                                             struct keycloak_call *call);

/* check.c: a function of the driver. */
struct error *keycloak_check(struct remote *remote, struct arena *arena);

/* Drops the service account's token. */
void keycloak_service_token_forget(struct keycloak *keycloak);

/* ---- user.c ------------------------------------------------------------------------------ */

/* An account, with all that a change must send again: PUT replaces it as a whole. */
struct keycloak_user {
    const char *id; /* NULL: there is none */
    const char *username;
    const char *email;
    const char *first_name; /* NULL: none; the same for the next */
    const char *last_name;
    bool enabled;
    bool email_verified;
    struct text_list actions; /* the required ones */
    const struct document *attributes;
};

struct error *keycloak_user_get(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                struct keycloak_user *user_out);

/* The first value of an attribute; NULL: none. */
const char *keycloak_user_attribute(const struct keycloak_user *user, const char *name);

bool keycloak_user_requires(const struct keycloak_user *user, const char *action);

/* Whether the account requires that its password is replaced, and nothing else. */
bool keycloak_user_is_temporary(const struct keycloak_user *user);

/* Runs `body` under remote_lock() of the account, since Keycloak knows no conditional update. */
struct error *keycloak_user_locked(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                   struct error *(*body)(struct keycloak *, struct arena *, const char *subject,
                                                         void *context),
                                   void *context);

/* Writes the account with some attributes changed. OK or ABSENT. */
struct keycloak_change {
    const char *name;
    const char *value; /* NULL or "": the attribute goes */
};
struct error *keycloak_user_put(struct keycloak *keycloak, struct arena *arena, const struct keycloak_user *user,
                                const struct keycloak_change *changes, size_t count,
                                enum provider_outcome *outcome_out);

/* Functions of the driver. */
struct error *keycloak_user_create(struct remote *remote, struct arena *arena, const struct provider_account *account,
                                   const char **subject_out, enum provider_outcome *outcome_out);
struct error *keycloak_user_find(struct remote *remote, struct arena *arena, struct id user, const char *email,
                                 struct remote_account *found_out);
struct error *keycloak_user_confirm(struct remote *remote, struct arena *arena, const char *subject,
                                    enum provider_outcome *outcome_out);
struct error *keycloak_user_set_enabled(struct remote *remote, struct arena *arena, const char *subject, bool enabled,
                                        enum provider_outcome *outcome_out);
struct error *keycloak_user_set_attributes(struct remote *remote, struct arena *arena, const char *subject,
                                           const struct provider_attributes *attributes,
                                           enum provider_outcome *outcome_out);
struct error *keycloak_user_remove(struct remote *remote, struct arena *arena, const char *subject);

/* ---- grant.c --------------------------------------------------------------------------------------- */

enum keycloak_password {
    KEYCLOAK_PASSWORD_WRONG, /* also of nobody and of a disabled account, which Keycloak does not tell apart */
    KEYCLOAK_PASSWORD_RIGHT,
    KEYCLOAK_PASSWORD_PENDING /* right, but the account requires actions first */
};

void keycloak_grant_read(const struct keycloak_call *call, struct remote_grant *grant_out);

/*
 * Whether the token end point refuses the password or token that was sent, and not a client or grant that the operator
 * set up wrongly.
 */
bool keycloak_grant_is_invalid(const struct keycloak_call *call);

/* Verifies the password of that name; *grant_out is filled where the result is KEYCLOAK_PASSWORD_RIGHT. */
struct error *keycloak_grant_try_password(struct keycloak *keycloak, struct arena *arena, const char *username,
                                          struct secret password, struct remote_grant *grant_out,
                                          enum keycloak_password *result_out);

/* ---- login.c, password.c, session.c ----------------------------------------------------------------- */

/* Ends the session of a refresh token. One that has ended is no error. */
struct error *keycloak_session_end(struct keycloak *keycloak, struct arena *arena, struct secret refresh_token);

/* Sets the password of an account. OK, ABSENT or PASSWORD_REFUSED. */
struct error *keycloak_password_reset(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                      struct secret password, bool temporary, enum provider_outcome *outcome_out);
struct error *keycloak_session_end_all(struct keycloak *keycloak, struct arena *arena, const char *subject);

/* Functions of the driver. */
struct error *keycloak_login(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                             struct remote_grant *grant_out, const char **proof_out,
                             enum provider_outcome *outcome_out);
struct error *keycloak_login_answer(struct remote *remote, struct arena *arena,
                                    const struct provider_challenge *challenge, struct secret new_password,
                                    struct remote_grant *grant_out, enum provider_outcome *outcome_out);
struct error *keycloak_session_refresh(struct remote *remote, struct arena *arena, const char *subject,
                                       struct secret refresh_token, struct remote_grant *grant_out,
                                       enum provider_outcome *outcome_out);
struct error *keycloak_session_revoke(struct remote *remote, struct arena *arena, struct secret refresh_token);
struct error *keycloak_session_end_others(struct remote *remote, struct arena *arena, const char *subject,
                                          struct id keep);
struct error *keycloak_session_sign_out(struct remote *remote, struct arena *arena, const char *subject);
struct error *keycloak_password_change(struct remote *remote, struct arena *arena, const char *subject,
                                       struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out);
struct error *keycloak_password_set(struct remote *remote, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out);

#endif
