/* SPDX-License-Identifier: MIT */
/* Checks who may give which roles and permissions to whom: nobody grants more than they hold (docs/permissions.md). */
#ifndef GATEHOUSE_SERVICE_ACCESS_GRANT_H
#define GATEHOUSE_SERVICE_ACCESS_GRANT_H

#include <stdbool.h>

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct role;
struct role_list;
struct text_list;
struct user;
struct validation;

/*
 * Validates roles and permissions. Adds entries for unknown roles (roles[n], `unknown`), malformed permissions
 * (permissions[n], `format`) and repetitions (`duplicate`).
 */
void grant_validate(const struct role_list *known, const struct text_list *roles, const struct text_list *permissions,
                    struct validation *validation);

/*
 * Adds an entry (permissions, `length`) when roles and permissions together are too long for the row or for the
 * provider's mirror: more than LIMIT_PERMISSIONS_BYTES.
 */
void grant_validate_length(struct arena *arena, const struct role_list *known, const struct text_list *roles,
                           const struct text_list *permissions, struct validation *validation);

/* Whether a holder of the permissions `held` may give the role to users of the organisation. */
bool grant_possible(const struct role *role, const struct text_list *held, struct id organisation);

/*
 * Checks that the caller holds everything that `user` has. ROLE_NOT_GRANTABLE with an entry for each role and
 * permission that goes beyond that, and for a role of internal staff in another organisation. `caller` NULL is the
 * operator, who holds everything. `role_path` is the path of the entries for roles; NULL: roles[n].
 */
struct error *grant_check(struct arena *arena, const struct caller *caller, const struct role_list *known,
                          const struct user *user, const char *role_path);

/* Checks that the caller holds everything that `user` may do now. ROLE_NOT_GRANTABLE at `path`. */
struct error *grant_check_reach(struct arena *arena, const struct caller *caller, const struct role_list *known,
                                const struct user *user, const char *path);

/*
 * The effective permissions of a user with these roles and own permissions, separated by blanks, in the arena. This is
 * the text that the provider mirrors.
 */
const char *grant_mirror(struct arena *arena, const struct role_list *known, const struct text_list *roles,
                         const struct text_list *permissions);

#endif
