/* SPDX-License-Identifier: MIT */
/*
 * The inside of the embedded provider: embedded.c (the account's life), embedded_login.c (passwords),
 * embedded_session.c (sessions and refresh tokens), embedded_signing_keys.c (signing keys).
 *
 * Rows are locked in one order, identity_account before identity_refresh before session, so that what runs at
 * the same time waits instead of deadlocking.
 */
#ifndef GATEHOUSE_IDENTITY_EMBEDDED_EMBEDDED_INT_H
#define GATEHOUSE_IDENTITY_EMBEDDED_EMBEDDED_INT_H

#include "codec/digest.h"
#include "identity/embedded/provider.h"
#include "identity/provider.h"
#include "store/database/database.h"

struct signing_key;

/* Signing keys as this process last read them. */
struct embedded_signing_keys {
    struct arena *arena; /* holds all that follows; NULL before the first reading */
    struct key_set *set;
    const struct signing_key *signer; /* NULL: only public halves were read */
    const char *signer_kid;
    uint8_t digest[DIGEST_BYTES]; /* of the public halves as they were read */
    int64_t read_at;              /* clock_monotonic() of the last successful reading */
    int64_t asked_at;             /* of the last reading that a strange token caused */
    bool asked;
};

struct embedded {
    struct provider provider;
    struct embedded_options options;
    struct embedded_signing_keys keys;
    struct embedded_signing_keys
        forgotten; /* used by nobody, unless the same keys are read again: parsing them is dear */
    bool opened;   /* the newest key was seen to open with the service's secret */
};

/* An account's row. */
struct embedded_account {
    struct id id;
    const char *username; /* the e-mail address */
    const char *password_hash;
    int64_t password_version;
    bool password_temporary;
    bool password_expired;
    bool force_change; /* nobody has signed in yet */
    bool unconfirmed;
    bool enabled;
    bool email_verified;
    const char *permissions;
};

static inline struct embedded *embedded_of(struct provider *provider)
{
    return (struct embedded *)provider;
}

/* *account_out is NULL when there is none of that id. */
struct error *embedded_account_find(struct embedded *embedded, struct arena *arena, struct id id,
                                    struct embedded_account **account_out);

/* ---- embedded_login.c ---------------------------------------------------------------------------- */

struct error *embedded_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out);
struct error *embedded_login_answer(struct provider *provider, struct arena *arena,
                                    const struct provider_challenge *challenge, struct secret new_password,
                                    struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *embedded_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out);
struct error *embedded_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                       struct secret password, enum provider_outcome *outcome_out);
struct error *embedded_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out);

/* ---- embedded_session.c -------------------------------------------------------------------------- */

/* A session made ready outside the transaction that will add it: signing takes longer than a lock should be
 * held. */
struct embedded_new_session {
    struct id user;
    struct id session;
    unsigned char refresh_token_hash[32];
};

/* Makes ids, the refresh token and the signed tokens of a new session. Adds nothing. */
struct error *embedded_session_prepare(struct embedded *embedded, struct arena *arena,
                                       const struct embedded_account *account, struct embedded_new_session *opening_out,
                                       struct provider_tokens *tokens_out);

/* Adds the rows; part of a transaction. */
struct error *embedded_session_insert(struct embedded *embedded, struct arena *arena,
                                      const struct embedded_new_session *opening);

/* Ends all sessions of the user but `keep` (zeros: none) and drops their refresh tokens; part of a
 * transaction. */
struct error *embedded_session_end_all(struct embedded *embedded, struct arena *arena, struct id user, struct id keep);

struct error *embedded_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                       struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *embedded_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                      struct id session);
struct error *embedded_session_logout_all(struct provider *provider, struct arena *arena, const char *subject);
struct error *embedded_session_tidy(struct provider *provider, struct arena *arena);

/* ---- embedded_signing_keys.c ----------------------------------------------------------------------------- */

struct error *embedded_signing_keys_get(struct provider *provider, struct arena *arena, bool stale,
                                        const struct key_set **keys_out);
struct error *embedded_signing_keys_check(struct provider *provider, struct arena *arena);
void embedded_signing_keys_forget(struct provider *provider);

/* Both what is used and what is forgotten. */
void embedded_signing_keys_free(struct embedded *embedded);

/* The key that signs now; lives until the keys are read again, so use it at once. */
struct error *embedded_signing_keys_signer(struct embedded *embedded, struct arena *arena,
                                           const struct signing_key **key_out);

#endif
