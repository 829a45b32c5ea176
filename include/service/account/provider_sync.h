/* SPDX-License-Identifier: MIT */
/*
 * Brings the identity provider's account in line with our row: permissions (the mirror, docs/permissions.md), address,
 * phone, verified marks, confirmed, enabled. A job names a user and nothing else, and sends the row as it is when the
 * job runs. So jobs may come late, twice or in any order.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_PROVIDER_SYNC_H
#define GATEHOUSE_SERVICE_ACCOUNT_PROVIDER_SYNC_H

#include "base/id.h"

struct arena;
struct error;
struct outbox_item;
struct service;

/* The outbox kind of these jobs. */
#define PROVIDER_SYNC_KIND "sync"

/* How long a job waits for a request that has queued it and sends the row itself. */
#define PROVIDER_SYNC_PATIENCE_SECONDS 2

/* Queues a job for the user, due after `delay_seconds`; part of the transaction that changed the row. */
struct error *provider_sync_queue(struct service *service, struct arena *arena, struct id user, unsigned delay_seconds);

/* Does a claimed job and reports it to the outbox. */
struct error *provider_sync_run(struct service *service, struct arena *arena, const struct outbox_item *item);

/*
 * Sends one user's row now. To the embedded provider it is sent in one transaction, which locks the row in share mode.
 * For another provider it is read again, until what was sent is what the row says. So of several that send at once, the
 * last one to finish has sent the current row. The provider's failures are the error.
 */
struct error *provider_sync_user(struct service *service, struct arena *arena, struct id id);

#endif
