/* SPDX-License-Identifier: MIT */
/*
 * Signs users in and out, and gives them new tokens (docs/accounts.md). The identity provider checks the password and
 * issues the tokens; our own rows decide whether the user may sign in.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_SIGN_IN_H
#define GATEHOUSE_SERVICE_ACCOUNT_SIGN_IN_H

#include <stdbool.h>

#include "base/secret.h"
#include "domain/account/user.h"
#include "identity/provider.h"

struct arena;
struct caller;
struct error;
struct service;

struct sign_in_request {
    const char *username;
    struct secret password;
    struct secret new_password; /* bytes NULL: not sent */
    const char *session;        /* not NULL: the refresh tokens of the session go into a cookie */
    const char *device_mark;    /* the mark of a device (domain/session/known_device.h); NULL: the client keeps none */
};

/*
 * Signs a user in. With `device_mark`, whatever it says, the device is known from now on; *device_mark_out is its mark,
 * and NULL without. A temporary password needs a new one, which is set first (docs/accounts.md, "States"). CREDENTIALS,
 * RATE_LIMITED, USER_DISABLED, USER_UNCONFIRMED, NEW_PASSWORD_REQUIRED, PASSWORD_POLICY; REQUEST_INVALID for a new
 * password beside one that is not temporary.
 */
struct error *sign_in_with_password(struct service *service, struct arena *arena, const struct caller *caller,
                                    const struct sign_in_request *login, struct provider_tokens *tokens_out,
                                    struct user **user_out, const char **device_mark_out);

/*
 * Gives new tokens for a refresh token. With `from_cookie` it must belong to a session whose tokens are in a cookie.
 * TOKEN_INVALID, TOKEN_REVOKED, RATE_LIMITED.
 */
struct error *sign_in_refresh(struct service *service, struct arena *arena, const struct caller *caller,
                              const char *refresh_token, bool from_cookie, struct provider_tokens *tokens_out);

/* Ends the caller's session; `everywhere`: all sessions of the user. */
struct error *sign_in_log_out(struct service *service, struct arena *arena, const struct caller *caller,
                              bool everywhere);

#endif
