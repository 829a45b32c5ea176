/* SPDX-License-Identifier: MIT */
/*
 * The identity provider: who holds the passwords and issues the tokens. Providers differ a lot; the service
 * sees a small struct of functions and a closed set of outcomes, and nothing else of them.
 *
 * `subject` is the provider's own immutable name of an account, kept in the user's row
 * (user.provider_subject); e-mail addresses and link ids are resolved by the service before it calls.
 * Errors are for what failed (IDENTITY_UNAVAILABLE, DATABASE_UNAVAILABLE, INTERNAL); everything that people
 * do is an outcome; with an error it is OK only where the provider did what was asked all the same. Functions use
 * transactions of their own; provider_joins_transaction() tells whether they join one that is open.
 *
 * Sessions are rows of domain/account/session.h with every provider: the provider that issues tokens adds the row,
 * and what is said here to end sessions ends the rows.
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

enum provider_outcome {
    PROVIDER_OK,
    PROVIDER_NEW_PASSWORD_REQUIRED, /* login: right, but temporary: answer the challenge */
    PROVIDER_PERMANENT_PASSWORD,    /* login with new_password_sent: right, but permanent; no session made */
    PROVIDER_BAD_CREDENTIALS,       /* unknown account or wrong password: never told apart */
    PROVIDER_TEMPORARY_EXPIRED,     /* right, but its time is over: outside: BAD_CREDENTIALS */
    PROVIDER_DISABLED,      /* told only after the right password; also where the provider asks for more (in the log) */
    PROVIDER_UNCONFIRMED,   /* likewise */
    PROVIDER_SAME_PASSWORD, /* the new password is the temporary (or current) one */
    PROVIDER_PASSWORD_REFUSED, /* the new password passes our rules but not the provider's own */
    PROVIDER_CHALLENGE_SPENT,  /* somebody else answered first: to the outside BAD_CREDENTIALS */
    PROVIDER_TOKEN_INVALID,    /* refresh: unknown, expired, or its session has ended */
    PROVIDER_TOKEN_REUSED,     /* spent before; its session has been ended; outside: TOKEN_INVALID */
    PROVIDER_EXISTS,           /* create: another account has that address */
    PROVIDER_ABSENT,           /* no account of that subject; not for login */
    PROVIDER_CODE_WRONG,       /* wrong, expired, spent, tried too often, or nobody's: never told apart */
    PROVIDER_STATE,            /* the account's state does not allow it (confirm: confirmed already) */
    PROVIDER_OUTCOME_COUNT
};

/* A stable word for logs and tests: "newPasswordRequired". */
const char *provider_outcome_text(enum provider_outcome outcome);

enum provider_account_kind {
    PROVIDER_INVITED,          /* temporary password, to be replaced at the first login */
    PROVIDER_AWAITING_CODE,    /* permanent password, no login before provider_confirm() */
    PROVIDER_CONFIRMED_ALREADY /* permanent password, may log in at once (create-admin) */
};

/* An account to be made. */
struct provider_account {
    enum provider_account_kind kind;
    struct id user_id;       /* our id: marks the account as ours, and makes repeating harmless */
    const char *email;       /* canonical */
    const char *phone;       /* may be NULL */
    const char *permissions; /* effective ones, separated by single blanks: the mirror */
    struct secret password;
};

/* What provider_set_attributes() changes: members whose flag is set. */
struct provider_attributes {
    const char *email; /* the account's, which does not change; some providers want it along */
    bool set_verified; /* email_verified and phone_verified */
    bool set_phone;
    bool set_permissions;
    bool email_verified;
    bool phone_verified;
    const char *phone; /* NULL clears */
    const char *permissions;
};

struct provider_login {
    const char *subject; /* NULL: there is no such user; costs as much time as if there were */
    struct id user_id;   /* these two of the same user; none and NULL where there is none */
    const char *email;
    struct secret password;
    bool new_password_sent; /* newPassword came along: a permanent password must not open a session */
};

