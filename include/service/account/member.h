/* SPDX-License-Identifier: MIT */
/* Team members after they were made: confirming, changing, and finding them within the caller's reach. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MEMBER_H
#define GATEHOUSE_SERVICE_ACCOUNT_MEMBER_H

#include <stdbool.h>

#include "base/id.h"
#include "base/text.h"
#include "domain/account/user.h"

struct arena;
struct caller;
struct error;
struct service;

/*
 * The user of that id: in the caller's organisation, or in any when the caller administers what `required` names (the
 * crossing is audited). USER_UNKNOWN otherwise: another organisation's user and none are one answer.
 */
struct error *member_find(struct service *service, struct arena *arena, const struct caller *caller,
                          const char *required, struct id id, struct user **user_out);

/* By e-mail or id, anywhere: for endpoints that only administrators may call. USER_UNKNOWN (path username). */
struct error *member_find_by_username(struct service *service, struct arena *arena, const struct caller *caller,
                                      const char *username, struct user **user_out);

/*
 * ROLE_NOT_GRANTABLE at `path` unless the caller's permissions cover everything that `user` may do: nobody takes over, or
 * shuts out, an account that may do more than they.
 */
struct error *member_check_reach(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct user *user, const char *path);

/* Confirms a sign-up with the mailed code. CODE_MISMATCH whatever is wrong. */
struct error *member_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code);

/* An administrator confirms it without a code. USER_UNKNOWN, USER_ALREADY_CONFIRMED, USER_STATE. */
struct error *member_admin_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *username);

/* What to change; the flags say which members were sent. */
struct member_patch {
    bool has_phone;
    const char *first_name; /* NULL: keep */
    const char *last_name;  /* NULL: keep */
    const char *phone;      /* with has_phone; NULL clears */
    const struct text_list *roles;       /* NULL: keep */
    const struct text_list *permissions; /* NULL: keep */
    bool has_status;
    enum user_status status; /* USER_ACTIVE or USER_DISABLED */
};

/*
 * Changes a user. REQUEST_INVALID for unknown roles and malformed permissions, USER_UNKNOWN, ROLE_NOT_GRANTABLE (also when
 * the user may do more than the caller), USER_SELF for one's own status and for a role or permission taken from oneself,
 * USER_STATE for a status that cannot be left, USER_LAST_OWNER (service/access/authority.h). TOKEN_REVOKED and PERMISSION when the
 * caller has lost that right since the request began. Disabling ends all sessions.
 */
struct error *member_update(struct service *service, struct arena *arena, const struct caller *caller,
                            const char *required, struct id id, const struct member_patch *patch,
                            struct user **user_out);

/*
 * The same for gatehousectl: the operator reaches everyone and grants everything. REQUEST_INVALID, USER_UNKNOWN, USER_STATE
 * and USER_LAST_OWNER are as above.
 */
struct error *member_update_as_operator(struct service *service, struct arena *arena, const char *username,
                                        const struct member_patch *patch, struct user **user_out);

#endif
