/* SPDX-License-Identifier: MIT */
/*
 * The identity provider: who holds the passwords and issues the tokens. Providers differ a lot. The service sees a few
 * structs of functions and a closed set of outcomes, and nothing else of them.
 *
 * - `subject` is the provider's own name of an account. It never changes; the user's row keeps it
 *   (user.provider_subject). The service turns e-mail addresses and link ids into subjects before it calls.
 * - What people do is an outcome. What fails is an error: IDENTITY_UNAVAILABLE, DATABASE_UNAVAILABLE or INTERNAL. An
 *   outcome that comes along with an error is PROVIDER_OK only where the provider has done what it was asked.
 * - Functions open transactions of their own. provider_joins_transaction() tells whether they join one that is open.
 * - Sessions are rows of domain/session/session.h with every provider: whoever issues tokens adds the row, and the
 *   functions that end sessions end the rows.
 */
#ifndef GATEHOUSE_IDENTITY_PROVIDER_H
#define GATEHOUSE_IDENTITY_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"

struct arena;
struct error;
struct key_set;
struct token_claims;
struct token_rules;

/* ---- what goes in and what comes out -------------------------------------------------------------- */

enum provider_outcome {
    PROVIDER_OK,
    PROVIDER_NEW_PASSWORD_REQUIRED, /* login: the password is right, but temporary: answer the challenge */
    PROVIDER_PERMANENT_PASSWORD,    /* login with new_password_sent: right, but permanent; no session was made */
    PROVIDER_BAD_CREDENTIALS,       /* no such account or a wrong password; nobody can tell which */
    PROVIDER_TEMPORARY_EXPIRED,     /* right, but its time is over; clients are told BAD_CREDENTIALS */
    PROVIDER_DISABLED,         /* only after the right password; also where the provider asks for more (see the log) */
    PROVIDER_UNCONFIRMED,      /* only after the right password */
    PROVIDER_SAME_PASSWORD,    /* the new password is the temporary (or current) one */
    PROVIDER_PASSWORD_REFUSED, /* the new password meets our rules but not the provider's own */
    PROVIDER_CHALLENGE_SPENT,  /* another answer was first; clients are told BAD_CREDENTIALS */
    PROVIDER_TOKEN_INVALID,    /* refresh: unknown, expired, or its session has ended */
    PROVIDER_TOKEN_REUSED,     /* spent before; its session is ended now; clients are told TOKEN_INVALID */
    PROVIDER_EXISTS,           /* create: another account has that address */
    PROVIDER_ABSENT,           /* no account has that subject; never of login */
    PROVIDER_CODE_WRONG,       /* wrong, expired, spent, tried too often, or nobody's; nobody can tell which */
    PROVIDER_STATE,            /* the account's state does not allow it (confirm: it is confirmed already) */
    PROVIDER_OUTCOME_COUNT
};

/* A stable word for logs and tests: "newPasswordRequired". */
const char *provider_outcome_text(enum provider_outcome outcome);

enum provider_account_kind {
    PROVIDER_INVITED,          /* a temporary password, which the first login replaces */
    PROVIDER_AWAITING_CODE,    /* a permanent password; no login before provider_confirm() */
    PROVIDER_CONFIRMED_ALREADY /* a permanent password; may log in at once (create-admin) */
};

/* An account to create. */
struct provider_account {
    enum provider_account_kind kind;
    struct id user_id;       /* marks the account as ours, so that repeating the call does no harm */
    const char *email;       /* canonical */
    const char *phone;       /* NULL: none */
    const char *permissions; /* the user's effective ones, separated by single blanks; the provider mirrors them */
    struct secret password;
};

/* What provider_set_attributes() changes: the members whose flag is set. */
struct provider_attributes {
    const char *email; /* the account's address; with set_verified it becomes this one */
    bool set_verified; /* email_verified and phone_verified */
    bool set_phone;
    bool set_permissions;
    bool email_verified;
    bool phone_verified;
    const char *phone; /* NULL clears */
    const char *permissions;
};

struct provider_login {
    const char *subject; /* NULL: there is no such user; the call takes as long as if there were */
    struct id user_id;   /* this and `email` are of the same user; none and NULL where there is none */
    const char *email;
    struct secret password;
    bool new_password_sent; /* newPassword came along: a permanent password must not open a session */
};

/* The texts live in the arena of the call. */
struct provider_tokens {
    const char *access_token;
    const char *id_token;
    const char *refresh_token;
    int64_t expires_in; /* seconds, of the access token */
    struct id session_id;
    struct id user_id;
};

