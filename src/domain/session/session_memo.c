/* SPDX-License-Identifier: MIT */
/*
 * Remembers valid sessions in a table with one place for each. Two sessions that share a place only cost each other the
 * reading of a row. The end of an id is random (RFC 9562, section 5.7), or a digest.
 */
#include "domain/session_memo_int.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/limits.h"
#include "store/database/database.h"

struct slot {
    struct id user;
    struct id session;
    struct id stamp;
    int64_t until; /* 0: the place is free */
};

struct session_memo {
    struct slot slots[LIMIT_SESSION_MEMO_SLOTS];
};

static size_t place_of(struct id session)
{
    return ((size_t)session.bytes[ID_BYTES - 2] << 8 | session.bytes[ID_BYTES - 1]) % LIMIT_SESSION_MEMO_SLOTS;
}

const struct id *session_memo_stamp(const struct database *database, struct id user, struct id session, int64_t now)
{
    const struct session_memo *memo = database_remembered(database);
    if (memo == NULL)
        return NULL;
    const struct slot *slot = &memo->slots[place_of(session)];
    bool known = now < slot->until && id_equal(slot->session, session) && id_equal(slot->user, user);
    return known ? &slot->stamp : NULL;
}

static struct session_memo *memo_of(struct database *database)
{
    struct session_memo *memo = database_remembered(database);
    if (memo != NULL)
        return memo;
    struct arena *memory = arena_new();
    memo = arena_alloc(memory, sizeof *memo);
    database_remember(database, &memory, memo);
    return memo;
}

void session_memo_learn(struct database *database, struct id user, struct id session, struct id stamp, int64_t now,
                        int64_t lasting)
{
    if (database_in_transaction(database))
        return;
    struct slot *slot = &memo_of(database)->slots[place_of(session)];
    int64_t age = lasting < LIMIT_SESSION_MEMO_AGE ? lasting : LIMIT_SESSION_MEMO_AGE;
    if (age > 0 && !id_is_none(stamp))
        *slot = (struct slot){user, session, stamp, now + age};
    else if (id_equal(slot->session, session))
        slot->until = 0;
}
