/* SPDX-License-Identifier: MIT */
/*
 * Undoes changes of an e-mail address with the code in the notice to the old one (docs/accounts.md, "Another e-mail
 * address"). It is for a person whose account somebody else has taken over, so it needs no token, and whoever has the
 * account now cannot keep the code from working.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_EMAIL_CANCEL_H
#define GATEHOUSE_SERVICE_ACCOUNT_EMAIL_CANCEL_H

struct arena;
struct caller;
struct error;
struct outbox_item;
struct service;

/* The outbox kind of the jobs that bring the provider in line afterwards. */
#define EMAIL_CANCEL_KIND "cancel-email"

/*
 * Gives the account the address back to which the notice with that code went, ends all sessions, voids the codes that
 * were sent to later addresses, and mails a code for a new password. CODE_MISMATCH whatever is wrong with user or code;
 * RATE_LIMITED. Of one client's address and one account THROTTLE_CANCEL_FREE wrong tries a day are compared.
 */
struct error *email_cancel(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *username, const char *code);

/* Does a claimed job and reports it to the outbox. */
struct error *email_cancel_run(struct service *service, struct arena *arena, const struct outbox_item *item);

#endif