struct provider_tokens {
    const char *access_token;
    const char *id_token;
    const char *refresh_token;
    int64_t expires_in; /* seconds, of the access token */
    struct id session_id;
    struct id user_id;
};

/* What the first step of a first login leaves for the second; belongs to the provider. */
struct provider_challenge {
    const char *subject;
    struct id user_id;
    const char *proof;
    struct secret password; /* the temporary one */
};

/* What a code that the provider mails is for. */
enum provider_code { PROVIDER_CODE_CONFIRM, PROVIDER_CODE_RESET };

/* What a change of a password whose answer was lost came to. */
enum provider_reconciliation {
    PROVIDER_PASSWORD_UNCHANGED,
    PROVIDER_PASSWORD_CHANGED,
    PROVIDER_PASSWORD_CHANGED_BY_OWNER,
    PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY
};

struct provider;

struct provider_functions {
    const char *name; /* as in the configuration: "embedded" */
    bool joins;       /* see provider_joins_transaction() */
    struct error *(*create)(struct provider *, struct arena *, const struct provider_account *,
                            const char **subject_out, enum provider_outcome *);
    struct error *(*login)(struct provider *, struct arena *, const struct provider_login *, struct provider_tokens *,
                           struct provider_challenge *, enum provider_outcome *);
    struct error *(*answer_new_password)(struct provider *, struct arena *, const struct provider_challenge *,
                                         struct secret new_password, struct provider_tokens *, enum provider_outcome *);
    struct error *(*refresh)(struct provider *, struct arena *, const char *refresh_token, struct provider_tokens *,
                             enum provider_outcome *);
    struct error *(*logout)(struct provider *, struct arena *, const char *subject, struct id session);
    struct error *(*logout_all)(struct provider *, struct arena *, const char *subject);
    struct error *(*change_password)(struct provider *, struct arena *, const char *subject, struct id session,
                                     struct secret password, struct secret new_password, enum provider_outcome *);
    struct error *(*set_password)(struct provider *, struct arena *, const char *subject, struct secret password,
                                  bool temporary, enum provider_outcome *);
    struct error *(*invite_again)(struct provider *, struct arena *, const char *subject, struct secret password,
                                  enum provider_outcome *);
    struct error *(*confirm)(struct provider *, struct arena *, const char *subject, enum provider_outcome *);
    struct error *(*set_enabled)(struct provider *, struct arena *, const char *subject, bool enabled,
                                 enum provider_outcome *);
    struct error *(*set_attributes)(struct provider *, struct arena *, const char *subject,
                                    const struct provider_attributes *, enum provider_outcome *);
    /* These four NULL: see provider_has_codes(). */
    bool (*has_codes)(const struct provider *);
    struct error *(*send_code)(struct provider *, struct arena *, const char *subject, enum provider_code,
                               enum provider_outcome *);
    struct error *(*confirm_by_code)(struct provider *, struct arena *, const char *subject, const char *code,
                                     enum provider_outcome *);
    struct error *(*reset_by_code)(struct provider *, struct arena *, const char *subject, const char *code,
                                   struct secret new_password, enum provider_outcome *);
    struct error *(*remove)(struct provider *, struct arena *, struct id user, const char *email);
    void (*rules)(struct provider *, struct token_rules *rules_out);
    struct error *(*resolve)(struct provider *, struct arena *, struct token_claims *claims, bool *known_out);
    struct error *(*keys)(struct provider *, struct arena *, bool stale, const struct key_set **keys_out);
    struct error *(*rotate_keys)(struct provider *, struct arena *); /* NULL: see provider_rotate_keys() */
    /* These two NULL: every answer is known. */
    struct error *(*unsettled)(struct provider *, struct arena *, unsigned limit, struct id **users_out,
                               size_t *count_out);
    struct error *(*settle)(struct provider *, struct arena *, struct id user, enum provider_reconciliation *);
    struct error *(*check)(struct provider *, struct arena *); /* NULL: see provider_check() */
    struct error *(*opens)(struct provider *, struct arena *); /* NULL: it keeps nothing sealed of its own */
    void (*forget)(struct provider *);
    struct error *(*tidy)(struct provider *, struct arena *);
    void (*free)(struct provider *);
};

