/* SPDX-License-Identifier: MIT */
/* Signing in at a remote provider, the second step of a first login, and signing out everywhere. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/remote_int.h"

static const struct statement get_temporary = {
    "SELECT COALESCE(temporary_until <= UTC_TIMESTAMP(3), FALSE) FROM outside_account WHERE user_id = ?"};

static struct error *password_is_over(struct outside *outside, struct arena *arena, struct id user, bool *over_out)
{
    struct rows *rows;
    TRY(database_query(outside->options.database, arena, &get_temporary, VALUES(database_id(user)), &rows));
    *over_out = rows->count != 0 && rows_boolean(rows, 0, 0);
    return NULL;
}

/* ---- signing in ------------------------------------------------------------------------------- */

/* Nothing is begun, and only who would have come in is told that the password was right. */
static struct error *refuse_new_password(struct outside *outside, struct arena *arena, const char *subject,
                                         const struct outside_grant *grant)
{
    struct token_claims claims;
    struct error *error = grant->access_token != NULL
                              ? outside_judge(outside, arena, subject, grant->access_token, &claims)
                              : error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no token");
    outside_give_up(outside, arena, grant);
    return error;
}

struct error *outside_login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                           struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                           enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct outside_grant grant = {0};
    const char *proof = NULL;
    bool over = false;
    outside_start(outside, OUTSIDE_LOGIN_MILLISECONDS);
    TRY(outside->wire->login(outside, arena, attempt, &grant, &proof, outcome_out));
    /* Nobody cannot be let in, whatever a provider says. */
    if (attempt->subject == NULL)
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED) {
        TRY(password_is_over(outside, arena, attempt->user_id, &over));
        *challenge_out = (struct provider_challenge){
            .subject = attempt->subject, .user_id = attempt->user_id, .proof = proof, .password = attempt->password};
        if (over)
            *outcome_out = PROVIDER_TEMPORARY_EXPIRED;
    }
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    if (!attempt->new_password_sent)
        return outside_begin(outside, arena, attempt->subject, attempt->user_id, &grant, tokens_out);
    struct error *error = refuse_new_password(outside, arena, attempt->subject, &grant);
    *outcome_out = PROVIDER_PERMANENT_PASSWORD;
    return error;
}

/* ---- the first login -------------------------------------------------------------------------- */

static struct error *answer_locked(struct outside *outside, struct arena *arena, const struct provider_challenge *challenge,
                                   struct secret new_password, struct outside_grant *grant_out,
                                   enum provider_outcome *outcome_out)
{
    struct error *error = outside->wire->answer(outside, arena, challenge, new_password, grant_out, outcome_out);
    if (error != NULL && !outside_holds(outside, arena, challenge->subject, new_password, grant_out))
        return error;
    if (error != NULL)
        *outcome_out = PROVIDER_OK;
    return *outcome_out == PROVIDER_OK ? outside_note_password(outside, arena, challenge->user_id, false) : NULL;
}

/* One answer after the other, and none while an invitation is sent again: see there. */
struct error *outside_answer_new_password(struct provider *provider, struct arena *arena,
                                         const struct provider_challenge *challenge,
                                         struct secret new_password, struct provider_tokens *tokens_out,
                                         enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct outside_grant grant = {0};
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(challenge->password, new_password))
        return NULL;
    TRY(outside_lock(outside, arena, challenge->subject));
    struct error *error = answer_locked(outside, arena, challenge, new_password, &grant, outcome_out);
    outside_unlock(outside, arena, challenge->subject);
    if (error != NULL || *outcome_out != PROVIDER_OK)
        return error;
    return outside_begin(outside, arena, challenge->subject, challenge->user_id, &grant, tokens_out);
}

/* ---- signing out ------------------------------------------------------------------------------ */

struct error *outside_logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found = false;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(outside_user(outside, arena, subject, &user, &found));
    if (!found)
        return NULL;
    /* Ours first: it holds at once, whatever becomes of the call. */
    TRY(outside_end_all(outside, arena, user, (struct id){{0}}));
    struct error *error = outside->wire->sign_out(outside, arena, subject);
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}
