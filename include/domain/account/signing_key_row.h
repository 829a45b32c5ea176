/* SPDX-License-Identifier: MIT */
/* The signing keys of the embedded provider in the database: the private half sealed, the public one as PEM. */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_SIGNING_KEY_ROW_H
#define GATEHOUSE_DOMAIN_ACCOUNT_SIGNING_KEY_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct database;
struct error;

struct signing_key_row {
    const char *kid; /* the key's name, which no other key has */
    const char *public_pem;
    const void *sealed; /* the private half (codec/seal.h); NULL where the row did not come from the database */
    size_t sealed_length;
    bool current; /* it has not retired */
};

/*
 * The keys whose tokens may still be valid, at most `most`: those in use first, then those that retired less than
 * `published_seconds` ago; the newest of each first. *rows_out belongs to the arena, *count_out may be 0. Raises
 * ERROR_DATABASE_UNAVAILABLE.
 */
struct error *signing_key_row_list(struct database *database, struct arena *arena, int64_t published_seconds,
                                   size_t most, struct signing_key_row **rows_out, size_t *count_out);

/* Adds a key, in use from now on; `current` is not read. Raises ERROR_DATABASE_UNAVAILABLE. */
struct error *signing_key_row_insert(struct database *database, struct arena *arena, const struct signing_key_row *row);

/* Retires every key in use but `kid`, now. Raises ERROR_DATABASE_UNAVAILABLE. */
struct error *signing_key_row_retire_others(struct database *database, struct arena *arena, const char *kid);

/* Deletes the keys that retired more than a day ago, and more than `seconds` ago. Raises ERROR_DATABASE_UNAVAILABLE. */
struct error *signing_key_row_purge(struct database *database, struct arena *arena, int64_t seconds);

#endif
