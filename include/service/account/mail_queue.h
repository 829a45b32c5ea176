/* SPDX-License-Identifier: MIT */
/*
 * Mail on its way through the outbox: queued in the transaction that it belongs to, sealed, since it may hold a
 * temporary password; rendered and sent by the job runner.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_MAIL_QUEUE_H
#define GATEHOUSE_SERVICE_ACCOUNT_MAIL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/secret.h"
#include "domain/outbox.h"
#include "store/mail/mail.h"
#include "store/mail/mail_template.h"

struct arena;
struct error;
struct service;

/* The outbox kind of mails. */
#define MAIL_QUEUE_KIND "mail"

/*
 * Queues the mail `template` for `user` at the address `to`; part of a transaction. `values` fill the template. One with a
 * value `code` or `temporaryPassword` is sent before all that bring neither.
 */
struct error *mail_queue_add(struct service *service, struct arena *arena, const char *template, struct id user,
                             const char *to, const struct mail_template_value *values, size_t count);

/*
 * Sends one claimed item and reports it to the outbox: done, to be tried again, or dead. Errors are those of the
 * database only. *sent_out: the mail server has taken it, so whoever gets an error as well makes the report again
 * (outbox_finish()), lest it be sent twice.
 */
struct error *mail_queue_send(struct service *service, struct arena *arena, const struct mail_transport *transport,
                              const struct outbox_item *item, bool *sent_out);

#endif
