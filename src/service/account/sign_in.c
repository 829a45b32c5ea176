/* SPDX-License-Identifier: MIT */
/* Signs users in and out. sign_up.c makes their accounts. */
#include "service/account/sign_in.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/password_policy.h"
#include "domain/audit.h"
#include "domain/outbox.h"
#include "domain/permission/principal.h"
#include "domain/session/known_device.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/access/session_use.h"
#include "service/account/provider_change.h"
#include "service/account/provider_sync.h"
#include "service/account/session_admin.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/*
 * `refusal` NULL: the login has succeeded. The row of a failed one says who was meant, where somebody has the name, and
 * with which code it was refused. It never says what was typed: people type passwords into the wrong field.
 */
static struct error *audit_login(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct user *user, const struct error *refusal)
{
    struct audit_entry entry = {
        .action = refusal == NULL ? "user.login" : "user.loginFailed",
        .organisation_id = user == NULL ? id_none : user->organisation_id,
        .user_id = user == NULL ? id_none : user->id,
        .target_type = "user",
        .target_id = user == NULL ? NULL : id_text(arena, user->id),
        .outcome = refusal == NULL ? "success" : "failure",
        .details = refusal == NULL ? NULL : arena_format(arena, "{\"code\":\"%s\"}", error_code_text(refusal->code)),
    };
    return caller_audit(service, arena, caller, &entry);
}

struct success {
    struct service *service;
    const struct caller *caller;
    const struct user *user;
};

static struct error *record_success(struct database *database, struct arena *arena, void *context)
{
    const struct success *success = context;
    const struct user *user = success->user;
    TRY(user_note_login(database, arena, user->organisation_id, user->id));
    return audit_login(success->service, arena, success->caller, user, NULL);
}

/* The provider's answer, as an error for the client; NULL for the outcomes that go on. */
static struct error *refuse_login(struct arena *arena, enum provider_outcome outcome)
{
    struct error *error;
    switch (outcome) {
    case PROVIDER_OK:
    case PROVIDER_NEW_PASSWORD_REQUIRED:
        return NULL;
    case PROVIDER_DISABLED:
        return error_plain(arena, ERROR_USER_DISABLED);
    case PROVIDER_UNCONFIRMED:
        return error_plain(arena, ERROR_USER_UNCONFIRMED);
    case PROVIDER_PERMANENT_PASSWORD:
        error = error_plain(arena, ERROR_REQUEST_INVALID);
        return error_entry(error, "newPassword", "unexpected",
                           "belongs to a temporary password only; use change-password instead");
    case PROVIDER_SAME_PASSWORD:
        error = error_plain(arena, ERROR_PASSWORD_POLICY);
        return error_entry(error, "newPassword", "same", "must differ from the temporary password");
    case PROVIDER_PASSWORD_REFUSED:
        return password_policy_refused(arena, "newPassword");
    default:
        return error_new(arena, ERROR_CREDENTIALS, "%s", provider_outcome_text(outcome));
    }
}

static struct error *answer_challenge(struct service *service, struct arena *arena, const struct sign_in_request *login,
                                      const struct user *user, const struct provider_challenge *challenge,
                                      struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct password_owner owner;
    if (login->new_password.bytes == NULL) {
        struct error *error = error_plain(arena, ERROR_NEW_PASSWORD_REQUIRED);
        return error_entry(error, "newPassword", "required", "is missing");
    }
    TRY(password_policy_owner(service->database, arena, user, &owner));
    TRY(password_policy_check(service->passwords, arena, "newPassword", login->new_password, &owner));
    return provider_answer_new_password(service->provider, arena, challenge, login->new_password, tokens_out,
                                        outcome_out);
}

struct activation {
    struct service *service;
    const struct user *user;
};

static struct error *activate_rows(struct database *database, struct arena *arena, void *context)
{
    struct activation *activation = context;
    const struct user *user = activation->user;
    TRY(user_activate(database, arena, user->organisation_id, user->id, NULL));
    return provider_sync_queue(activation->service, arena, user->id, 0);
}

/*
 * Activates a user whose first password is set. The session is open already, but its tokens are worth nothing while the
 * user is not active. So a database that fails now fails the login, and the next login, with the new password,
 * activates the user. The job sends the verified marks to the provider.
 */
static struct error *activate(struct service *service, struct arena *arena, const struct user *user)
{
    struct activation activation = {service, user};
    return database_transaction(service->database, arena, activate_rows, &activation, NULL);
}

