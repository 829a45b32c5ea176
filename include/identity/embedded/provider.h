/* SPDX-License-Identifier: MIT */
/*
 * The embedded provider keeps the accounts in our own database (tables identity_*), hashes passwords with Argon2id and
 * signs tokens with RS256. It makes its keys at the first start and shares them with all workers and hosts through the
 * database, sealed under the service's secret. It is the strictest of the providers: what it refuses, no other need
 * accept. Its subjects are the users' ids, so `sub` in its tokens is the id that every endpoint takes.
 */
#ifndef GATEHOUSE_IDENTITY_EMBEDDED_PROVIDER_H
#define GATEHOUSE_IDENTITY_EMBEDDED_PROVIDER_H

#include <stdint.h>

#include "base/secret.h"
#include "codec/password_hash.h"

struct arena;
struct cache;
struct database;
struct error;
struct provider;

/* Texts and the secret must live as long as the provider. */
struct embedded_options {
    struct database *database;
    struct cache *cache;  /* keeps the public keys under CACHE_KEYS_EMBEDDED; may be NULL */
    struct secret master; /* the service's secret, 32 bytes */
    const char *issuer;
    const char *audience;
    int64_t access_token_seconds;
    int64_t refresh_token_seconds;
    int64_t refresh_grace_seconds; /* for so long a spent refresh token is answered with its successor */
    int64_t temporary_password_seconds;
    struct password_cost cost;
};

/*
 * Makes the provider; provider_free() releases it. Nothing is read before the first call that needs it, so that the
 * service starts while the database is down. INTERNAL when the options are not usable.
 */
struct error *embedded_new(struct arena *arena, const struct embedded_options *options, struct provider **provider_out);

/*
 * Makes a new signing key and retires the ones before it; see provider_rotate_keys(). The change log announces it, so
 * every process uses the key from its next request on.
 */
struct error *embedded_signing_keys_rotate(struct provider *provider, struct arena *arena);

#endif
