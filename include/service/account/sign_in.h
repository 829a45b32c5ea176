/* SPDX-License-Identifier: MIT */
/*
 * The account flows (specification, part 3): creating a customer with its owner, signing in, refreshing, signing out.
 *
 * Our rows and the provider's accounts cannot be changed in one transaction, so each flow orders its steps such that a
 * crash between any two leaves something that a repetition finishes (domain/account/provisioning.h).
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_SIGN_IN_H
#define GATEHOUSE_SERVICE_ACCOUNT_SIGN_IN_H

#include "base/secret.h"
#include "base/text.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "identity/provider.h"

struct arena;
struct caller;
struct error;
struct service;

/* A customer to be made; all texts are valid already. */
struct account_customer {
    const char *organisation_name;
    const char *email;
    const char *first_name;
    const char *last_name;
    const char *phone; /* may be NULL */
    struct text_list services;
};

/*
 * Makes organisation, owner and provider account, and queues the mail with the temporary password. USER_EXISTS when the
 * address is taken, ROLE_NOT_GRANTABLE when the caller lacks what the owner's roles grant.
 */
struct error *account_create_customer(struct service *service, struct arena *arena, const struct caller *caller,
                                      const struct account_customer *customer, struct organisation *organisation_out,
                                      struct user *user_out);

/* A team member to be made; all texts are valid already. */
struct account_member {
    const char *email;
    struct secret password;
    const char *first_name;
    const char *last_name;
    const char *phone; /* may be NULL */
    struct text_list roles;
    struct text_list permissions;
};

/*
 * Makes a user of the caller's organisation, who awaits confirmation, and queues the mail with the code. REQUEST_INVALID
 * for unknown roles and malformed permissions, PASSWORD_POLICY, ROLE_NOT_GRANTABLE, USER_EXISTS.
 */
struct error *account_create_member(struct service *service, struct arena *arena, const struct caller *caller,
                                    const struct account_member *member, struct user *user_out);

/*
 * Makes a user of the internal organisation with role `admin` and a permanent password, for `gatehousectl create-admin`.
 * USER_EXISTS and PASSWORD_POLICY as above.
 */
struct error *account_create_admin(struct service *service, struct arena *arena, const struct account_customer *person,
                                   struct secret password, struct user *user_out);

struct account_login {
    const char *username;
    struct secret password;
    struct secret new_password; /* bytes NULL: not sent */
};

/*
 * Signs in; with a temporary password and a new one, sets that first (docs/accounts.md, "States"). CREDENTIALS, USER_DISABLED,
 * USER_UNCONFIRMED, NEW_PASSWORD_REQUIRED, PASSWORD_POLICY, or REQUEST_INVALID for a new password that nobody asked for.
 */
struct error *account_login(struct service *service, struct arena *arena, const struct caller *caller,
                            const struct account_login *login, struct provider_tokens *tokens_out, struct user **user_out);

/* New tokens for a refresh token; TOKEN_INVALID or TOKEN_REVOKED. */
struct error *account_refresh(struct service *service, struct arena *arena, const struct caller *caller,
                              const char *refresh_token, struct provider_tokens *tokens_out);

/* Ends the caller's session, or all of the caller's. */
struct error *account_logout(struct service *service, struct arena *arena, const struct caller *caller, bool everywhere);

#endif
