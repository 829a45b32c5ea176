/* SPDX-License-Identifier: MIT */
/*
 * The names of the entries of the service cache (store/cache/cache.h). A prefix names the owner of entries. Operators
 * evict entries by these prefixes, so a prefix that was released does not change. A name that ends with a colon is
 * followed by whose entry it is.
 */
#ifndef GATEHOUSE_STORE_CACHE_CACHE_PREFIX_H
#define GATEHOUSE_STORE_CACHE_CACHE_PREFIX_H

#define CACHE_PREFIX_KEYS "jwks:" /* public keys of identity providers */
#define CACHE_KEYS_EMBEDDED CACHE_PREFIX_KEYS "embedded"
#define CACHE_KEYS_SET CACHE_PREFIX_KEYS "set:"           /* of a remote provider: when it was fetched, then the text */
#define CACHE_KEYS_ASKED CACHE_PREFIX_KEYS "asked:"       /* while it is there: a process has asked for the set */
#define CACHE_KEYS_ASKED_AGAIN CACHE_PREFIX_KEYS "again:" /* the same, because of a token of an unknown key */
#define CACHE_KEYS_FAILED CACHE_PREFIX_KEYS "failed:"     /* there was no set and none could be fetched: the reason */

#define CACHE_PREFIX_TOKENS "token:"                    /* verified tokens, by their digests */
#define CACHE_TOKENS_ADMIN CACHE_PREFIX_TOKENS "admin:" /* the service's own at a remote provider, sealed */

#define CACHE_PREFIX_SETTINGS "settings:"
#define CACHE_SETTINGS_CURRENT CACHE_PREFIX_SETTINGS "current" /* the settings document */

/* Every prefix, with blanks between them. Those that have few entries come first. */
#define CACHE_PREFIXES CACHE_PREFIX_SETTINGS " " CACHE_PREFIX_KEYS " " CACHE_PREFIX_TOKENS

#endif
