/* SPDX-License-Identifier: MIT */
/*
 * Failed tries, counted in the database so that all workers and hosts count together (contract, section 3, Throttling).
 *
 * An account: five consecutive failures are answered as such; the fifth starts a wait of one second, and each failure
 * after a wait doubles it, up to fifteen minutes. Tries within the wait are refused and neither count nor lengthen it.
 * A success starts afresh. An address: thirty failures within five minutes, then refused until the five minutes are over.
 *
 * Parallel tries cannot go round it: what counts is decided under the row's lock when the failure is recorded, not when
 * the try began, so of any number of wrong tries at once exactly the first five are answered as failures.
 */
#ifndef GATEHOUSE_DOMAIN_THROTTLE_H
#define GATEHOUSE_DOMAIN_THROTTLE_H

#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

#define THROTTLE_ACCOUNT_FREE 5
#define THROTTLE_ACCOUNT_WAIT_MAX 900
#define THROTTLE_ADDRESS_FREE 30
#define THROTTLE_ADDRESS_SECONDS 300

/* Whom a count is about. */
struct throttle_key {
    const char *scope; /* "account" or "address" */
    uint8_t subject[32];
};

/* The account of a known user (whatever spelling was sent), or of a name that nobody has. */
struct throttle_key throttle_of_user(struct id user);
struct throttle_key throttle_of_name(struct arena *arena, const char *username);
struct throttle_key throttle_of_address(const char *address);

/* *wait_out is the seconds to wait before the next try, 0 when it may be made now. */
struct error *throttle_check(struct database *database, struct arena *arena, const struct throttle_key *key,
                             unsigned *wait_out);

/* The same of two at once. */
struct error *throttle_check_both(struct database *database, struct arena *arena, const struct throttle_key keys[2],
                                  unsigned waits_out[2]);

/*
 * Records a failure. *wait_out is 0 when it counted, else the seconds to wait: the try was made within a wait (that of
 * parallel tries), did not count, and is to be refused as such.
 */
struct error *throttle_fail(struct database *database, struct arena *arena, const struct throttle_key *key,
                            unsigned *wait_out);

/*
 * Records a success: starts afresh, unless a wait is running (*wait_out is then its seconds): the right try is refused
 * alike meanwhile.
 */
struct error *throttle_succeed(struct database *database, struct arena *arena, const struct throttle_key *key,
                               unsigned *wait_out);

/* Forgets the count whatever it is: a proven reset, or the operator. */
struct error *throttle_lift(struct database *database, struct arena *arena, const struct throttle_key *key);

/* Removes up to `limit` rows that nothing touched for a day; for the job runner. */
struct error *throttle_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
