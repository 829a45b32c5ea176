/* SPDX-License-Identifier: MIT */
/* The audit rows of a request: each names the caller, the client's address and the request (docs/permissions.md). */
#ifndef GATEHOUSE_SERVICE_ACCESS_CALLER_AUDIT_H
#define GATEHOUSE_SERVICE_ACCESS_CALLER_AUDIT_H

#include <stddef.h>

#include "base/id.h"

struct arena;
struct audit_entry;
struct caller;
struct error;
struct service;
struct user;
struct validation;

/*
 * Writes an audit row for something that the caller did or tried. Ids of zeros in `entry` are taken from the caller's
 * row, and a NULL outcome is "success". The client's address and the request's id are always the caller's. The row is
 * part of the open transaction, if there is one.
 */
struct error *caller_audit(struct service *service, struct arena *arena, const struct caller *caller,
                           const struct audit_entry *entry);

/* The header in which internal staff say why they reach into another organisation. */
#define CALLER_REASON_HEADER "X-Reason"

/*
 * Adds an entry to `validation` when `reason` is none: 1 to LIMIT_REASON_CHARACTERS characters in UTF-8, each a blank
 * or one that can be seen.
 */
void caller_reason_validate(const char *reason, struct validation *validation);

/* REQUEST_INVALID when the caller has to give a reason for reaching into another organisation, and has not. */
struct error *caller_check_reason(struct arena *arena, const struct caller *caller);

/* The action of the rows below. */
#define CALLER_CROSSING "access.crossOrganisation"

/*
 * Writes the audit row of internal staff who reach into another organisation, with the operation and their reason.
 * REQUEST_INVALID when they have to give a reason and have not. So it comes before anything that the caller is told of
 * the other organisation, or changes there. Ids of zeros: many organisations are looked at, none of them by its name;
 * then the row is one of the caller's organisation.
 */
struct error *caller_audit_crossing(struct service *service, struct arena *arena, const struct caller *caller,
                                    struct id organisation, const char *target_type, struct id target);

/* The same for each of `count` organisations: all rows or none. */
struct error *caller_audit_crossings(struct service *service, struct arena *arena, const struct caller *caller,
                                     const struct id *organisations, size_t count);

/* Writes the audit row of a failed flow that has no token. `user` is the owner of the name; NULL: nobody has it. */
struct error *caller_audit_failure(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *action, const struct user *user);

#endif
