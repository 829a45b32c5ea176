/* SPDX-License-Identifier: MIT */
/*
 * Erases people. What a person has lies in our rows and at the identity provider, which no transaction spans. So the
 * steps are:
 *
 *     a transaction with erasure_begin and outbox_add   from here on nobody sees the person, and a job will finish
 *     provider_remove                                   the account at the identity provider, its sessions and tokens
 *     erasure_scrub_audit                               client addresses in the person's audit rows
 *     erasure_end                                       everything else, and the job itself
 *
 * Each step may be repeated. The person's row stays with its id and its organisation, so that files and audit rows
 * still name somebody; until erasure_end it owns the e-mail address, which then is free for a new account.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_ERASURE_H
#define GATEHOUSE_DOMAIN_ACCOUNT_ERASURE_H

#include <stdbool.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* disabled -> erased. Part of a transaction. *begun_out is false when the user is not disabled. */
struct error *erasure_begin(struct database *database, struct arena *arena, struct id organisation, struct id user,
                            bool *begun_out);

/* A person whose erasure has begun and not ended. */
struct erasure {
    struct id user_id;
    struct id organisation_id;
    const char *email;
};

/* *erasure_out is NULL where there is none of this user. */
struct error *erasure_find(struct database *database, struct arena *arena, struct id user,
                           struct erasure **erasure_out);

/*
 * Takes the client addresses out of up to `limit` audit rows of the person behind *after (none: from the start), and
 * moves *after to the last of them. *more_out is false when there was none any more.
 */
struct error *erasure_scrub_audit(struct database *database, struct arena *arena, const struct erasure *erasure,
                                  struct id *after, unsigned limit, bool *more_out);

/*
 * Removes what is left of the person: names, address, phone, language, roles, permissions, codes, waits, sessions,
 * accounts and intents of every provider, mails and jobs. Part of a transaction.
 */
struct error *erasure_end(struct database *database, struct arena *arena, const struct erasure *erasure);

#endif
