/* SPDX-License-Identifier: MIT */
/*
 * What all providers outside the house share. A provider of its own (cognito.c, keycloak.c) brings the wire: one function
 * for each call that it can make, with outcomes already told apart. Here is the rest, the same for all:
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
struct outside;

/* Time for all calls of one operation together (docs/identity-providers.md). */
#define OUTSIDE_LOGIN_MILLISECONDS 5000
#define OUTSIDE_ADMIN_MILLISECONDS 8000

/* What a login or a refresh at the provider gave. */
struct outside_grant {
    const char *access_token;
    const char *id_token;
    struct secret refresh_token; /* no secret: the one used goes on */
};

/* What the provider knows of an account. */
struct outside_found {
    const char *subject; /* NULL: there is none */
    bool ours;           /* carries the id of the user it was asked about */
    bool used;           /* confirmed, or somebody has signed in */
};

/* Wires decide outcomes as identity/provider.h says; *_out are untouched where the outcome is not OK. */
struct outside_wire {
    const char *name;
    void (*rules)(struct outside *, struct token_rules *rules_out);
    const char *(*keys_url)(struct outside *);
    /* OK, EXISTS (address taken, by whomever) or PASSWORD_REFUSED. */
    struct error *(*create)(struct outside *, struct arena *, const struct provider_account *,
                            const char **subject_out, enum provider_outcome *);
    struct error *(*find)(struct outside *, struct arena *, struct id user, const char *email,
                          struct outside_found *found_out);
    /* OK, NEW_PASSWORD_REQUIRED (*proof_out is filled), BAD_CREDENTIALS, DISABLED, UNCONFIRMED. */
    struct error *(*login)(struct outside *, struct arena *, const struct provider_login *,
                           struct outside_grant *grant_out, const char **proof_out, enum provider_outcome *);
    /* OK, CHALLENGE_SPENT, PASSWORD_REFUSED. Called with the account locked: each asks anew whether another was first. */
    struct error *(*answer)(struct outside *, struct arena *, const struct provider_challenge *,
                            struct secret new_password, struct outside_grant *grant_out, enum provider_outcome *);
    /* OK or TOKEN_INVALID. */
    struct error *(*refresh)(struct outside *, struct arena *, const char *subject, struct secret refresh_token,
                             struct outside_grant *grant_out, enum provider_outcome *);
    struct error *(*revoke)(struct outside *, struct arena *, struct secret refresh_token);
    struct error *(*sign_out)(struct outside *, struct arena *, const char *subject);
    /*
     * After the password was set: ends all sessions but `keep` (none: all), those of other applications, too. NULL: it cannot
     * end some of them alone.
     */
    struct error *(*end_others)(struct outside *, struct arena *, const char *subject, struct id keep);
    /* OK, BAD_CREDENTIALS, PASSWORD_REFUSED, ABSENT. */
    struct error *(*change_password)(struct outside *, struct arena *, const char *subject, struct secret password,
                                     struct secret new_password, enum provider_outcome *);
    /* OK, ABSENT, PASSWORD_REFUSED. */
    struct error *(*set_password)(struct outside *, struct arena *, const char *subject, struct secret password,
                                  bool temporary, enum provider_outcome *);
    struct error *(*confirm)(struct outside *, struct arena *, const char *subject, enum provider_outcome *);
    struct error *(*set_enabled)(struct outside *, struct arena *, const char *subject, bool enabled,
                                 enum provider_outcome *);
    struct error *(*set_attributes)(struct outside *, struct arena *, const char *subject,
                                    const struct provider_attributes *, enum provider_outcome *);
    /* These three NULL: it has no codes of its own. Outcomes as of the provider's functions. */
    struct error *(*send_code)(struct outside *, struct arena *, const char *subject, enum provider_code,
                               enum provider_outcome *);
    struct error *(*confirm_by_code)(struct outside *, struct arena *, const char *subject, const char *code,
                                     enum provider_outcome *);
    struct error *(*reset_by_code)(struct outside *, struct arena *, const char *subject, const char *code,
                                   struct secret new_password, enum provider_outcome *);
    struct error *(*remove)(struct outside *, struct arena *, const char *subject);
    /* A sentence on what is wrong with its own settings; the key set is looked at by who calls. */
    struct error *(*check)(struct outside *, struct arena *);
    /* Reads the secrets by outside_read_secrets() and drops what was got with those before. */
    struct error *(*read_secrets)(struct outside *, struct arena *);
    void (*free)(struct outside *);
};

/* What every wire is made with. Texts and the secret must live as long as the provider. */
struct outside_options {
    struct database *database;
    struct secret master;
    struct cache *cache; /* NULL: each process fetches for itself */
    const char *ca_file; /* NULL: the system's certificates */
    bool codes;          /* the wire's own are used */
    int64_t refresh_token_seconds;
    int64_t temporary_password_seconds;
    const char *places_file; /* where processes of one host count their calls; NULL: they do not */
    int64_t calls_max;       /* at the same time; of a pool never as many as it has workers */
    int64_t rest_seconds;    /* how long a provider that fails is left alone */
};

