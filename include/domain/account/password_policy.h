/* SPDX-License-Identifier: MIT */
/*
 * Which passwords are allowed (docs/accounts.md): 12 to 128 characters (the minimum is configurable), any Unicode, no
 * composition rules; none of the common passwords, nor the user's own e-mail address or names, nor the organisation's
 * name. The same rules hold wherever a password is set.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_PASSWORD_POLICY_H
#define GATEHOUSE_DOMAIN_ACCOUNT_PASSWORD_POLICY_H

#include <stdint.h>

#include "base/secret.h"

struct arena;
struct error;
struct password_policy;

/* The owner of the password; each member may be NULL. */
struct password_owner {
    const char *email;
    const char *first_name;
    const char *last_name;
    const char *organisation; /* its name */
};

struct database;
struct user;

/*
 * The owner that `user` is, with the organisation's name from the database. For NULL (no user) all members are NULL, in
 * the same number of round trips.
 */
struct error *password_policy_owner(struct database *database, struct arena *arena, const struct user *user,
                                    struct password_owner *owner_out);

/*
 * Maps the list of common passwords (lower case, one a line, sorted by bytes). Lives in `arena`. INTERNAL when the
 * list cannot be read, is empty or not sorted at its ends.
 */
struct error *password_policy_open(struct arena *arena, const char *list, int64_t minimum_length,
                                   const struct password_policy **policy_out);

/*
 * PASSWORD_POLICY with an entry at `path` (codes `length`, `common`, `personal`) when the password may not be used.
 */
struct error *password_policy_check(const struct password_policy *policy, struct arena *arena, const char *path,
                                    struct secret password, const struct password_owner *owner);

/* The same error (code `provider`) for a password that the identity provider refuses by its own rules. */
struct error *password_policy_refused(struct arena *arena, const char *path);

#endif
