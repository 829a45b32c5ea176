/* SPDX-License-Identifier: MIT */
/* Signing in at a remote provider, the second step of a first login, and signing out everywhere. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/remote_int.h"

static const struct statement get_temporary = {
    "SELECT COALESCE(temporary_until <= UTC_TIMESTAMP(3), FALSE) FROM outside_account WHERE user_id = ?"};

static struct error *password_is_over(struct remote *remote, struct arena *arena, struct id user, bool *over_out)
{
    struct rows *rows;
    TRY(database_query(remote->options.database, arena, &get_temporary, VALUES(database_id(user)), &rows));
    *over_out = rows->count != 0 && rows_boolean(rows, 0, 0);
    return NULL;
}

/* ---- signing in ------------------------------------------------------------------------------- */

/* Nothing is begun, and only who would have come in is told that the password was right. */
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

struct error *remote_login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                           struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                           enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_grant grant = {0};
    const char *proof = NULL;
    bool over = false;
    remote_start(remote, REMOTE_LOGIN_MILLISECONDS);
    TRY(remote->driver->login(remote, arena, attempt, &grant, &proof, outcome_out));
    /* Nobody cannot be let in, whatever a provider says. */
    if (attempt->subject == NULL)
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED) {
        TRY(password_is_over(remote, arena, attempt->user_id, &over));
        *challenge_out = (struct provider_challenge){
            .subject = attempt->subject, .user_id = attempt->user_id, .proof = proof, .password = attempt->password};
        if (over)
            *outcome_out = PROVIDER_TEMPORARY_EXPIRED;
    }
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    if (!attempt->new_password_sent)
        return remote_session_begin(remote, arena, attempt->subject, attempt->user_id, &grant, tokens_out);
    struct error *error = refuse_new_password(remote, arena, attempt->subject, &grant);
    *outcome_out = PROVIDER_PERMANENT_PASSWORD;
    return error;
}

/* ---- the first login -------------------------------------------------------------------------- */

static struct error *answer_locked(struct remote *remote, struct arena *arena,
                                   const struct provider_challenge *challenge, struct secret new_password,
                                   struct remote_grant *grant_out, enum provider_outcome *outcome_out)
{
    struct error *error = remote->driver->answer(remote, arena, challenge, new_password, grant_out, outcome_out);
    if (error != NULL && !remote_account_accepts(remote, arena, challenge->subject, new_password, grant_out))
        return error;
    if (error != NULL)
        *outcome_out = PROVIDER_OK;
    return *outcome_out == PROVIDER_OK ? remote_account_note_password(remote, arena, challenge->user_id, false) : NULL;
}

/* One answer after the other, and none while an invitation is sent again: see there. */
struct error *remote_login_answer(struct provider *provider, struct arena *arena,
                                  const struct provider_challenge *challenge, struct secret new_password,
                                  struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_grant grant = {0};
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(challenge->password, new_password))
        return NULL;
    TRY(remote_account_lock(remote, arena, challenge->subject));
    struct error *error = answer_locked(remote, arena, challenge, new_password, &grant, outcome_out);
    remote_account_unlock(remote, arena, challenge->subject);
    if (error != NULL || *outcome_out != PROVIDER_OK)
        return error;
    return remote_session_begin(remote, arena, challenge->subject, challenge->user_id, &grant, tokens_out);
}

/* ---- signing out ------------------------------------------------------------------------------ */

struct error *remote_logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found = false;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(remote_account_user(remote, arena, subject, &user, &found));
    if (!found)
        return NULL;
    /* Ours first: it holds at once, whatever becomes of the call. */
    TRY(remote_session_end_all(remote, arena, user, (struct id){{0}}));
    struct error *error = remote->driver->sign_out(remote, arena, subject);
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}
