/* SPDX-License-Identifier: MIT */
/*
 * Queues mails in the outbox, and sends them from there. A mail is queued in the transaction that it belongs to. It may
 * hold a temporary password, so it is sealed. The job runner fills its template and hands it to the mail server.
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
struct configuration;
struct error;
struct service;

/* The outbox kind of mails. */
#define MAIL_QUEUE_KIND "mail"

/*
 * Queues the mail `template` for `user` at the address `to`; part of the open transaction. `values` fill the template.
 * A mail with a value `code` or `temporaryPassword` is sent before all others. The language is chosen now: the one of
 * service->languages that fits `locale` (of the user's row; NULL: unknown), else the one that the request asks for,
 * else the installation's.
 */
struct error *mail_queue_add(struct service *service, struct arena *arena, const char *template, struct id user,
                             const char *to, const char *locale, const struct mail_template_value *values,
                             size_t count);

/*
 * Fills a template in a language as it would be mailed, with the name, accent and support link of the installation
 * beside `values`. Where the language lacks the template, the installation's language stands in, and then a template
 * that lies in no language's folder. INTERNAL as mail_template_fill().
 */
struct error *mail_queue_fill(const struct configuration *configuration, struct arena *arena, const char *language,
                              const char *template, const struct mail_template_value *values, size_t count,
                              struct mail *mail_out);

/*
 * Sends one claimed item and reports to the outbox that it is done, is to be tried again, or is dead. Errors are those
 * of the database only. *sent_out: the mail server has taken the mail. So when there is an error as well, report the
 * item again with outbox_finish(), or the mail is sent twice.
 */
struct error *mail_queue_send(struct service *service, struct arena *arena, const struct mail_transport *transport,
                              const struct outbox_item *item, bool *sent_out);

#endif
