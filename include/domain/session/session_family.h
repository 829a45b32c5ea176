/* SPDX-License-Identifier: MIT */
/*
 * Families of sessions: what the service keeps of a sign-in at a remote identity provider (table outside_session).
 *
 * Some providers give each new token another session name. Each name is a session row of its own, and all names of one
 * sign-in form a family, which ends as a whole. The family has the id of its first session. The row of that session
 * also holds the provider's refresh token, sealed by the caller (codec/seal.h).
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_SESSION_FAMILY_H
#define GATEHOUSE_DOMAIN_ACCOUNT_SESSION_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* A provider's refresh token as the row holds it. The bytes and the text live in the arena. */
struct session_family_token {
    struct id family;
    const void *sealed; /* NULL: there is none (any more) */
    size_t length;
    const char *subject; /* the provider's name of the account; only session_family_find_token() fills it */
};

/*
 * Adds a session to its family. `sealed` NULL adds a later name of the family; a name that is there already keeps the
 * token that it has. Part of the transaction that adds the session.
 */
struct error *session_family_insert(struct database *database, struct arena *arena, struct id session, struct id family,
                                    const void *sealed, size_t length);

/* Replaces the token of the family. */
struct error *session_family_set_token(struct database *database, struct arena *arena, struct id family,
                                       const void *sealed, size_t length);

/*
 * Finds the token of a family that has not ended, and whose it is. token_out->sealed is NULL where there is none, and
 * where the user has no account at the provider any more.
 */
struct error *session_family_find_token(struct database *database, struct arena *arena, struct id family,
                                        struct session_family_token *token_out);

/*
 * Finds the token of the family that `session` belongs to, ended or not; token_out->sealed is NULL where there is none.
 */
struct error *session_family_find_token_of(struct database *database, struct arena *arena, struct id session,
                                           struct session_family_token *token_out);

/*
 * Finds the tokens of at most `limit` families of the user, ended or not, but for the family that `kept` belongs to.
 * *tokens_out is in the arena.
 */
struct error *session_family_find_others(struct database *database, struct arena *arena, struct id user, struct id kept,
                                         unsigned limit, struct session_family_token **tokens_out, size_t *count_out);

/*
 * Ends the user's sessions of the family of `session`, or with `others` all of the user's other sessions. A session
 * without a family is one by itself. With `others` and a session of zeros, all sessions of the user end. The refresh
 * tokens of the ended sessions are not touched: session_family_drop_tokens() and refresh_token_delete_ended() drop
 * them. Part of a transaction.
 */
struct error *session_family_end(struct database *database, struct arena *arena, struct id user, struct id session,
                                 bool others);

/* Drops the provider's refresh tokens of the user's ended sessions. Part of a transaction. */
struct error *session_family_drop_tokens(struct database *database, struct arena *arena, struct id user);

/* Deletes all family rows of the user; before the session rows go. Part of a transaction. */
struct error *session_family_delete_user(struct database *database, struct arena *arena, struct id user);

/* For the job runner: deletes a portion of the rows whose session row is gone. */
struct error *session_family_tidy(struct database *database, struct arena *arena);

#endif
