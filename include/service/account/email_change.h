/* SPDX-License-Identifier: MIT */
/*
 * Changes a caller's e-mail address (docs/accounts.md, "Another e-mail address"):
 *
 * 1. email_change_ask() checks the password, writes down what is asked for, and queues a question. It does the same
 *    whether or not the address is taken.
 * 2. The job runner (email_change_run()) mails a code to the new address, and a notice with another code to the old
 *    one. Where the address is taken its owner is told instead.
 * 3. email_change_confirm() tries the code and writes the new address into the user's row: one transaction, and the old
 *    address signs in before it and the new one after it, with every provider. The provider's copy follows by a job.
 *
 * email_cancel.h undoes it.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_EMAIL_CHANGE_H
#define GATEHOUSE_SERVICE_ACCOUNT_EMAIL_CHANGE_H

#include "base/secret.h"

struct arena;
struct caller;
struct error;
struct outbox_item;
struct service;
struct user;

/* The outbox kind of the questions. */
#define EMAIL_CHANGE_KIND "change-email"

/*
 * Asks for a change to `email`, which is valid. An address that is the caller's already changes nothing.
 * REQUEST_INVALID (path password) as password_prove(); RATE_LIMITED, also when the account's mails of the day are
 * spent.
 */
struct error *email_change_ask(struct service *service, struct arena *arena, const struct caller *caller,
                               const char *email, struct secret password);

/* Answers a claimed question and reports it to the outbox. */
struct error *email_change_run(struct service *service, struct arena *arena, const struct outbox_item *item);

/*
 * Makes the change with the mailed code; *user_out is the row afterwards. CODE_MISMATCH whatever is wrong with the
 * code, RATE_LIMITED. USER_EXISTS when somebody has got the address since it was asked for, here or at the provider.
 */
struct error *email_change_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *code, struct user **user_out);

#endif
