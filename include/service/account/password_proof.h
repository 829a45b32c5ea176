/* SPDX-License-Identifier: MIT */
/* Asks callers for their password before something that a stolen token alone must not do. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_PASSWORD_PROOF_H
#define GATEHOUSE_SERVICE_ACCOUNT_PASSWORD_PROOF_H

#include "base/secret.h"

struct arena;
struct caller;
struct error;
struct service;
struct user;

/*
 * Checks the password of the caller, who is `user`. REQUEST_INVALID (path password, `mismatch`) when it is wrong; that
 * counts as a failed login and is audited as a failure of `action`. RATE_LIMITED. No session begins or ends.
 */
struct error *password_prove(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct user *user, struct secret password, const char *action);

#endif