/* What the first step of a first login leaves for the second. Only the provider reads it. */
struct provider_challenge {
    const char *subject;
    struct id user_id;
    const char *proof;
    struct secret password; /* the temporary one */
};

/* What a code that the provider mails is for. */
enum provider_code { PROVIDER_CODE_CONFIRM, PROVIDER_CODE_RESET };

/* What became of a change of a password whose answer was lost. */
enum provider_reconciliation {
    PROVIDER_PASSWORD_UNCHANGED,
    PROVIDER_PASSWORD_CHANGED,
    PROVIDER_PASSWORD_CHANGED_BY_OWNER,
    PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY
};

/* ---- what a provider implements ------------------------------------------------------------------- */

struct provider;

/* Accounts, as the service manages them. Every provider has this group. */
struct provider_administration {
    struct error *(*create)(struct provider *, struct arena *, const struct provider_account *,
                            const char **subject_out, enum provider_outcome *);
    struct error *(*confirm)(struct provider *, struct arena *, const char *subject, enum provider_outcome *);
    struct error *(*set_password)(struct provider *, struct arena *, const char *subject, struct secret password,
                                  bool temporary, enum provider_outcome *);
    struct error *(*invite_again)(struct provider *, struct arena *, const char *subject, struct secret password,
                                  enum provider_outcome *);
    struct error *(*set_enabled)(struct provider *, struct arena *, const char *subject, bool enabled,
                                 enum provider_outcome *);
    struct error *(*set_attributes)(struct provider *, struct arena *, const char *subject,
                                    const struct provider_attributes *, enum provider_outcome *);
    struct error *(*remove)(struct provider *, struct arena *, struct id user, const char *email);
    /* NULL: accounts have no address that a user of ours does not have. */
    struct error *(*holds_address)(struct provider *, struct arena *, const char *subject, struct id user,
                                   const char *email, bool *other_out);
};

/* Codes that the provider mails and verifies itself. */
struct provider_codes {
    struct error *(*send)(struct provider *, struct arena *, const char *subject, enum provider_code,
                          enum provider_outcome *);
    struct error *(*confirm)(struct provider *, struct arena *, const char *subject, const char *code,
                             enum provider_outcome *);
    struct error *(*reset)(struct provider *, struct arena *, const char *subject, const char *code,
                           struct secret new_password, enum provider_outcome *);
};

/* Changes of passwords whose answer was lost. */
struct provider_password_reconciliation {
    struct error *(*list)(struct provider *, struct arena *, unsigned limit, struct id **users_out, size_t *count_out);
    struct error *(*reconcile)(struct provider *, struct arena *, struct id user, enum provider_reconciliation *);
};

/* Signing keys that the service itself holds for the provider. */
struct provider_signing_keys {
    struct error *(*check_sealed)(struct provider *, struct arena *);
    struct error *(*rotate)(struct provider *, struct arena *);
};

struct provider_functions {
    const char *name;       /* as in the configuration: "embedded" */
    bool joins_transaction; /* see provider_joins_transaction() */
    struct error *(*login)(struct provider *, struct arena *, const struct provider_login *, struct provider_tokens *,
                           struct provider_challenge *, enum provider_outcome *);
    struct error *(*answer_new_password)(struct provider *, struct arena *, const struct provider_challenge *,
                                         struct secret new_password, struct provider_tokens *, enum provider_outcome *);
    struct error *(*refresh)(struct provider *, struct arena *, const char *refresh_token, struct provider_tokens *,
                             enum provider_outcome *);
    struct error *(*logout)(struct provider *, struct arena *, const char *subject, struct id session);
    struct error *(*logout_all)(struct provider *, struct arena *, const char *subject);
    struct error *(*logout_others)(struct provider *, struct arena *, const char *subject, struct id kept);
    struct error *(*change_password)(struct provider *, struct arena *, const char *subject, struct id session,
                                     struct secret password, struct secret new_password, enum provider_outcome *);
    void (*rules)(struct provider *, struct token_rules *rules_out);
    struct error *(*resolve)(struct provider *, struct arena *, struct token_claims *claims, bool *known_out);
    struct error *(*keys)(struct provider *, struct arena *, bool stale, const struct key_set **keys_out);
    struct error *(*check)(struct provider *, struct arena *);
    void (*forget)(struct provider *);
    struct error *(*tidy)(struct provider *, struct arena *);
    void (*free)(struct provider *);
    const struct provider_administration *administration;
    const struct provider_password_reconciliation *reconciliation; /* NULL: no answer can be lost */
    const struct provider_signing_keys *signing_keys;              /* NULL: the provider keeps its keys to itself */
};

