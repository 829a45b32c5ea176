/* SPDX-License-Identifier: MIT */
/*
 * Answers "I forgot my password" and "send it again". Nobody may learn from the answer, or from its time, whether a
 * name has an account. So the request only queues a sealed question, the same for every name. The job runner looks the
 * name up and mails what is due.
 *
 * It also removes accounts that a crash has left half-made.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_RECOVERY_H
#define GATEHOUSE_SERVICE_ACCOUNT_RECOVERY_H

#include <stddef.h>

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct outbox_item;
struct service;

/* The outbox kinds of these jobs. */
#define RECOVERY_FORGOTTEN "forgotten"
#define RECOVERY_RESEND "resend"

/* Queues a question; `kind` is one of the two above. RATE_LIMITED when the client's address has asked too often. */
struct error *recovery_ask(struct service *service, struct arena *arena, const struct caller *caller, const char *kind,
                           const char *username);

/*
 * Queues the first mail of a user again, for somebody who may do so and has counted the mail. Part of a transaction.
 * The job gives whoever awaits confirmation a new code, and whoever awaits the first login a new temporary password.
 */
struct error *recovery_send_again(struct service *service, struct arena *arena, const struct caller *caller,
                                  struct id user);

/*
 * Answers a claimed question and reports it to the outbox. An active user gets a reset code. A user who awaits
 * confirmation gets a new code, and one who awaits the first login a new temporary password. Everybody else gets
 * nothing, and nobody gets more than the day's allowance of mails.
 */
struct error *recovery_run(struct service *service, struct arena *arena, const struct outbox_item *item);

/*
 * Removes accounts that have been half-made for a minute: the provider's account first, then our rows. *count_out is
 * how many.
 */
struct error *recovery_undo_stale(struct service *service, struct arena *arena, size_t *count_out);

#endif
