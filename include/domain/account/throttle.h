/* SPDX-License-Identifier: MIT */
/*
 * Counts failed tries, and other things that may happen only so often. The counts are in the database, so that all
 * workers and hosts count together.
 *
 * An account: five consecutive failures are answered as failures. The fifth starts a wait of one second, and each
 * failure after a wait doubles it, up to fifteen minutes. Tries within the wait are refused, and they neither count nor
 * lengthen it. A success resets the count. After THROTTLE_ACCOUNT_MOST consecutive failures the wait is
 * THROTTLE_ACCOUNT_STOP_SECONDS (NIST SP 800-63B, section 3.2.2): a new password, set by mail, or an administrator ends
 * it. An address: thirty failures within five minutes, then every try is refused
 * until the five minutes are over.
 *
 * Parallel tries gain nothing: whether a failure counts is decided under the row's lock when it is recorded, not when
 * the try began. So of any number of simultaneous wrong tries exactly the first five are answered as failures.
 *
 * throttle_take() counts uses, whether or not they succeed: mails that an address asks for, accounts that an
 * organisation creates.
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
#define THROTTLE_ACCOUNT_MOST 100
#define THROTTLE_ACCOUNT_STOP_SECONDS (30 * 86400)
#define THROTTLE_ADDRESS_FREE 30
#define THROTTLE_ADDRESS_SECONDS 300
#define THROTTLE_MAIL_FREE 30
#define THROTTLE_MAIL_SECONDS 300
#define THROTTLE_ORGANISATION_SECONDS 3600
#define THROTTLE_CANCEL_FREE 5
#define THROTTLE_CANCEL_SECONDS 86400

/* The subject of a count. */
struct throttle_key {
    const char *scope; /* "account", "address", "mail", "organisation" or "cancel" */
    uint8_t subject[32];
};

/* The account of a known user (whatever spelling was sent), or a name that no user has. */
struct throttle_key throttle_of_user(struct id user);
struct throttle_key throttle_of_name(struct arena *arena, const char *username);

/* A device on which a user has signed in before (domain/session/known_device.h). It waits for its own failures. */
struct throttle_key throttle_of_device(struct id device);

struct throttle_key throttle_of_address(const char *address);

/*
 * For throttle_take(): the mails that an address asks for; the team members and the customers that an organisation
 * creates.
 */
struct throttle_key throttle_of_mail(const char *address);
struct throttle_key throttle_of_members(struct id organisation);
struct throttle_key throttle_of_customers(struct id organisation);

/*
 * For throttle_take() as well: the accounts that were refused since their addresses are taken elsewhere. `making` is
 * throttle_of_members() or throttle_of_customers().
 */
struct throttle_key throttle_of_taken(const struct throttle_key *making);

/*
 * For throttle_take() as well: the tries of one client address at the codes that undo changes of one account's address.
 * `account` is throttle_of_user() or throttle_of_name().
 */
struct throttle_key throttle_of_cancelling(const struct throttle_key *account, const char *address);

/* *wait_out is the seconds to wait before the next try, 0 when it may be made now. */
struct error *throttle_check(struct database *database, struct arena *arena, const struct throttle_key *key,
                             unsigned *wait_out);

/* The same for two keys at once; the longer wait counts. */
struct error *throttle_check_both(struct database *database, struct arena *arena, const struct throttle_key keys[2],
                                  unsigned waits_out[2]);

/*
 * Records a failure. *wait_out is 0 when it counted. Otherwise the try was made within a wait (of parallel tries): it
 * did not count, *wait_out is the seconds to wait, and the try must be refused.
 */
struct error *throttle_fail(struct database *database, struct arena *arena, const struct throttle_key *key,
                            unsigned *wait_out);

/*
 * Records a success and resets the count, unless a wait is running: then *wait_out is its seconds, and the right try is
 * refused as well.
 */
struct error *throttle_succeed(struct database *database, struct arena *arena, const struct throttle_key *key,
                               unsigned *wait_out);

/*
 * Counts one of at most `most` uses within the key's time, which begins with the first use. *wait_out is 0 when it
 * counted. Otherwise `most` were reached, nothing changed, and *wait_out is the seconds until the time is over. Of any
 * number of simultaneous uses exactly `most` count. In a transaction the count commits with it, and the next use waits
 * for its end.
 */
struct error *throttle_take(struct database *database, struct arena *arena, const struct throttle_key *key,
                            int64_t most, unsigned *wait_out);

/* *wait_out is what throttle_take() would say now; nothing is counted. */
struct error *throttle_look(struct database *database, struct arena *arena, const struct throttle_key *key,
                            int64_t most, unsigned *wait_out);

/* Takes back a use that came to nothing. */
struct error *throttle_give_back(struct database *database, struct arena *arena, const struct throttle_key *key);

/* Deletes the count: after a proven reset, or by the operator. */
struct error *throttle_lift(struct database *database, struct arena *arena, const struct throttle_key *key);

/* Removes up to `limit` rows that did not change for a day and make nobody wait; for the job runner. */
struct error *throttle_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
