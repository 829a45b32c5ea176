/* SPDX-License-Identifier: MIT */
/*
 * Orders changes of what people may do, one after the other. The rights by which a request is let in may be taken away
 * before the request writes. So the transaction that writes locks the rows of caller and target, reads the rights
 * again, and decides by what it reads then. When two people shut each other out at the same moment, the second is
 * refused.
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
 * Locks the row of `target` against everything, and the caller's row against changes, until the open transaction ends.
 * *caller_out is the caller with the rights as they are now. TOKEN_REVOKED when the caller may not call any more,
 * PERMISSION when the caller does not hold `required` any more.
 */
struct error *authority_hold(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *required, struct id target, struct caller *caller_out);

/*
 * As authority_hold(), but without a lock and outside of a transaction, for a caller whose request has taken long to
 * come. A token whose time has run out meanwhile was good when the request began, and stays so.
 */
struct error *authority_look_again(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *required, struct caller *caller_out);

/*
 * As authority_hold() for a caller who changes what is the caller's own, and needs no permission: the row is locked
 * against everything. TOKEN_REVOKED.
 */
struct error *authority_hold_self(struct service *service, struct arena *arena, const struct caller *caller,
                                  struct caller *caller_out);

/*
 * Checks that a change of a user leaves somebody in charge. `before` is the locked row, `after` what the change makes
 * of it. USER_LAST_OWNER when the change takes from the organisation its last active owner, or from internal staff
 * their last active holder of PERMISSION_EVERYTHING. Call it in the transaction that makes the change: two transactions
 * that take somebody from the same organisation wait for each other here.
 */
struct error *authority_check_last_holder(struct service *service, struct arena *arena, const struct role_list *roles,
                                          const struct user *before, const struct user *after);

/* The same answer for a change that is not made: without a lock and outside of a transaction. */
struct error *authority_foresee_last_holder(struct service *service, struct arena *arena, const struct role_list *roles,
                                            const struct user *before, const struct user *after);

#endif
