/* SPDX-License-Identifier: MIT */
/*
 * An intent log of passwords (table outside_intent): a row says that the service is about to set a password at a remote
 * identity provider. The row is written before the call and deleted after a definite answer. A row that stays belongs
 * to a call whose answer was lost. The job runner then asks the provider which password holds: each time a row is
 * claimed, its next turn moves further away, from PASSWORD_INTENT_CALL_SECONDS up to PASSWORD_INTENT_PAUSE_MAX_SECONDS.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_PASSWORD_INTENT_H
#define GATEHOUSE_DOMAIN_ACCOUNT_PASSWORD_INTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* No call takes longer. An older row has lost its answer or the process that waited for it. */
#define PASSWORD_INTENT_CALL_SECONDS 20
#define PASSWORD_INTENT_PAUSE_MAX_SECONDS 3600
/* A row that is older is claimed once more and then given up. */
#define PASSWORD_INTENT_GIVE_UP_SECONDS (7 * 86400)

struct password_intent {
    struct id id;
    struct id user;
    const void *sealed; /* the password, sealed by the caller */
    size_t length;
    bool temporary;
    struct id kept_session; /* the session that goes on after the change; none: all end */
    /* These only password_intent_claim() fills: */
    const char *subject; /* the provider's name of the account; NULL: the user has none any more */
    const char *email;
    bool is_last; /* the row is too old to be claimed again */
};

/* Adds the row; intent->id names it. */
struct error *password_intent_insert(struct database *database, struct arena *arena,
                                     const struct password_intent *intent);

/* Deletes one row, or all rows of a user. A row that is gone is no error. */
struct error *password_intent_delete(struct database *database, struct arena *arena, struct id id);
struct error *password_intent_delete_user(struct database *database, struct arena *arena, struct id user);

/*
 * Lists the users of at most `limit` rows whose turn has come, the longest wait first; a user as often as there are
 * such rows. *users_out is in the arena.
 */
struct error *password_intent_list_due(struct database *database, struct arena *arena, unsigned limit,
                                       struct id **users_out, size_t *count_out);

/*
 * Claims the user's oldest row whose turn has come. The attempt is counted before it is made, so that an attempt that
 * ends the process counts, too. *found_out is false where no turn has come or another process was first.
 */
struct error *password_intent_claim(struct database *database, struct arena *arena, struct id user,
                                    struct password_intent *intent_out, bool *found_out);

#endif
