/* SPDX-License-Identifier: MIT */
/*
 * Codes that confirm an account or a new address, or reset a password: six digits, for one use; five wrong tries void
 * one. A user has at most one a purpose. A code is stored as an HMAC under the service's secret, bound to user and
 * purpose.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_ONE_TIME_CODE_H
#define GATEHOUSE_DOMAIN_ACCOUNT_ONE_TIME_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"

struct arena;
struct database;
struct error;

#define ONE_TIME_CODE_CONFIRM "confirm"
#define ONE_TIME_CODE_RESET "reset"
#define ONE_TIME_CODE_EMAIL "email"

#define ONE_TIME_CODE_DIGITS 6
#define ONE_TIME_CODE_TRIES 5
#define ONE_TIME_CODE_CONFIRM_SECONDS 86400
#define ONE_TIME_CODE_RESET_SECONDS 3600

/* The most mails a day for one user and purpose, the first included. */
#define ONE_TIME_CODE_MAILS_A_DAY 5

/*
 * Makes a new code, which replaces the old one; *code_out is its text, for the mail. Call it in the transaction that
 * queues the mail.
 */
struct error *one_time_code_issue(struct database *database, struct arena *arena, struct secret master, struct id user,
                                  const char *purpose, int64_t seconds, struct secret *code_out);

/* A try at a code. */
struct one_time_code_attempt {
    struct id user;       /* zeros: no user has the name, or the user may not use a code */
    const char *username; /* as it was typed */
    const char *purpose;
    const char *code;
};

/*
 * Tries a code. Every try counts before it is compared, so parallel ones cannot exceed ONE_TIME_CODE_TRIES. *good_out
 * tells whether the code is right, unspent and in time. It stays until one_time_code_spend(). The work is the same for
 * a code that is there, spent or expired, for a user without a code and for nobody: the same statements, one row of
 * this table written, one commit. Tries at the same name wait for one another in each of these cases.
 */
struct error *one_time_code_try(struct database *database, struct arena *arena, struct secret master,
                                const struct one_time_code_attempt *attempt, bool *good_out);

/* Takes back a right try that failed for another reason (the new password was refused). */
struct error *one_time_code_give_back(struct database *database, struct arena *arena, struct id user,
                                      const char *purpose);

/* A spent code as it was, for one_time_code_restore(). */
struct one_time_code_spent {
    unsigned char hash[32];
    int64_t tries;
    int64_t expires_at; /* milliseconds */
};

/*
 * Spends the code that was tried and found right. *spent_out is false when another request was faster, or another code
 * has taken its place; that one stays. `code_out` may be NULL. Call it in a transaction.
 */
struct error *one_time_code_spend(struct database *database, struct arena *arena, struct secret master,
                                  const struct one_time_code_attempt *attempt, struct one_time_code_spent *code_out,
                                  bool *spent_out);

/*
 * Makes a spent code valid again; otherwise as one_time_code_give_back(). Does nothing when a newer one was issued
 * meanwhile.
 */
struct error *one_time_code_restore(struct database *database, struct arena *arena, struct id user, const char *purpose,
                                    const struct one_time_code_spent *code);

/* Voids the code, if there is one. */
struct error *one_time_code_void(struct database *database, struct arena *arena, struct id user, const char *purpose);

/* Counts one more mail of the day; *allowed_out is false when ONE_TIME_CODE_MAILS_A_DAY were sent already. */
struct error *one_time_code_mail_allowed(struct database *database, struct arena *arena, struct id user,
                                         const char *purpose, bool *allowed_out);

/* Removes the user's codes and counts of mails; for people who are erased. */
struct error *one_time_code_forget(struct database *database, struct arena *arena, struct id user);

/* Removes expired codes and the counts of past days; for the job runner. */
struct error *one_time_code_purge(struct database *database, struct arena *arena, unsigned limit);

#endif