/* Checks that our own rows let the user in, whatever the provider says. */
static struct error *check_standing(struct service *service, struct arena *arena, const struct user *user)
{
    struct organisation *organisation = NULL;
    TRY(organisation_find(service->database, arena, user->organisation_id, &organisation));
    if (user->status == USER_DISABLED || organisation == NULL || organisation->status != ORGANISATION_ACTIVE)
        return error_plain(arena, ERROR_USER_DISABLED);
    if (user->status == USER_AWAITING_CONFIRMATION)
        return error_plain(arena, ERROR_USER_UNCONFIRMED);
    return NULL;
}

/* Whether the password was right, whatever else is in the way. */
static bool password_was_right(enum provider_outcome outcome)
{
    return outcome != PROVIDER_BAD_CREDENTIALS && outcome != PROVIDER_TEMPORARY_EXPIRED;
}

/*
 * Checks what is in the way after the provider has answered. A wait that parallel failures have started refuses a right
 * password like a wrong one. Our own rows decide last who may sign in.
 */
static struct error *check_login(struct service *service, struct arena *arena, const struct user *user,
                                 const struct login_throttle *throttle, enum provider_outcome outcome)
{
    if (password_was_right(outcome))
        TRY(login_throttle_passed(service, arena, throttle));
    TRY(refuse_login(arena, outcome));
    return user == NULL ? error_plain(arena, ERROR_CREDENTIALS) : check_standing(service, arena, user);
}

/*
 * Asks the provider. Where our row was confirmed and the provider's account was not, a crash lies between; the account
 * is confirmed now.
 */
static struct error *ask_provider(struct service *service, struct arena *arena, const struct provider_login *attempt,
                                  const struct user *user, struct provider_tokens *tokens_out,
                                  struct provider_challenge *challenge, enum provider_outcome *outcome_out)
{
    bool again = false;
    TRY(provider_login(service->provider, arena, attempt, tokens_out, challenge, outcome_out));
    TRY(provider_change_reconcile(service, arena, attempt->user_id,
                                  user == NULL ? PROVIDER_BAD_CREDENTIALS : *outcome_out, &again));
    if (again)
        TRY(provider_login(service->provider, arena, attempt, tokens_out, challenge, outcome_out));
    /* Where there is no such user no password is right, whatever a provider makes of it. */
    if (user == NULL) {
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
        return NULL;
    }
    if (*outcome_out != PROVIDER_UNCONFIRMED || user->status != USER_ACTIVE)
        return NULL;
    TRY(provider_confirm(service->provider, arena, user->provider_subject, outcome_out));
    return provider_login(service->provider, arena, attempt, tokens_out, challenge, outcome_out);
}

static struct error *log_in(struct service *service, struct arena *arena, const struct sign_in_request *login,
                            struct user *user, const struct login_throttle *throttle,
                            struct provider_tokens *tokens_out)
{
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    struct provider_login attempt = {
        .subject = user == NULL ? NULL : user->provider_subject,
        .user_id = user == NULL ? id_none : user->id,
        .email = user == NULL ? NULL : user->email,
        .password = login->password,
        .new_password_sent = login->new_password.bytes != NULL,
    };
    TRY(ask_provider(service, arena, &attempt, user, tokens_out, &challenge, &outcome));
    struct error *refusal = check_login(service, arena, user, throttle, outcome);
    if (refusal != NULL && outcome == PROVIDER_OK && user != NULL)
        TRY(provider_logout(service->provider, arena, user->provider_subject, tokens_out->session_id));
    if (refusal != NULL)
        return refusal;
    if (outcome == PROVIDER_NEW_PASSWORD_REQUIRED) {
        TRY(answer_challenge(service, arena, login, user, &challenge, tokens_out, &outcome));
        TRY(refuse_login(arena, outcome));
    }
    return user->status == USER_AWAITING_FIRST_LOGIN ? activate(service, arena, user) : NULL;
}

/* What follows a good login: the rows that tell of it, the session's client, and the device. */
static struct error *begin(struct service *service, struct arena *arena, const struct caller *caller,
                           const struct sign_in_request *login, const struct user *user, struct id device,
                           struct id session, const char **device_mark_out)
{
    TRY(database_transaction(service->database, arena, record_success, &(struct success){service, caller, user}, NULL));
    TRY(session_admin_begin(service, arena, caller, user, session, login->session != NULL));
    *device_mark_out = login->device_mark;
    return login->device_mark == NULL
               ? NULL
               : known_device_note(service->database, arena, user->id, device, session, device_mark_out);
}

