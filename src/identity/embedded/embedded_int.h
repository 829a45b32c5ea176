/* SPDX-License-Identifier: MIT */
/*
 * The inside of the embedded provider: provider.c (accounts), login.c, password.c, session.c and signing_keys.c. The
 * rows of accounts are in domain/account/embedded_account.h, which says in which order rows are locked.
 */
#ifndef GATEHOUSE_IDENTITY_EMBEDDED_EMBEDDED_INT_H
#define GATEHOUSE_IDENTITY_EMBEDDED_EMBEDDED_INT_H

#include "codec/digest.h"
#include "domain/account/embedded_account.h"
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
    int64_t asked_at;             /* of the last reading because of a token of an unknown key */
    bool asked;
};

struct embedded {
    struct provider provider;
    struct embedded_options options;
    struct embedded_signing_keys keys;
    struct embedded_signing_keys forgotten; /* not used, unless the same keys are read again: parsing them takes long */
    bool opened;                            /* the service's secret was seen to open the newest key */
};

static inline struct embedded *embedded_of(struct provider *provider)
{
    return (struct embedded *)provider;
}

/* ---- login.c: functions of the provider ----------------------------------------------------------- */

struct error *embedded_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out);
struct error *embedded_login_answer(struct provider *provider, struct arena *arena,
                                    const struct provider_challenge *challenge, struct secret new_password,
                                    struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);

/* ---- password.c ----------------------------------------------------------------------------------- */

/*
 * Verifies a password. `account` NULL is nobody: that takes as long as a wrong password, so that the time does not tell
 * whether the account exists. A right password whose hash is of another cost than asked for now is hashed again.
 * INTERNAL where the hash is damaged or memory lacks.
 */
struct error *embedded_password_verify(struct embedded *embedded, struct arena *arena,
                                       const struct embedded_account *account, struct secret password, bool *right_out);

/* Functions of the provider. */
struct error *embedded_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out);
struct error *embedded_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out);
struct error *embedded_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                       struct secret password, enum provider_outcome *outcome_out);

/* ---- session.c ------------------------------------------------------------------------------------ */

/* A session that is prepared outside the transaction that adds it: signing takes longer than a lock should be held. */
struct embedded_new_session {
    struct id user;
    struct id session;
    unsigned char refresh_hash[DIGEST_BYTES];
};

/* Makes ids, the refresh token and the signed tokens of a new session. Writes nothing. */
struct error *embedded_session_prepare(struct embedded *embedded, struct arena *arena,
                                       const struct embedded_account *account, struct embedded_new_session *session_out,
                                       struct provider_tokens *tokens_out);

/* Ends all sessions of the user but `kept` (zeros: none) and deletes their refresh tokens. Part of a transaction. */
struct error *embedded_session_end_all(struct embedded *embedded, struct arena *arena, struct id user, struct id kept);

/* Functions of the provider. */
struct error *embedded_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                       struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *embedded_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                      struct id session);
struct error *embedded_session_logout_others(struct provider *provider, struct arena *arena, const char *subject,
                                             struct id kept);
struct error *embedded_session_logout_all(struct provider *provider, struct arena *arena, const char *subject);

/* ---- signing_keys.c ------------------------------------------------------------------------------- */

/* The key that signs now. It lives until the keys are read again, so use it at once. */
struct error *embedded_signing_keys_signer(struct embedded *embedded, struct arena *arena,
                                           const struct signing_key **key_out);

/* Deletes keys that retired so long ago that no token of theirs is valid any more. */
struct error *embedded_signing_keys_tidy(struct embedded *embedded, struct arena *arena);

/* Frees the keys in memory, also those that were forgotten. */
void embedded_signing_keys_free(struct embedded *embedded);

/* Functions of the provider. */
struct error *embedded_signing_keys_get(struct provider *provider, struct arena *arena, bool stale,
                                        const struct key_set **keys_out);
struct error *embedded_signing_keys_check(struct provider *provider, struct arena *arena);
void embedded_signing_keys_forget(struct provider *provider);

#endif
