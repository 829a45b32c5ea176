/* SPDX-License-Identifier: MIT */
/*
 * Lists sessions and ends them one by one: a user's own, and those of team members within the reach of the caller
 * (docs/accounts.md, "Sessions").
 *
 * Our rows end first, in one transaction with the audit rows, so that every worker and host refuses the tokens of the
 * session from then on. Then the identity provider is told; where that fails, the session has ended all the same.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_SESSION_ADMIN_H
#define GATEHOUSE_SERVICE_ACCOUNT_SESSION_ADMIN_H

#include <stdbool.h>

#include "base/id.h"
#include "domain/session/session_list.h"

struct arena;
struct caller;
struct error;
struct service;
struct user;

/* The most sessions that a list shows, those that were used last. */
#define SESSION_ADMIN_LIST_MAX 100

/*
 * What follows a sign-in of `user`: notes who began the session, and whether its refresh tokens go into a cookie. Ends
 * the sessions that were unused for longest where the user has more than [limits] sessions_per_user, up to eight.
 */
struct error *session_admin_begin(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct user *user, struct id session, bool in_cookie);

/* The caller's session; NULL where it has ended meanwhile. */
struct error *session_admin_current(struct service *service, struct arena *arena, const struct caller *caller,
                                    struct session_record **record_out);

/* The caller's own sessions. */
struct error *session_admin_list(struct service *service, struct arena *arena, const struct caller *caller,
                                 struct session_list *list_out);

/* Ends one of them, or all but the caller's. SESSION_UNKNOWN, also for a session of somebody else. */
struct error *session_admin_end(struct service *service, struct arena *arena, const struct caller *caller,
                                struct id session);
struct error *session_admin_end_others(struct service *service, struct arena *arena, const struct caller *caller);

/*
 * The same for the user `id` of the caller's organisation, or of every organisation for who administers what `required`
 * names; that is audited as a crossing. USER_UNKNOWN.
 */
struct error *session_admin_list_of(struct service *service, struct arena *arena, const struct caller *caller,
                                    const char *required, struct id id, struct session_list *list_out);

/*
 * Ends one session of that user; none (zeros): all. USER_UNKNOWN; SESSION_UNKNOWN, also for a session of another user;
 * ROLE_NOT_GRANTABLE where the user may do more than the caller; TOKEN_REVOKED and PERMISSION when the caller has lost
 * the right since the request began.
 */
struct error *session_admin_end_of(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *required, struct id id, struct id session);

/*
 * Ends all sessions of a user, in the transaction of the caller, who tells the provider afterwards. Also those that the
 * provider has opened and nobody has shown here yet: their tokens from before open nothing any more.
 */
struct error *session_admin_end_all(struct service *service, struct arena *arena, struct id user);

#endif
