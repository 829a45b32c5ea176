/* SPDX-License-Identifier: MIT */
/* An account of a remote provider as Gatehouse sees it: its lock, its user, how long its temporary password holds. */
#include "base/arena.h"
#include "base/log.h"
#include "identity/remote_int.h"

/* Less than an operation has (REMOTE_ADMIN_MILLISECONDS), so that some is left to do it in. */
#define LOCK_WAIT_SECONDS 7

/* The database's name is utf8mb3, which does not go together with a character of four bytes. */
#define LOCK_NAME "SHA2(CONCAT(CONVERT(DATABASE() USING utf8mb4), '/account/', ?), 256)"

static const struct statement take_lock = {"SELECT GET_LOCK(" LOCK_NAME ", ?)"};
static const struct statement give_lock = {"SELECT RELEASE_LOCK(" LOCK_NAME ")"};

struct error *remote_account_lock(struct remote *remote, struct arena *arena, const char *subject)
{
    struct rows *rows;
    if (!remote_slot_take(remote))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, REMOTE_NO_SLOT);
    struct error *error = database_query(remote->options.database, arena, &take_lock,
                                         VALUES(database_text(subject), database_integer(LOCK_WAIT_SECONDS)), &rows);
    if (error == NULL && (rows->count == 0 || rows_is_null(rows, 0, 0) || rows_integer(rows, 0, 0) != 1))
        error = error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another change of the account takes too long");
    if (error != NULL)
        remote_slot_leave(remote);
    return error;
}

void remote_account_unlock(struct remote *remote, struct arena *arena, const char *subject)
{
    struct rows *rows;
    /* A lock that cannot be given back went with its connection. */
    (void)database_query(remote->options.database, arena, &give_lock, VALUES(database_text(subject)), &rows);
    remote_slot_leave(remote);
}

/* ---- temporary passwords ---------------------------------------------------------------------- */

static const struct statement set_temporary = {
    "INSERT INTO outside_account (user_id, temporary_until) VALUES (?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"
    " ON DUPLICATE KEY UPDATE temporary_until = VALUES(temporary_until)"};

struct error *remote_account_note_password(struct remote *remote, struct arena *arena, struct id user, bool temporary)
{
    int64_t seconds = remote->options.temporary_password_seconds;
    return database_change(remote->options.database, arena, &set_temporary,
                           VALUES(database_id(user), temporary ? database_integer(seconds) : database_null()), NULL);
}

/* ---- the user --------------------------------------------------------------------------------- */

static const struct statement find_user = {"SELECT id FROM user WHERE provider_subject = ?"};

struct error *remote_account_user(struct remote *remote, struct arena *arena, const char *subject, struct id *user_out,
                                  bool *found_out)
{
    struct rows *rows;
    TRY(database_query(remote->options.database, arena, &find_user, VALUES(database_text(subject)), &rows));
    *found_out = rows->count == 1;
    if (*found_out)
        *user_out = rows_id(rows, 0, 0);
    return NULL;
}

/* ---- what was opened in vain ------------------------------------------------------------------ */

void remote_session_discard(struct remote *remote, struct arena *arena, const struct remote_grant *grant)
{
    if (grant->refresh_token.bytes == NULL)
        return;
    struct error *error = remote->driver->revoke(remote, arena, grant->refresh_token);
    if (error != NULL)
        LOG(WARN, IDENTITY, "a session at the provider was not ended", LOG_TEXT("detail", error->detail));
}

/*
 * Whether a password that the provider was told, and said nothing to, is the account's now: that is never sent again, but
 * who it lets in knows.
 */
bool remote_account_accepts(struct remote *remote, struct arena *arena, const char *subject, struct secret password,
                            struct remote_grant *grant_out)
{
    struct provider_login attempt = {.subject = subject, .password = password};
    enum provider_outcome outcome = PROVIDER_BAD_CREDENTIALS;
    const char *proof = NULL;
    *grant_out = (struct remote_grant){0};
    return remote->driver->login(remote, arena, &attempt, grant_out, &proof, &outcome) == NULL &&
           outcome == PROVIDER_OK;
}
