/* SPDX-License-Identifier: MIT */
/* What the files of members share. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MEMBER_INT_H
#define GATEHOUSE_SERVICE_ACCOUNT_MEMBER_INT_H

struct arena;
struct error;

/* The answer where there is no such user within reach: USER_UNKNOWN at `path`. */
struct error *member_unknown(struct arena *arena, const char *path);

#endif
