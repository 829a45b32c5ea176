/* SPDX-License-Identifier: MIT */
/* Asks the realm's token end point whether a password is right, and reads the grants that it answers with. */
#include <string.h>

#include "identity/keycloak/keycloak_int.h"

void keycloak_grant_read(const struct keycloak_call *call, struct remote_grant *grant_out)
{
    *grant_out = (struct remote_grant){
        .access_token = document_text(document_member(call->answer, "access_token")),
        .id_token = document_text(document_member(call->answer, "id_token")),
        .refresh_token = secret_of(document_text(document_member(call->answer, "refresh_token"))),
    };
}

bool keycloak_grant_is_invalid(const struct keycloak_call *call)
{
    return (call->status == 400 || call->status == 401) && strcmp(keycloak_error_name(call), "invalid_grant") == 0;
}

struct error *keycloak_grant_try_password(struct keycloak *keycloak, struct arena *arena, const char *username,
                                          struct secret password, struct remote_grant *grant_out,
                                          enum keycloak_password *result_out)
{
    struct keycloak_call call;
    keycloak_form_begin(keycloak, arena, "token", &call);
    keycloak_form_add(&call, "grant_type", "password");
    keycloak_form_add(&call, "scope", "openid");
    keycloak_form_add(&call, "username", username);
    keycloak_form_add(&call, "password", secret_reveal(password));
    TRY(keycloak_form_call(keycloak, arena, &call));
    if (call.status == 200) {
        keycloak_grant_read(&call, grant_out);
        *result_out = KEYCLOAK_PASSWORD_RIGHT;
        return NULL;
    }
    if (!keycloak_grant_is_invalid(&call))
        return keycloak_unexpected(arena, &call);
    bool pending = strcmp(keycloak_error_text(&call), "Account is not fully set up") == 0;
    *result_out = pending ? KEYCLOAK_PASSWORD_PENDING : KEYCLOAK_PASSWORD_WRONG;
    return NULL;
}
