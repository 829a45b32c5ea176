/* SPDX-License-Identifier: MIT */
/*
 * Sessions: one row a sign-in. Access tokens carry the session's id (`sid`), and principal_load() checks the row. So
 * ending a session here refuses its next request on every worker and host.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_SESSION_H
#define GATEHOUSE_DOMAIN_ACCOUNT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* Adds a session that lives `seconds` from now. */
struct error *session_insert(struct database *database, struct arena *arena, struct id id, struct id user,
                             int64_t seconds);

/*
 * Adds a session that began elsewhere, under the id that its token gives it; it lives `seconds` from now. Does nothing
 * where it exists already.
 */
struct error *session_adopt(struct database *database, struct arena *arena, struct id id, struct id user,
                            int64_t seconds);

/* Whether the user has such a session, ended or not. */
struct error *session_is_known(struct database *database, struct arena *arena, struct id id, struct id user,
                               bool *known_out);

/* Whether the session is the user's, has not ended and not expired. For tests: principal_load() asks it as well. */
struct error *session_check(struct database *database, struct arena *arena, struct id id, struct id user,
                            bool *good_out);

/* Ends one session of the user. *ended_out (may be NULL) is false when it did not exist or had ended. */
struct error *session_end(struct database *database, struct arena *arena, struct id id, struct id user,
                          bool *ended_out);

/*
 * Ends all sessions of the user except `keep` (all zeros: no exception), and forgets the devices that were used for
 * them (domain/session/known_device.h). *count_out may be NULL.
 */
struct error *session_end_all(struct database *database, struct arena *arena, struct id user, struct id keep,
                              uint64_t *count_out);

/* Deletes all sessions and known devices of the user. Part of a transaction. */
struct error *session_delete_all(struct database *database, struct arena *arena, struct id user);

/*
 * Removes up to `limit` rows that expired more than a day ago; for the job runner. It calls provider_tidy() first,
 * which needs these rows to find what else to remove.
 */
struct error *session_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

/*
 * Renews the session stamp of every user (sql/016-session-mark.sql). Afterwards no process accepts a session before it
 * has read its row. For data that may be a restored copy.
 */
struct error *session_renew_stamps(struct database *database, struct arena *arena);

/* Ends all sessions of all users. After a restore, sessions that ended since the backup must not be valid again. */
struct error *session_end_everyones(struct database *database, struct arena *arena);

/*
 * Ends the sessions of the `limit` people of the organisation behind *after (none: from the start) by id, and moves
 * *after to the last of them. *more_out is false when there was nobody any more. Part of a transaction.
 */
struct error *session_end_organisation(struct database *database, struct arena *arena, struct id organisation,
                                       struct id *after, unsigned limit, bool *more_out);

#endif
