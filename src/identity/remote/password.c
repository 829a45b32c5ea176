/* SPDX-License-Identifier: MIT */
/* Passwords of a remote provider: changed, set, reset by a code, replaced by another invitation. */
#include <string.h>

#include "base/arena.h"
#include "identity/remote_int.h"

/* The user whose account a call is about. The outcome is ABSENT until the provider says another. */
static struct error *find_owner(struct outside *outside, struct arena *arena, const char *subject, struct id *user_out,
                                bool *found_out, enum provider_outcome *outcome_out)
{
    *found_out = false;
    *outcome_out = PROVIDER_ABSENT;
    return outside_user(outside, arena, subject, user_out, found_out);
}

static struct error *replace_password(struct outside *outside, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out)
{
    struct outside_grant grant;
    struct error *error = outside->wire->change_password(outside, arena, subject, password, new_password, outcome_out);
    /* What was not sent is not asked about: that would be one guess more, which nobody counts. */
    if (error == NULL || !outside->is_unknown || !outside_holds(outside, arena, subject, new_password, &grant))
        return error;
    outside_give_up(outside, arena, &grant);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

struct error *outside_change_password(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id session, struct secret password, struct secret new_password,
                                     enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(find_owner(outside, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    if (!secret_equal(password, new_password)) {
        struct outside_intent intent = {.user = user, .subject = subject, .password = new_password, .keep = session};
        TRY(outside_intend(outside, arena, &intent));
        struct error *error = replace_password(outside, arena, subject, password, new_password, outcome_out);
        return outside_answered(outside, arena, &intent, error, *outcome_out);
    }
    /* Only who knows the password is told that it is the same. */
    struct outside_grant grant = {0};
    const char *proof = NULL;
    struct provider_login attempt = {.subject = subject, .user_id = user, .password = password};
    TRY(outside->wire->login(outside, arena, &attempt, &grant, &proof, outcome_out));
    if (*outcome_out == PROVIDER_BAD_CREDENTIALS)
        return NULL;
    outside_give_up(outside, arena, &grant);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    return NULL;
}

struct error *outside_set_password(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(find_owner(outside, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    struct outside_intent intent = {.user = user, .subject = subject, .password = password, .temporary = temporary};
    TRY(outside_intend(outside, arena, &intent));
    struct error *error = outside->wire->set_password(outside, arena, subject, password, temporary, outcome_out);
    return outside_answered(outside, arena, &intent, error, *outcome_out);
}

/* ---- inviting again --------------------------------------------------------------------------- */

static const struct statement awaits_first = {
    "SELECT COALESCE(a.temporary_until IS NOT NULL, FALSE), u.email FROM user u"
    " LEFT JOIN outside_account a ON a.user_id = u.id WHERE u.id = ? AND u.status = 'awaiting-first-login'"};

/* Our rows may not have heard of a first login, so that the provider is asked as well. */
static struct error *invite_locked(struct outside *outside, struct arena *arena, const char *subject, struct id user,
                                   struct secret password, enum provider_outcome *outcome_out)
{
    struct outside_found account = {0};
    struct rows *rows;
    *outcome_out = PROVIDER_STATE;
    TRY(database_query(outside->options.database, arena, &awaits_first, VALUES(database_id(user)), &rows));
    if (rows->count == 0 || !rows_boolean(rows, 0, 0))
        return NULL;
    TRY(outside->wire->find(outside, arena, user, rows_text(rows, 0, 1), &account));
    if (account.subject != NULL && account.used && strcmp(account.subject, subject) == 0)
        return NULL;
    TRY(outside->wire->set_password(outside, arena, subject, password, true, outcome_out));
    return *outcome_out == PROVIDER_OK ? outside_note_password(outside, arena, user, true) : NULL;
}

struct error *outside_invite_again(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(find_owner(outside, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    TRY(outside_lock(outside, arena, subject));
    struct error *error = invite_locked(outside, arena, subject, user, password, outcome_out);
    outside_unlock(outside, arena, subject);
    return error;
}

/* ---- by a code -------------------------------------------------------------------------------- */

struct error *outside_reset_by_code(struct provider *provider, struct arena *arena, const char *subject, const char *code,
                                   struct secret new_password, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user = {{0}};
    bool found = false;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    if (subject != NULL)
        TRY(outside_user(outside, arena, subject, &user, &found));
    struct outside_intent intent = {.user = user, .subject = subject, .password = new_password};
    if (!found) {
        TRY(outside->wire->reset_by_code(outside, arena, NULL, code, new_password, outcome_out));
        *outcome_out = PROVIDER_CODE_WRONG;
        return NULL;
    }
    TRY(outside_intend(outside, arena, &intent));
    struct error *error = outside->wire->reset_by_code(outside, arena, subject, code, new_password, outcome_out);
    return outside_answered(outside, arena, &intent, error, *outcome_out);
}
