/* SPDX-License-Identifier: MIT */
/* Helps a member who cannot sign in: sends the first mail again, lifts the wait after wrong passwords. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MEMBER_HELP_H
#define GATEHOUSE_SERVICE_ACCOUNT_MEMBER_HELP_H

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct service;

/*
 * Queues a new temporary password, or a new code, for a user who awaits the first login or the confirmation; it
 * replaces the old one. RATE_LIMITED until the end of the day (UTC) when the day's mails are spent. USER_STATE for a
 * user who awaits nothing. USER_UNKNOWN; ROLE_NOT_GRANTABLE when the user may do more than the caller. TOKEN_REVOKED,
 * PERMISSION.
 */
struct error *member_send_again(struct service *service, struct arena *arena, const struct caller *caller,
                                const char *required, struct id id);

/*
 * Lifts the waits of the user's account and of the devices that the user has signed in on, if there are any. The errors
 * are those above but RATE_LIMITED and USER_STATE.
 */
struct error *member_unlock(struct service *service, struct arena *arena, const struct caller *caller,
                            const char *required, struct id id);

#endif
