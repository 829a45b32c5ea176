/* SPDX-License-Identifier: MIT */
/* Passwords at Keycloak: set by the service account, and changed by an owner who knows the current one. */
#include "identity/keycloak/keycloak_int.h"

struct error *keycloak_password_reset(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                      struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "PUT", keycloak_user_path(arena, subject, "/reset-password"), &call);
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

/* ---- changing and setting --------------------------------------------------------------------- */

struct changing {
    struct secret password; /* the current one */
    struct secret new_password;
    bool temporary;
    enum provider_outcome *outcome;
};

/*
 * Keycloak has no call that asks for the current password. So the current password opens a session, which is ended
 * again, and then the new one is set.
 */
static struct error *change(struct keycloak *keycloak, struct arena *arena, const char *subject, void *context)
{
    struct changing *changing = context;
    struct remote_grant grant = {0};
    struct keycloak_user user;
    enum keycloak_password result;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    *changing->outcome = PROVIDER_ABSENT;
    if (user.id == NULL)
        return NULL;
    TRY(keycloak_grant_try_password(keycloak, arena, user.username, changing->password, &grant, &result));
    *changing->outcome = PROVIDER_BAD_CREDENTIALS;
    /* The password may be changed although the account requires actions. */
    if (result == KEYCLOAK_PASSWORD_WRONG)
        return NULL;
    if (grant.refresh_token.bytes != NULL)
        TRY(keycloak_session_end(keycloak, arena, grant.refresh_token));
    return keycloak_password_reset(keycloak, arena, subject, changing->new_password, false, changing->outcome);
}

struct error *keycloak_password_change(struct remote *remote, struct arena *arena, const char *subject,
                                       struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out)
{
    struct changing changing = {.password = password, .new_password = new_password, .outcome = outcome_out};
    return keycloak_user_locked(keycloak_of(remote), arena, subject, change, &changing);
}

static struct error *set(struct keycloak *keycloak, struct arena *arena, const char *subject, void *context)
{
    struct changing *changing = context;
    return keycloak_password_reset(keycloak, arena, subject, changing->new_password, changing->temporary,
                                   changing->outcome);
}

struct error *keycloak_password_set(struct remote *remote, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct changing changing = {.new_password = password, .temporary = temporary, .outcome = outcome_out};
    return keycloak_user_locked(keycloak, arena, subject, set, &changing);
}
