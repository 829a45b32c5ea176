/* SPDX-License-Identifier: MIT */
/*
 * What all providers outside the house share. A provider of its own (cognito.c, keycloak.c) brings the wire: one
 * function for each call that it can make, with outcomes already told apart. Here is the rest, the same for all:
 *
 * - Sessions. Their tokens are the provider's, but each login is a row of domain/account/session.h all the same, so that ending it
 *   refuses the next request although the token still verifies. What the token says of its session (a claim that differs
 *   between providers) makes the row's id. Where a provider gives every token another name, the names are a family of rows
 *   that end together.
 * - Refresh tokens. Clients get ours (refresh_int.h), so that rotation, grace and the detection of a copied one are the same
 *   with every provider; the provider's own is kept sealed beside the session and never leaves.
 * - Temporary passwords. How long one holds is ours to say, since not every provider can.
 * - Keys. Fetched from the provider, kept while it is down.
 */
#ifndef GATEHOUSE_IDENTITY_REMOTE_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id.h"
#include "base/secret.h"
#include "codec/digest.h"
#include "codec/token.h"
#include "identity/provider.h"
#include "store/database/database.h"
#include "store/http_client.h"

struct cache;
struct document;
struct remote;

/* Time for all calls of one operation together (docs/identity-providers.md). */
#define REMOTE_LOGIN_MILLISECONDS 5000
#define REMOTE_ADMIN_MILLISECONDS 8000

/* What a login or a refresh at the provider gave. */
struct remote_grant {
    const char *access_token;
    const char *id_token;
    struct secret refresh_token; /* no secret: the one used goes on */
};

/* What the provider knows of an account. */
struct remote_account {
    const char *subject; /* NULL: there is none */
    bool ours;           /* carries the id of the user it was asked about */
    bool used;           /* confirmed, or somebody has signed in */
};

/* Wires decide outcomes as identity/provider.h says; *_out are untouched where the outcome is not OK. */
struct remote_driver {
    const char *name;
    void (*rules)(struct remote *, struct token_rules *rules_out);
    const char *(*keys_url)(struct remote *);
    /* OK, EXISTS (address taken, by whomever) or PASSWORD_REFUSED. */
    struct error *(*create)(struct remote *, struct arena *, const struct provider_account *, const char **subject_out,
                            enum provider_outcome *);
    struct error *(*find)(struct remote *, struct arena *, struct id user, const char *email,
                          struct remote_account *found_out);
    /* OK, NEW_PASSWORD_REQUIRED (*proof_out is filled), BAD_CREDENTIALS, DISABLED, UNCONFIRMED. */
    struct error *(*login)(struct remote *, struct arena *, const struct provider_login *,
                           struct remote_grant *grant_out, const char **proof_out, enum provider_outcome *);
    /*
     * OK, CHALLENGE_SPENT, PASSWORD_REFUSED. Called with the account locked: each asks anew whether another was first.
     */
    struct error *(*answer)(struct remote *, struct arena *, const struct provider_challenge *,
                            struct secret new_password, struct remote_grant *grant_out, enum provider_outcome *);
    /* OK or TOKEN_INVALID. */
    struct error *(*refresh)(struct remote *, struct arena *, const char *subject, struct secret refresh_token,
                             struct remote_grant *grant_out, enum provider_outcome *);
    struct error *(*revoke)(struct remote *, struct arena *, struct secret refresh_token);
    struct error *(*sign_out)(struct remote *, struct arena *, const char *subject);
    /*
     * After the password was set: ends all sessions but `keep` (none: all), those of other applications, too. NULL: it
     * cannot end some of them alone.
     */
    struct error *(*end_others)(struct remote *, struct arena *, const char *subject, struct id keep);
    /* OK, BAD_CREDENTIALS, PASSWORD_REFUSED, ABSENT. */
    struct error *(*change_password)(struct remote *, struct arena *, const char *subject, struct secret password,
                                     struct secret new_password, enum provider_outcome *);
    /* OK, ABSENT, PASSWORD_REFUSED. */
    struct error *(*set_password)(struct remote *, struct arena *, const char *subject, struct secret password,
                                  bool temporary, enum provider_outcome *);
    struct error *(*confirm)(struct remote *, struct arena *, const char *subject, enum provider_outcome *);
    struct error *(*set_enabled)(struct remote *, struct arena *, const char *subject, bool enabled,
                                 enum provider_outcome *);
    struct error *(*set_attributes)(struct remote *, struct arena *, const char *subject,
                                    const struct provider_attributes *, enum provider_outcome *);
    /* These three NULL: it has no codes of its own. Outcomes as of the provider's functions. */
    struct error *(*send_code)(struct remote *, struct arena *, const char *subject, enum provider_code,
                               enum provider_outcome *);
    struct error *(*confirm_by_code)(struct remote *, struct arena *, const char *subject, const char *code,
                                     enum provider_outcome *);
    struct error *(*reset_by_code)(struct remote *, struct arena *, const char *subject, const char *code,
                                   struct secret new_password, enum provider_outcome *);
    struct error *(*remove)(struct remote *, struct arena *, const char *subject);
    /* A sentence on what is wrong with its own settings; the key set is looked at by who calls. */
    struct error *(*check)(struct remote *, struct arena *);
    /* Reads the secrets by remote_read_secrets() and drops what was got with those before. */
    struct error *(*read_secrets)(struct remote *, struct arena *);
    void (*free)(struct remote *);
};

