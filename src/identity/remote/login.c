/* SPDX-License-Identifier: MIT */
/*
 * Signing in at a remote provider, the second step of a first login, and signing out everywhere.
 *
 * A login: the driver checks the password. A permanent password opens a session at the provider, which becomes one of
 * ours (session.c). Where all sessions of the user were ended meanwhile the driver is asked once more, since the end
 * may have been that of a replaced password. A temporary one leads to a challenge, unless its time has run out. The
 * answer to the challenge sets the new password while the account is locked, so that answers come one after the other
 * and none while an invitation is sent again (password.c).
 */
#include "base/log.h"
#include "domain/account/remote_account.h"
#include "domain/account/user.h"
#include "identity/remote/provider_int.h"
#include "identity/remote/session_int.h"

/* How often one sign-in asks the provider at most. */
#define LOGINS_MAX 3

/* ---- signing in ----------------------------------------------------------------------------------- */

/*
 * The password is permanent, but a new one came along: no session begins. Still the token is verified, since only
 * somebody who would be let in may learn that the password was right.
 */
static struct error *refuse_new_password(struct remote *remote, struct arena *arena, const char *subject,
                                         const struct remote_grant *grant)
{
    struct token_claims claims;
    struct error *error = grant->access_token != NULL
                              ? remote_session_verify(remote, arena, subject, grant->access_token, &claims)
                              : error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no token");
    remote_session_discard(remote, arena, grant);
    return error;
}

/* The password is temporary: makes the challenge, unless the password's time has run out. */
static struct error *challenge(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                               const char *proof, struct provider_challenge *challenge_out,
                               enum provider_outcome *outcome_out)
{
    bool over = false;
    TRY(remote_account_temporary_is_over(remote->options.database, arena, attempt->user_id, &over));
    *challenge_out = (struct provider_challenge){
        .subject = attempt->subject, .user_id = attempt->user_id, .proof = proof, .password = attempt->password};
    if (over)
        *outcome_out = PROVIDER_TEMPORARY_EXPIRED;
    return NULL;
}

/* Asks the provider once; *again_out tells that the answer is out of date. */
static struct error *log_in(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                            struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                            enum provider_outcome *outcome_out, bool *again_out)
{
    struct remote_session_start start = {.subject = attempt->subject, .user = attempt->user_id};
    struct remote_grant grant = {0};
    const char *proof = NULL;
    bool begun = false;
    *again_out = false;
    TRY(remote_account_count_ends(remote->options.database, arena, start.user, &start.ends));
    TRY(remote->driver->login(remote, arena, attempt, &grant, &proof, outcome_out));
    /* A user who does not exist is never let in, whatever the provider says. */
    if (attempt->subject == NULL)
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED)
        return challenge(remote, arena, attempt, proof, challenge_out, outcome_out);
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    if (attempt->new_password_sent) {
        *outcome_out = PROVIDER_PERMANENT_PASSWORD;
        return refuse_new_password(remote, arena, attempt->subject, &grant);
    }
    TRY(remote_session_begin(remote, arena, &start, &grant, tokens_out, &begun));
    *again_out = !begun;
    return NULL;
}

struct error *remote_login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                           struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                           enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    bool again = true;
    remote_start(remote, remote->options.login_milliseconds);
    for (unsigned i = 0; again && i < LOGINS_MAX; i++)
        TRY(log_in(remote, arena, attempt, tokens_out, challenge_out, outcome_out, &again));
    return again ? error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "all sessions were ended during each sign-in") : NULL;
}

/* ---- the first login ------------------------------------------------------------------------------ */

bool remote_login_accepts(struct remote *remote, struct arena *arena, const char *subject, struct secret password,
                          struct remote_grant *grant_out)
{
    struct provider_login attempt = {.subject = subject, .password = password};
    enum provider_outcome outcome = PROVIDER_BAD_CREDENTIALS;
    const char *proof = NULL;
    *grant_out = (struct remote_grant){0};
    return remote->driver->login(remote, arena, &attempt, grant_out, &proof, &outcome) == NULL &&
           outcome == PROVIDER_OK;
}

static struct error *answer_locked(struct remote *remote, struct arena *arena,
                                   const struct provider_challenge *challenge, struct secret new_password,
                                   struct remote_grant *grant_out, int64_t *ends_out,
                                   enum provider_outcome *outcome_out)
{
    TRY(remote_account_count_ends(remote->options.database, arena, challenge->user_id, ends_out));
    struct error *error = remote->driver->answer(remote, arena, challenge, new_password, grant_out, outcome_out);
    if (error != NULL && !remote_login_accepts(remote, arena, challenge->subject, new_password, grant_out))
        return error;
    if (error != NULL)
        *outcome_out = PROVIDER_OK;
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    return remote_account_set_temporary(remote->options.database, arena, challenge->user_id, 0);
}

struct error *remote_login_answer(struct provider *provider, struct arena *arena,
                                  const struct provider_challenge *challenge, struct secret new_password,
                                  struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_session_start start = {.subject = challenge->subject, .user = challenge->user_id};
    struct remote_grant grant = {0};
    bool begun = false;
    remote_start(remote, remote->options.admin_milliseconds);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(challenge->password, new_password))
        return NULL;
    TRY(remote_lock(remote, arena, challenge->subject));
    struct error *error = answer_locked(remote, arena, challenge, new_password, &grant, &start.ends, outcome_out);
    remote_unlock(remote, arena);
    if (error != NULL || *outcome_out != PROVIDER_OK) {
        remote_session_discard(remote, arena, &grant);
        return error;
    }
    TRY(remote_session_begin(remote, arena, &start, &grant, tokens_out, &begun));
    /* All sessions were ended meanwhile: the new password may be used to sign in, if it still is the password. */
    if (!begun)
        *outcome_out = PROVIDER_CHALLENGE_SPENT;
    return NULL;
}

/* ---- signing out ---------------------------------------------------------------------------------- */

struct error *remote_logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found = false;
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(user_find_by_subject(remote->options.database, arena, subject, &user, &found));
    if (!found)
        return NULL;
    /* Our rows first: they count at once, whatever becomes of the call. */
    TRY(remote_session_end_all(remote, arena, user, id_none));
    remote->is_notice = true;
    struct error *error = remote->driver->sign_out(remote, arena, subject);
    remote->is_notice = false;
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}
