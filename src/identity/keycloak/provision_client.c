/* SPDX-License-Identifier: MIT */
/*
 * Provisions a client of the realm: makes or corrects it, stores its secret, and gives its service account the roles.
 */
#include <string.h>

#include "base/arena.h"
#include "codec/encoding.h"
#include "identity/keycloak/provision_int.h"

/* Finds a client by its client id; *client_out is NULL where there is none. */
static struct error *find(struct keycloak_provision *task, struct arena *arena, const char *name,
                          const struct document **client_out)
{
    const struct document *list = NULL;
    const char *path = arena_format(arena, "/clients?clientId=%s", percent_encode(arena, name, strlen(name)));
    TRY(keycloak_provision_call(task, arena, "GET", path, NULL, &list));
    *client_out = json_find(list, "clientId", name);
    return NULL;
}

/* Makes the client. A secret that its file holds already becomes the client's. */
static struct error *make(struct keycloak_provision *task, struct arena *arena, const struct keycloak_client *client)
{
    struct merge_patch patch = {.count = 0};
    struct secret secret = {0};
    bool found = false;
    TRY(provision_read_secret(arena, client->secret_file, &secret, &found));
    merge_patch_add(&patch, "clientId", json_text(arena, client->id));
    merge_patch_add(&patch, "protocol", "\"openid-connect\"");
    keycloak_wanted_client(client, NULL, &patch);
    if (found)
        merge_patch_add(&patch, "secret", json_text(arena, secret_reveal(secret)));
    TRY(keycloak_provision_call(task, arena, "POST", "/clients", merge_patch_apply(arena, &patch, NULL, NULL), NULL));
    provision_tell(task->provision, arena, PROVISION_MADE, "the client %s", client->id);
    return NULL;
}

static struct error *update_if_wrong(struct keycloak_provision *task, struct arena *arena,
                                     const struct keycloak_client *client, const struct document *old, const char *path)
{
    struct merge_patch patch = {.count = 0};
    keycloak_wanted_client(client, old, &patch);
    if (patch.count == 0) {
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the client %s", client->id);
        return NULL;
    }
    TRY(keycloak_provision_call(task, arena, "PUT", path, merge_patch_apply(arena, &patch, old, NULL), NULL));
    provision_tell(task->provision, arena, PROVISION_CHANGED, "the client %s: %s", client->id,
                   merge_patch_names(arena, &patch));
    return NULL;
}

static struct error *store_secret(struct keycloak_provision *task, struct arena *arena,
                                  const struct keycloak_client *client, const char *path)
{
    const struct document *answer = NULL;
    const char *at = arena_format(arena, "%s/client-secret", path);
    TRY(keycloak_provision_call(task, arena, "GET", at, NULL, &answer));
    const char *secret = document_text(document_member(answer, "value"));
    if (secret == NULL) {
        TRY(keycloak_provision_call(task, arena, "POST", at, NULL, &answer));
        secret = document_text(document_member(answer, "value"));
    }
    if (secret == NULL)
        return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE),
                             "Keycloak does not give the secret of the client %s.", client->id);
    if (task->provision->show_secrets)
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the secret of the client %s is %s", client->id,
                       secret);
    return provision_store_secret(task->provision, arena, arena_format(arena, "the client %s", client->id),
                                  client->secret_file, secret);
}

/* ---- rights --------------------------------------------------------------------------------------- */

/* Whether the role allows no more than the role that is needed. */
static bool is_harmless(const char *name)
{
    static const char *const names[] = {"manage-users", "view-users", "query-users", "query-groups"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Tells the operator of roles that are not needed. It does not take them away, since others may rely on them. */
static void tell_surplus(struct keycloak_provision *task, struct arena *arena, const struct keycloak_client *client,
                         const struct document *held)
{
    for (const struct document *one = document_first(held); one != NULL; one = document_next(one)) {
        const char *name = document_text(document_member(one, "name"));
        if (name != NULL && !is_harmless(name))
            provision_tell(task->provision, arena, PROVISION_WRONG,
                           "the service account of %s has the role %s, which Gatehouse does not need: take it away",
                           client->id, name);
    }
}

static struct error *give_role(struct keycloak_provision *task, struct arena *arena,
                               const struct keycloak_client *client, const char *mappings, const char *management)
{
    const struct document *held = NULL, *known = NULL;
    struct buffer json;
    TRY(keycloak_provision_call(task, arena, "GET", mappings, NULL, &held));
    TRY(keycloak_provision_call(task, arena, "GET", arena_format(arena, "/clients/%s/roles", management), NULL,
                                &known));
    tell_surplus(task, arena, client, held);
    if (json_find(held, "name", KEYCLOAK_ROLE) != NULL) {
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the roles of the service account of %s",
                       client->id);
        return NULL;
    }
    const struct document *role = json_find(known, "name", KEYCLOAK_ROLE);
    if (role == NULL)
        return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE),
                             "Keycloak does not give the role " KEYCLOAK_ROLE " of " KEYCLOAK_MANAGEMENT ".");
    buffer_init(&json, arena);
    buffer_add_char(&json, '[');
    document_write(role, -1, &json);
    buffer_add_char(&json, ']');
    TRY(keycloak_provision_call(task, arena, "POST", mappings, json.bytes, NULL));
    provision_tell(task->provision, arena, PROVISION_CHANGED, "the roles of the service account of %s: " KEYCLOAK_ROLE,
                   client->id);
    return NULL;
}

static struct error *ensure_role(struct keycloak_provision *task, struct arena *arena,
                                 const struct keycloak_client *client, const char *path)
{
    const struct document *account = NULL, *management = NULL;
    TRY(keycloak_provision_call(task, arena, "GET", arena_format(arena, "%s/service-account-user", path), NULL,
                                &account));
    TRY(find(task, arena, KEYCLOAK_MANAGEMENT, &management));
    const char *user = document_text(document_member(account, "id"));
    const char *id = document_text(document_member(management, "id"));
    if (user == NULL || id == NULL)
        return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE),
                             "Keycloak does not give the service account of the client %s.", client->id);
    return give_role(task, arena, client, arena_format(arena, "/users/%s/role-mappings/clients/%s", user, id), id);
}

struct error *keycloak_provision_client(struct keycloak_provision *task, struct arena *arena,
                                        const struct keycloak_client *client)
{
    const struct document *found;
    TRY(find(task, arena, client->id, &found));
    bool made = found == NULL;
    if (made) {
        TRY(make(task, arena, client));
        TRY(find(task, arena, client->id, &found));
    }
    const char *id = document_text(document_member(found, "id"));
    if (id == NULL)
        return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE), "Keycloak does not give the client %s.",
                             client->id);
    const char *path = arena_format(arena, "/clients/%s", id);
    if (!made)
        TRY(update_if_wrong(task, arena, client, found, path));
    TRY(store_secret(task, arena, client, path));
    return client->manages ? ensure_role(task, arena, client, path) : NULL;
}
