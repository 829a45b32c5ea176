/* SPDX-License-Identifier: MIT */
/*
 * Passwords at a remote provider: changed by their owner, set by an administrator, reset by a code, replaced by another
 * invitation.
 *
 * Each change runs in the same order: the user of the account is looked up, the intent is written down
 * (password_intent.c), the driver calls the provider, and the intent is resolved by what came of the call. Another
 * invitation needs no intent: it runs while the account is locked, and the job runner sends it again where it failed.
 */
#include <string.h>

#include "domain/account/remote_account.h"
#include "domain/account/user.h"
#include "identity/remote/password_intent_int.h"
#include "identity/remote/provider_int.h"

/*
 * Begins an operation on the account of `subject`: its time runs from now, and *user_out is its user. False where no
 * user has that account; the outcome is ABSENT then.
 */
static struct error *begin(struct remote *remote, struct arena *arena, const char *subject, struct id *user_out,
                           bool *found_out, enum provider_outcome *outcome_out)
{
    *found_out = false;
    *outcome_out = PROVIDER_ABSENT;
    remote_start(remote, remote->options.admin_milliseconds);
    return user_find_by_subject(remote->options.database, arena, subject, user_out, found_out);
}

/* ---- changing ------------------------------------------------------------------------------------- */

static struct error *replace_password(struct remote *remote, struct arena *arena, const struct remote_intent *intent,
                                      struct secret password, enum provider_outcome *outcome_out)
{
    struct remote_grant grant;
    struct error *error =
        remote->driver->change_password(remote, arena, intent->subject, password, intent->password, outcome_out);
    /* A change that was not sent is not asked about: the question would be one more guess, which nobody counts. */
    if (error == NULL || !remote->is_unknown ||
        !remote_login_accepts(remote, arena, intent->subject, intent->password, &grant))
        return error;
    remote_session_discard(remote, arena, &grant);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

/* The new password is the old one. Only somebody who knows it is told so. */
static struct error *check_same(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                                enum provider_outcome *outcome_out)
{
    struct remote_grant grant = {0};
    const char *proof = NULL;
    TRY(remote->driver->login(remote, arena, attempt, &grant, &proof, outcome_out));
    if (*outcome_out == PROVIDER_BAD_CREDENTIALS)
        return NULL;
    remote_session_discard(remote, arena, &grant);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    return NULL;
}

struct error *remote_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id session, struct secret password, struct secret new_password,
                                     enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_intent intent = {.subject = subject, .password = new_password, .kept_session = session};
    bool found;
    TRY(begin(remote, arena, subject, &intent.user, &found, outcome_out));
    if (!found)
        return NULL;
    if (secret_equal(password, new_password)) {
        struct provider_login attempt = {.subject = subject, .user_id = intent.user, .password = password};
        return check_same(remote, arena, &attempt, outcome_out);
    }
    TRY(remote_intent_write(remote, arena, &intent));
    struct error *error = replace_password(remote, arena, &intent, password, outcome_out);
    return remote_intent_resolve(remote, arena, &intent, error, *outcome_out);
}

/* ---- setting -------------------------------------------------------------------------------------- */

struct error *remote_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_intent intent = {.subject = subject, .password = password, .temporary = temporary};
    bool found;
    TRY(begin(remote, arena, subject, &intent.user, &found, outcome_out));
    if (!found)
        return NULL;
    TRY(remote_intent_write(remote, arena, &intent));
    struct error *error =
        remote->driver->administration->set_password(remote, arena, subject, password, temporary, outcome_out);
    return remote_intent_resolve(remote, arena, &intent, error, *outcome_out);
}

struct error *remote_password_reset(struct provider *provider, struct arena *arena, const char *subject,
                                    const char *code, struct secret new_password, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_intent intent = {.subject = subject, .password = new_password};
    bool found = false;
    remote_start(remote, remote->options.admin_milliseconds);
    if (subject != NULL)
        TRY(user_find_by_subject(remote->options.database, arena, subject, &intent.user, &found));
    if (!found) {
        TRY(remote->driver->codes->reset(remote, arena, NULL, code, new_password, outcome_out));
        *outcome_out = PROVIDER_CODE_WRONG;
        return NULL;
    }
    TRY(remote_intent_write(remote, arena, &intent));
    struct error *error = remote->driver->codes->reset(remote, arena, subject, code, new_password, outcome_out);
    return remote_intent_resolve(remote, arena, &intent, error, *outcome_out);
}

/* ---- inviting again ------------------------------------------------------------------------------- */

/* Our rows may not know yet of a first login, so the provider is asked as well. */
static struct error *invite_locked(struct remote *remote, struct arena *arena, const char *subject, struct id user,
                                   struct secret password, enum provider_outcome *outcome_out)
{
    const struct remote_driver_administration *administration = remote->driver->administration;
    struct database *database = remote->options.database;
    struct remote_account account = {0};
    const char *email;
    *outcome_out = PROVIDER_STATE;
    TRY(remote_account_awaits_first_login(database, arena, user, &email));
    if (email == NULL)
        return NULL;
    TRY(administration->find(remote, arena, user, email, &account));
    if (account.subject != NULL && account.used && strcmp(account.subject, subject) == 0)
        return NULL;
    TRY(administration->set_password(remote, arena, subject, password, true, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    return remote_account_set_temporary(database, arena, user, remote_temporary_seconds(remote, true));
}

struct error *remote_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                     struct secret password, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found;
    TRY(begin(remote, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    TRY(remote_lock(remote, arena, subject));
    struct error *error = invite_locked(remote, arena, subject, user, password, outcome_out);
    remote_unlock(remote, arena);
    return error;
}
