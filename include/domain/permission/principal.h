/* SPDX-License-Identifier: MIT */
/*
 * The principal: who is calling and what they may do. It is read for every request in one round trip, so that any
 * change holds from the next request on. From one request to the next a process keeps only that a session was valid,
 * and with which session stamp of the user. As long as the row that is read anyway has the same stamp, the session's
 * own row need not be read.
 */
#ifndef GATEHOUSE_DOMAIN_PERMISSION_PRINCIPAL_H
#define GATEHOUSE_DOMAIN_PERMISSION_PRINCIPAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/text.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"

struct file_record;
struct statement;

/* A role the user holds and what it grants at this moment; no permissions when the role does not exist. */
struct role_grant {
    const char *role;
    struct text_list permissions;
};

/*
 * Only what a decision needs: of `user` the id, organisation, roles, permissions and status, of `organisation` the id
 * and status. The other members are empty; principal_details() reads them.
 */
struct principal {
    struct user user;
    struct organisation organisation;
    struct id session_id;
    bool session_good;      /* the session is this user's, has not ended and not expired */
    int64_t change_version; /* of the last change to what processes keep (domain/change_log.h); 0: none is known */
    struct role_grant *grants;
    size_t grant_count;
};

/* One reason why something is allowed: `source` is "user" or "role:<id>". */
struct principal_source {
    const char *source;
    const char *permission;
};

/*
 * Loads the user, the organisation, the session's state, roles and permissions with one statement, or with two where a
 * session of the user was ended or changed since the last. *principal_out is NULL when there is no such user. A user
 * that may not call is loaded all the same: ask principal_stands().
 */
struct error *principal_load(struct database *database, struct arena *arena, struct id user, struct id session,
                             struct principal **principal_out);

/*
 * The same statement with the file `file` joined to it, where the file is of the user's organisation;
 * *file_out is NULL when it is not (or does not exist: the two cannot be told apart). It has no times: no caller needs
 * them, and each column takes time on both sides.
 */
struct error *principal_load_with_file(struct database *database, struct arena *arena, struct id user,
                                       struct id session, struct id file, struct principal **principal_out,
                                       struct file_record **file_out);

/* The caller's whole rows, with what the organisation uses, in one more round trip; `organisation_out` may be NULL. */
struct error *principal_details(struct database *database, struct arena *arena, const struct principal *principal,
                                struct user **user_out, struct organisation **organisation_out);

/*
 * Compares what principal_load() reads with the tables that it is derived from: how many users' rows and roles'
 * permissions differ. Only changes that bypass the triggers (sql/011-principal.sql) make it other than 0.
 */
struct error *principal_compare(struct database *database, struct arena *arena, int64_t *different_out);

/*
 * Tests whether the triggers work: *trigger_out is the name of the first that is missing or does not work, NULL when
 * all do. The test is a transaction that is rolled back, so it needs no right to see triggers. The handle must not be
 * in a transaction.
 */
struct error *principal_selftest(struct database *database, struct arena *arena, const char **trigger_out);

/*
 * Writes again what principal_load() reads, from the tables that it is derived from; *changed_out is the result of
 * principal_compare() before.
 */
struct error *principal_rebuild(struct database *database, struct arena *arena, int64_t *changed_out);

/* The same for the workers' account, which may not write these rows: triggers do it (sql/018-worker-rights.sql). */
struct error *principal_repair(struct database *database, struct arena *arena, int64_t *changed_out);

/*
 * The statement itself, for a session that is known to be valid. For tools/bench, which measures its bare round trip.
 * Its parameters are the file, where `with_file`, and the user.
 */
const struct statement *principal_statement(bool with_file);

/* Whether the user and the organisation are active, whatever the state of the session. False for NULL. */
bool principal_is_active(const struct principal *principal);

/* Whether the caller may call: session valid, user active, organisation active. False for NULL. */
bool principal_stands(const struct principal *principal);

/* Whether the principal holds `required`, one concrete permission. False for anything malformed. */
bool principal_holds(const struct principal *principal, const char *required);

/*
 * Whether the principal holds `a` on the module and area that `required` names: internal staff, who may act in every
 * organisation.
 */
bool principal_administers(const struct principal *principal, const char *required);

/* Effective permissions: the well-formed ones of the user, then of the roles, each once, in that order. */
struct text_list principal_permissions(struct arena *arena, const struct principal *principal);

/* An effective permission, and where it comes from: "user" or "role:<id>", the user's own first. */
struct principal_held {
    const char *permission;
    struct text_list sources;
};

/* The effective permissions as principal_permissions() has them; returns their number, *held_out in the arena. */
size_t principal_held(struct arena *arena, const struct principal *principal, struct principal_held **held_out);

/*
 * Every held pattern that grants `required`, the user's own first; returns their number, *sources_out in
 * the arena.
 */
size_t principal_sources(struct arena *arena, const struct principal *principal, const char *required,
                         struct principal_source **sources_out);

#endif
