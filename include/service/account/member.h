/* SPDX-License-Identifier: MIT */
/*
 * Finds, confirms and changes the members of organisations, and tells what a change would bring, within the reach of
 * the caller.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MEMBER_H
#define GATEHOUSE_SERVICE_ACCOUNT_MEMBER_H

#include <stdbool.h>

#include "base/id.h"
#include "base/text.h"
#include "domain/account/user.h"

struct arena;
struct caller;
struct error;
struct error_entry;
struct service;

/*
 * Finds the user of that id in the caller's organisation. A caller who administers what `required` names finds users of
 * every organisation, and the crossing is audited. USER_UNKNOWN for all others: an unknown user and one of another
 * organisation get the same answer.
 */
struct error *member_find(struct service *service, struct arena *arena, const struct caller *caller,
                          const char *required, struct id id, struct user **user_out);

/* The same, with another path than "id" in the answer. */
struct error *member_find_named(struct service *service, struct arena *arena, const struct caller *caller,
                                const char *required, struct id id, const char *path, struct user **user_out);

/*
 * Finds a user of any organisation by e-mail address or id, for endpoints that only administrators may call.
 * USER_UNKNOWN, path username.
 */
struct error *member_find_by_username(struct service *service, struct arena *arena, const struct caller *caller,
                                      const char *username, struct user **user_out);

/*
 * Checks that the caller's permissions cover everything that `user` may do: nobody takes over, or shuts out, an account
 * that may do more than they. ROLE_NOT_GRANTABLE at `path`.
 */
struct error *member_check_reach(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct user *user, const char *path);

/* Confirms an account with the mailed code. CODE_MISMATCH whatever is wrong; RATE_LIMITED. */
struct error *member_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code);

/* An administrator confirms an account without a code. USER_UNKNOWN, USER_ALREADY_CONFIRMED, USER_STATE. */
struct error *member_admin_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *username);

/* A wanted change of a user. */
struct member_patch {
    bool has_phone;
    const char *first_name;              /* NULL: keep */
    const char *last_name;               /* NULL: keep */
    const char *phone;                   /* with has_phone; NULL: none */
    const struct text_list *roles;       /* NULL: keep */
    const struct text_list *permissions; /* NULL: keep */
    bool has_status;
    enum user_status status; /* USER_ACTIVE or USER_DISABLED */
};

/*
 * Changes a user. REQUEST_INVALID for unknown roles and malformed permissions. USER_UNKNOWN. ROLE_NOT_GRANTABLE, also
 * when the user may do more than the caller. USER_SELF when callers set their own status, or take a role or permission
 * from themselves. USER_STATE when the status cannot be changed. USER_LAST_OWNER (service/access/authority.h).
 * TOKEN_REVOKED and PERMISSION when the caller has lost the right since the request began. Disabling a user ends all of
 * the user's sessions.
 */
struct error *member_update(struct service *service, struct arena *arena, const struct caller *caller,
                            const char *required, struct id id, const struct member_patch *patch,
                            struct user **user_out);

/* What a change of roles and permissions would bring. */
struct member_outcome {
    struct text_list before;                 /* effective permissions now */
    struct text_list after;                  /* and those that the change asks for */
    const struct error_entry *not_grantable; /* what ROLE_NOT_GRANTABLE of member_update() names; NULL: nothing */
};

/*
 * Checks a change of roles and permissions as member_update() does, and writes nothing but the audit row of a crossing.
 * What member_update() refuses is refused with the same error, but for ROLE_NOT_GRANTABLE, which is an outcome. The
 * caller need not hold what member_update() asks for: `required` is the permission to read users. USER_UNKNOWN names
 * the path userId.
 */
struct error *member_foresee(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *required, struct id id, const struct member_patch *patch,
                             struct member_outcome *outcome_out);

/*
 * As member_update(), for the operator, who reaches everyone and may grant everything. REQUEST_INVALID, USER_UNKNOWN,
 * USER_STATE, USER_LAST_OWNER.
 */
struct error *member_update_as_operator(struct service *service, struct arena *arena, const char *username,
                                        const struct member_patch *patch, struct user **user_out);

#endif
