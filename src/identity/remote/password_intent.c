/* SPDX-License-Identifier: MIT */
/*
 * Which password does an account have after a call whose answer was lost?
 *
 * 1. Before each call that sets a password, its intent is written down: the password itself (sealed), whether it is
 *    temporary, which session goes on (domain/account/password_intent.h).
 * 2. A definite answer takes the row away. After success, what follows from the change is done first: other sessions
 *    end, the time of a temporary password is noted.
 * 3. After a lost answer the sessions end at once, and the row stays.
 * 4. The job runner signs in at the provider with that very password. Where that works the change was made, and what
 *    follows from it is done now. Where the password is wrong the change was not made. Either way the row goes.
 *
 * Of several changes each has its own row and is asked about by itself, since the provider may carry out a call that
 * was given up after a later one. It is asked ever less often, and not any more after a week.
 */
#include "domain/account/password_intent.h"

#include "base/arena.h"
#include "base/log.h"
#include "codec/seal.h"
#include "domain/account/remote_account.h"
#include "identity/remote/password_intent_int.h"
#include "identity/remote/provider_int.h"
#include "identity/remote/session_int.h"

static const char *seal_purpose(struct arena *arena, struct id user)
{
    return arena_format(arena, "password asked for %s", id_text(arena, user));
}

/* ---- around the call ------------------------------------------------------------------------------ */

struct error *remote_intent_write(struct remote *remote, struct arena *arena, struct remote_intent *intent)
{
    unsigned char *sealed;
    size_t length;
    TRY(seal(arena, remote->options.master, seal_purpose(arena, intent->user), intent->password.bytes,
             intent->password.length, &sealed, &length));
    intent->id = id_new();
    const struct password_intent row = {
        .id = intent->id,
        .user = intent->user,
        .sealed = sealed,
        .length = length,
        .temporary = intent->temporary,
        .kept_session = intent->kept_session,
    };
    return password_intent_insert(remote->options.database, arena, &row);
}

struct error *remote_intent_apply(struct remote *remote, struct arena *arena, const struct remote_intent *intent)
{
    struct database *database = remote->options.database;
    TRY(remote_account_set_temporary(database, arena, intent->user,
                                     remote_temporary_seconds(remote, intent->temporary)));
    TRY(remote_session_end_all(remote, arena, intent->user, intent->kept_session));
    /* The password is set, and our sessions have ended. Only sessions of other applications may be left. */
    struct error *error = remote->driver->end_others != NULL
                              ? remote->driver->end_others(remote, arena, intent->subject, intent->kept_session)
                              : NULL;
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider did not end the other sessions of an account",
            LOG_TEXT("provider", remote->driver->name), LOG_TEXT("detail", error->detail));
    return password_intent_delete(database, arena, intent->id);
}

struct error *remote_intent_resolve(struct remote *remote, struct arena *arena, const struct remote_intent *intent,
                                    struct error *error, enum provider_outcome outcome)
{
    if (error == NULL && outcome == PROVIDER_OK)
        return remote_intent_apply(remote, arena, intent);
    struct error *later = NULL;
    if (error != NULL && remote->is_unknown) {
        LOG(WARN, IDENTITY,
            "a change of a password got no answer; its sessions end, and the provider will be asked which password "
            "counts",
            LOG_TEXT("provider", remote->driver->name));
        later = remote_session_end_all(remote, arena, intent->user, intent->kept_session);
    } else {
        later = password_intent_delete(remote->options.database, arena, intent->id);
    }
    return error != NULL ? error : later;
}

/* ---- reconciling ---------------------------------------------------------------------------------- */

struct error *remote_intent_list(struct provider *provider, struct arena *arena, unsigned limit, struct id **users_out,
                                 size_t *count_out)
{
    return password_intent_list_due(remote_of(provider)->options.database, arena, limit, users_out, count_out);
}

/* Signs in with the password that was to be set; *holds_out tells whether it is the account's. */
static struct error *ask(struct remote *remote, struct arena *arena, const struct password_intent *row, bool *holds_out)
{
    struct provider_login attempt = {.subject = row->subject, .user_id = row->user, .email = row->email};
    struct remote_grant grant = {0};
    enum provider_outcome outcome;
    const char *proof = NULL;
    TRY(unseal(arena, remote->options.master, seal_purpose(arena, row->user), row->sealed, row->length,
               &attempt.password));
    TRY(remote->driver->login(remote, arena, &attempt, &grant, &proof, &outcome));
    remote_session_discard(remote, arena, &grant);
    *holds_out = outcome != PROVIDER_BAD_CREDENTIALS;
    return NULL;
}

/* The provider did not say. The last attempt deletes the row. */
static struct error *not_told(struct remote *remote, struct arena *arena, const struct password_intent *row,
                              struct error *error)
{
    if (!row->is_last)
        return error;
    LOG(ERROR, IDENTITY,
        "the outcome of a change of a password cannot be found out; the provider is not asked any more",
        LOG_TEXT("provider", remote->driver->name), LOG_TEXT("reconciledUserId", id_text(arena, row->user)));
    TRY(password_intent_delete(remote->options.database, arena, row->id));
    return error;
}

static enum provider_reconciliation kind_of(const struct password_intent *row)
{
    if (row->temporary)
        return PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY;
    return id_is_none(row->kept_session) ? PROVIDER_PASSWORD_CHANGED : PROVIDER_PASSWORD_CHANGED_BY_OWNER;
}

struct error *remote_intent_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                      enum provider_reconciliation *reconciliation_out)
{
    struct remote *remote = remote_of(provider);
    struct database *database = remote->options.database;
    struct password_intent row;
    bool found, holds = false;
    *reconciliation_out = PROVIDER_PASSWORD_UNCHANGED;
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(password_intent_claim(database, arena, user, &row, &found));
    if (!found)
        return NULL;
    if (row.subject == NULL)
        return password_intent_delete(database, arena, row.id);
    struct error *error = ask(remote, arena, &row, &holds);
    if (error != NULL)
        return not_told(remote, arena, &row, error);
    if (!holds)
        return password_intent_delete(database, arena, row.id);
    *reconciliation_out = kind_of(&row);
    const struct remote_intent intent = {.user = user,
                                         .subject = row.subject,
                                         .temporary = row.temporary,
                                         .kept_session = row.kept_session,
                                         .id = row.id};
    return remote_intent_apply(remote, arena, &intent);
}
