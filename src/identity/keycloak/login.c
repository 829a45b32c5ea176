/* SPDX-License-Identifier: MIT */
/* Signing in by the password grant, first logins made of what Keycloak has, passwords, the ends of sessions. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/address.h"
#include "codec/encoding.h"
#include "identity/keycloak/keycloak_int.h"

static void read_grant(const struct keycloak_call *call, struct outside_grant *grant_out)
{
    *grant_out = (struct outside_grant){
        .access_token = document_text(document_member(call->answer, "access_token")),
        .id_token = document_text(document_member(call->answer, "id_token")),
        .refresh_token = secret_of(document_text(document_member(call->answer, "refresh_token"))),
    };
}

/* Whether the token end point speaks of what was sent and not of a client or grant that the operator set up wrongly. */
static bool is_invalid_grant(const struct keycloak_call *call)
{
    return (call->status == 400 || call->status == 401) && strcmp(keycloak_error_name(call), "invalid_grant") == 0;
}

/* ---- passwords ------------------------------------------------------------------------------------ */

enum password {
    PASSWORD_WRONG, /* or nobody's, or that of a disabled account: Keycloak tells that before it looks at the password */
    PASSWORD_RIGHT,
    PASSWORD_PENDING /* right, and the account requires actions first */
};

static struct error *try_password(struct keycloak *keycloak, struct arena *arena, const char *username,
                                  struct secret password, struct outside_grant *grant_out, enum password *result_out)
{
    struct keycloak_call call;
    keycloak_client(keycloak, arena, "token", &call);
    keycloak_add(&call, "grant_type", "password");
    keycloak_add(&call, "scope", "openid");
    keycloak_add(&call, "username", username);
    keycloak_add(&call, "password", secret_reveal(password));
    TRY(keycloak_client_call(keycloak, arena, &call));
    if (call.status == 200) {
        read_grant(&call, grant_out);
        *result_out = PASSWORD_RIGHT;
        return NULL;
    }
    if (!is_invalid_grant(&call))
        return keycloak_unexpected(arena, &call);
    bool pending = strcmp(keycloak_error_text(&call), "Account is not fully set up") == 0;
    *result_out = pending ? PASSWORD_PENDING : PASSWORD_WRONG;
    return NULL;
}

struct error *keycloak_reset(struct keycloak *keycloak, struct arena *arena, const char *subject, struct secret password,
                             bool temporary, enum provider_outcome *outcome_out)
{
    struct keycloak_call call;
    keycloak_admin(keycloak, arena, "PUT", keycloak_path(arena, subject, "/reset-password"), &call);
    call.sets_password = true;
    buffer_add_text(&call.body, "{\"type\":\"password\",\"value\":");
    buffer_add_json_text(&call.body, secret_reveal(password));
    buffer_add_text(&call.body, temporary ? ",\"temporary\":true}" : ",\"temporary\":false}");
    TRY(keycloak_admin_call(keycloak, arena, &call));
    if (call.status == 204)
        *outcome_out = PROVIDER_OK;
    else if (keycloak_is_absent(&call))
        *outcome_out = PROVIDER_ABSENT;
    else if (keycloak_is_refused(&call))
        *outcome_out = PROVIDER_PASSWORD_REFUSED;
    else
        return keycloak_unexpected(arena, &call);
    return NULL;
}

/* ---- signing in ----------------------------------------------------------------------------------- */

/*
 * What the required actions of an account make of a right password. Where there are none it is the realm that lacks
 * something (a complete profile?), and of everybody.
 */
static struct error *judge_pending(struct arena *arena, const struct keycloak_user *user,
                                   enum provider_outcome *outcome_out)
{
    bool both = keycloak_user_must(user, KEYCLOAK_VERIFY_EMAIL) && keycloak_user_must(user, KEYCLOAK_UPDATE_PASSWORD);
    if (user->actions.count == 0)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak: the realm does not let the account in as it is");
    if (keycloak_user_is_temporary(user))
        *outcome_out = PROVIDER_NEW_PASSWORD_REQUIRED;
    else if (keycloak_user_must(user, KEYCLOAK_VERIFY_EMAIL) && user->actions.count == (both ? 2 : 1))
        *outcome_out = PROVIDER_UNCONFIRMED;
    else {
        *outcome_out = PROVIDER_DISABLED;
        LOG(WARN, IDENTITY, "keycloak requires of an account what cannot be done here; until it is done there nobody signs in to it",
            LOG_TEXT("subject", user->id), LOG_TEXT("actions", text_list_join(arena, &user->actions, ", ")));
    }
    return NULL;
}