/* What every wire is made with. Texts and the secret must live as long as the provider. */
struct remote_options {
    struct database *database;
    struct secret master;
    struct cache *cache; /* NULL: each process fetches for itself */
    const char *ca_file; /* NULL: the system's certificates */
    bool codes;          /* the wire's own are used */
    int64_t refresh_token_seconds;
    int64_t temporary_password_seconds;
    const char *slots_file; /* where processes of one host count their calls; NULL: they do not */
    int64_t calls_max;      /* at the same time; of a pool never as many as it has workers */
    int64_t rest_seconds;   /* how long a provider that fails is left alone */
};

#define REMOTE_KNOWN_SESSIONS 1024

/* A session whose user is known. */
struct remote_known_session {
    struct id session;
    struct id subject;
    struct id user;
};

struct remote_jwks {
    struct arena *arena; /* of the set; NULL: none was read yet */
    struct key_set *set;
    uint8_t digest[DIGEST_BYTES]; /* of its text */
    int64_t fetched_at;           /* clock_now(), by whomever */
    int64_t looked_at;            /* in the cache; clock_monotonic(), as the next ones */
    int64_t asked_until;          /* before that this process does not ask of its own accord */
    int64_t tried_at;             /* because of an unknown key */
    int64_t failed_at;            /* there was no set, and none was got */
    bool tried;
    bool failed;
};

/* What the processes of a host have seen of the provider; circuit_breaker.c. Times are clock_monotonic(). */
#define CIRCUIT_BREAKER_AT 4096 /* in slots_file */
struct circuit_breaker {
    int64_t failures;     /* in a row */
    int64_t closed_until; /* 0: it is open */
    int64_t probe_until;  /* somebody tries whether it may be opened */
    int64_t window_at;
    int64_t window_calls;
    int64_t window_failures;
    int64_t taken_at; /* somebody took a place */
};

/* An answer of the provider's. */
struct remote_answer {
    struct http_client_answer web;
    struct document *document; /* of its body; NULL: there is none, or it is not JSON */
};

