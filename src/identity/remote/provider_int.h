/* SPDX-License-Identifier: MIT */
/* Functions of a remote provider that have files of their own: signing in, passwords, the check of its settings. */
#ifndef GATEHOUSE_IDENTITY_REMOTE_PROVIDER_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_PROVIDER_INT_H

#include "identity/remote_int.h"

/* How long a password is temporary, for remote_account_set_temporary(). */
static inline int64_t remote_temporary_seconds(const struct remote *remote, bool temporary)
{
    return temporary ? remote->options.temporary_password_seconds : 0;
}

/* ---- login.c -------------------------------------------------------------------------------------- */

/*
 * Whether the provider lets the account in with that password: for a call that set it and whose answer was lost. Such a
 * call is never sent again. *grant_out is the session that this opens.
 */
bool remote_login_accepts(struct remote *remote, struct arena *arena, const char *subject, struct secret password,
                          struct remote_grant *grant_out);

struct error *remote_login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                           struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                           enum provider_outcome *outcome_out);
struct error *remote_login_answer(struct provider *provider, struct arena *arena,
                                  const struct provider_challenge *challenge, struct secret new_password,
                                  struct provider_tokens *tokens_out, enum provider_outcome *outcome_out);
struct error *remote_logout_all(struct provider *provider, struct arena *arena, const char *subject);

/* ---- password.c ----------------------------------------------------------------------------------- */

struct error *remote_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id session, struct secret password, struct secret new_password,
                                     enum provider_outcome *outcome_out);
struct error *remote_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out);
struct error *remote_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                     struct secret password, enum provider_outcome *outcome_out);
struct error *remote_password_reset(struct provider *provider, struct arena *arena, const char *subject,
                                    const char *code, struct secret new_password, enum provider_outcome *outcome_out);

/* ---- check.c -------------------------------------------------------------------------------------- */

/* Checks the key set after what the driver checks. The circuit breaker neither stops these calls nor learns of them. */
struct error *remote_check(struct provider *provider, struct arena *arena);

#endif
