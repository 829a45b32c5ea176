/* SPDX-License-Identifier: MIT */
/*
 * The embedded provider: accounts in our own database (tables identity_*), Argon2id, RS256 tokens under
 * keys that it makes at the first start and shares with all workers and hosts through the database, sealed
 * under the service's secret. It is the strict one: what it refuses, no other provider need accept. Its
 * subjects are the users' ids, so that `sub` in its tokens is the id that every endpoint takes.
 */
#ifndef GATEHOUSE_IDENTITY_EMBEDDED_PROVIDER_H
#define GATEHOUSE_IDENTITY_EMBEDDED_PROVIDER_H

#include <stdint.h>

#include "base/secret.h"
#include "codec/password_hash.h"

#define EMBEDDED_CACHE_KEY "jwks:embedded"

struct arena;
struct cache;
struct database;
struct error;
struct provider;

/* Texts and the secret must live as long as the provider. */
struct embedded_options {
    struct database *database;
    struct cache *cache;  /* keeps the public keys under EMBEDDED_CACHE_KEY; may be NULL */
    struct secret master; /* the service's secret, 32 bytes */
    const char *issuer;
    const char *audience;
    int64_t access_token_seconds;
    int64_t refresh_token_seconds;
    int64_t temporary_password_seconds;
    struct password_cost cost;
};

/*
 * Makes the provider; released with provider_free(). Nothing is read before the first call that needs it,
 * so that a database that is down does not stop a start. INTERNAL when the options are not usable.
 */
struct error *embedded_new(struct arena *arena, const struct embedded_options *options, struct provider **provider_out);

/*
 * Makes a new signing key and retires the ones before it, which stay published until the tokens they signed
 * have expired. Announced in the change log: every process uses it from its next request on. For
 * `gatehousectl rotate-keys`.
 */
struct error *embedded_signing_keys_rotate(struct provider *provider, struct arena *arena);

#endif
