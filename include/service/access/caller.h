/* SPDX-License-Identifier: MIT */
/*
 * Who is calling: the token's proof, the row's truth, and where the call comes from. Judged afresh on every request;
 * nothing of it survives the request.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_CALLER_H
#define GATEHOUSE_SERVICE_ACCESS_CALLER_H

#include "base/id.h"
#include "domain/permission/principal.h"

struct arena;
struct error;
struct file_record;
struct service;

struct caller {
    const struct principal *principal; /* NULL on public paths */
    const char *client_address;
    const char *request_id;
};

/* The id of the caller's user; none on public paths. */
static inline struct id caller_user(const struct caller *caller)
{
    return caller->principal == NULL ? (struct id){{0}} : caller->principal->user.id;
}

/* The id of the caller's own organisation; none on public paths. */
static inline struct id caller_home(const struct caller *caller)
{
    return caller->principal == NULL ? (struct id){{0}} : caller->principal->user.organisation_id;
}

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

#endif