/* An account of the subject that signs in by that name, however Keycloak spells it; one of another subject is somebody else's. */
static bool is_named(struct arena *arena, const struct keycloak_user *user, const char *name)
{
    return address_same(arena, user->username, name) || address_same(arena, user->email, name);
}

/*
 * A password that is wrong for the name may be right for the account: somebody changed its address at Keycloak, and in a realm
 * whose user names are addresses nobody signs in by ours any more. Nobody's account is looked for as well, so that the time
 * tells nothing. *name_out is NULL when there is no other name.
 */
static void find_other_name(struct keycloak *keycloak, struct arena *arena, const char *subject, const char *name,
                            const char **name_out)
{
    struct keycloak_user user = {0};
    *name_out = NULL;
    struct error *error = keycloak_user_get(keycloak, arena, subject != NULL ? subject : id_text(arena, id_new()), &user);
    if (error != NULL)
        LOG(WARN, IDENTITY, "an account's name at keycloak could not be looked up", LOG_TEXT("detail", error->detail));
    else if (user.id != NULL && subject != NULL && !is_named(arena, &user, name))
        *name_out = user.username;
}

struct error *keycloak_login(struct outside *outside, struct arena *arena, const struct provider_login *attempt,
                             struct outside_grant *grant_out, const char **proof_out,
                             enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(outside);
    struct keycloak_user user = {0};
    enum password result;
    const char *name = attempt->email;
    *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (name == NULL && attempt->subject != NULL) {
        TRY(keycloak_user_get(keycloak, arena, attempt->subject, &user));
        name = user.username;
    }
    if (name == NULL)
        name = id_text(arena, id_new());
    TRY(try_password(keycloak, arena, name, attempt->password, grant_out, &result));
    if (result == PASSWORD_WRONG && user.id == NULL) {
        const char *other;
        find_other_name(keycloak, arena, attempt->subject, name, &other);
        if (other != NULL)
            TRY(try_password(keycloak, arena, name = other, attempt->password, grant_out, &result));
    }
    if (result == PASSWORD_WRONG || attempt->subject == NULL)
        return NULL;
    if (result == PASSWORD_RIGHT) {
        *outcome_out = PROVIDER_OK;
        return NULL;
    }
    TRY(keycloak_user_get(keycloak, arena, attempt->subject, &user));
    if (user.id == NULL || !is_named(arena, &user, name))
        return NULL;
    *proof_out = user.username;
    return judge_pending(arena, &user, outcome_out);
}

/* ---- the first login's second step ---------------------------------------------------------------- */

