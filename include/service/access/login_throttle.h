/* SPDX-License-Identifier: MIT */
/*
 * The throttle in front of everything where a secret is guessed: passwords, codes, refresh tokens. It counts failures by
 * account (passwords only) and by client address (domain/account/throttle.h), and refuses with RATE_LIMITED and Retry-After.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_LOGIN_THROTTLE_H
#define GATEHOUSE_SERVICE_ACCESS_LOGIN_THROTTLE_H

#include <stdbool.h>

#include "base/metrics.h"
#include "domain/account/throttle.h"

struct arena;
struct caller;
struct error;
struct service;
struct user;

struct login_throttle {
    struct throttle_key account;
    struct throttle_key address;
    bool has_account;
    bool has_address; /* the web server gave the client's address */
};

/* Of a try at the password of `user`, or of the name `username` when there is no such user. */
struct login_throttle login_throttle_of_password(struct arena *arena, const struct caller *caller,
                                                 const struct user *user, const char *username);

/* Of a try at a code or a refresh token: by address only. */
struct login_throttle login_throttle_of_code(const struct caller *caller);

/* RATE_LIMITED with Retry-After, counted as that metric: for who asked for more than may be. */
struct error *login_throttle_refuse(struct arena *arena, unsigned wait, enum metric metric);

/* RATE_LIMITED while a wait is running. Before the try. */
struct error *login_throttle_check(struct service *service, struct arena *arena, const struct login_throttle *throttle);

/*
 * After a failed try: records it and returns `failure`, or RATE_LIMITED when a wait that began meanwhile (parallel
 * tries) covers this one.
 */
struct error *login_throttle_failed(struct service *service, struct arena *arena, const struct login_throttle *throttle,
                                    struct error *failure);

/* After a right try: starts the account afresh; RATE_LIMITED when a wait is running, and the try must not count. */
struct error *login_throttle_passed(struct service *service, struct arena *arena,
                                    const struct login_throttle *throttle);

#endif
