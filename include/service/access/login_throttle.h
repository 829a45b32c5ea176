/* SPDX-License-Identifier: MIT */
/*
 * Throttles tries at secrets: passwords, codes, refresh tokens. It counts failures by account (passwords only) and by
 * client address (domain/account/throttle.h). While a wait runs, it refuses with RATE_LIMITED and Retry-After.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_LOGIN_THROTTLE_H
#define GATEHOUSE_SERVICE_ACCESS_LOGIN_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/metrics.h"
#include "domain/account/throttle.h"

struct arena;
struct caller;
struct database;
struct error;
struct service;
struct user;

struct login_throttle {
    struct throttle_key account;
    struct throttle_key address;
    bool has_account;
    bool has_address; /* the web server gave the client's address */
    int64_t began;    /* clock_monotonic(), before anything was looked up for the try */
};

/*
 * Microseconds. A try that is refused within a wait, and a failed try at a code or a refresh token, are answered at a
 * whole number of these steps after it began. So nobody outside sees a difference that is small beside a step.
 */
#define LOGIN_THROTTLE_STEP 5000

/*
 * The keys under which a try at the password of `user` is counted; `user` NULL: nobody has the name `username`. From a
 * device that the user has signed in on before it is counted for that device; `device` all zeros: from no such. The
 * time of the try counts from here. A caller that has looked the user up for the try sets `began` to the time before.
 */
struct login_throttle login_throttle_of_password(struct arena *arena, const struct caller *caller,
                                                 const struct user *user, const char *username, struct id device);

/*
 * The key under which a try at a code or a refresh token is counted: the client's address alone. Call it before
 * anything is looked up for the try, for its time counts from here.
 */
struct login_throttle login_throttle_of_code(const struct caller *caller);

/* Makes the error RATE_LIMITED with Retry-After, `wait` seconds, and counts it as `metric`. */
struct error *login_throttle_refuse(struct arena *arena, unsigned wait, enum metric metric);

/* Call it before the try. RATE_LIMITED while a wait runs, at the next whole LOGIN_THROTTLE_STEP. */
struct error *login_throttle_check(struct service *service, struct arena *arena, const struct login_throttle *throttle);

/*
 * Call it after a failed try: counts the failure and returns `failure`. RATE_LIMITED instead when parallel tries have
 * started a wait that covers this one. For a try at a code or a refresh token it waits for the
 * next whole LOGIN_THROTTLE_STEP.
 */
struct error *login_throttle_failed(struct service *service, struct arena *arena, const struct login_throttle *throttle,
                                    struct error *failure);

/*
 * Call it after a good try: forgets the account's failures. RATE_LIMITED when a wait runs; then the try must not count
 * as good.
 */
struct error *login_throttle_passed(struct service *service, struct arena *arena,
                                    const struct login_throttle *throttle);

/* Ends the waits of the account and of each device on which the user has signed in, and forgets their failures. */
struct error *login_throttle_lift(struct database *database, struct arena *arena, struct id user);

#endif