/* A provider's own struct begins with this one. */
struct provider {
    const struct provider_functions *functions;
    const struct provider_codes *codes; /* NULL: the service makes, mails and verifies the codes */
};

/* ---- signing in ----------------------------------------------------------------------------------- */

/*
 * Checks a password. OK: a session was made and *tokens_out is filled. NEW_PASSWORD_REQUIRED: *challenge_out is filled.
 * Otherwise PERMANENT_PASSWORD, BAD_CREDENTIALS, TEMPORARY_EXPIRED, DISABLED or UNCONFIRMED.
 */
struct error *provider_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out);

/*
 * Sets the password and opens a session: both or neither. Of several answers to one temporary password exactly one is
 * OK; the others are CHALLENGE_SPENT. SAME_PASSWORD leaves the challenge open. From OK on the old password is gone: the
 * service activates its user next, and a login that finds the user still awaiting it does so again.
 */
struct error *provider_answer_new_password(struct provider *provider, struct arena *arena,
                                           const struct provider_challenge *challenge, struct secret new_password,
                                           struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);

/*
 * Gives new tokens for a refresh token and spends it. A token that was spent at most `refresh_grace_seconds` ago
 * (domain/session/refresh_token.h) is answered with tokens of the same session again: two windows of one client may
 * send it at once. Later use ends the session: TOKEN_REUSED. The session's end is fixed at sign-in and does not move.
 * OK, TOKEN_INVALID or TOKEN_REUSED; after OK and TOKEN_REUSED session_id and user_id are filled. The caller looks up
 * whether the user may still call.
 */
struct error *provider_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                               struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);

/* Ends one session, all of the account, or all but `kept`. One that has ended is no error. */
struct error *provider_logout(struct provider *provider, struct arena *arena, const char *subject, struct id session);
struct error *provider_logout_all(struct provider *provider, struct arena *arena, const char *subject);
struct error *provider_logout_others(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id kept);

/*
 * Whether calls join the database transaction that is open, so that its rollback undoes them. A provider that is called
 * over the network does not join, and must not be called inside a transaction.
 */
bool provider_joins_transaction(const struct provider *provider);

/* ---- passwords ------------------------------------------------------------------------------------ */

/*
 * Changes the password of an owner who knows the current one, and ends all sessions but `session`. OK, BAD_CREDENTIALS,
 * SAME_PASSWORD, PASSWORD_REFUSED or ABSENT.
 */
struct error *provider_change_password(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out);

/*
 * Sets the password whatever it was (a reset, an administrator) and ends all sessions. A temporary password expires,
 * and the next login must replace it. An account that awaits its confirmation goes on waiting. OK, PASSWORD_REFUSED or
 * ABSENT.
 */
struct error *provider_set_password(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out);

/*
 * Sets another temporary password for an account that awaits its first login. OK, ABSENT, or STATE when the first login
 * has happened meanwhile: a password that its owner chose is never replaced.
 */
struct error *provider_invite_again(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, enum provider_outcome *outcome_out);

/*
 * Lists the users with a change of the password whose answer was lost and that is due to be asked about: at most
 * `limit`, the longest wait first, a user as often as there are such changes. Their sessions have ended. *users_out is
 * in the arena.
 */
struct error *provider_unreconciled(struct provider *provider, struct arena *arena, unsigned limit,
                                    struct id **users_out, size_t *count_out);

/*
 * Asks the provider whether the oldest such change of the user was made, and does here what follows from it. The caller
 * tells the owner. After an error the change is listed again later, ever less often, and not any more a week after it
 * was tried.
 */
struct error *provider_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                 enum provider_reconciliation *reconciliation_out);

/* ---- accounts ------------------------------------------------------------------------------------- */

/*
 * Creates an account; *subject_out is in the arena. OK also where the same user_id has an account that nobody has used
 * yet (a repeated attempt), or one of kind CONFIRMED_ALREADY was asked for: its password and attributes are replaced.
 * EXISTS where the address or the id belongs to another account or to one in use; PASSWORD_REFUSED. A temporary
 * password lives for the configured time from now.
 */
struct error *provider_create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                              const char **subject_out, enum provider_outcome *outcome_out);

/* Awaiting confirmation -> confirmed, e-mail verified. OK, STATE (it was not awaiting it) or ABSENT. */
struct error *provider_confirm(struct provider *provider, struct arena *arena, const char *subject,
                               enum provider_outcome *outcome_out);

/* Enables or disables the account; disabling ends all sessions. Repeating it does no harm. OK or ABSENT. */
struct error *provider_set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                   enum provider_outcome *outcome_out);

