/* SPDX-License-Identifier: MIT */
/*
 * The comparison keys of stored addresses (codec/address.h), for `gatehousectl migrate`.
 *
 * SQL cannot compute them. A row that was added by hand has the address itself as its key: that is right for ASCII
 * addresses in lower case; by all others nobody finds the account. The functions may be called at any time, while
 * workers run.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_ADDRESS_KEYS_H
#define GATEHOUSE_DOMAIN_ACCOUNT_ADDRESS_KEYS_H

#include <stddef.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* An account whose address another account has too, in another spelling. */
struct address_holder {
    struct id user;
    const char *email;
    const char *key; /* the same for all accounts with that address; they stand side by side */
};

/*
 * The accounts, visible or not, that would share a key with another, by key and id; none in a database without users.
 * Works before the column of keys exists, and changes nothing.
 */
struct error *address_keys_collisions(struct database *database, struct arena *arena,
                                      struct address_holder **holders_out, size_t *count_out);

/* How many accounts have a key that is not yet right. Changes nothing. */
struct error *address_keys_unfilled(struct database *database, struct arena *arena, size_t *count_out);

/*
 * Writes the keys that are not yet right, one statement each; those that stand in each other's way together. *count_out
 * is their number. INTERNAL with a sentence for the operator when another account has an address, too; the keys written
 * until then stay.
 */
struct error *address_keys_fill(struct database *database, struct arena *arena, size_t *count_out);

#endif