/* A provider's own struct begins with this one. */
struct provider {
    const struct provider_functions *functions;
};

/*
 * Makes an account. OK also where the same user_id has one that nobody has used yet (a repeated attempt):
 * its password and attributes are replaced. EXISTS when the address or the id belongs to another or a used
 * account. A temporary password lives for the configured time from now.
 */
struct error *provider_create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                              const char **subject_out, enum provider_outcome *outcome_out);

/*
 * Checks a password. OK: a session was made, *tokens_out is filled. NEW_PASSWORD_REQUIRED: *challenge_out
 * is filled. Otherwise PERMANENT_PASSWORD, BAD_CREDENTIALS, TEMPORARY_EXPIRED, DISABLED or UNCONFIRMED.
 */
struct error *provider_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out);

/*
 * Sets the password and opens a session, both or neither. Of several answers to one temporary password
 * exactly one is OK, the others are CHALLENGE_SPENT. SAME_PASSWORD leaves the challenge open. From OK on
 * the old password is gone: the service activates its user next, and a login that finds the user still
 * awaiting it does so again.
 */
struct error *provider_answer_new_password(struct provider *provider, struct arena *arena,
                                           const struct provider_challenge *challenge, struct secret new_password,
                                           struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);

/*
 * New tokens for a refresh token, which is spent by it. Within 10 s a spent one is answered with tokens of
 * the same session again (honest parallel use); after that its use ends the session (TOKEN_REUSED). The
 * session's end is fixed at sign-in and does not move. OK, TOKEN_INVALID or TOKEN_REUSED; after OK and
 * REUSED session_id and user_id are filled. Whether the user may still call is for the caller to look up.
 */
struct error *provider_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                               struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);

/*
 * Whether calls join the database transaction that is open, so that they are undone with it. A provider that is called
 * over the network does not, and must not be called inside one.
 */
bool provider_joins_transaction(const struct provider *provider);

/* Ends one session, or all of the account. What has ended already is no error. */
struct error *provider_logout(struct provider *provider, struct arena *arena, const char *subject, struct id session);
struct error *provider_logout_all(struct provider *provider, struct arena *arena, const char *subject);

/*
 * Changes the password of whoever knows it and ends all sessions but `session`: OK, BAD_CREDENTIALS,
 * SAME_PASSWORD, ABSENT.
 */
struct error *provider_change_password(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out);

/*
 * Sets the password whatever it was (invitation again, reset, administrator) and ends all sessions. A
 * temporary one must be replaced at the next login and expires. An account that awaits confirmation goes on
 * waiting. OK or ABSENT.
 */
struct error *provider_set_password(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out);

/*
 * Another temporary password for who still awaits the first login: OK, ABSENT, or STATE when the first login happened
 * meanwhile: a chosen password is never replaced.
 */
struct error *provider_invite_again(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, enum provider_outcome *outcome_out);

/* Awaiting confirmation -> confirmed, e-mail verified: OK, STATE (it was not awaiting it) or ABSENT. */
struct error *provider_confirm(struct provider *provider, struct arena *arena, const char *subject,
                               enum provider_outcome *outcome_out);

/* Opens or closes the account; closing ends all sessions. Idempotent: OK or ABSENT. */
struct error *provider_set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                   enum provider_outcome *outcome_out);

/* Idempotent: OK or ABSENT. Never undoes a newer change of its own accord: send the row's current state. */
struct error *provider_set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                      const struct provider_attributes *attributes, enum provider_outcome *outcome_out);

/*
 * Whether the provider mails and judges the codes of confirmations and resets itself ([identity] codes = provider). Then
 * provider_create() of an account that awaits its code has it mailed, and the next three are there; otherwise the codes are
 * ours (domain/account/one_time_code.h), and they must not be called.
 */
bool provider_has_codes(const struct provider *provider);