struct error *sign_in_with_password(struct service *service, struct arena *arena, const struct caller *caller,
                                    const struct sign_in_request *login, struct provider_tokens *tokens_out,
                                    struct user **user_out, const char **device_mark_out)
{
    struct user *user = NULL;
    struct id device = {{0}};
    int64_t began = clock_monotonic();
    TRY(user_find_by_username(service->database, arena, login->username, &user));
    if (login->device_mark != NULL)
        TRY(known_device_find(service->database, arena, user == NULL ? device : user->id, login->device_mark, &device));
    struct login_throttle throttle = login_throttle_of_password(arena, caller, user, login->username, device);
    throttle.began = began;
    /* A try within a wait is not checked and leaves no row, since anybody could fill the trail with such rows. */
    TRY(login_throttle_check(service, arena, &throttle));
    struct error *error = log_in(service, arena, login, user, &throttle, tokens_out);
    if (error != NULL && error->code == ERROR_CREDENTIALS)
        error = login_throttle_failed(service, arena, &throttle, error);
    if (error != NULL && (error_status(error->code) == 401 || error->code == ERROR_RATE_LIMITED))
        TRY(audit_login(service, arena, caller, user, error));
    if (error != NULL)
        return error;
    caller_log_actor(arena, user);
    TRY(begin(service, arena, caller, login, user, device, tokens_out->session_id, device_mark_out));
    /* Read again: the login itself is news, and the first one has changed the status and the verified marks. */
    TRY(user_find(service->database, arena, user->organisation_id, user->id, user_out));
    return *user_out != NULL ? NULL : error_new(arena, ERROR_CREDENTIALS, "the user vanished during the login");
}

/*
 * Asks the provider for new tokens. What was given to a client in a reply is nothing that a browser has in its cookie:
 * somebody has put it there, so that the browser acts as somebody else.
 */
static struct error *ask_refresh(struct service *service, struct arena *arena, const char *refresh_token,
                                 bool from_cookie, struct provider_tokens *tokens_out,
                                 enum provider_outcome *outcome_out)
{
    bool fits = true;
    if (from_cookie)
        TRY(refresh_token_is_in_cookie(service->database, arena, refresh_token, &fits));
    *outcome_out = PROVIDER_TOKEN_INVALID;
    return fits ? provider_refresh(service->provider, arena, refresh_token, tokens_out, outcome_out) : NULL;
}

struct error *sign_in_refresh(struct service *service, struct arena *arena, const struct caller *caller,
                              const char *refresh_token, bool from_cookie, struct provider_tokens *tokens_out)
{
    enum provider_outcome outcome;
    struct principal *principal = NULL;
    struct login_throttle throttle = login_throttle_of_code(caller);
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(ask_refresh(service, arena, refresh_token, from_cookie, tokens_out, &outcome));
    if (outcome == PROVIDER_TOKEN_REUSED) {
        struct error *reuse =
            error_new(arena, ERROR_TOKEN_REVOKED, "a spent refresh token came again; the session is ended");
        struct user *user = NULL;
        TRY(user_find_any(service->database, arena, tokens_out->user_id, &user));
        TRY(caller_audit_failure(service, arena, caller, "session.reuse", user));
        return login_throttle_failed(service, arena, &throttle, reuse);
    }
    if (outcome != PROVIDER_OK) {
        TRY(caller_audit_failure(service, arena, caller, "session.refreshFailed", NULL));
        return login_throttle_failed(service, arena, &throttle,
                                     error_new(arena, ERROR_TOKEN_INVALID, "%s", provider_outcome_text(outcome)));
    }
    TRY(principal_load(service->database, arena, tokens_out->user_id, tokens_out->session_id, &principal));
    if (principal_stands(principal)) {
        caller_log_actor(arena, &principal->user);
        session_use_note(service, arena, caller, tokens_out->session_id);
        return NULL;
    }
    TRY(session_end(service->database, arena, tokens_out->session_id, tokens_out->user_id, NULL));
    return error_new(arena, ERROR_TOKEN_REVOKED, "the user may not call any more");
}

struct error *sign_in_log_out(struct service *service, struct arena *arena, const struct caller *caller,
                              bool everywhere)
{
    const struct principal *principal = caller->principal;
    struct user *user;
    TRY(principal_details(service->database, arena, principal, &user, NULL));
    const char *subject = user->provider_subject;
    struct audit_entry entry = {
        .action = everywhere ? "user.logoutEverywhere" : "user.logout",
        .target_type = "user",
        .target_id = id_text(arena, principal->user.id),
    };
    if (everywhere)
        TRY(provider_logout_all(service->provider, arena, subject));
    else
        TRY(provider_logout(service->provider, arena, subject, principal->session_id));
    return caller_audit(service, arena, caller, &entry);
}
