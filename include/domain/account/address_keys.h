/* SPDX-License-Identifier: MIT */
/*
 * The comparison keys of addresses that are stored already (codec/address.h), for `gatehousectl migrate`.
 *
 * SQL cannot work them out. Where a row's key was not given, it is the address itself: right for ASCII addresses, provisional
 * for all others. The functions may be called at any time, while workers run.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_ADDRESS_KEYS_H
#define GATEHOUSE_DOMAIN_ACCOUNT_ADDRESS_KEYS_H

#include <stddef.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* An account whose address another one has as well, in another spelling. */
struct address_holder {
    struct id user;
    const char *email;
    const char *key; /* the same for all who have the address; they stand side by side */
};

/*
 * The accounts, visible or not, that would have one key with another, by key and id; none in a database without users. Works
 * before the column of keys is there, and changes nothing.
 */
struct error *address_keys_collisions(struct database *database, struct arena *arena, struct address_holder **holders_out,
                                      size_t *count_out);

/* How many accounts have a key that is not yet right. Changes nothing. */
struct error *address_keys_unfilled(struct database *database, struct arena *arena, size_t *count_out);

/*
 * Writes the keys that are not yet right, one statement each. *count_out is how many. INTERNAL with a sentence for the
 * operator when an address was taken by somebody else meanwhile; the keys written until then stay.
 */
struct error *address_keys_fill(struct database *database, struct arena *arena, size_t *count_out);

#endif
