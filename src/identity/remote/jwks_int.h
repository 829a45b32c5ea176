/* SPDX-License-Identifier: MIT */
/* The key set of a remote provider. */
#ifndef GATEHOUSE_IDENTITY_REMOTE_JWKS_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_JWKS_INT_H

#include "identity/remote_int.h"

/* A function of the provider: provider_keys(). */
struct error *remote_jwks_get(struct provider *provider, struct arena *arena, bool stale,
                              const struct key_set **keys_out);

/* Drops the set that this process has in memory. */
void remote_jwks_forget(struct remote *remote);

#endif