/* A wire's own struct begins with this one. */
struct remote {
    struct provider provider;
    const struct remote_driver *driver;
    struct remote_options options;
    struct arena *arena;   /* the provider's own */
    struct arena *secrets; /* what remote_read_secrets() read last; NULL: nothing yet */
    struct http_client *web;
    struct remote_jwks keys;
    struct remote_known_session *known; /* REMOTE_KNOWN_SESSIONS of them */
    int64_t deadline;                   /* clock_monotonic(), of the operation under way */
    struct circuit_breaker breaker;     /* as last read, or this process's own where there is no file */
    bool sets_password;                 /* the next call of the wire's sets one */
    bool is_unknown;     /* the operation's call that sets one was sent, and what came of it is not known */
    int slots_fd;        /* slots_file; -1: not open */
    unsigned slot_depth; /* remote_slot_take() less remote_slot_leave() */
    int64_t slot;        /* where this process is while it is inside */
};

static inline struct remote *remote_of(struct provider *provider)
{
    return (struct remote *)provider;
}

/* Sets up what all wires share; `outside` is zeroed. */
struct error *remote_init(struct remote *remote, const struct remote_driver *driver,
                          const struct remote_options *options);

/*
 * The last step of making one, after its options were set: reads the secrets. `error` is what remote_init() said. Where
 * either failed the wire is freed.
 */
struct error *remote_ready(struct remote *remote, struct arena *arena, struct error *error,
                           struct provider **provider_out);

/* INTERNAL with a sentence for the operator when the setting `name` of the wire's section is no address to call. */
struct error *remote_check_address(struct arena *arena, const struct remote_driver *driver, const char *name,
                                   const char *url);

/* A secret that a wire has in a file. */
struct remote_secret {
    const char *path; /* NULL: it has none */
    struct secret *into;
};

/* Reads all of them or, where one cannot be read, none: those from before go on then. */
struct error *remote_read_secrets(struct remote *remote, struct arena *arena, const struct remote_secret *secrets,
                                  size_t count);

/*
 * Keeps all other processes from this account until remote_account_unlock(), by a lock of the database connection's:
 * for what takes several calls and knows no condition that it could be made under. IDENTITY_UNAVAILABLE when another
 * holds it too long or too many are waiting. Holder and who waits have a place (remote_slot_take()). Who holds it may
 * take it once more.
 */
struct error *remote_account_lock(struct remote *remote, struct arena *arena, const char *subject);
void remote_account_unlock(struct remote *remote, struct arena *arena, const char *subject);

/* What was opened at the provider and is not to be a session of ours is closed again, as well as can be. */
void remote_session_discard(struct remote *remote, struct arena *arena, const struct remote_grant *grant);

/*
 * Whether a password that the provider was told, and said nothing to, is the account's now: that is never sent again,
 * but who it lets in knows.
 */
bool remote_account_accepts(struct remote *remote, struct arena *arena, const char *subject, struct secret password,
                            struct remote_grant *grant_out);

/* ---- functions of the provider ------------------------------------------------------------------ */

struct error *remote_login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                           struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                           enum provider_outcome *outcome_out);
struct error *remote_login_answer(struct provider *provider, struct arena *arena,
                                  const struct provider_challenge *challenge, struct secret new_password,
                                  struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *remote_logout_all(struct provider *provider, struct arena *arena, const char *subject);
struct error *remote_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id session, struct secret password, struct secret new_password,
                                     enum provider_outcome *outcome_out);
struct error *remote_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out);
struct error *remote_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                     struct secret password, enum provider_outcome *outcome_out);
struct error *remote_password_reset_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                            const char *code, struct secret new_password,
                                            enum provider_outcome *outcome_out);

/* ---- circuit_breaker.c ------------------------------------------------------------------------------ */

/* Gives all calls that follow, together, so much time; and what is left of it. */
void remote_start(struct remote *remote, int64_t milliseconds);
int64_t remote_milliseconds_left(const struct remote *remote);

/*
 * Takes a place among those that wait for the provider, and keeps it until remote_slot_leave(); around what waits for
 * the provider by way of another process. What is done inside needs no other. False: all are taken, and nothing is to
 * be left.
 */
bool remote_slot_take(struct remote *remote);
void remote_slot_leave(struct remote *remote);
#define REMOTE_NO_SLOT "too many calls to it are waiting already"

