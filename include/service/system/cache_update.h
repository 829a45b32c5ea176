/* SPDX-License-Identifier: MIT */
/*
 * Evicts entries of the service cache on every host, and has secrets read again: POST /system/cache and gatehousectl.
 *
 * An eviction is written to the change log, and nothing else has to happen. Each request of every worker, on any host,
 * reads the log's version in a round trip that it makes anyway, and follows it before it uses anything that was kept
 * (service/runtime/change_follower.h). The reply leaves after the transaction is committed, so no request that begins
 * afterwards is answered from what was evicted. A request that began before may still be answered from it. Requests
 * that do without the database (health, version) use nothing that could be evicted.
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
    bool secrets; /* have every process read its secrets again: credentials, signing keys, key sets */
};

/*
 * Evicts, and has secrets read again; idempotent. *count_out is how many entries left this host's file. Audited as
 * cache.update. `caller` is empty for an operator.
 */
struct error *cache_update_run(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct cache_update *update, size_t *count_out);

#endif
