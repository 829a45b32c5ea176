/* SPDX-License-Identifier: MIT */
/* The lock of an account at a remote provider: a named lock of the database connection, so all hosts share it. */
#include "identity/remote/slots_int.h"

/* Less than a change of an account has (provider_admin_seconds), so that time is left for its calls. */
#define LOCK_WAIT_SECONDS 7

/* The database's name is utf8mb3, which MariaDB does not concatenate with a character of four bytes. */
#define LOCK_NAME "SHA2(CONCAT(CONVERT(DATABASE() USING utf8mb4), '/account/', ?), 256)"

static const struct statement take_lock = {"SELECT GET_LOCK(" LOCK_NAME ", ?)"};
static const struct statement release_lock = {"SELECT RELEASE_LOCK(" LOCK_NAME ")"};

struct error *remote_lock(struct remote *remote, struct arena *arena, const char *subject)
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

void remote_unlock(struct remote *remote, struct arena *arena, const char *subject)
{
    struct rows *rows;
    /* Where this fails the connection is gone, and the server released the lock with it. */
    (void)database_query(remote->options.database, arena, &release_lock, VALUES(database_text(subject)), &rows);
    remote_slot_leave(remote);
}
