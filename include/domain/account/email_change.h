/* SPDX-License-Identifier: MIT */
/*
 * Changes of e-mail addresses. The user's row alone says which address signs in, so a change is one statement on it.
 * The rows here say what was asked for, and what may still be undone:
 *
 * - A change waits for the code that was mailed to the new address (ONE_TIME_CODE_EMAIL). The latest one counts.
 * - A confirmed change can be undone for EMAIL_CHANGE_SECONDS by the code in the notice to the old address. That undoes
 *   all later changes of the user as well. Until then the old address is reserved for the user.
 *
 * Callers lock the user's row first (user_hold()); the functions that write are part of a transaction.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_EMAIL_CHANGE_H
#define GATEHOUSE_DOMAIN_ACCOUNT_EMAIL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"

struct arena;
struct database;
struct error;
struct text_list;
struct user;

/* How long a change can be confirmed after it was asked for, and undone after it was confirmed. */
#define EMAIL_CHANGE_SECONDS 86400

struct email_change {
    struct id id;
    int64_t number; /* the order of the user's changes */
    const char *old_email;
    const char *new_email;
    bool old_verified;
    bool noticed; /* the old address has got its notice */
};

/* Writes down that `user` asked for the address. */
struct error *email_change_insert(struct database *database, struct arena *arena, const struct user *user,
                                  const char *new_email);

/* The user's change that waits for its code; *change_out is NULL when there is none. */
struct error *email_change_find_waiting(struct database *database, struct arena *arena, struct id user,
                                        struct email_change **change_out);

/* Makes the code of the notice; *code_out is its text. */
struct error *email_change_issue_code(struct database *database, struct arena *arena, struct secret master,
                                      const struct email_change *change, struct secret *code_out);

/*
 * Finds the change whose notice has that code; NULL when none has. It does the same work for a user who does not exist
 * (zeros). Of several changes with the same code, the earliest.
 */
struct error *email_change_find_by_code(struct database *database, struct arena *arena, struct secret master,
                                        struct id user, const char *code, struct email_change **change_out);

/*
 * Gives the user's row the change's new address, verified. *taken_out: another account has it, and nothing changed. The
 * row is no longer one that waits, and can be undone from now on.
 */
struct error *email_change_apply(struct database *database, struct arena *arena, const struct user *user,
                                 const struct email_change *change, bool *taken_out);

/* Gives the user's row the change's old address again, and removes this change and all later ones. */
struct error *email_change_undo(struct database *database, struct arena *arena, const struct user *user,
                                const struct email_change *change);

/*
 * Whether the address belongs to an account other than `user`, or is reserved for one. *owner_out is the owner, zeros
 * for a reserved address. `user` may be zeros: anybody's counts.
 */
struct error *email_change_is_taken(struct database *database, struct arena *arena, const char *email, struct id user,
                                    bool *taken_out, struct id *owner_out);

/* The addresses of the user's changes that are kept still: the old and the new one of each. */
struct error *email_change_addresses(struct database *database, struct arena *arena, struct id user,
                                     struct text_list *addresses_out);

/* Removes all changes of a person who is erased. */
struct error *email_change_forget(struct database *database, struct arena *arena, struct id user);

/* Removes up to `limit` rows that can be neither confirmed nor undone any more; for the job runner. */
struct error *email_change_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
