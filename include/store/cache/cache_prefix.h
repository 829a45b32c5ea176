/* SPDX-License-Identifier: MIT */
/*
 * The prefixes of the keys of the service cache (store/cache/cache.h): one row for each owner of entries. Operators evict
 * entries by these prefixes, so a prefix that was released does not change.
 */
#ifndef GATEHOUSE_STORE_CACHE_CACHE_PREFIX_H
#define GATEHOUSE_STORE_CACHE_CACHE_PREFIX_H

#define CACHE_PREFIX_KEYS "jwks:"         /* public keys of identity providers */
#define CACHE_PREFIX_TOKENS "token:"      /* verified tokens, by their digests; provider tokens, sealed */
#define CACHE_PREFIX_SETTINGS "settings:" /* the settings document */

#endif
