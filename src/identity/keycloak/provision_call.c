/* SPDX-License-Identifier: MIT */
/* Makes the calls that provision a realm, as an administrator of the realm "master". */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "identity/keycloak/provision_int.h"

struct error *keycloak_provision_sign_in(struct keycloak_provision *task, struct arena *arena)
{
    struct keycloak_call call;
    struct secret password;
    TRY(secret_read(arena, task->provision->secret_file, &password));
    keycloak_url_begin(
        arena, "POST",
        arena_format(arena, "%s/realms/master/protocol/openid-connect/token", task->configuration->keycloak.url),
        &call);
    call.name = "token of the administrator";
    call.once = true;
    keycloak_form_add(&call, "grant_type", "password");
    keycloak_form_add(&call, "client_id", "admin-cli");
    keycloak_form_add(&call, "username", task->provision->as);
    keycloak_form_add(&call, "password", secret_reveal(password));
    struct error *error = keycloak_form_call(task->keycloak, arena, &call);
    if (error != NULL)
        return error_message(error, "Keycloak does not answer at %s.", task->configuration->keycloak.url);
    task->token = document_text(document_member(call.answer, "access_token"));
    if (call.status == 200 && task->token != NULL)
        return NULL;
    return error_message(
        keycloak_unexpected(arena, &call),
        "Keycloak does not let %s in. Is it an administrator of the realm master, and the password in %s right?",
        task->provision->as, task->provision->secret_file);
}

struct error *keycloak_provision_call_at(struct keycloak_provision *task, struct arena *arena, const char *method,
                                         const char *url, const char *json, const struct document **answer_out)
{
    struct keycloak_call call;
    keycloak_url_begin(arena, method, url, &call);
    call.once = strcmp(method, "POST") == 0;
    if (json != NULL)
        buffer_add_text(&call.body, json);
    struct error *error = keycloak_bearer_call(task->keycloak, arena, &call, task->token);
    if (error == NULL && call.status >= 300 && call.status != 404)
        error = keycloak_unexpected(arena, &call);
    if (answer_out != NULL)
        *answer_out = call.status == 404 ? NULL : call.answer;
    else if (error == NULL && call.status == 404)
        error = keycloak_unexpected(arena, &call);
    return error == NULL ? NULL : error_message(error, "Keycloak did not carry out %s %s.", method, url);
}

struct error *keycloak_provision_call(struct keycloak_provision *task, struct arena *arena, const char *method,
                                      const char *path, const char *json, const struct document **answer_out)
{
    return keycloak_provision_call_at(task, arena, method, arena_format(arena, "%s%s", task->base, path), json,
                                      answer_out);
}
