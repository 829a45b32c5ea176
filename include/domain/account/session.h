/* SPDX-License-Identifier: MIT */
/*
 * Sessions: one row a sign-in. Access tokens carry the session's id (`sid`), and principal_load() looks at
 * the row, so that ending it here refuses the next request on every worker and host.
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
 * Adds a session that began elsewhere, under the id that its token gives it; it lives `seconds` from now. Nothing happens
 * where it is there already.
 */
struct error *session_adopt(struct database *database, struct arena *arena, struct id id, struct id user,
                            int64_t seconds);

/* Whether the user has such a session, ended or not. */
struct error *session_is_known(struct database *database, struct arena *arena, struct id id, struct id user,
                               bool *known_out);

/* Whether the session is the user's, has not ended and not expired. For tests: principal_load() asks it as well. */
struct error *session_check(struct database *database, struct arena *arena, struct id id, struct id user,
                            bool *good_out);

/* Ends one session of the user. *ended_out (may be NULL) is false when it was not there or had ended. */
struct error *session_end(struct database *database, struct arena *arena, struct id id, struct id user,
                          bool *ended_out);

/* Ends all sessions of the user but `keep` (all zeros: no exception). *count_out may be NULL. */
struct error *session_end_all(struct database *database, struct arena *arena, struct id user, struct id keep,
                              uint64_t *count_out);

/* Deletes all sessions of the user. Part of a transaction. */
struct error *session_delete_all(struct database *database, struct arena *arena, struct id user);

/*
 * Removes up to `limit` rows whose time ran out more than a day ago; for the job runner, which calls
 * provider_tidy() first: it finds what else is to go by these rows.
 */
struct error *session_purge(struct database *database, struct arena *arena, unsigned limit,
                            uint64_t *count_out);

/*
 * Every user's mark anew (sql/016-session-mark.sql), after which no process takes a session for good without reading it: for
 * data that may be a copy put back.
 */
struct error *session_mark_everyone(struct database *database, struct arena *arena);

/* Ends every session of everyone: after a restore, what was ended since the backup must not live again. */
struct error *session_end_everyones(struct database *database, struct arena *arena);

#endif
