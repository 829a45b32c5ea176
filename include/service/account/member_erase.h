/* SPDX-License-Identifier: MIT */
/* Erases people, step by step, so that whatever is killed when, a job finishes it (domain/account/erasure.h). */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MEMBER_ERASE_H
#define GATEHOUSE_SERVICE_ACCOUNT_MEMBER_ERASE_H

#include <stdbool.h>

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct outbox_item;
struct service;

/* The outbox kind of the job. */
#define MEMBER_ERASE_KIND "erase"

/*
 * Erases a disabled user: from now on nobody sees the person. *finished_out is false when a step failed, such as that
 * of an identity provider that cannot be reached; the job repeats it until it is done. USER_STATE unless the user is
 * disabled; USER_SELF; USER_UNKNOWN; ROLE_NOT_GRANTABLE when the user may do more than the caller; TOKEN_REVOKED,
 * PERMISSION.
 */
struct error *member_erase(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *required, struct id id, bool *finished_out);

/* Finishes a claimed job, and reports a failure to the outbox. It is tried again without end. */
struct error *member_erase_run(struct service *service, struct arena *arena, const struct outbox_item *item);

#endif
