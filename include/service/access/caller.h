/* SPDX-License-Identifier: MIT */
/*
 * Who is calling: the token's proof, the row's truth, and where the call comes from. Judged afresh on every request;
 * nothing of it survives the request.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_CALLER_H
#define GATEHOUSE_SERVICE_ACCESS_CALLER_H

#include <stdbool.h>

#include "base/id.h"

struct arena;
struct audit_entry;
struct error;
struct file_record;
struct principal;
struct service;
struct user;

struct caller {
    const struct principal *principal; /* NULL on public paths */
    const char *client_address;
    const char *request_id;
};

/*
 * Judges the value of the Authorization header (NULL: none was sent; RFC 6750, section 2.1) and loads the principal in
 * one round trip, together with the file `file` of the caller's organisation where `file` is not NULL.
 *
 * TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, or TOKEN_REVOKED when the session has ended or the user or organisation
 * is not active.
 */
struct error *caller_authenticate(struct service *service, struct arena *arena, const char *authorization,
                                  const struct id *file, struct caller *caller, struct file_record **file_out);

/*
 * From here on the request's log lines name this user: where a token, password, code or refresh token has proven who is
 * acting, and not before.
 */
void caller_known(struct arena *arena, const struct user *user);

/* PERMISSION, naming `required` in the body, unless the caller holds it. */
struct error *caller_require(struct arena *arena, const struct caller *caller, const char *required);

/*
 * The organisation a call is about: the caller's own, or `asked` (none: not asked), which must be the caller's own
 * unless the caller administers what `required` names; the crossing is audited.
 */
struct error *caller_organisation(struct service *service, struct arena *arena, const struct caller *caller,
                                  const char *required, struct id asked, struct id *organisation_out);

/*
 * Writes an audit row for something the caller did (or tried). Of `entry`, ids of zeros are taken from the caller's row,
 * a NULL outcome is "success", client address and request id are always the caller's. Part of the transaction that is
 * open, if one is.
 */
struct error *caller_audit(struct service *service, struct arena *arena, const struct caller *caller,
                           const struct audit_entry *entry);

/* The audit row of internal staff reaching into another organisation (docs/permissions.md). */
struct error *caller_audit_crossing(struct service *service, struct arena *arena, const struct caller *caller,
                                    struct id organisation, const char *target_type, struct id target);

/* The audit row of a flow without a token that failed; `user` is whom the name turned out to be, NULL for nobody. */
struct error *caller_audit_failure(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *action, const struct user *user);

/* The caller's user and organisation ids; none on public paths. */
struct id caller_user(const struct caller *caller);
struct id caller_home(const struct caller *caller);

#endif
