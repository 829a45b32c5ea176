/* SPDX-License-Identifier: MIT */
/*
 * Finds out what is wrong with the realm, its clients or its user profile, by calls that change nothing and name no
 * person.
 */
#include <string.h>

#include "base/arena.h"
#include "codec/encoding.h"
#include "identity/keycloak/provision_int.h"

/* Reads what the realm says of itself (OpenID Connect Discovery). */
static struct error *check_realm(struct keycloak *keycloak, struct arena *arena)
{
    const struct keycloak_options *options = &keycloak->options;
    struct http_client_answer answer;
    struct document *document = NULL;
    const char *realm = percent_encode(arena, options->realm, strlen(options->realm));
    const char *url = arena_format(arena, "%s/realms/%s/.well-known/openid-configuration", options->url, realm);
    TRY(remote_check_get(&keycloak->remote, arena, "url", url, &answer));
    if (answer.status == 404)
        return remote_check_failed(arena, "There is no realm %s at %s; correct url or realm in [keycloak].",
                                   options->realm, options->url);
    if (answer.status != 200 || document_parse(arena, answer.body, answer.length, &document) != NULL)
        return remote_check_failed(arena, "What answers at %s (url in [keycloak]) is not Keycloak: status %ld.",
                                   options->url, answer.status);
    const char *issuer = document_text(document_member(document, "issuer"));
    if (issuer == NULL || strcmp(issuer, options->issuer) == 0)
        return NULL;
    return remote_check_failed(
        arena,
        "The realm's tokens say the issuer %s and not %s, so none of them would be valid; correct issuer in "
        "[keycloak], or Keycloak's own host name.",
        issuer, options->issuer);
}

/* Says in a sentence why the token end point refuses a client; `id` and `file` are the names of its settings. */
static struct error *explain_client(struct arena *arena, const struct keycloak_call *call, const char *client,
                                    const char *id, const char *file)
{
    const char *name = keycloak_error_name(call);
    const char *text = keycloak_error_text(call);
    if (strstr(text, "service account") != NULL)
        return remote_check_failed(
            arena, "The client %s has no service account; run gatehousectl identity setup --apply, or switch it on.",
            client);
    if (strstr(text, "direct access grants") != NULL)
        return remote_check_failed(
            arena,
            "The client %s has no direct access grants; run gatehousectl identity setup --apply, or switch "
            "them on.",
            client);
    if (strcmp(name, "invalid_client") == 0 || strcmp(name, "unauthorized_client") == 0)
        return remote_check_failed(
            arena, "Keycloak does not take the client %s with its secret; correct %s or %s in [keycloak].", client, id,
            file);
    return keycloak_unexpected(arena, call);
}

static struct error *check_login(struct keycloak *keycloak, struct arena *arena)
{
    struct keycloak_call call;
    keycloak_form_begin(keycloak, arena, "token", &call);
    keycloak_form_add(&call, "grant_type", "password");
    keycloak_form_add(&call, "scope", "openid");
    keycloak_form_add(&call, "username", id_text(arena, id_new()));
    keycloak_form_add(&call, "password", "nobody's password");
    TRY(keycloak_form_call(keycloak, arena, &call));
    if (strcmp(keycloak_error_name(&call), "invalid_grant") == 0)
        return NULL;
    return explain_client(arena, &call, keycloak->options.client_id, "client_id", "client_secret_file");
}

static struct error *check_service_account(struct keycloak *keycloak, struct arena *arena)
{
    struct keycloak_call call;
    TRY(keycloak_service_token_request(keycloak, arena, &call));
    if (call.status == 200)
        return NULL;
    return explain_client(arena, &call, keycloak->options.admin_client_id, "admin_client_id",
                          "admin_client_secret_file");
}

/* Tries to create an account without a name. Keycloak always refuses it, but with 403 where the right is missing. */
static struct error *check_rights(struct keycloak *keycloak, struct arena *arena)
{
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "POST", "", &call);
    call.once = true;
    buffer_add_text(&call.body, "{}");
    struct error *error = keycloak_admin_call(keycloak, arena, &call);
    if (call.status == 403)
        return remote_check_failed(
            arena,
            "The service account of the client %s lacks the role manage-users of " KEYCLOAK_MANAGEMENT
            "; run gatehousectl identity setup --apply, or give it.",
            keycloak->options.admin_client_id);
    return error;
}

static struct error *check_profile(struct keycloak *keycloak, struct arena *arena)
{
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "GET", "/profile", &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    if (call.status != 200 || keycloak_wanted_profile(arena, call.answer) == NULL)
        return NULL;
    return remote_check_failed(
        arena,
        "The user profile of the realm %s does not declare permissions, svcUserId, phoneNumber and "
        "phoneNumberVerified for administrators alone, or demands more than an e-mail address; run "
        "gatehousectl identity setup --apply.",
        keycloak->options.realm);
}

struct error *keycloak_check(struct remote *remote, struct arena *arena)
{
    struct keycloak *keycloak = keycloak_of(remote);
    TRY(check_realm(keycloak, arena));
    TRY(check_login(keycloak, arena));
    TRY(check_service_account(keycloak, arena));
    TRY(check_rights(keycloak, arena));
    return check_profile(keycloak, arena);
}
