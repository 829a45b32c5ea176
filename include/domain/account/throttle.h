/* SPDX-License-Identifier: MIT */
/*
 * Failed tries, and what may be done so often only, counted in the database so that all workers and hosts count together.
 *
 * An account: five consecutive failures are answered as such; the fifth starts a wait of one second, and each failure
 * after a wait doubles it, up to fifteen minutes. Tries within the wait are refused and neither count nor lengthen it.
 * A success starts afresh. An address: thirty failures within five minutes, then refused until the five minutes are over.
 *
 * Parallel tries cannot go round it: what counts is decided under the row's lock when the failure is recorded, not when
 * the try began, so of any number of wrong tries at once exactly the first five are answered as failures.
 *
 * What may be done so often only, whether or not it succeeds, is counted by throttle_take(): mails that an address asks
 * for, accounts that an organisation makes.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_THROTTLE_H
#define GATEHOUSE_DOMAIN_ACCOUNT_THROTTLE_H

#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

#define THROTTLE_ACCOUNT_FREE 5
#define THROTTLE_ACCOUNT_WAIT_MAX 900
#define THROTTLE_ADDRESS_FREE 30
#define THROTTLE_ADDRESS_SECONDS 300
#define THROTTLE_MAIL_FREE 30
#define THROTTLE_MAIL_SECONDS 300
#define THROTTLE_ORGANISATION_SECONDS 3600

/* Whom a count is about. */
struct throttle_key {
    const char *scope; /* "account", "address", "mail" or "organisation" */
    uint8_t subject[32];
};

/* The account of a known user (whatever spelling was sent), or of a name that nobody has. */
struct throttle_key throttle_of_user(struct id user);
struct throttle_key throttle_of_name(struct arena *arena, const char *username);
struct throttle_key throttle_of_address(const char *address);

/* For throttle_take(): the mails that an address asks for; the team members, and the customers, that an organisation makes. */
struct throttle_key throttle_of_mail(const char *address);
struct throttle_key throttle_of_members(struct id organisation);
struct throttle_key throttle_of_customers(struct id organisation);

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

/*
 * Counts one of at most `most` uses within the key's time, which begins with the first. *wait_out is 0 when it counted; else
 * there were as many, nothing changed, and it is the seconds until the time is over. Of any number at once exactly `most`
 * count. In a transaction it counts with it, and the next use waits for its end.
 */
struct error *throttle_take(struct database *database, struct arena *arena, const struct throttle_key *key, int64_t most,
                            unsigned *wait_out);

/* Takes one use back that came to nothing. */
struct error *throttle_give_back(struct database *database, struct arena *arena, const struct throttle_key *key);

/* Forgets the count whatever it is: a proven reset, or the operator. */
struct error *throttle_lift(struct database *database, struct arena *arena, const struct throttle_key *key);

/* Removes up to `limit` rows that nothing touched for a day; for the job runner. */
struct error *throttle_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
