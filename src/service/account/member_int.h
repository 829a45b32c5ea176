/* SPDX-License-Identifier: MIT */
/* What the files of members share. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MEMBER_INT_H
#define GATEHOUSE_SERVICE_ACCOUNT_MEMBER_INT_H

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct service;
struct user;

/* The answer where there is no such user within reach: USER_UNKNOWN at `path`. */
struct error *member_unknown(struct arena *arena, const char *path) __attribute__((returns_nonnull));

/*
 * Part of a transaction that changes the user `id`, whom member_find() has found in `organisation`: locks the rows of
 * caller and user and checks the caller again. Only administrators reach into another organisation. *now_out is the
 * caller as of now, *user_out the locked row. USER_UNKNOWN, TOKEN_REVOKED, PERMISSION.
 */
struct error *member_hold(struct service *service, struct arena *arena, const struct caller *caller,
                          const char *required, struct id organisation, struct id id, struct caller *now_out,
                          struct user **user_out);

#endif
