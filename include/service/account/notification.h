/* SPDX-License-Identifier: MIT */
/*
 * Writes the mails of the account flows: which template, which values, which link. Each is queued in the transaction
 * that it belongs to.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_NOTIFICATION_H
#define GATEHOUSE_SERVICE_ACCOUNT_NOTIFICATION_H

#include "base/secret.h"

struct arena;
struct error;
struct organisation;
struct service;
struct user;

/* The purpose under which mails with temporary passwords are counted (domain/account/one_time_code.h). */
#define NOTIFICATION_FIRST_LOGIN "first-login"

/* Queues the mail with a temporary password and the link {web_url}/first-login?id=. */
struct error *notification_first_login(struct service *service, struct arena *arena, const struct user *user,
                                       const char *organisation, struct secret temporary_password);

/* Queues the mail with the code that confirms an account, and the link {web_url}/confirm?id=. */
struct error *notification_confirm(struct service *service, struct arena *arena, const struct user *user,
                                   const char *organisation, struct secret code);

/* Queues the mail with the code that resets a password, and the link {web_url}/reset?id=. */
struct error *notification_reset(struct service *service, struct arena *arena, const struct user *user,
                                 struct secret code);

/* The purpose under which mails to the owners of addresses that others asked for are counted. */
#define NOTIFICATION_EMAIL_TAKEN "email-taken"

/*
 * Queue the mails of a change of address: to `email`, the new address, with the code, and without anything of the
 * account, since the address may be a stranger's; to the user's address with the code that undoes the change, and the
 * link {web_url}/cancel-email?id=.
 */
struct error *notification_email_change(struct service *service, struct arena *arena, const struct user *user,
                                        const char *email, struct secret code);
struct error *notification_email_notice(struct service *service, struct arena *arena, const struct user *user,
                                        const char *email, struct secret code);

/* Queues the mail to the owner of an address that somebody else asked for. */
struct error *notification_email_taken(struct service *service, struct arena *arena, const struct user *user);

/* Queues the mail that says that the change was undone. */
struct error *notification_email_cancelled(struct service *service, struct arena *arena, const struct user *user);

/* Queues the mail that tells owners that their password was changed, in case somebody else did it. */
struct error *notification_password_changed(struct service *service, struct arena *arena, const struct user *user);

#endif
