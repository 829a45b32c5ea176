/* SPDX-License-Identifier: MIT */
/*
 * What the service itself keeps of an account at a remote identity provider (table outside_account): until when a
 * temporary password may be used, and from which time on tokens of sessions that the service has never seen are
 * accepted. A row is made when there is something to keep.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_REMOTE_ACCOUNT_H
#define GATEHOUSE_DOMAIN_ACCOUNT_REMOTE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* Notes that the user's password is temporary and may be used for `seconds` from now; 0: it is a permanent one. */
struct error *remote_account_set_temporary(struct database *database, struct arena *arena, struct id user,
                                           int64_t seconds);

/* Whether the time of the user's temporary password has run out. */
struct error *remote_account_temporary_is_over(struct database *database, struct arena *arena, struct id user,
                                               bool *over_out);

/* The e-mail address of a user who has a temporary password and has never signed in; NULL for every other user. */
struct error *remote_account_awaits_first_login(struct database *database, struct arena *arena, struct id user,
                                                const char **email_out);

/*
 * Refuses from now on tokens that were issued before now, unless their session is a row. The first statement of a
 * transaction that ends all sessions of the user: from here on it sees every session that has begun, and none begins
 * until it is over.
 */
struct error *remote_account_refuse_older_tokens(struct database *database, struct arena *arena, struct id user);

/* Whether a token issued at that time (seconds since 1970) may begin a session that the service has not seen before. */
struct error *remote_account_may_begin(struct database *database, struct arena *arena, struct id user,
                                       int64_t issued_at, bool *may_out);

/* How often the function above has been called for the user. */
struct error *remote_account_count_ends(struct database *database, struct arena *arena, struct id user,
                                        int64_t *count_out);

/*
 * The same for a transaction that begins a session of the user, before it decides whether the session may begin: until
 * it is over, no other one ends all sessions. Where the two meet on two nodes of a cluster, the second one conflicts
 * and runs again.
 */
struct error *remote_account_hold_ends(struct database *database, struct arena *arena, struct id user,
                                       int64_t *count_out);

/* Deletes the row. Part of a transaction. */
struct error *remote_account_delete(struct database *database, struct arena *arena, struct id user);

#endif
