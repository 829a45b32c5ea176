/* SPDX-License-Identifier: MIT */
/*
 * Sessions as people see them: which are open, and when, from where and with which program each was used last.
 *
 * Where a remote provider names one sign-in anew with each token (domain/session/session_family.h), people see one
 * session: the first row of the family, whose id names it. All functions take and give that id, but where they say
 * otherwise.
 */
#ifndef GATEHOUSE_DOMAIN_SESSION_LIST_H
#define GATEHOUSE_DOMAIN_SESSION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* The least time between two notes of a session's use. */
#define SESSION_USE_SECONDS 60

/* The columns' widths (sql/033-sessions.sql), in characters. */
#define SESSION_ADDRESS_CHARACTERS 45
#define SESSION_AGENT_CHARACTERS 200

/* An open session. Times are in RFC 3339; texts are NULL where nothing is known. */
struct session_record {
    struct id id;
    const char *created_at;
    const char *last_used_at;
    const char *expires_at;
    const char *client_address;
    const char *user_agent;
    int64_t seconds_left;
    bool in_cookie;
    bool current; /* it is the one that was named as the current one */
};

struct session_list {
    struct session_record *items;
    size_t count;
};

/*
 * Lists at most `limit` open sessions of the user, those that were used last first. `current` is any id of the
 * session that asks; none where that is nobody's of the user.
 */
struct error *session_list(struct database *database, struct arena *arena, struct id user, struct id current,
                           unsigned limit, struct session_list *list_out);

/* Finds an open session of the user by its id; with `any`, by any id of its family. NULL: there is none. */
struct error *session_find(struct database *database, struct arena *arena, struct id user, struct id session, bool any,
                           struct session_record **record_out);

/*
 * Finds at most `limit` ids of sessions of the user that are open beside the `kept` which were used last, the longest
 * unused first. The ids are in the arena.
 */
struct error *session_find_surplus(struct database *database, struct arena *arena, struct id user, unsigned kept,
                                   unsigned limit, struct id **ids_out, size_t *count_out);

/* Where a request came from, cut to the columns' widths; NULL: not known. */
struct session_client {
    const char *address;
    const char *agent;
};

/*
 * Notes that the session is new and who began it, and where its refresh tokens are. Call it once, at the sign-in.
 */
struct error *session_describe(struct database *database, struct arena *arena, struct id session,
                               const struct session_client *client, bool in_cookie);

/*
 * Notes that the session is in use; `session` may be any id of its family. Writes nothing within SESSION_USE_SECONDS
 * of the note before, and nothing while somebody else has locked the row: nobody waits for it. *due_out is when the
 * next note is due, in milliseconds from now.
 */
struct error *session_note_use(struct database *database, struct arena *arena, struct id session,
                               const struct session_client *client, int64_t *due_out);

#endif
