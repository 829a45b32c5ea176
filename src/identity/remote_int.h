/* SPDX-License-Identifier: MIT */
/*
 * A remote identity provider: one that the service calls over the network. A driver (cognito/, keycloak/) knows how to
 * make each call and what the answers mean. remote/ does the rest, which is the same for all drivers:
 *
 * - Sessions (remote/session.c). The provider issues the tokens, but each sign-in is a row of domain/session/session.h
 *   all the same. Ending the row refuses the next request although the token is still valid. The row's id comes from
 *   what the token says of its session. Some providers name the session anew in each token; then the names are a family
 *   of rows that end together (domain/session/session_family.h).
 * - Refresh tokens. Clients get our own (domain/session/refresh_token.h), so that rotation, grace and the detection of
 *   a copied token are the same with every provider. The provider's own token lies sealed beside the session and never
 *   leaves.
 * - Temporary passwords (domain/account/remote_account.h). Not every provider can let one expire, so the service does.
 * - Changes of passwords whose answer is lost (remote/password_intent.c).
 * - Keys (remote/jwks.c): fetched from the provider, and kept while it is down.
 * - Overload and failures (remote/circuit_breaker.c, remote/slots.c): a provider that fails is not called for a while,
 *   and one that is slow cannot take every worker.
 */
#ifndef GATEHOUSE_IDENTITY_REMOTE_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/secret.h"
#include "codec/digest.h"
#include "codec/token.h"
#include "identity/provider.h"
#include "store/database/database.h"
#include "store/database/row_lock.h"
#include "store/http_client.h"

struct cache;
struct document;
struct remote;

/* ---- the driver ----------------------------------------------------------------------------------- */

/* What a login or a refresh at the provider gave. */
struct remote_grant {
    const char *access_token;
    const char *id_token;
    struct secret refresh_token; /* no secret: the one that was used stays valid */
};

/* What the provider knows of an account. */
struct remote_account {
    const char *subject; /* NULL: there is none */
    bool ours;           /* carries the id of the user that it was asked about */
    bool used;           /* confirmed, or somebody has signed in */
};

/*
 * Outcomes of all driver functions are those of identity/provider.h; the comments name those that are possible beside
 * errors. Where the outcome is not OK the other outputs are untouched.
 */
struct remote_driver_administration {
    /* OK, EXISTS (somebody has an account with that address) or PASSWORD_REFUSED. */
    struct error *(*create)(struct remote *, struct arena *, const struct provider_account *, const char **subject_out,
                            enum provider_outcome *);
    struct error *(*find)(struct remote *, struct arena *, struct id user, const char *email,
                          struct remote_account *account_out);
    /* OK, ABSENT or PASSWORD_REFUSED. */
    struct error *(*set_password)(struct remote *, struct arena *, const char *subject, struct secret password,
                                  bool temporary, enum provider_outcome *);
    struct error *(*confirm)(struct remote *, struct arena *, const char *subject, enum provider_outcome *);
    struct error *(*set_enabled)(struct remote *, struct arena *, const char *subject, bool enabled,
                                 enum provider_outcome *);
    struct error *(*set_attributes)(struct remote *, struct arena *, const char *subject,
                                    const struct provider_attributes *, enum provider_outcome *);
    /* An absent account is no error. */
    struct error *(*remove)(struct remote *, struct arena *, const char *subject);
};

/* Codes that the provider itself mails and verifies. `subject` NULL is nobody. */
struct remote_driver_codes {
    struct error *(*send)(struct remote *, struct arena *, const char *subject, enum provider_code,
                          enum provider_outcome *);
    struct error *(*confirm)(struct remote *, struct arena *, const char *subject, const char *code,
                             enum provider_outcome *);
    struct error *(*reset)(struct remote *, struct arena *, const char *subject, const char *code,
                           struct secret new_password, enum provider_outcome *);
};

