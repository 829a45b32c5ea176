/* SPDX-License-Identifier: MIT */
/*
 * Changes of what people may do, one after the other. A request is let in by rights that may be taken away before it
 * writes. So the transaction that writes holds the rows of caller and target, reads the rights again, and decides by what
 * it reads then. Of two people who shut each other out at the same moment, the second is refused.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_AUTHORITY_H
#define GATEHOUSE_SERVICE_ACCESS_AUTHORITY_H

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct role_list;
struct service;
struct user;

/*
 * Holds the row of `target`, and that of the caller against changes, until the open transaction ends. *caller_out is the
 * caller with the rights that hold now. TOKEN_REVOKED when the caller may not call any more, PERMISSION when the caller
 * does not hold `required` any more.
 */
struct error *authority_hold(struct service *service, struct arena *arena, const struct caller *caller, const char *required,
                             struct id target, struct caller *caller_out);

/*
 * USER_LAST_OWNER when the change of `before`, as its held row says, to `after` takes from the organisation its last active
 * owner, or from internal staff the last active holder of PERMISSION_EVERYTHING. Part of the transaction that makes the
 * change. Two transactions that take from the same organisation wait for each other here.
 */
struct error *authority_keep(struct service *service, struct arena *arena, const struct role_list *roles,
                             const struct user *before, const struct user *after);

#endif
