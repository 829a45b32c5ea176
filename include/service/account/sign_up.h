/* SPDX-License-Identifier: MIT */
/*
 * Makes accounts: customers with their owners, team members, internal administrators (docs/accounts.md).
 *
 * Our rows and the provider's accounts cannot be changed in one transaction. So each flow makes the rows first, which
 * own the address and are invisible, then the provider's account, and activates the rows last. A crash between two
 * steps leaves something that the job runner removes, or that a repetition finishes (domain/account/provisioning.h).
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_SIGN_UP_H
#define GATEHOUSE_SERVICE_ACCOUNT_SIGN_UP_H

#include "base/secret.h"
#include "base/text.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"

struct arena;
struct caller;
struct error;
struct service;
struct validation;

/* A customer to be made; all texts are valid. */
struct sign_up_customer {
    const char *organisation_name;
    const char *email;
    const char *first_name;
    const char *last_name;
    const char *phone; /* may be NULL */
    struct text_list services;
};

/*
 * Makes organisation, owner and provider account, and queues the mail with the temporary password. USER_EXISTS when the
 * address is taken. ROLE_NOT_GRANTABLE when the caller lacks what the owner's roles grant. RATE_LIMITED. PERMISSION and
 * TOKEN_REVOKED when the caller has lost the right meanwhile.
 */
struct error *sign_up_customer(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct sign_up_customer *customer, struct organisation *organisation_out,
                               struct user *user_out);

/* A team member to be made; all texts are valid. */
struct sign_up_member {
    const char *email;
    struct secret password; /* bytes NULL: the member is invited */
    const char *first_name;
    const char *last_name;
    const char *phone; /* may be NULL */
    struct text_list roles;
    struct text_list permissions;
};

/*
 * Makes a user of the caller's organisation and queues the first mail. With a password the user awaits confirmation,
 * and the mail brings a code. Without one the user is invited as an owner is: the mail brings a temporary password.
 * REQUEST_INVALID for unknown roles and malformed permissions, PASSWORD_POLICY, ROLE_NOT_GRANTABLE, USER_EXISTS,
 * RATE_LIMITED.
 */
struct error *sign_up_member(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct sign_up_member *member, struct user *user_out);

/*
 * Adds to `validation` what sign_up_member() would refuse of a member whose form is wrong already: so the answer names
 * everything at once. Texts of `member` may be NULL here. Returns validation->error, or what failed meanwhile.
 */
struct error *sign_up_validate_member(struct service *service, struct arena *arena, const struct caller *caller,
                                      const struct sign_up_member *member, struct validation *validation);

/*
 * Makes an active user of the internal organisation, with role `admin` and a permanent password: `gatehousectl
 * create-admin`. USER_EXISTS, PASSWORD_POLICY.
 */
struct error *sign_up_admin(struct service *service, struct arena *arena, const struct sign_up_customer *person,
                            struct secret password, struct user *user_out);

#endif