struct remote_driver {
    const char *name; /* the provider's, and that of its section in the configuration */
    void (*rules)(struct remote *, struct token_rules *rules_out);
    const char *(*keys_url)(struct remote *);
    /* OK, NEW_PASSWORD_REQUIRED (*proof_out is filled), BAD_CREDENTIALS, DISABLED, UNCONFIRMED. */
    struct error *(*login)(struct remote *, struct arena *, const struct provider_login *,
                           struct remote_grant *grant_out, const char **proof_out, enum provider_outcome *);
    /*
     * OK, CHALLENGE_SPENT, PASSWORD_REFUSED. The account is locked; the driver asks whether another answer was first.
     */
    struct error *(*answer)(struct remote *, struct arena *, const struct provider_challenge *,
                            struct secret new_password, struct remote_grant *grant_out, enum provider_outcome *);
    /* OK or TOKEN_INVALID. */
    struct error *(*refresh)(struct remote *, struct arena *, const char *subject, struct secret refresh_token,
                             struct remote_grant *grant_out, enum provider_outcome *);
    /* Ends the session of a refresh token; ends all sessions of an account. One that has ended is no error. */
    struct error *(*revoke)(struct remote *, struct arena *, struct secret refresh_token);
    struct error *(*sign_out)(struct remote *, struct arena *, const char *subject);
    /*
     * After a password was set: ends all sessions but `kept` (none: all), those of other applications, too. NULL: the
     * provider cannot end some of them alone.
     */
    struct error *(*end_others)(struct remote *, struct arena *, const char *subject, struct id kept);
    /* OK, BAD_CREDENTIALS, PASSWORD_REFUSED, ABSENT. */
    struct error *(*change_password)(struct remote *, struct arena *, const char *subject, struct secret password,
                                     struct secret new_password, enum provider_outcome *);
    /* An error with a sentence on what is wrong with the driver's own settings. The caller checks the key set. */
    struct error *(*check)(struct remote *, struct arena *);
    /* Reads the secrets by remote_read_secrets() and drops what was obtained with the former ones. */
    struct error *(*read_secrets)(struct remote *, struct arena *);
    void (*free)(struct remote *);
    const struct remote_driver_administration *administration;
    const struct remote_driver_codes *codes; /* NULL: the provider mails none */
};

/* ---- the provider --------------------------------------------------------------------------------- */

/* What every remote provider is made with. Texts and the secret must live as long as the provider. */
struct remote_options {
    struct database *database;
    struct secret master; /* the service's secret */
    struct cache *cache;  /* NULL: each process fetches for itself */
    const char *ca_file;  /* NULL: the system's certificates */
    bool codes;           /* the provider mails its own codes; the driver must have them */
    int64_t refresh_token_seconds;
    int64_t refresh_grace_seconds; /* for so long a spent refresh token is answered with its successor */
    int64_t temporary_password_seconds;
    const char *slots_file;     /* where the processes of one host count their calls; NULL: they do not */
    int64_t calls_max;          /* at the same time on this host; a pool of workers never uses its last worker for it */
    int64_t login_milliseconds; /* for all calls of one login or refresh together */
    int64_t admin_milliseconds; /* for those of one change of an account */
    int64_t rest_seconds;       /* for how long a provider that fails is not called */
};

/* A session whose user this process knows. */
struct remote_known_session {
    struct id session;
    struct id subject;
    struct id user;
};

#define REMOTE_KNOWN_SESSIONS 1024

/* The provider's key set as this process last read it; remote/jwks.c. */
struct remote_jwks {
    struct arena *arena; /* of the set; NULL: none was read yet */
    struct key_set *set;
    uint8_t digest[DIGEST_BYTES]; /* of its text */
    int64_t fetched_at;           /* clock_now(), by whichever process */
    /* clock_monotonic(): */
    int64_t looked_at;   /* when this process last looked into the cache */
    int64_t asked_until; /* before that time this process does not ask the provider of its own accord */
    int64_t tried_at;    /* when it last asked because of an unknown key */
    int64_t failed_at;   /* when there was no set and none could be fetched */
    bool tried;
    bool failed;
};

/* What the processes of a host have seen of the provider; remote/circuit_breaker.c. Times are clock_monotonic(). */
struct circuit_breaker {
    int64_t failures;    /* in a row */
    int64_t open_until;  /* no call is made before; 0: it is closed, and calls are made */
    int64_t probe_until; /* one call tries whether the provider answers again */
    int64_t window_at;
    int64_t window_calls;
    int64_t window_failures;
    int64_t slot_taken_at; /* when a process last took a slot */
};

#define CIRCUIT_BREAKER_AT 4096 /* its offset in slots_file */

