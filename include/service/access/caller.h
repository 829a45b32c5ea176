/* SPDX-License-Identifier: MIT */
/*
 * The caller of a request: who they are, which rights they have, and where the request comes from. All of it is
 * verified anew for every request, and nothing is kept after it.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_CALLER_H
#define GATEHOUSE_SERVICE_ACCESS_CALLER_H

#include <stdbool.h>

#include "base/id.h"
#include "domain/permission/principal.h"

struct arena;
struct error;
struct file_record;
struct service;

struct caller {
    const struct principal *principal; /* NULL on public paths */
    const char *client_address;
    const char *user_agent; /* as the client sent it; NULL: it did not */
    const char *request_id;
    const char *operation; /* of the route; NULL outside of requests */
    const char *reason;    /* why internal staff look into another organisation; NULL: they do not say */
    bool reason_required;  /* nobody of them may look there without a reason */
};

/* The id of the caller's user; none on public paths. */
static inline struct id caller_user(const struct caller *caller)
{
    return caller->principal == NULL ? id_none : caller->principal->user.id;
}

/* The id of the caller's own organisation; none on public paths. */
static inline struct id caller_home(const struct caller *caller)
{
    return caller->principal == NULL ? id_none : caller->principal->user.organisation_id;
}

/*
 * Verifies the value of the Authorization header (NULL: none was sent; RFC 6750, section 2.1) and loads the principal
 * in one round trip. Where `file` is not NULL the same round trip loads that file of the caller's organisation;
 * *file_out is NULL when there is none. The process then follows the changes that the principal's row has told of.
 *
 * TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED; TOKEN_REVOKED when the session has ended, or when the user or the
 * organisation is not active.
 */
struct error *caller_authenticate(struct service *service, struct arena *arena, const char *authorization,
                                  const struct id *file, struct caller *caller, struct file_record **file_out);

/*
 * Names the user in the request's log lines from here on. Call it only once a token, password, code or refresh token
 * has proven who is acting.
 */
void caller_log_actor(struct arena *arena, const struct user *user);

/* PERMISSION, with `required` in the body, unless the caller holds that permission. */
struct error *caller_require(struct arena *arena, const struct caller *caller, const char *required);

/*
 * Finds the organisation that a request is about. Without `asked` (none) it is the caller's own. Another organisation
 * may be asked for only by a caller who administers what `required` names, and that is audited; PERMISSION for others.
 * ORGANISATION_UNKNOWN, which names organisationId, when there is none with that id.
 */
struct error *caller_organisation(struct service *service, struct arena *arena, const struct caller *caller,
                                  const char *required, struct id asked, struct id *organisation_out);

#endif
