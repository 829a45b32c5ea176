/* SPDX-License-Identifier: MIT */
/* Makes the provider that the configuration names. */
#ifndef GATEHOUSE_IDENTITY_PROVIDER_OPEN_H
#define GATEHOUSE_IDENTITY_PROVIDER_OPEN_H

#include "base/secret.h"

struct arena;
struct cache;
struct configuration;
struct database;
struct error;
struct provider;

/* What the process lends the provider; all of it must live longer than the provider. */
struct provider_dependencies {
    const struct configuration *configuration;
    struct database *database;
    struct secret master; /* the service's secret */
    struct cache *cache;  /* NULL: none */
};

/*
 * Makes the provider; provider_free() releases it. Secret files are read; the provider itself is not called. INTERNAL
 * with a sentence for the operator when a setting is missing, a secret cannot be read, or an address is not usable.
 */
struct error *provider_open(struct arena *arena, const struct provider_dependencies *parts,
                            struct provider **provider_out);

#endif
