/* SPDX-License-Identifier: MIT */
/* Passwords of a remote provider: changed, set, reset by a code, replaced by another invitation. */
#include <string.h>

#include "base/arena.h"
#include "identity/remote_int.h"

/* The user whose account a call is about. The outcome is ABSENT until the provider says another. */
static struct error *find_owner(struct remote *remote, struct arena *arena, const char *subject, struct id *user_out,
                                bool *found_out, enum provider_outcome *outcome_out)
{
    *found_out = false;
    *outcome_out = PROVIDER_ABSENT;
    return remote_account_user(remote, arena, subject, user_out, found_out);
}

static struct error *replace_password(struct remote *remote, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out)
{
    struct remote_grant grant;
    struct error *error = remote->driver->change_password(remote, arena, subject, password, new_password, outcome_out);
    /* What was not sent is not asked about: that would be one guess more, which nobody counts. */
    if (error == NULL || !remote->is_unknown || !remote_account_accepts(remote, arena, subject, new_password, &grant))
        return error;
    remote_session_discard(remote, arena, &grant);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

struct error *remote_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id session, struct secret password, struct secret new_password,
                                     enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(find_owner(remote, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    if (!secret_equal(password, new_password)) {
        struct password_intent intent = {.user = user, .subject = subject, .password = new_password, .keep = session};
        TRY(remote_intent_write(remote, arena, &intent));
        struct error *error = replace_password(remote, arena, subject, password, new_password, outcome_out);
        return remote_intent_resolve(remote, arena, &intent, error, *outcome_out);
    }
    /* Only who knows the password is told that it is the same. */
    struct remote_grant grant = {0};
    const char *proof = NULL;
    struct provider_login attempt = {.subject = subject, .user_id = user, .password = password};
    TRY(remote->driver->login(remote, arena, &attempt, &grant, &proof, outcome_out));
    if (*outcome_out == PROVIDER_BAD_CREDENTIALS)
        return NULL;
    remote_session_discard(remote, arena, &grant);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    return NULL;
}

struct error *remote_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(find_owner(remote, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    struct password_intent intent = {.user = user, .subject = subject, .password = password, .temporary = temporary};
    TRY(remote_intent_write(remote, arena, &intent));
    struct error *error = remote->driver->set_password(remote, arena, subject, password, temporary, outcome_out);
    return remote_intent_resolve(remote, arena, &intent, error, *outcome_out);
}

/* ---- inviting again --------------------------------------------------------------------------- */

static const struct statement awaits_first = {
    "SELECT COALESCE(a.temporary_until IS NOT NULL, FALSE), u.email FROM user u"
    " LEFT JOIN outside_account a ON a.user_id = u.id WHERE u.id = ? AND u.status = 'awaiting-first-login'"};

/* Our rows may not have heard of a first login, so that the provider is asked as well. */
static struct error *invite_locked(struct remote *remote, struct arena *arena, const char *subject, struct id user,
                                   struct secret password, enum provider_outcome *outcome_out)
{
    struct remote_account account = {0};
    struct rows *rows;
    *outcome_out = PROVIDER_STATE;
    TRY(database_query(remote->options.database, arena, &awaits_first, VALUES(database_id(user)), &rows));
    if (rows->count == 0 || !rows_boolean(rows, 0, 0))
        return NULL;
    TRY(remote->driver->find(remote, arena, user, rows_text(rows, 0, 1), &account));
    if (account.subject != NULL && account.used && strcmp(account.subject, subject) == 0)
        return NULL;
    TRY(remote->driver->set_password(remote, arena, subject, password, true, outcome_out));
    return *outcome_out == PROVIDER_OK ? remote_account_note_password(remote, arena, user, true) : NULL;
}

struct error *remote_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                     struct secret password, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(find_owner(remote, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    TRY(remote_account_lock(remote, arena, subject));
    struct error *error = invite_locked(remote, arena, subject, user, password, outcome_out);
    remote_account_unlock(remote, arena, subject);
    return error;
}

/* ---- by a code -------------------------------------------------------------------------------- */

struct error *remote_password_reset_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                            const char *code, struct secret new_password,
                                            enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user = {{0}};
    bool found = false;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    if (subject != NULL)
        TRY(remote_account_user(remote, arena, subject, &user, &found));
    struct password_intent intent = {.user = user, .subject = subject, .password = new_password};
    if (!found) {
        TRY(remote->driver->reset_by_code(remote, arena, NULL, code, new_password, outcome_out));
        *outcome_out = PROVIDER_CODE_WRONG;
        return NULL;
    }
    TRY(remote_intent_write(remote, arena, &intent));
    struct error *error = remote->driver->reset_by_code(remote, arena, subject, code, new_password, outcome_out);
    return remote_intent_resolve(remote, arena, &intent, error, *outcome_out);
}
