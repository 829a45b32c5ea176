/* SPDX-License-Identifier: MIT */
/*
 * Passwords after the first: changed by their owner, forgotten and reset by a mailed code, set by an administrator. Every
 * path ends sessions, and tells the owner by mail.
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
 * The caller's own password; ends all other sessions. REQUEST_INVALID (path password, `mismatch`) for a wrong current
 * one, which counts as a failed login; PASSWORD_POLICY; RATE_LIMITED.
 */
struct error *password_change(struct service *service, struct arena *arena, const struct caller *caller,
                              struct secret password, struct secret new_password);

/*
 * Sets a new password with the code that was mailed. CODE_MISMATCH whatever is wrong with user or code; PASSWORD_POLICY
 * does not spend the code. Ends all sessions and lifts the account's throttle.
 */
struct error *password_reset(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code, struct secret new_password);

/*
 * An administrator sets somebody's password; unless `permanent` it must be changed at the next login. Ends all sessions.
 * USER_UNKNOWN, PASSWORD_POLICY, ROLE_NOT_GRANTABLE when the user may do more than the caller.
 */
struct error *password_set(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *username, struct secret password, bool permanent);

/*
 * Settles changes whose answer the provider lost, for the job runner: asks which password holds, and where the change was made
 * tells the owner and the audit trail, as password_change() and its like would have. *count_out is how many were settled.
 */
struct error *password_reconcile(struct service *service, struct arena *arena, size_t *count_out);

#endif