/*
 * Whether the provider has an account with that address other than the one of `subject`, which is `user`'s. An account
 * that another application made can have one that is nobody's here.
 */
struct error *provider_holds_address(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id user, const char *email, bool *other_out);

/*
 * Writes attributes. Repeating it does no harm. The provider cannot tell an older change from a newer one, so send what
 * the user's row says now. OK or ABSENT.
 */
struct error *provider_set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                      const struct provider_attributes *attributes, enum provider_outcome *outcome_out);

/*
 * Undoes provider_create(): removes the account that was created for the user with that address, its sessions and
 * tokens. An absent account is no error. An account that somebody else made stays.
 */
struct error *provider_remove(struct provider *provider, struct arena *arena, struct id user, const char *email);

/* ---- codes ---------------------------------------------------------------------------------------- */

/*
 * Whether the provider itself mails and verifies the codes of confirmations and resets ([identity] codes = provider).
 * Then provider_create() of an account that awaits its code also sends the code, and the next three may be called.
 * Otherwise the codes are ours (domain/account/one_time_code.h) and they must not be called.
 */
bool provider_has_codes(const struct provider *provider);

/* Has another code mailed, which replaces the last one. OK, ABSENT, or STATE when it is confirmed already. */
struct error *provider_send_code(struct provider *provider, struct arena *arena, const char *subject,
                                 enum provider_code code, enum provider_outcome *outcome_out);

/*
 * Confirms an account whose owner knows the code. `subject` NULL is nobody and takes as much time. OK, CODE_WRONG, or
 * STATE: the account is confirmed already, whatever the code.
 */
struct error *provider_confirm_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                       const char *code, enum provider_outcome *outcome_out);

/*
 * Sets the password of an owner who knows the code, and ends all sessions; `subject` as above. OK, CODE_WRONG, or
 * PASSWORD_REFUSED, after which the code may be spent.
 */
struct error *provider_reset_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                     const char *code, struct secret new_password, enum provider_outcome *outcome_out);

/* ---- tokens and keys ------------------------------------------------------------------------------ */

/* What the provider's access tokens must say: all but keys, leeway and now. The texts live as long as the provider. */
void provider_rules(struct provider *provider, struct token_rules *rules_out);

/*
 * Turns what a verified token says into our ids: on return claims->subject is the user's id and claims->session a row
 * of domain/session/session.h (which may have ended). A session of a remote issuer that was never seen here gets a row.
 * *known_out is false when the token is nobody's, when it was issued before its user ended all sessions, or when its
 * sign-in (auth_time) is longer ago than a session lives. The first token of a session costs a look-up, the next ones
 * nothing.
 */
struct error *provider_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                               bool *known_out);

/*
 * The keys that verify the provider's tokens; the set lives until the next call. `stale`: a token came whose key is not
 * in the set; the keys are then read again, at most once in 30 s for each process. The same pointer again means that
 * nothing has changed. An error only while this process has no set that it may use.
 */
struct error *provider_keys(struct provider *provider, struct arena *arena, bool stale,
                            const struct key_set **keys_out);

/*
 * Makes a new signing key and retires the ones before it, which stay published until the tokens that they signed have
 * expired. OK, or STATE where the provider keeps its keys to itself. INTERNAL, with a sentence for the operator, where
 * KEY_SET_KEYS are published: one more would push out a key whose tokens may still be valid.
 */
struct error *provider_rotate_keys(struct provider *provider, struct arena *arena, enum provider_outcome *outcome_out);

/* ---- operation ------------------------------------------------------------------------------------ */

/*
 * Looks for faults in the settings of a remote provider, by calls that change nothing: an address, a certificate, a
 * clock, a secret, a right, what an account needs. IDENTITY_UNAVAILABLE with a sentence that says what to correct. For
 * the operator's command: it may take half a minute, and afterwards this process does not see any more what others know
 * of the provider's failures.
 */
struct error *provider_check(struct provider *provider, struct arena *arena);

/*
 * Whether the service's secret opens what the provider has sealed with it: if not, nobody gets a token. INTERNAL then.
 * Once it did open, the answer is remembered until provider_forget().
 */
struct error *provider_check_sealed(struct provider *provider, struct arena *arena);

/* Drops the keys and secrets that were read, so that the next use reads them again. */
void provider_forget(struct provider *provider);

/* For the job runner, now and then: deletes what is of no use any more (the refresh tokens of ended sessions). */
struct error *provider_tidy(struct provider *provider, struct arena *arena);

/* Releases it and sets *provider to NULL. */
void provider_free(struct provider **provider);

#endif