/* Of several answers the second finds the password replaced. */
struct error *keycloak_answer(struct outside *outside, struct arena *arena, const struct provider_challenge *challenge,
                              struct secret new_password, struct outside_grant *grant_out,
                              enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(outside);
    struct keycloak_user user;
    enum password result;
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    TRY(try_password(keycloak, arena, challenge->proof, challenge->password, grant_out, &result));
    if (result != PASSWORD_PENDING)
        return NULL;
    TRY(keycloak_user_get(keycloak, arena, challenge->subject, &user));
    if (user.id == NULL || !keycloak_user_is_temporary(&user))
        return NULL;
    TRY(keycloak_reset(keycloak, arena, challenge->subject, new_password, false, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    TRY(try_password(keycloak, arena, challenge->proof, new_password, grant_out, &result));
    if (result == PASSWORD_RIGHT)
        return NULL;
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak does not take the password that was just set");
}

/* ---- sessions ------------------------------------------------------------------------------------- */

struct error *keycloak_refresh(struct outside *outside, struct arena *arena, const char *subject,
                               struct secret refresh_token, struct outside_grant *grant_out,
                               enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(outside);
    struct keycloak_call call;
    (void)subject; /* the token says it, and is judged against it */
    keycloak_client(keycloak, arena, "token", &call);
    keycloak_add(&call, "grant_type", "refresh_token");
    keycloak_add(&call, "refresh_token", secret_reveal(refresh_token));
    TRY(keycloak_client_call(keycloak, arena, &call));
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (is_invalid_grant(&call))
        return NULL;
    if (call.status != 200)
        return keycloak_unexpected(arena, &call);
    read_grant(&call, grant_out);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

static struct error *end_session(struct keycloak *keycloak, struct arena *arena, struct secret refresh_token)
{
    struct keycloak_call call;
    keycloak_client(keycloak, arena, "logout", &call);
    call.once = false;
    keycloak_add(&call, "refresh_token", secret_reveal(refresh_token));
    TRY(keycloak_client_call(keycloak, arena, &call));
    /* Ended before is ended. */
    return call.status == 204 || is_invalid_grant(&call) ? NULL : keycloak_unexpected(arena, &call);
}

struct error *keycloak_revoke(struct outside *outside, struct arena *arena, struct secret refresh_token)
{
    return end_session(keycloak_of(outside), arena, refresh_token);
}

struct error *keycloak_end_sessions(struct keycloak *keycloak, struct arena *arena, const char *subject)
{
    struct keycloak_call call;
    keycloak_admin(keycloak, arena, "POST", keycloak_path(arena, subject, "/logout"), &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    return call.status == 204 || keycloak_is_absent(&call) ? NULL : keycloak_unexpected(arena, &call);
}

static struct error *end_one(struct keycloak *keycloak, struct arena *arena, const char *name)
{
    struct keycloak_call call;
    const char *url = arena_format(arena, "%s/%s", keycloak->sessions, percent_encode(arena, name, strlen(name)));
    keycloak_operator(arena, "DELETE", url, &call);
    call.name = "DELETE sessions";
    TRY(keycloak_admin_call(keycloak, arena, &call));
    /* Ended meanwhile is ended. */
    return call.status == 204 || call.status == 404 ? NULL : keycloak_unexpected(arena, &call);
}

struct error *keycloak_end_others(struct outside *outside, struct arena *arena, const char *subject, struct id keep)
{
    struct keycloak *keycloak = keycloak_of(outside);
    struct keycloak_call call;
    if (id_is_none(keep))
        return keycloak_end_sessions(keycloak, arena, subject);
    keycloak_admin(keycloak, arena, "GET", keycloak_path(arena, subject, "/sessions"), &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    if (keycloak_is_absent(&call))
        return NULL;
    if (call.status != 200 || document_kind(call.answer) != DOCUMENT_ARRAY)
        return keycloak_unexpected(arena, &call);
    for (const struct document *one = document_first(call.answer); one != NULL; one = document_next(one)) {
        const char *name = document_text(document_member(one, "id"));
        if (name != NULL && !id_equal(token_session(arena, keycloak->options.issuer, name), keep))
            TRY(end_one(keycloak, arena, name));
    }
    return NULL;
}

struct error *keycloak_sign_out(struct outside *outside, struct arena *arena, const char *subject)
{
    return keycloak_end_sessions(keycloak_of(outside), arena, subject);
}

/* ---- changing and setting passwords --------------------------------------------------------------- */

struct changing {
    struct secret password; /* the one until now */
    struct secret new_password;
    bool temporary;
    enum provider_outcome *outcome;
};

/* Keycloak has no change that asks for the old password: it opens a session, which is ended, and the new one is set. */
static struct error *change(struct keycloak *keycloak, struct arena *arena, const char *subject, void *context)
{
    struct changing *changing = context;
    struct outside_grant grant = {0};
    struct keycloak_user user;
    enum password result;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    *changing->outcome = PROVIDER_ABSENT;
    if (user.id == NULL)
        return NULL;
    TRY(try_password(keycloak, arena, user.username, changing->password, &grant, &result));
    *changing->outcome = PROVIDER_BAD_CREDENTIALS;
    /* Actions that are pending keep nobody from another password. */
    if (result == PASSWORD_WRONG)
        return NULL;
    if (grant.refresh_token.bytes != NULL)
        TRY(end_session(keycloak, arena, grant.refresh_token));
    return keycloak_reset(keycloak, arena, subject, changing->new_password, false, changing->outcome);
}

struct error *keycloak_change_password(struct outside *outside, struct arena *arena, const char *subject,
                                       struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out)
{
    struct changing changing = {.password = password, .new_password = new_password, .outcome = outcome_out};
    return keycloak_locked(keycloak_of(outside), arena, subject, change, &changing);
}

static struct error *set(struct keycloak *keycloak, struct arena *arena, const char *subject, void *context)
{
    struct changing *changing = context;
    return keycloak_reset(keycloak, arena, subject, changing->new_password, changing->temporary, changing->outcome);
}

struct error *keycloak_set_password(struct outside *outside, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(outside);
    struct changing changing = {.new_password = password, .temporary = temporary, .outcome = outcome_out};
    return keycloak_locked(keycloak, arena, subject, set, &changing);
}
