/* SPDX-License-Identifier: MIT */
/* Who may give what to whom (docs/permissions.md): nobody grants more than they hold. */
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

/* Records unknown roles (roles[n], `unknown`), malformed permissions (permissions[n], `format`) and repeated ones. */
void grant_validate(const struct role_list *known, const struct text_list *roles,
                    const struct text_list *permissions, struct validation *validation);

/* Records a set that is too long for the row or for the provider's mirror (permissions, `length`). */
void grant_validate_length(struct arena *arena, const struct role_list *known, const struct text_list *roles,
                           const struct text_list *permissions, struct validation *validation);

/* Whether whoever holds the patterns `held` may give the role to users of the organisation. */
bool grant_possible(const struct role *role, const struct text_list *held, struct id organisation);

/*
 * ROLE_NOT_GRANTABLE with an entry for each of the user's roles and permissions that goes beyond what the caller holds, and
 * for a role of internal staff outside their organisation. `caller` NULL is the operator, who holds everything. `role_path`
 * is the path of roles; NULL: roles[n].
 */
struct error *grant_check(struct arena *arena, const struct caller *caller, const struct role_list *known,
                          const struct user *user, const char *role_path);

/* Effective permissions of a user with these roles and own permissions, separated by blanks: the provider's mirror. */
const char *grant_mirror(struct arena *arena, const struct role_list *known, const struct text_list *roles,
                         const struct text_list *permissions);

#endif
