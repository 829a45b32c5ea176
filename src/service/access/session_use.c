/* SPDX-License-Identifier: MIT */
/*
 * Remembers, in a table with one place for each session, when its next note is due. Two sessions that share a place
 * only cost each other the reading of a row.
 */
#include "service/access/session_use.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/visible.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"

struct slot {
    struct id session;
    int64_t due; /* clock_monotonic() */
};

struct session_use {
    bool pending;
    struct id session;
    struct session_client client;
    struct slot slots[LIMIT_SESSION_MEMO_SLOTS];
};

struct session_use *session_use_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct session_use));
}

/* The end of an id is random (RFC 9562, section 5.7), or a digest. */
static struct slot *slot_of(struct session_use *use, struct id session)
{
    size_t number = (size_t)session.bytes[ID_BYTES - 2] << 8 | session.bytes[ID_BYTES - 1];
    return &use->slots[number % LIMIT_SESSION_MEMO_SLOTS];
}

static const char *seen(struct arena *arena, const char *text, size_t characters)
{
    return text == NULL ? NULL : visible_copy(arena, text, characters);
}

struct session_client session_use_client(struct arena *arena, const struct caller *caller)
{
    return (struct session_client){
        .address = seen(arena, caller->client_address, SESSION_ADDRESS_CHARACTERS),
        .agent = seen(arena, caller->user_agent, SESSION_AGENT_CHARACTERS),
    };
}

void session_use_note(struct service *service, struct arena *arena, const struct caller *caller, struct id session)
{
    struct session_use *use = service->session_use;
    if (use == NULL)
        return;
    const struct slot *slot = slot_of(use, session);
    if (id_equal(slot->session, session) && clock_monotonic() < slot->due)
        return;
    use->pending = true;
    use->session = session;
    use->client = session_use_client(arena, caller);
}

void session_use_write(struct service *service, struct arena *arena)
{
    struct session_use *use = service->session_use;
    int64_t due;
    if (use == NULL || !use->pending)
        return;
    use->pending = false;
    struct error *error = session_note_use(service->database, arena, use->session, &use->client, &due);
    *slot_of(use, use->session) = (struct slot){use->session, clock_monotonic() + due * 1000};
    if (error != NULL)
        LOG(DEBUG, ACCOUNTS, "the use of a session was not noted", LOG_TEXT("detail", error->detail));
}
