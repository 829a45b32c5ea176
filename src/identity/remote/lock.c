/* SPDX-License-Identifier: MIT */
/* Takes and releases the lock of an account at a remote provider, which holds on all hosts (row_lock.h). */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "identity/remote/slots_int.h"

/*
 * How long a change waits for another one: less than it has (provider_admin_seconds), so that time is left for its
 * calls. How long the lock of a process that was killed lasts: longer than any change has.
 */
#define LOCK_PATIENCE 7000
#define LOCK_SECONDS 30

static struct error *take(struct remote *remote, struct arena *arena, const char *subject)
{
    struct database *database = remote->options.database;
    const struct row_lock lock = row_lock_of(database, "account", subject, strlen(subject));
    bool held = remote->lock_depth > 0;
    assert(!held || memcmp(remote->lock.name, lock.name, sizeof lock.name) == 0);
    if (!held)
        TRY(row_lock_take(database, arena, &lock, LOCK_SECONDS, LOCK_PATIENCE, &held));
    if (!held)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another change of the account takes too long");
    remote->lock = lock;
    remote->lock_depth++;
    return NULL;
}

struct error *remote_lock(struct remote *remote, struct arena *arena, const char *subject)
{
    if (!remote_slot_take(remote))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, REMOTE_NO_SLOT);
    struct error *error = take(remote, arena, subject);
    if (error != NULL)
        remote_slot_leave(remote);
    return error;
}

void remote_unlock(struct remote *remote, struct arena *arena)
{
    if (--remote->lock_depth == 0)
        row_lock_release(remote->options.database, arena, &remote->lock);
    remote_slot_leave(remote);
}
