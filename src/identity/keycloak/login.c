/* SPDX-License-Identifier: MIT */
/*
 * Signs in at Keycloak by the password grant, and answers the challenge of a first login.
 *
 * Keycloak has no challenge of its own for a temporary password: the account then requires the action UPDATE_PASSWORD,
 * and a right password is answered with "Account is not fully set up". The login reads the account to find out which
 * actions are required. The answer verifies the temporary password again, sets the new one and signs in with it.
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/address.h"
#include "codec/encoding.h"
#include "identity/keycloak/keycloak_int.h"

/* ---- signing in ----------------------------------------------------------------------------------- */

/*
 * The outcome of a right password whose account requires actions. Where it requires none the realm itself lacks
 * something (a complete profile?), and nobody can sign in.
 */
static struct error *outcome_of_pending(struct arena *arena, const struct keycloak_user *user,
                                        enum provider_outcome *outcome_out)
{
    bool both =
        keycloak_user_requires(user, KEYCLOAK_VERIFY_EMAIL) && keycloak_user_requires(user, KEYCLOAK_UPDATE_PASSWORD);
    if (user->actions.count == 0)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak: the realm does not let the account in as it is");
    if (keycloak_user_is_temporary(user))
        *outcome_out = PROVIDER_NEW_PASSWORD_REQUIRED;
    else if (keycloak_user_requires(user, KEYCLOAK_VERIFY_EMAIL) && user->actions.count == (both ? 2 : 1))
        *outcome_out = PROVIDER_UNCONFIRMED;
    else {
        *outcome_out = PROVIDER_DISABLED;
        LOG(WARN, IDENTITY,
            "keycloak requires more of an account than the service can do; nobody can sign in to it until that is done "
            "there",
            LOG_TEXT("subject", user->id), LOG_TEXT("actions", text_list_join(arena, &user->actions, ", ")));
    }
    return NULL;
}

/*
 * Whether the account signs in by that name, however Keycloak spells it. An account of another subject is somebody
 * else's.
 */
static bool is_named(struct arena *arena, const struct keycloak_user *user, const char *name)
{
    return address_same(arena, user->username, name) || address_same(arena, user->email, name);
}

/*
 * Finds another name of the account. A password that is wrong for our name may be right for the account: somebody has
 * changed its address at Keycloak, and in a realm whose user names are addresses our name is not valid any more. For
 * nobody an account is looked for as well, so that the time tells nothing. *name_out is NULL when there is no other
 * name.
 */
static void find_other_name(struct keycloak *keycloak, struct arena *arena, const char *subject, const char *name,
                            const char **name_out)
{
    struct keycloak_user user = {0};
    *name_out = NULL;
    struct error *error =
        keycloak_user_get(keycloak, arena, subject != NULL ? subject : id_text(arena, id_new()), &user);
    if (error != NULL)
        LOG(WARN, IDENTITY, "an account's name at keycloak could not be looked up", LOG_TEXT("detail", error->detail));
    else if (user.id != NULL && subject != NULL && !is_named(arena, &user, name))
        *name_out = user.username;
}

struct error *keycloak_login(struct remote *remote, struct arena *arena, const struct provider_login *attempt,
                             struct remote_grant *grant_out, const char **proof_out, enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_user user = {0};
    enum keycloak_password result;
    const char *name = attempt->email;
    *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (name == NULL && attempt->subject != NULL) {
        TRY(keycloak_user_get(keycloak, arena, attempt->subject, &user));
        name = user.username;
    }
    if (name == NULL)
        name = id_text(arena, id_new());
    TRY(keycloak_grant_try_password(keycloak, arena, name, attempt->password, grant_out, &result));
    if (result == KEYCLOAK_PASSWORD_WRONG && user.id == NULL) {
        const char *other;
        find_other_name(keycloak, arena, attempt->subject, name, &other);
        if (other != NULL)
            TRY(keycloak_grant_try_password(keycloak, arena, name = other, attempt->password, grant_out, &result));
    }
    if (result == KEYCLOAK_PASSWORD_WRONG || attempt->subject == NULL)
        return NULL;
    if (result == KEYCLOAK_PASSWORD_RIGHT) {
        *outcome_out = PROVIDER_OK;
        return NULL;
    }
    TRY(keycloak_user_get(keycloak, arena, attempt->subject, &user));
    if (user.id == NULL || !is_named(arena, &user, name))
        return NULL;
    *proof_out = user.username;
    return outcome_of_pending(arena, &user, outcome_out);
}

/* ---- the first login's second step ---------------------------------------------------------------- */

/* Of several answers only the first is right: the second one finds the temporary password replaced. */
struct error *keycloak_login_answer(struct remote *remote, struct arena *arena,
                                    const struct provider_challenge *challenge, struct secret new_password,
                                    struct remote_grant *grant_out, enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_user user;
    enum keycloak_password result;
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    TRY(keycloak_grant_try_password(keycloak, arena, challenge->proof, challenge->password, grant_out, &result));
    if (result != KEYCLOAK_PASSWORD_PENDING)
        return NULL;
    TRY(keycloak_user_get(keycloak, arena, challenge->subject, &user));
    if (user.id == NULL || !keycloak_user_is_temporary(&user))
        return NULL;
    TRY(keycloak_password_reset(keycloak, arena, challenge->subject, new_password, false, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    TRY(keycloak_grant_try_password(keycloak, arena, challenge->proof, new_password, grant_out, &result));
    if (result == KEYCLOAK_PASSWORD_RIGHT)
        return NULL;
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak does not take the password that was just set");
}
