/* SPDX-License-Identifier: MIT */
/*
 * Which password holds after a call whose answer was lost? Before each call that sets one, the intent is written down: the
 * password itself (sealed), whether it is temporary, which session goes on. A definite answer takes the intent away. One that
 * stays is settled by the job runner, who asks the provider with the very password; what follows from the change (sessions,
 * the time of a temporary password) is then made up for. Sessions do not wait for that: they end with the answer that was
 * lost.
 *
 * Of several changes each has its own row, and is asked about by itself: a call that was given up may be carried out after a
 * later one. The provider is asked ever less often, and no more after a week.
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/seal.h"
#include "identity/remote_int.h"

/* A call that is under way takes no longer; what is older has lost its answer or its process. */
#define UNDER_WAY_SECONDS 20
#define PAUSE_MAX_SECONDS 3600
#define GIVE_UP_SECONDS (7 * 86400)

static const char *purpose_of(struct arena *arena, struct id user)
{
    return arena_format(arena, "password asked for %s", id_text(arena, user));
}

static const struct statement write_intent = {
    "INSERT INTO outside_intent (id, user_id, sealed, is_temporary, keep, asked_at, due_at)"
    " VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};
static const struct statement drop_intent = {"DELETE FROM outside_intent WHERE id = ?"};

struct error *remote_intent_write(struct remote *remote, struct arena *arena, struct password_intent *intent)
{
    unsigned char *sealed;
    size_t length;
    TRY(seal(arena, remote->options.master, purpose_of(arena, intent->user), intent->password.bytes,
             intent->password.length, &sealed, &length));
    intent->id = id_new();
    return database_change(remote->options.database, arena, &write_intent,
                           VALUES(database_id(intent->id), database_id(intent->user), database_bytes(sealed, length),
                                  database_integer(intent->temporary), database_id_or_null(intent->keep),
                                  database_integer(UNDER_WAY_SECONDS)),
                           NULL);
}

static struct error *drop(struct remote *remote, struct arena *arena, const struct password_intent *intent)
{
    return database_change(remote->options.database, arena, &drop_intent, VALUES(database_id(intent->id)), NULL);
}

struct error *remote_intent_apply(struct remote *remote, struct arena *arena, const struct password_intent *intent)
{
    TRY(remote_account_note_password(remote, arena, intent->user, intent->temporary));
    TRY(remote_session_end_all(remote, arena, intent->user, intent->keep));
    /* The password holds already, and ours are ended: what is left would be sessions of other applications. */
    struct error *error = remote->driver->end_others != NULL
                              ? remote->driver->end_others(remote, arena, intent->subject, intent->keep)
                              : NULL;
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider did not end the other sessions of an account",
            LOG_TEXT("provider", remote->driver->name), LOG_TEXT("detail", error->detail));
    return drop(remote, arena, intent);
}

struct error *remote_intent_resolve(struct remote *remote, struct arena *arena, const struct password_intent *intent,
                                    struct error *error, enum provider_outcome outcome)
{
    if (error == NULL && outcome == PROVIDER_OK)
        return remote_intent_apply(remote, arena, intent);
    struct error *later = NULL;
    if (error != NULL && remote->is_unknown) {
        LOG(WARN, IDENTITY,
            "a change of a password got no answer; its sessions end, and the provider will be asked what holds",
            LOG_TEXT("provider", remote->driver->name));
        later = remote_session_end_all(remote, arena, intent->user, intent->keep);
    } else {
        later = drop(remote, arena, intent);
    }
    return error != NULL ? error : later;
}

/* ---- settling ------------------------------------------------------------------------------------- */

static const struct statement find_due = {
    "SELECT user_id FROM outside_intent WHERE due_at <= UTC_TIMESTAMP(3) ORDER BY due_at LIMIT ?"};

struct error *remote_intent_list(struct provider *provider, struct arena *arena, unsigned limit, struct id **users_out,
                                 size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(remote_of(provider)->options.database, arena, &find_due, VALUES(database_integer(limit)),
                       &rows));
    *count_out = rows->count;
    *users_out = arena_array(arena, rows->count + 1, sizeof **users_out);
    for (size_t i = 0; i < rows->count; i++)
        (*users_out)[i] = rows_id(rows, i, 0);
    return NULL;
}

/* An intent whose turn it is, and what the provider is asked about it. */
struct due {
    struct password_intent intent;
    const void *sealed;
    size_t length;
    struct provider_login attempt; /* without a subject where the user has no account any more */
    bool is_last;                  /* it is not asked about again */
};