/*
 * http_client_call() behind the gate, within what is left of the operation's time: HTTP_CLIENT_UNREACHABLE at once
 * while the provider is left alone, when too many calls to it are waiting, and when no time is left.
 */
enum http_client_outcome remote_call(struct remote *remote, struct arena *arena, const struct http_client_call *call,
                             struct remote_answer *answer_out, const char **reason_out);

/* Lets go of the file; without slots_file the process judges by what it sees itself from then on. */
void circuit_breaker_close(struct remote *remote);

/* ---- remote_check.c ----------------------------------------------------------------------------- */

struct error *remote_check(struct provider *provider, struct arena *arena);

/* IDENTITY_UNAVAILABLE with that sentence for the operator. */
struct error *remote_check_failed(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether `url`, of that setting, answers at all, over TLS that holds, and with a clock like ours. */
struct error *remote_check_get(struct remote *remote, struct arena *arena, const char *setting, const char *url,
                               struct http_client_answer *answer_out);

/* ---- password_intent.c ---------------------------------------------------------------------------- */

/* A password that is about to be set. */
struct password_intent {
    struct id user;
    const char *subject;
    struct secret password;
    bool temporary;
    struct id keep; /* the session that goes on; none: none */
    struct id id;   /* of what was written down */
};

/* Writes it down, before the call, and sets its id. */
struct error *remote_intent_write(struct remote *remote, struct arena *arena, struct password_intent *intent);

/*
 * After the call, with what came of it: `error` is passed on. Carried out: sessions end, at the provider as well, and
 * the intent goes. Refused or never sent: it goes. An answer that was lost: sessions end, and it stays for
 * remote_intent_reconcile().
 */
struct error *remote_intent_resolve(struct remote *remote, struct arena *arena, const struct password_intent *intent,
                                    struct error *error, enum provider_outcome outcome);

/* What follows from a password that was set. That sessions at the provider did not end is for the log. */
struct error *remote_intent_apply(struct remote *remote, struct arena *arena, const struct password_intent *intent);

struct error *remote_intent_list(struct provider *provider, struct arena *arena, unsigned limit, struct id **users_out,
                                 size_t *count_out);
struct error *remote_intent_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                      enum provider_reconciliation *reconciliation_out);

/* Notes how long the user's password holds: for the configured time, or for good (outside.c). */
struct error *remote_account_note_password(struct remote *remote, struct arena *arena, struct id user, bool temporary);

/* ---- outside_session.c --------------------------------------------------------------------------- */

/*
 * What is wrong with an access token that came from the provider itself, IDENTITY_UNAVAILABLE; NULL: it holds and is
 * his.
 */
struct error *remote_session_verify(struct remote *remote, struct arena *arena, const char *subject, const char *token,
                                    struct token_claims *claims);

/*
 * Makes a session of what the provider gave; its access token must hold and be the subject's.
 * IDENTITY_UNAVAILABLE when it does not. After an error what was opened there is closed again.
 */
struct error *remote_session_begin(struct remote *remote, struct arena *arena, const char *subject, struct id user,
                                   const struct remote_grant *grant, struct provider_tokens *tokens_out);

/*
 * Ends all sessions of the user but the family of `keep` (none: all), known to us or not.
 */
struct error *remote_session_end_all(struct remote *remote, struct arena *arena, struct id user, struct id keep);

struct error *remote_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                     struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *remote_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                    struct id session);
struct error *remote_session_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                                     bool *known_out);
struct error *remote_session_tidy(struct provider *provider, struct arena *arena);

/* The user of a subject; *found_out is false when nobody has it. */
struct error *remote_account_user(struct remote *remote, struct arena *arena, const char *subject, struct id *user_out,
                                  bool *found_out);

/* ---- remote_jwks.c ------------------------------------------------------------------------------ */

struct error *remote_jwks_get(struct provider *provider, struct arena *arena, bool stale,
                              const struct key_set **keys_out);
void remote_jwks_forget(struct remote *remote);

#endif