/* Has another code mailed, which replaces the one before: OK, ABSENT, or STATE when it is confirmed already. */
struct error *provider_send_code(struct provider *provider, struct arena *arena, const char *subject,
                                 enum provider_code code, enum provider_outcome *outcome_out);

/*
 * Confirms whoever knows the code; `subject` NULL is nobody and costs as much time. OK, CODE_WRONG, or STATE: the account is
 * confirmed already, whatever the code.
 */
struct error *provider_confirm_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                       const char *code, enum provider_outcome *outcome_out);

/*
 * Sets the password of whoever knows the code and ends all sessions; `subject` as above. OK, CODE_WRONG, or
 * PASSWORD_REFUSED, which need not leave the code unspent.
 */
struct error *provider_reset_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                     const char *code, struct secret new_password, enum provider_outcome *outcome_out);

/*
 * Undo of create: removes the account that was made for our user `user` with that address, its sessions and tokens. An
 * absent one is no error; one that somebody else made stays.
 */
struct error *provider_remove(struct provider *provider, struct arena *arena, struct id user, const char *email);

/* What the provider's access tokens must say; all but keys, leeway and now is set. The texts live as long as it does. */
void provider_rules(struct provider *provider, struct token_rules *rules_out);

/*
 * Turns what a verified token says into our ids: on return claims->subject is the user's and claims->session a row of
 * domain/account/session.h (which may have ended). A session of an outside issuer that was never seen here is made known by it.
 * *known_out is false when the token is nobody's, was issued before its user ended all sessions, or its sign-in (auth_time) is
 * longer ago than a session lives. The first token of a
 * session costs a look-up, the following ones nothing.
 */
struct error *provider_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                               bool *known_out);

/*
 * The keys that verify the provider's tokens; they live until the next call. `stale`: a token came that no
 * key opens, so read them anew, which is done at most once in 30 s for each process. The same pointer again
 * means nothing changed.
 */
struct error *provider_keys(struct provider *provider, struct arena *arena, bool stale,
                            const struct key_set **keys_out);

/*
 * Makes a new signing key and retires the ones before it, which stay published until the tokens they signed have expired:
 * OK, or STATE where the keys are the provider's own to change. INTERNAL, with a sentence for the operator, where KEY_SET_KEYS are
 * published: another would push out one whose tokens may still hold.
 */
struct error *provider_rotate_keys(struct provider *provider, struct arena *arena, enum provider_outcome *outcome_out);

/*
 * The users with a change of the password that got no answer and that it is time to ask about, whoever waits longest first, at
 * most `limit`; a user as often as there are such changes. Their sessions have ended already.
 */
struct error *provider_unreconciled(struct provider *provider, struct arena *arena, unsigned limit,
                                    struct id **users_out, size_t *count_out);

/*
 * Asks the provider whether one such change of the user was made, the oldest, and makes up for what follows from it here. Once it is
 * known it is not unsettled any more; what the owner is told of it is the caller's. After an error it is unsettled again later,
 * ever less often, and no more a week after the change.
 */
struct error *provider_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                 enum provider_reconciliation *reconciliation_out);

/*
 * Looks for what is wrong with the settings of a provider outside, by calls that change nothing: an address, a certificate, a
 * clock, a secret, a right, what an account needs. IDENTITY_UNAVAILABLE with a sentence that says what to mend. For the operator's
 * command: it may take half a minute, and afterwards the provider does not know any more what other processes see of it.
 */
struct error *provider_check(struct provider *provider, struct arena *arena);

/*
 * Whether what the provider keeps sealed under the service's secret opens: without it nobody gets a token. Once it did it is
 * not tried again until provider_forget(), so asking costs nothing then. INTERNAL where it does not.
 */
struct error *provider_check_sealed(struct provider *provider, struct arena *arena);

/* Drops what was read and kept (keys, secrets), so that the next use reads it anew. */
void provider_forget(struct provider *provider);

/* For the job runner, now and then: removes what no longer matters (ended sessions' tokens). */
struct error *provider_tidy(struct provider *provider, struct arena *arena);

/* Releases it and sets *provider to NULL. */
void provider_free(struct provider **provider);

#endif
