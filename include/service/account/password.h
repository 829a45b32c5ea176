/* SPDX-License-Identifier: MIT */
/*
 * Changes passwords after the first: by their owner, by a mailed code, by an administrator. Each change ends sessions
 * and is mailed to the owner.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_PASSWORD_H
#define GATEHOUSE_SERVICE_ACCOUNT_PASSWORD_H

#include <stdbool.h>

#include "base/secret.h"

struct arena;
struct caller;
struct error;
struct service;

/*
 * Changes the caller's own password and ends all other sessions. REQUEST_INVALID (path password, `mismatch`) when the
 * current password is wrong; that counts as a failed login. PASSWORD_POLICY, RATE_LIMITED.
 */
struct error *password_change(struct service *service, struct arena *arena, const struct caller *caller,
                              struct secret password, struct secret new_password);

/*
 * Sets a new password with the mailed code. CODE_MISMATCH whatever is wrong with user or code. PASSWORD_POLICY, which
 * does not use the code up. Ends all sessions and lifts the account's throttle.
 */
struct error *password_reset(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code, struct secret new_password);

/*
 * Sets somebody's password, for an administrator. Unless `permanent`, the user must change it at the next login. Ends
 * all sessions. USER_UNKNOWN, PASSWORD_POLICY, ROLE_NOT_GRANTABLE when the user may do more than the caller.
 */
struct error *password_set(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *username, struct secret password, bool permanent);

/*
 * For the job runner: resolves changes whose answer from the provider was lost. Asks the provider which password holds.
 * Where the change was made, mails the owner and writes the audit row, as the change itself would have. *count_out is
 * how many were resolved.
 */
struct error *password_reconcile(struct service *service, struct arena *arena, size_t *count_out);

#endif
