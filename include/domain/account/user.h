/* SPDX-License-Identifier: MIT */
/*
 * Users: the people of an organisation. The row decides who a user is and what the user may do; the identity provider
 * holds the password and a copy.
 *
 * E-mail addresses: the row has the address as it was typed, cleaned, and beside it the comparison key, which is unique
 * and by which it is found (codec/address.h). Dots and plus tags are significant.
 *
 * A row in status provisioning owns its e-mail address and is invisible: only domain/account/provisioning.h sees it.
 * A row in status erased is invisible as well: only domain/account/erasure.h sees it.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_USER_H
#define GATEHOUSE_DOMAIN_ACCOUNT_USER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/text.h"

struct arena;
struct database;
struct error;

/* An unknown word in the row reads as DISABLED, which denies. */
enum user_status {
    USER_PROVISIONING,
    USER_AWAITING_FIRST_LOGIN,
    USER_AWAITING_CONFIRMATION,
    USER_ACTIVE,
    USER_DISABLED,
    USER_ERASED /* the row keeps ids alone (domain/account/erasure.h) */
};

struct user {
    struct id id;
    struct id organisation_id;
    const char *email; /* cleaned, see above */
    const char *phone; /* NULL: none */
    const char *first_name;
    const char *last_name;
    struct text_list roles;       /* role ids in the order given; some may not exist (any more) */
    struct text_list permissions; /* the user's own ones, as stored: see permission_words() */
    enum user_status status;
    bool email_verified;
    bool phone_verified;
    const char *provider_subject; /* NULL until the provider has made the account */
    const char *created_at;       /* RFC 3339; not read by insert */
    const char *updated_at;
    const char *locale;        /* BCP 47, in its canonical spelling; NULL: unknown */
    const char *last_login_at; /* NULL: never, as far as is known */
    /* Read by user_find(), user_find_any(), user_list() and principal_details() alone; NULL in what others read: */
    const char *invitation_expires_at; /* the end of the temporary password of a user who awaits the first login */
    const char *locked_until;          /* while failed logins make the account wait */
};

const char *user_status_text(enum user_status status);

/*
 * Reads a status word of the interface; false for `provisioning` and `erased`, which nobody sees, and for anything
 * else.
 */
bool user_status_parse(const char *text, enum user_status *status_out);

/* The form in which an address is stored and written to: address_clean(). */
const char *user_email_canonical(struct arena *arena, const char *email);

/*
 * Finds a user by `username`: the e-mail address in any spelling, or the id in its canonical text. For login and the
 * other public endpoints, which have no caller whose organisation could bind. *user_out is NULL when there is none (or
 * only one in provisioning).
 */
struct error *user_find_by_username(struct database *database, struct arena *arena, const char *username,
                                    struct user **user_out);

/* By id within one organisation; *user_out is NULL when there is none there. */
struct error *user_find(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct user **user_out);

/* The user whose account the identity provider calls `subject`; *found_out is false when nobody has it. */
struct error *user_find_by_subject(struct database *database, struct arena *arena, const char *subject,
                                   struct id *user_out, bool *found_out);

/* Whether a user other than `but` has that subject. */
struct error *user_other_has_subject(struct database *database, struct arena *arena, const char *subject, struct id but,
                                     bool *has_out);

/*
 * By id in any organisation: only for callers who hold `a` (principal_administers()). The caller must audit the
 * crossing.
 */
struct error *user_find_any(struct database *database, struct arena *arena, struct id id, struct user **user_out);

/*
 * Adds the row and its roles; part of a transaction. All members but the times are read; the e-mail is made canonical.
 * *duplicate_out says that the address is taken (nothing was added then).
 */
struct error *user_insert(struct database *database, struct arena *arena, const struct user *user, bool *duplicate_out);

/* Replaces the user's roles, in the given order; part of a transaction. A role named twice is stored once. */
struct error *user_roles_set(struct database *database, struct arena *arena, struct id organisation, struct id id,
                             const struct text_list *roles);

/* Gives the row another account at an identity provider, the one called `subject` there, and another status. */
struct error *user_move(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        const char *subject, enum user_status status);

/*
 * After the first login: awaiting-first-login -> active, e-mail verified, and the phone number where there is one.
 * *changed_out (may be NULL) is false when the user was in another status; repeating the call does no harm.
 */
struct error *user_activate(struct database *database, struct arena *arena, struct id organisation, struct id id,
                            bool *changed_out);

/* Notes that the user signed in now. Part of a transaction. */
struct error *user_note_login(struct database *database, struct arena *arena, struct id organisation, struct id id);

/* ---- team members -------------------------------------------------------------------------------- */

/* Which users to list; always within one organisation. */
struct user_filter {
    struct id organisation_id;
    bool any_status;
    enum user_status status; /* where any_status is false */
    const char *search;      /* part of a name or the e-mail, in any case; % and _ have no special meaning; NULL: all */
    struct id after;         /* the cursor: the last id of the page before; none: from the start */
    unsigned limit;          /* 1 to LIMIT_PAGE_MAX */
};

struct user_page {
    struct user *items;
    size_t count;
    bool more; /* whether a next page exists; its `after` is the last item's id */
};

/* Oldest first, by id; without those whom nobody sees. */
struct error *user_list(struct database *database, struct arena *arena, const struct user_filter *filter,
                        struct user_page *page_out);

/*
 * The row as user_find() gives it, locked until the transaction ends: for changes that depend on the row. Part of a
 * transaction.
 */
struct error *user_lock(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct user **user_out);

/*
 * Locks the user's row until the transaction ends. `shared`: others may lock it in the same way, and nobody may change
 * it. Whoever changes roles, permissions or status locks the row first, so what is read after this call stays true
 * until the end. A transaction that locks two users takes the lower id first. Does nothing where there is no such user.
 * Part of a transaction.
 */
struct error *user_hold(struct database *database, struct arena *arena, struct id id, bool shared);

/* Whether an active user of the organisation other than `but` has the role. */
struct error *user_others_have_role(struct database *database, struct arena *arena, struct id organisation,
                                    struct id but, const char *role, bool *have_out);

/* Whether an active user of the organisation other than `but` holds PERMISSION_EVERYTHING, directly or by a role. */
struct error *user_others_hold_everything(struct database *database, struct arena *arena, struct id organisation,
                                          struct id but, bool *hold_out);

/* Writes names, phone, permissions, status, verified marks and roles of *user; part of a transaction. */
struct error *user_update(struct database *database, struct arena *arena, const struct user *user);

/* Writes names, phone with its verified mark, and locale of *user; part of a transaction. */
struct error *user_update_profile(struct database *database, struct arena *arena, const struct user *user);

/*
 * Confirms: awaiting-confirmation -> active, e-mail verified. *changed_out (may be NULL) is false when the user was in
 * another status.
 */
struct error *user_confirm(struct database *database, struct arena *arena, struct id organisation, struct id id,
                           bool *changed_out);

/* All users by id: at most `limit` behind `after`. For the operator's commands that go over everyone. */
struct error *user_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                        struct user_page *page_out);

/*
 * The people outside the organisation `internal` who are not disabled and hold a permission with the letter `a`, by
 * role or of their own, `limit` of them at most: such a permission reaches every organisation.
 */
struct error *user_find_reaching(struct database *database, struct arena *arena, struct id internal, unsigned limit,
                                 struct id **ids_out, size_t *count_out);

#endif
