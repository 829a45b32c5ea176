/* SPDX-License-Identifier: MIT */
/* Sessions of a remote provider; see remote_int.h. */
#ifndef GATEHOUSE_IDENTITY_REMOTE_SESSION_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_SESSION_INT_H

#include "identity/remote_int.h"

/*
 * Verifies an access token that came from the provider itself and fills *claims: it must be valid and the subject's.
 * IDENTITY_UNAVAILABLE says what is wrong with it.
 */
struct error *remote_session_verify(struct remote *remote, struct arena *arena, const char *subject, const char *token,
                                    struct token_claims *claims);

/* Whose session begins, and what was read before the provider was asked for it. */
struct remote_session_start {
    const char *subject;
    struct id user;
    int64_t ends; /* of remote_account_count_ends() */
};

/*
 * Makes a session of what the provider gave. *begun_out is false where all sessions of the user were ended since
 * start->ends was read: then the provider may be asked again. IDENTITY_UNAVAILABLE when its access token is not valid
 * or not the subject's. Where no session begins the one at the provider is closed again.
 */
struct error *remote_session_begin(struct remote *remote, struct arena *arena, const struct remote_session_start *start,
                                   const struct remote_grant *grant, struct provider_tokens *tokens_out,
                                   bool *begun_out);

/* Ends all sessions of the user but the family of `kept` (none: all), also those that have no row here yet. */
struct error *remote_session_end_all(struct remote *remote, struct arena *arena, struct id user, struct id kept);

/* Functions of the provider. */
struct error *remote_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                     struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *remote_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                    struct id session);
struct error *remote_session_logout_others(struct provider *provider, struct arena *arena, const char *subject,
                                           struct id kept);
struct error *remote_session_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                                     bool *known_out);
struct error *remote_session_tidy(struct provider *provider, struct arena *arena);

#endif
