/* SPDX-License-Identifier: MIT */
/*
 * Evicting from the service cache, on every host: what POST /system/cache and gatehousectl do.
 *
 * The wish is written to the change log, and that is all that has to happen: each request of every worker, on any host,
 * reads the log's version in the round trip that it makes anyway, and follows it before it uses anything that was kept
 * (service/runtime/change_follower.h). So when the transaction is committed, and the reply leaves only then, no request that begins afterwards
 * is answered from what was evicted. What is answered at that very moment by a request that began before cannot be told from
 * one that ended before. Requests that do without the database (health, version) use nothing that could be evicted.
 */
#ifndef GATEHOUSE_SERVICE_SYSTEM_CACHE_UPDATE_H
#define GATEHOUSE_SERVICE_SYSTEM_CACHE_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct arena;
struct caller;
struct error;
struct service;

struct cache_update {
    struct text_list keys;
    struct text_list prefixes;
    bool flush;
    bool secrets; /* everything secret is read anew: database, SMTP and provider credentials, signing keys, key sets */
};

/*
 * Evicts; idempotent. *count_out is how many entries of this host's file went. Audited as cache.update. `caller` may be
 * empty (an operator).
 */
struct error *cache_update_run(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct cache_update *update, size_t *count_out);

#endif
