/* SPDX-License-Identifier: MIT */
/*
 * Accounts of the embedded identity provider (table identity_account): the password's hash and what the provider must
 * know to let somebody in. An account has the id of its user.
 *
 * The password_version grows with each new password. Whoever has checked a password writes what follows from it only
 * where the version is still the one that was checked, so nobody gets in with a password that was replaced meanwhile,
 * and a temporary password is answered once.
 *
 * Rows are locked in one order: identity_account, then identity_refresh, then session. Transactions that run at the
 * same time then wait for one another and do not deadlock.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_EMBEDDED_ACCOUNT_H
#define GATEHOUSE_DOMAIN_ACCOUNT_EMBEDDED_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* Which step the account is at. */
enum embedded_account_status {
    EMBEDDED_ACCOUNT_FORCE_CHANGE, /* invited; nobody has signed in yet */
    EMBEDDED_ACCOUNT_UNCONFIRMED,  /* awaits the code that confirms its address */
    EMBEDDED_ACCOUNT_CONFIRMED
};

struct embedded_account {
    struct id id;
    const char *username; /* the e-mail address */
    const char *phone;    /* NULL: none; not read */
    const char *password_hash;
    int64_t password_version;  /* not written */
    int64_t temporary_seconds; /* of a new temporary password; not read */
    bool password_temporary;
    bool password_expired; /* not written */
    bool enabled;          /* not written: a new account is enabled */
    bool email_verified;
    bool phone_verified; /* not read */
    enum embedded_account_status status;
    const char *permissions; /* separated by single blanks */
};

/*
 * Finds an account; *account_out is NULL where there is none. Where there is none the statement reads some other row
 * and throws it away, so that a login of nobody takes as long as one of somebody.
 */
struct error *embedded_account_find(struct database *database, struct arena *arena, struct id id,
                                    struct embedded_account **account_out);

/*
 * Finds an account and locks its row in share mode, until the transaction ends; part of one. *account_out is NULL
 * where there is none.
 */
struct error *embedded_account_hold(struct database *database, struct arena *arena, struct id id,
                                    struct embedded_account **account_out);

/*
 * Adds an account, or writes it anew where one of that id is there and nobody has ever signed in with it. *written_out
 * is false where the address or the id belongs to another account or to one in use.
 */
struct error *embedded_account_write(struct database *database, struct arena *arena,
                                     const struct embedded_account *account, bool *written_out);

/* Deletes the account. One that is gone is no error. */
struct error *embedded_account_delete(struct database *database, struct arena *arena, struct id id);

/* Unconfirmed -> confirmed, e-mail verified. *changed_out is false where no unconfirmed account has the id. */
struct error *embedded_account_confirm(struct database *database, struct arena *arena, struct id id, bool *changed_out);

/* Enables or disables the account. *found_out is false where there is none. */
struct error *embedded_account_enable(struct database *database, struct arena *arena, struct id id, bool enabled,
                                      bool *found_out);

/* What embedded_account_describe() writes: the members whose flag is set. */
struct embedded_account_attributes {
    bool set_verified, set_phone, set_permissions;
    bool email_verified, phone_verified;
    const char *phone;    /* NULL clears */
    const char *username; /* with set_verified; NULL: keep */
    const char *permissions;
};

/* Writes attributes. *found_out is false where there is no such account. */
struct error *embedded_account_describe(struct database *database, struct arena *arena, struct id id,
                                        const struct embedded_account_attributes *attributes, bool *found_out);

/* ---- passwords ------------------------------------------------------------------------------------ */

/* Replaces the hash by another one of the same password, unless it has changed since it was read. */
struct error *embedded_account_rehash(struct database *database, struct arena *arena,
                                      const struct embedded_account *account, const char *hash);

/*
 * Answers the temporary password of that version: sets the hash, confirms an invited account and verifies its address
 * and telephone number. *changed_out is false where the account is disabled or unconfirmed, where its password is of
 * another version, permanent or expired. Part of a transaction.
 */
struct error *embedded_account_answer(struct database *database, struct arena *arena, struct id id, int64_t version,
                                      const char *hash, bool *changed_out);

/* Replaces the password of that version by a permanent one; *changed_out is false where the version is another. */
struct error *embedded_account_change(struct database *database, struct arena *arena, struct id id, int64_t version,
                                      const char *hash, bool *changed_out);

/*
 * Sets a password whatever it was: a temporary one for `temporary_seconds`, or with 0 a permanent one, which makes the
 * first login of an invited account unnecessary. *found_out is false where there is no such account.
 */
struct error *embedded_account_set(struct database *database, struct arena *arena, struct id id, const char *hash,
                                   int64_t temporary_seconds, bool *found_out);

/* Sets another temporary password for an account that awaits its first login; *changed_out is false for every other. */
struct error *embedded_account_invite(struct database *database, struct arena *arena, struct id id, const char *hash,
                                      int64_t temporary_seconds, bool *changed_out);

/*
 * Adds a session of the account that lives `seconds` from now, if the account is still enabled and has the password
 * version that was checked. Locks its row in share mode, so that logins at the same time do not wait for one another.
 * Part of a transaction. *added_out tells.
 */
struct error *embedded_account_begin_session(struct database *database, struct arena *arena,
                                             const struct embedded_account *account, struct id session, int64_t seconds,
                                             bool *added_out);

#endif
