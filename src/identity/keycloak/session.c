/* SPDX-License-Identifier: MIT */
/* Refreshes and ends sessions at Keycloak: one, all, or all but one. */
#include <string.h>

#include "base/arena.h"
#include "codec/encoding.h"
#include "identity/keycloak/keycloak_int.h"

struct error *keycloak_session_refresh(struct remote *remote, struct arena *arena, const char *subject,
                                       struct secret refresh_token, struct remote_grant *grant_out,
                                       enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_call call;
    (void)subject; /* the caller compares it with the new token */
    keycloak_form_begin(keycloak, arena, "token", &call);
    keycloak_form_add(&call, "grant_type", "refresh_token");
    keycloak_form_add(&call, "refresh_token", secret_reveal(refresh_token));
    TRY(keycloak_form_call(keycloak, arena, &call));
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (keycloak_grant_is_invalid(&call))
        return NULL;
    if (call.status != 200)
        return keycloak_unexpected(arena, &call);
    keycloak_grant_read(&call, grant_out);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

/* ---- ending ----------------------------------------------------------------------------------- */

struct error *keycloak_session_end(struct keycloak *keycloak, struct arena *arena, struct secret refresh_token)
{
    struct keycloak_call call;
    keycloak_form_begin(keycloak, arena, "logout", &call);
    call.once = false;
    keycloak_form_add(&call, "refresh_token", secret_reveal(refresh_token));
    TRY(keycloak_form_call(keycloak, arena, &call));
    /* A session that has ended before is no error. */
    return call.status == 204 || keycloak_grant_is_invalid(&call) ? NULL : keycloak_unexpected(arena, &call);
}

struct error *keycloak_session_revoke(struct remote *remote, struct arena *arena, struct secret refresh_token)
{
    return keycloak_session_end(keycloak_of(remote), arena, refresh_token);
}

struct error *keycloak_session_end_all(struct keycloak *keycloak, struct arena *arena, const char *subject)
{
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "POST", keycloak_user_path(arena, subject, "/logout"), &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    return call.status == 204 || keycloak_is_absent(&call) ? NULL : keycloak_unexpected(arena, &call);
}

static struct error *end_one(struct keycloak *keycloak, struct arena *arena, const char *name)
{
    struct keycloak_call call;
    const char *url = arena_format(arena, "%s/%s", keycloak->sessions, percent_encode(arena, name, strlen(name)));
    keycloak_url_begin(arena, "DELETE", url, &call);
    call.name = "DELETE sessions";
    TRY(keycloak_admin_call(keycloak, arena, &call));
    /* A session that has ended meanwhile is no error. */
    return call.status == 204 || call.status == 404 ? NULL : keycloak_unexpected(arena, &call);
}

struct error *keycloak_session_end_others(struct remote *remote, struct arena *arena, const char *subject,
                                          struct id keep)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_call call;
    if (id_is_none(keep))
        return keycloak_session_end_all(keycloak, arena, subject);
    keycloak_admin_begin(keycloak, arena, "GET", keycloak_user_path(arena, subject, "/sessions"), &call);
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

struct error *keycloak_session_sign_out(struct remote *remote, struct arena *arena, const char *subject)
{
    return keycloak_session_end_all(keycloak_of(remote), arena, subject);
}
