/* SPDX-License-Identifier: MIT */
/*
 * Creates accounts in two systems, which no transaction spans. So the steps are (docs/architecture.md, "What a crash
 * leaves"):
 *
 *     provisioning_begin   the service's rows, in status provisioning: they own the e-mail address, and nobody sees
 *                          them
 *     provider_create_...  the account at the identity provider
 *     a transaction with provisioning_activate, outbox_add (the mail) and audit_insert
 *     provisioning_end
 *
 * Any interruption leaves at most a provisioning row, and the next request for the same address resumes from it.
 * Between begin and end a lock (store/database/row_lock.h) serialises requests for one address, on all hosts. A worker
 * that dies releases it at once, or for other nodes of a Galera cluster within half a minute. Where a worker stood
 * still for longer than that, provisioning_activate still lets only one of two requests win.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_PROVISIONING_H
#define GATEHOUSE_DOMAIN_ACCOUNT_PROVISIONING_H

#include <stdbool.h>
#include <stddef.h>

#include "domain/account/organisation.h"
#include "domain/account/throttle.h"
#include "domain/account/user.h"

enum provisioning_outcome {
    PROVISIONING_NEW,     /* rows were made with the given ids */
    PROVISIONING_RESUMED, /* half-done rows existed and were taken over: the ids are now theirs */
    PROVISIONING_TAKEN,   /* the address belongs to someone: answer user.exists */
    PROVISIONING_BUSY,    /* another request is creating this account at the moment: answer user.exists */
    PROVISIONING_LIMITED  /* the limit of new accounts is reached: answer rate.limited */
};

/*
 * How many accounts may be made in an hour, counted under the key (domain/account/throttle.h). As many times in an hour
 * may it be told that an address is taken elsewhere; this is counted under throttle_of_taken(). So nobody finds out for
 * any number of addresses whether they have an account.
 */
struct provisioning_limit {
    struct throttle_key key;
    int64_t most;
    unsigned wait; /* with PROVISIONING_LIMITED: the seconds until another may be created */
};

/*
 * Makes or takes over the rows of an account. With `organisation`, a customer: the organisation's row is
 * made too, and user->organisation_id is set from it. With NULL, a member of the organisation
 * user->organisation_id. The ids must be new ones; after PROVISIONING_RESUMED user->id (and
 * organisation->id, user->organisation_id) are those of the rows, whose other columns were overwritten with
 * the values given. A half-done account of another kind or another organisation than the one asked for
 * counts as taken. The statuses given are not read. After NEW and RESUMED the lock is held:
 * provisioning_end() gives it back, also after an error in between.
 *
 * With `limit` (NULL: none) a NEW one is counted in the transaction that makes the rows, so no number of requests at
 * once makes more. What does not become an account in the end can be given back with throttle_give_back(). An address
 * that is TAKEN by another organisation, or kept for a user who may go back to it, is counted apart. When either count
 * is used up, the outcome is LIMITED for a free address and for one that is taken elsewhere: it does not tell them
 * apart. An address of an account of the organisation itself is not counted, since its people may know of it.
 */
struct error *provisioning_begin(struct database *database, struct arena *arena, struct organisation *organisation,
                                 struct user *user, struct provisioning_limit *limit,
                                 enum provisioning_outcome *outcome_out);

/*
 * Part of a transaction: provisioning -> `status` (not provisioning), with the provider's subject; for a customer the
 * organisation becomes active as well. *won_out is false when the row is no longer in provisioning: roll back and
 * answer user.exists.
 */
struct error *provisioning_activate(struct database *database, struct arena *arena, const struct user *user,
                                    const char *provider_subject, enum user_status status, bool *won_out);

/*
 * Undoes provisioning_begin() after a final refusal of the provider: removes the user's row, and the organisation's
 * where it is in provisioning as well. Removes nothing else.
 */
struct error *provisioning_abort(struct database *database, struct arena *arena, const struct user *user);

/* Releases the lock. Never fails: one that cannot be released ends by itself. */
void provisioning_end(struct database *database, struct arena *arena, const struct user *user);

/* Up to `limit` users that have been provisioning for at least `seconds`; for the job runner. */
struct error *provisioning_stale(struct database *database, struct arena *arena, unsigned seconds, unsigned limit,
                                 struct user **users_out, size_t *count_out);

/*
 * Locks such a user and looks again: *held_out is true when the row is still in provisioning and no other request works
 * on it. Then provisioning_end() releases the lock.
 */
struct error *provisioning_claim(struct database *database, struct arena *arena, const struct user *user,
                                 bool *held_out);

#endif
