/* SPDX-License-Identifier: MIT */
/*
 * Reads from the change log which entries of the service cache a change evicts. service/system/cache_update.h writes
 * such changes, service/runtime/change_follower.h follows them.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_CACHE_EVICTION_H
#define GATEHOUSE_SERVICE_RUNTIME_CACHE_EVICTION_H

#include <stdbool.h>

#include "base/text.h"
#include "store/cache/cache.h"

struct arena;
struct change_log_entry;

/*
 * What the entry of the change log evicts from the host's cache file, in the arena. An entry whose payload cannot be
 * read evicts everything.
 */
struct cache_eviction cache_eviction_read(struct arena *arena, const struct change_log_entry *entry);

/*
 * The prefixes of everything that was fetched or verified with a secret; they are evicted when secrets are read again.
 */
struct text_list cache_eviction_secret_prefixes(struct arena *arena);

/* Whether the eviction concerns entries whose keys begin with `prefix`. */
bool cache_eviction_touches(const struct cache_eviction *eviction, const char *prefix);

#endif