#define OUTSIDE_KNOWN_SLOTS 1024

/* A session whose user is known. */
struct outside_known {
    struct id session;
    struct id subject;
    struct id user;
};

struct outside_keys {
    struct arena *arena; /* of the set; NULL: none was read yet */
    struct key_set *set;
    uint8_t digest[DIGEST_BYTES]; /* of its text */
    int64_t fetched_at;  /* clock_now(), by whomever */
    int64_t looked_at;   /* in the cache; clock_monotonic(), as the next ones */
    int64_t asked_until; /* before that this process does not ask of its own accord */
    int64_t tried_at;    /* because of an unknown key */
    int64_t vain_at;     /* there was no set, and none was got */
    bool tried;
    bool vain;
};

/* What the processes of a host have seen of the provider; outside_gate.c. Times are clock_monotonic(). */
#define OUTSIDE_GATE_AT 4096 /* in places_file */
struct outside_gate {
    int64_t failures;     /* in a row */
    int64_t closed_until; /* 0: it is open */
    int64_t probe_until;  /* somebody tries whether it may be opened */
    int64_t window_at;
    int64_t window_calls;
    int64_t window_failures;
    int64_t taken_at; /* somebody took a place */
};

/* An answer of the provider's. */
struct outside_answer {
    struct web_answer web;
    struct document *document; /* of its body; NULL: there is none, or it is not JSON */
};

/* A wire's own struct begins with this one. */
struct outside {
    struct provider provider;
    const struct outside_wire *wire;
    struct outside_options options;
    struct arena *arena; /* the provider's own */
    struct arena *secrets; /* what outside_read_secrets() read last; NULL: nothing yet */
    struct web_client *web;
    struct outside_keys keys;
    struct outside_known *known; /* OUTSIDE_KNOWN_SLOTS of them */
    int64_t deadline;         /* clock_monotonic(), of the operation under way */
    struct outside_gate gate; /* as last read, or this process's own where there is no file */
    bool sets_password;   /* the next call of the wire's sets one */
    bool is_unknown;      /* the operation's call that sets one was sent, and what came of it is not known */
    int places;               /* places_file; -1: not open */
    unsigned inside;          /* outside_enter() less outside_leave() */
    int64_t place;            /* where this process is while it is inside */
};

static inline struct outside *outside_of(struct provider *provider)
{
    return (struct outside *)provider;
}

/* Sets up what all wires share; `outside` is zeroed. */
struct error *outside_open(struct outside *outside, const struct outside_wire *wire,
                           const struct outside_options *options);

/*
 * The last step of making one, after its options were set: reads the secrets. `error` is what outside_open() said. Where
 * either failed the wire is freed.
 */
struct error *outside_ready(struct outside *outside, struct arena *arena, struct error *error,
                            struct provider **provider_out);

/* INTERNAL with a sentence for the operator when the setting `name` of the wire's section is no address to call. */
struct error *outside_check_address(struct arena *arena, const struct outside_wire *wire, const char *name,
                                    const char *url);

/* A secret that a wire has in a file. */
struct outside_secret {
    const char *path; /* NULL: it has none */
    struct secret *into;
};

/* Reads all of them or, where one cannot be read, none: those from before go on then. */
struct error *outside_read_secrets(struct outside *outside, struct arena *arena, const struct outside_secret *secrets,
                                   size_t count);

/*
 * Keeps all other processes from this account until outside_unlock(), by a lock of the database connection's: for what takes
 * several calls and knows no condition that it could be made under. IDENTITY_UNAVAILABLE when another holds it too long or too
 * many are waiting. Holder and who waits have a place (outside_enter()). Who holds it may take it once more.
 */
struct error *outside_lock(struct outside *outside, struct arena *arena, const char *subject);
void outside_unlock(struct outside *outside, struct arena *arena, const char *subject);

/* What was opened at the provider and is not to be a session of ours is closed again, as well as can be. */
void outside_give_up(struct outside *outside, struct arena *arena, const struct outside_grant *grant);

/*
 * Whether a password that the provider was told, and said nothing to, is the account's now: that is never sent again, but
 * who it lets in knows.
 */
bool outside_holds(struct outside *outside, struct arena *arena, const char *subject, struct secret password,
                   struct outside_grant *grant_out);

/* ---- functions of the provider ------------------------------------------------------------------ */