/* A driver's own struct begins with this one. */
struct remote {
    struct provider provider;
    const struct remote_driver *driver;
    struct remote_options options;
    struct arena *arena;   /* lives as long as the provider */
    struct arena *secrets; /* what remote_read_secrets() read last; NULL: nothing yet */
    struct http_client *http;
    struct remote_jwks keys;
    struct remote_known_session *known; /* REMOTE_KNOWN_SESSIONS of them */
    int64_t deadline;                   /* clock_monotonic(), of the operation under way */
    struct circuit_breaker breaker;     /* as last read; without a file, what this process has seen */
    bool sets_password;                 /* the driver's next call sets a password */
    bool is_notice;                     /* the driver's calls only tell of an end that has happened here already */
    bool is_unknown;                    /* such a call was sent in this operation, and its answer was lost */
    int slots_fd;                       /* slots_file; -1: not open */
    unsigned slot_depth;                /* remote_slot_take() less remote_slot_leave() */
    int64_t slot;                       /* the one that this process holds while slot_depth is not 0 */
    unsigned lock_depth;                /* remote_lock() less remote_unlock() */
    struct row_lock lock;               /* the one that is held while lock_depth is not 0 */
};

static inline struct remote *remote_of(struct provider *provider)
{
    return (struct remote *)provider;
}

/* Sets up what all drivers share; `remote` is zeroed. */
struct error *remote_init(struct remote *remote, const struct remote_driver *driver,
                          const struct remote_options *options);

/*
 * The last step of making a provider, after the driver has set its own options: reads the secrets. `error` is what
 * remote_init() said. Where either failed the provider is freed.
 */
struct error *remote_ready(struct remote *remote, struct arena *arena, struct error *error,
                           struct provider **provider_out);

/* INTERNAL with a sentence for the operator when the setting `name` of the driver's section is not a usable address. */
struct error *remote_check_address(struct arena *arena, const struct remote_driver *driver, const char *name,
                                   const char *url);

/* A secret that a driver has in a file. */
struct remote_secret {
    const char *path; /* NULL: it has none */
    struct secret *into;
};

/* Reads all of them or, where one cannot be read, none: the former ones then stay in use. */
struct error *remote_read_secrets(struct remote *remote, struct arena *arena, const struct remote_secret *secrets,
                                  size_t count);

/* ---- calls (remote/call.c) ------------------------------------------------------------------------ */

/* Begins an operation: all its calls together have that much time. */
static inline void remote_start(struct remote *remote, int64_t milliseconds)
{
    remote->deadline = clock_monotonic() + milliseconds * 1000;
    remote->is_unknown = false;
}

/* What is left of it. */
static inline int64_t remote_milliseconds_left(const struct remote *remote)
{
    return (remote->deadline - clock_monotonic()) / 1000;
}

/* An answer of the provider. */
struct remote_answer {
    struct http_client_answer http;
    struct document *document; /* its body; NULL: there is none, or it is not JSON */
};

/*
 * Makes a call within what is left of the operation's time. HTTP_CLIENT_UNREACHABLE at once while the circuit breaker
 * is open, when too many calls to the provider are waiting already, and when no time is left.
 */
enum http_client_outcome remote_call(struct remote *remote, struct arena *arena, const struct http_client_call *call,
                                     struct remote_answer *answer_out, const char **reason_out);

/* ---- one at a time (remote/lock.c) ---------------------------------------------------------------- */

/*
 * Locks the account against all other processes of all hosts until remote_unlock(). For what takes several calls of a
 * provider that knows no conditional update. The holder and those who wait hold a slot (remote/slots.c). The holder may
 * take the same lock again, and releases it as often; it holds no other lock of an account meanwhile.
 * IDENTITY_UNAVAILABLE when another process holds it too long or no slot is free. Not inside a transaction.
 */
struct error *remote_lock(struct remote *remote, struct arena *arena, const char *subject);
void remote_unlock(struct remote *remote, struct arena *arena);

/* ---- sessions (remote/session.c) ------------------------------------------------------------------ */

/* Closes a session that was opened at the provider and will not be one of ours. A failure is only logged. */
void remote_session_discard(struct remote *remote, struct arena *arena, const struct remote_grant *grant);

/* ---- checks (remote/check.c) ---------------------------------------------------------------------- */

/* IDENTITY_UNAVAILABLE with that sentence for the operator. */
struct error *remote_check_failed(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether `url`, of that setting, answers at all, over a valid TLS connection, and with a clock like ours. */
struct error *remote_check_get(struct remote *remote, struct arena *arena, const char *setting, const char *url,
                               struct http_client_answer *answer_out);

#endif
