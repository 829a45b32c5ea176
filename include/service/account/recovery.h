/* SPDX-License-Identifier: MIT */
/*
 * "I forgot my password" and "send it again": whether the name has an account must not show, in words or in time. So the
 * request only queues the question, sealed, the same for every name; the job runner looks the name up and mails what is due.
 *
 * The job runner's other rescue lives here, too: accounts that a crash left half-made.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_RECOVERY_H
#define GATEHOUSE_SERVICE_ACCOUNT_RECOVERY_H

#include <stddef.h>

struct arena;
struct caller;
struct error;
struct outbox_item;
struct service;

/* The outbox kinds of these jobs. */
#define RECOVERY_FORGOTTEN "forgotten"
#define RECOVERY_RESEND "resend"

/* Queues the question; `kind` is one of the two. RATE_LIMITED when the client's address has asked too often. */
struct error *recovery_ask(struct service *service, struct arena *arena, const struct caller *caller, const char *kind,
                           const char *username);

/*
 * Answers a claimed question and reports it to the outbox. A reset code for an active user; a new code for who awaits
 * confirmation, a new temporary password for who awaits the first login; nothing for everyone else, and nothing beyond
 * the day's allowance of mails.
 */
struct error *recovery_run(struct service *service, struct arena *arena, const struct outbox_item *item);

/*
 * Undoes accounts that have been half-made for a minute: the provider's account first, our rows second. *count_out is how
 * many.
 */
struct error *recovery_undo_stale(struct service *service, struct arena *arena, size_t *count_out);

#endif