struct error *outside_login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                            struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                            enum provider_outcome *outcome_out);
struct error *outside_answer_new_password(struct provider *provider, struct arena *arena,
                                          const struct provider_challenge *challenge, struct secret new_password,
                                          struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *outside_logout_all(struct provider *provider, struct arena *arena, const char *subject);
struct error *outside_change_password(struct provider *provider, struct arena *arena, const char *subject,
                                      struct id session, struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out);
struct error *outside_set_password(struct provider *provider, struct arena *arena, const char *subject,
                                   struct secret password, bool temporary, enum provider_outcome *outcome_out);
struct error *outside_invite_again(struct provider *provider, struct arena *arena, const char *subject,
                                   struct secret password, enum provider_outcome *outcome_out);
struct error *outside_reset_by_code(struct provider *provider, struct arena *arena, const char *subject, const char *code,
                                    struct secret new_password, enum provider_outcome *outcome_out);

/* The functions of every such provider, for outside_open(). */
extern const struct provider_functions outside_functions;

/* ---- outside_gate.c ------------------------------------------------------------------------------ */

/* Gives all calls that follow, together, so much time; and what is left of it. */
void outside_start(struct outside *outside, int64_t milliseconds);
int64_t outside_left(const struct outside *outside);

/*
 * Takes a place among those that wait for the provider, and keeps it until outside_leave(); around what waits for the
 * provider by way of another process. What is done inside needs no other. False: all are taken, and nothing is to be left.
 */
bool outside_enter(struct outside *outside);
void outside_leave(struct outside *outside);
#define OUTSIDE_NO_PLACE "too many calls to it are waiting already"

/*
 * web_call() behind the gate, within what is left of the operation's time: WEB_UNREACHABLE at once while the provider is left
 * alone, when too many calls to it are waiting, and when no time is left.
 */
enum web_outcome outside_call(struct outside *outside, struct arena *arena, const struct web_call *call,
                              struct outside_answer *answer_out, const char **reason_out);

/* Lets go of the file; without places_file the process judges by what it sees itself from then on. */
void outside_gate_free(struct outside *outside);

/* ---- outside_check.c ----------------------------------------------------------------------------- */

struct error *outside_check(struct provider *provider, struct arena *arena);

/* IDENTITY_UNAVAILABLE with that sentence for the operator. */
struct error *outside_wrong(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether `url`, of that setting, answers at all, over TLS that holds, and with a clock like ours. */
struct error *outside_check_get(struct outside *outside, struct arena *arena, const char *setting, const char *url,
                                struct web_answer *answer_out);

/* ---- outside_intent.c ---------------------------------------------------------------------------- */

/* A password that is about to be set. */
struct outside_intent {
    struct id user;
    const char *subject;
    struct secret password;
    bool temporary;
    struct id keep; /* the session that goes on; none: none */
    struct id id;   /* of what was written down */
};

/* Writes it down, before the call, and sets its id. */
struct error *outside_intend(struct outside *outside, struct arena *arena, struct outside_intent *intent);

/*
 * After the call, with what came of it: `error` is passed on. Carried out: sessions end, at the provider as well, and the intent goes. Refused or never
 * sent: it goes. An answer that was lost: sessions end, and it stays for outside_settle().
 */
struct error *outside_answered(struct outside *outside, struct arena *arena, const struct outside_intent *intent,
                               struct error *error, enum provider_outcome outcome);

/* What follows from a password that was set. That sessions at the provider did not end is for the log. */
struct error *outside_carried_out(struct outside *outside, struct arena *arena, const struct outside_intent *intent);

struct error *outside_unsettled(struct provider *provider, struct arena *arena, unsigned limit, struct id **users_out,
                                size_t *count_out);
struct error *outside_settle(struct provider *provider, struct arena *arena, struct id user,
                             enum provider_settlement *settlement_out);

/* Notes how long the user's password holds: for the configured time, or for good (outside.c). */
struct error *outside_note_password(struct outside *outside, struct arena *arena, struct id user, bool temporary);

/* ---- outside_session.c --------------------------------------------------------------------------- */

/* What is wrong with an access token that came from the provider itself, IDENTITY_UNAVAILABLE; NULL: it holds and is his. */
struct error *outside_judge(struct outside *outside, struct arena *arena, const char *subject, const char *token,
                            struct token_claims *claims);

/*
 * Makes a session of what the provider gave; its access token must hold and be the subject's.
 * IDENTITY_UNAVAILABLE when it does not. After an error what was opened there is closed again.
 */
struct error *outside_begin(struct outside *outside, struct arena *arena, const char *subject, struct id user,
                            const struct outside_grant *grant, struct provider_tokens *tokens_out);

/*
 * Ends all sessions of the user but the family of `keep` (none: all), known to us or not.
 */
struct error *outside_end_all(struct outside *outside, struct arena *arena, struct id user, struct id keep);

struct error *outside_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                              struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *outside_logout(struct provider *provider, struct arena *arena, const char *subject, struct id session);
struct error *outside_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                              bool *known_out);
struct error *outside_tidy(struct provider *provider, struct arena *arena);

/* The user of a subject; *found_out is false when nobody has it. */
struct error *outside_user(struct outside *outside, struct arena *arena, const char *subject, struct id *user_out,
                           bool *found_out);

/* ---- outside_keys.c ------------------------------------------------------------------------------ */

struct error *outside_keys_get(struct provider *provider, struct arena *arena, bool stale,
                               const struct key_set **keys_out);
void outside_keys_forget(struct outside *outside);

#endif