static const struct statement read_due = {
    "SELECT i.id, i.sealed, i.is_temporary, i.keep, i.asked_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND, "
    "u.provider_subject, u.email"
    " FROM outside_intent i LEFT JOIN user u ON u.id = i.user_id"
    " WHERE i.user_id = ? AND i.due_at <= UTC_TIMESTAMP(3) ORDER BY i.asked_at, i.id LIMIT 1"};

/* Counted before it is made, so that an attempt that ends the process is one, too. */
static const struct statement claim_due = {
    "UPDATE outside_intent SET due_at = UTC_TIMESTAMP(3) + INTERVAL LEAST(?, ? * POW(2, LEAST(attempts, 20))) SECOND,"
    " attempts = attempts + 1 WHERE id = ? AND due_at <= UTC_TIMESTAMP(3)"};

static struct error *claim(struct remote *remote, struct arena *arena, struct id user, struct due *due_out,
                           bool *found_out)
{
    struct database *database = remote->options.database;
    struct change change;
    struct rows *rows;
    *found_out = false;
    TRY(database_query(database, arena, &read_due, VALUES(database_integer(GIVE_UP_SECONDS), database_id(user)),
                       &rows));
    if (rows->count == 0)
        return NULL;
    *due_out = (struct due){.intent = {.id = rows_id(rows, 0, 0), .user = user, .temporary = rows_boolean(rows, 0, 2)},
                            .is_last = rows_boolean(rows, 0, 4),
                            .attempt = {.user_id = user}};
    due_out->sealed = rows_bytes(rows, 0, 1, &due_out->length);
    if (!rows_is_null(rows, 0, 3))
        due_out->intent.keep = rows_id(rows, 0, 3);
    if (!rows_is_null(rows, 0, 5)) {
        due_out->intent.subject = due_out->attempt.subject = rows_text(rows, 0, 5);
        due_out->attempt.email = rows_text(rows, 0, 6);
    }
    TRY(database_change(database, arena, &claim_due,
                        VALUES(database_integer(PAUSE_MAX_SECONDS), database_integer(UNDER_WAY_SECONDS),
                               database_id(due_out->intent.id)),
                        &change));
    *found_out = change.affected == 1;
    return NULL;
}

/* Signs in with the password that was to be set. */
static struct error *ask(struct remote *remote, struct arena *arena, struct due *due,
                         enum provider_outcome *outcome_out)
{
    struct password_intent *intent = &due->intent;
    struct remote_grant grant = {0};
    const char *proof = NULL;
    TRY(unseal(arena, remote->options.master, purpose_of(arena, intent->user), due->sealed, due->length,
               &intent->password));
    due->attempt.password = intent->password;
    TRY(remote->driver->login(remote, arena, &due->attempt, &grant, &proof, outcome_out));
    remote_session_discard(remote, arena, &grant);
    return NULL;
}

static struct error *give_up(struct remote *remote, struct arena *arena, const struct due *due, struct error *error)
{
    if (!due->is_last)
        return error;
    LOG(ERROR, IDENTITY, "what came of a change of a password cannot be found out; it is not asked about any more",
        LOG_TEXT("provider", remote->driver->name), LOG_TEXT("settledUserId", id_text(arena, due->intent.user)));
    TRY(drop(remote, arena, &due->intent));
    return error;
}

struct error *remote_intent_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                      enum provider_reconciliation *reconciliation_out)
{
    struct remote *remote = remote_of(provider);
    enum provider_outcome outcome;
    struct due due;
    bool found;
    *reconciliation_out = PROVIDER_PASSWORD_UNCHANGED;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(claim(remote, arena, user, &due, &found));
    if (!found)
        return NULL;
    if (due.attempt.subject == NULL)
        return drop(remote, arena, &due.intent);
    struct error *error = ask(remote, arena, &due, &outcome);
    if (error != NULL)
        return give_up(remote, arena, &due, error);
    if (outcome == PROVIDER_BAD_CREDENTIALS)
        return drop(remote, arena, &due.intent);
    *reconciliation_out = due.intent.temporary          ? PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY
                          : id_is_none(due.intent.keep) ? PROVIDER_PASSWORD_CHANGED
                                                        : PROVIDER_PASSWORD_CHANGED_BY_OWNER;
    return remote_intent_apply(remote, arena, &due.intent);
}
