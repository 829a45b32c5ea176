/* SPDX-License-Identifier: MIT */
/*
 * Provisions a realm: as an administrator of the realm "master" it makes the realm, its user profile, its required
 * actions and its two clients as Gatehouse needs them, or corrects what is there.
 *
 * Keycloak leaves as it is what an update leaves out, so only what is to change is sent. The user profile and a client
 * are replaced as a whole.
 */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "codec/encoding.h"
#include "identity/keycloak/provision_int.h"
#include "identity/provider_provision_int.h"

#define MILLISECONDS 50000

/* ---- the realm ------------------------------------------------------------------------------------ */

static struct error *make_realm(struct keycloak_provision *task, struct arena *arena)
{
    struct merge_patch patch = {.count = 0};
    keycloak_wanted_realm(arena, task->configuration, NULL, &patch);
    TRY(keycloak_provision_call_at(task, arena, "POST",
                                   arena_format(arena, "%s/admin/realms", task->configuration->keycloak.url),
                                   merge_patch_apply(arena, &patch, NULL, NULL), NULL));
    provision_tell(task->provision, arena, PROVISION_MADE, "the realm %s", task->realm);
    /* The token that we have was made before the realm and holds no rights in it. */
    return keycloak_provision_sign_in(task, arena);
}

static struct error *ensure_realm(struct keycloak_provision *task, struct arena *arena)
{
    const struct document *realm = NULL;
    struct merge_patch patch = {.count = 0};
    TRY(keycloak_provision_call(task, arena, "GET", "", NULL, &realm));
    if (realm == NULL)
        return make_realm(task, arena);
    if (json_is(realm, "bruteForceProtected", true))
        provision_tell(
            task->provision, arena, PROVISION_UNCHANGED,
            "the brute-force detection of the realm %s, which is on and refuses logins of one account at the same time",
            task->realm);
    keycloak_wanted_realm(arena, task->configuration, realm, &patch);
    if (patch.count == 0) {
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the realm %s", task->realm);
        return NULL;
    }
    TRY(keycloak_provision_call(task, arena, "PUT", "", merge_patch_apply(arena, &patch, NULL, NULL), NULL));
    provision_tell(task->provision, arena, PROVISION_CHANGED, "the realm %s: %s", task->realm,
                   merge_patch_names(arena, &patch));
    return NULL;
}

static struct error *ensure_profile(struct keycloak_provision *task, struct arena *arena)
{
    const struct document *profile = NULL;
    TRY(keycloak_provision_call(task, arena, "GET", "/users/profile", NULL, &profile));
    if (profile == NULL)
        return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE),
                             "Keycloak knows no user profile; is it older than 24?");
    const char *better = keycloak_wanted_profile(arena, profile);
    if (better != NULL)
        TRY(keycloak_provision_call(task, arena, "PUT", "/users/profile", better, NULL));
    provision_tell(task->provision, arena, better != NULL ? PROVISION_CHANGED : PROVISION_UNCHANGED,
                   "the user profile of the realm %s", task->realm);
    return NULL;
}

/*
 * Corrects a required action. One that every new account must carry out first would keep people out of Gatehouse. The
 * two that Gatehouse itself uses must be enabled.
 */
static struct error *ensure_action(struct keycloak_provision *task, struct arena *arena, const struct document *action)
{
    struct merge_patch patch = {.count = 0};
    const char *alias = document_text(document_member(action, "alias"));
    bool used =
        alias != NULL && (strcmp(alias, KEYCLOAK_UPDATE_PASSWORD) == 0 || strcmp(alias, KEYCLOAK_VERIFY_EMAIL) == 0);
    if (alias == NULL)
        return NULL;
    if (json_is(action, "defaultAction", true))
        merge_patch_add(&patch, "defaultAction", "false");
    if (used && json_is(action, "enabled", false))
        merge_patch_add(&patch, "enabled", "true");
    if (patch.count == 0)
        return NULL;
    const char *path =
        arena_format(arena, "/authentication/required-actions/%s", percent_encode(arena, alias, strlen(alias)));
    TRY(keycloak_provision_call(task, arena, "PUT", path, merge_patch_apply(arena, &patch, action, NULL), NULL));
    provision_tell(task->provision, arena, PROVISION_CHANGED, "the required action %s: %s", alias,
                   merge_patch_names(arena, &patch));
    return NULL;
}

static struct error *ensure_actions(struct keycloak_provision *task, struct arena *arena)
{
    const struct document *actions = NULL;
    TRY(keycloak_provision_call(task, arena, "GET", "/authentication/required-actions", NULL, &actions));
    for (const struct document *one = document_first(actions); one != NULL; one = document_next(one))
        TRY(ensure_action(task, arena, one));
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static struct error *run(struct keycloak_provision *task, struct arena *arena)
{
    struct keycloak_client clients[2];
    keycloak_wanted_clients(task->configuration, clients);
    remote_start(&task->keycloak->remote, MILLISECONDS);
    TRY(keycloak_provision_sign_in(task, arena));
    TRY(ensure_realm(task, arena));
    TRY(ensure_profile(task, arena));
    TRY(ensure_actions(task, arena));
    for (size_t i = 0; i < 2; i++)
        TRY(keycloak_provision_client(task, arena, &clients[i]));
    return NULL;
}

/* Makes a provider only for its calls; nobody signs in with it. */
static struct error *open_provider(struct arena *arena, const struct provider_provision *provision,
                                   struct provider **provider_out)
{
    const struct configuration *configuration = provision->configuration;
    struct remote_options remote = {.ca_file = configuration->keycloak.ca_file, .calls_max = 1};
    struct keycloak_options options = {
        .url = configuration->keycloak.url,
        .realm = keycloak_wanted_realm_name(configuration),
        .issuer = configuration->keycloak.url,
        .keys_url = configuration->keycloak.url,
    };
    return keycloak_new(arena, &remote, &options, provider_out);
}

struct error *keycloak_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                       const char **settings_out)
{
    struct provider *provider;
    struct keycloak_client clients[2];
    const struct configuration *configuration = provision->configuration;
    TRY(provision_need(arena, "url in [keycloak]", configuration->keycloak.url));
    TRY(provision_need(arena, "client_secret_file in [keycloak]", configuration->keycloak.client_secret_file));
    TRY(provision_need(arena, "admin_client_secret_file in [keycloak]",
                       configuration->keycloak.admin_client_secret_file));
    TRY(provision_need(arena, "--as (an administrator of the realm master)", provision->as));
    TRY(provision_need(arena, "--secret-file (with the password)", provision->secret_file));
    TRY(open_provider(arena, provision, &provider));
    const char *realm = keycloak_wanted_realm_name(configuration);
    struct keycloak_provision task = {
        .provision = provision,
        .configuration = configuration,
        .keycloak = keycloak_of(remote_of(provider)),
        .realm = realm,
        .base = arena_format(arena, "%s/admin/realms/%s", configuration->keycloak.url,
                             percent_encode(arena, realm, strlen(realm))),
    };
    struct error *error = run(&task, arena);
    provider_free(&provider);
    keycloak_wanted_clients(configuration, clients);
    if (error == NULL)
        *settings_out = arena_format(arena, "[keycloak]\nrealm = %s\nclient_id = %s\nadmin_client_id = %s\n", realm,
                                     clients[0].id, clients[1].id);
    return error;
}

/* ---- in words ------------------------------------------------------------------------------------- */

static struct error *client_json(struct arena *arena, const struct provider_provision *provision,
                                 const struct keycloak_client *client, const char **json_out)
{
    struct merge_patch patch = {.count = 0};
    struct secret secret = {0};
    bool found = false;
    merge_patch_add(&patch, "clientId", json_text(arena, client->id));
    keycloak_wanted_client(client, NULL, &patch);
    if (provision->show_secrets)
        TRY(provision_read_secret(arena, client->secret_file, &secret, &found));
    if (found)
        merge_patch_add(&patch, "secret", json_text(arena, secret_reveal(secret)));
    *json_out = merge_patch_apply(arena, &patch, NULL, NULL);
    return NULL;
}

static const char *account_json(struct arena *arena, const struct keycloak_client *client)
{
    return arena_format(
        arena,
        "{\"username\":%s,\"enabled\":true,\"serviceAccountClientId\":%s,\"clientRoles\":{\"" KEYCLOAK_MANAGEMENT
        "\":[\"" KEYCLOAK_ROLE "\"]}}",
        json_text(arena, arena_format(arena, "service-account-%s", client->id)), json_text(arena, client->id));
}

/* Writes the whole realm as an import of Keycloak takes it. */
static struct error *realm_json(struct arena *arena, const struct provider_provision *provision, const char **json_out)
{
    struct keycloak_client clients[2];
    struct merge_patch patch = {.count = 0};
    const char *texts[2];
    keycloak_wanted_clients(provision->configuration, clients);
    keycloak_wanted_realm(arena, provision->configuration, NULL, &patch);
    for (size_t i = 0; i < 2; i++)
        TRY(client_json(arena, provision, &clients[i], &texts[i]));
    merge_patch_add(&patch, "clients", arena_format(arena, "[%s,%s]", texts[0], texts[1]));
    merge_patch_add(&patch, "users", arena_format(arena, "[%s]", account_json(arena, &clients[1])));
    merge_patch_add(
        &patch, "components",
        arena_format(arena,
                     "{\"org.keycloak.userprofile.UserProfileProvider\":[{\"providerId\":\"declarative-user-profile\","
                     "\"config\":{\"kc.user.profile.config\":[%s]}}]}",
                     json_text(arena, keycloak_wanted_profile(arena, NULL))));
    *json_out = json_pretty(arena, merge_patch_apply(arena, &patch, NULL, NULL));
    return NULL;
}

struct error *keycloak_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                          const char **text_out)
{
    const char *json;
    const char *url = provision->configuration->keycloak.url;
    TRY(realm_json(arena, provision, &json));
    *text_out = arena_format(arena, "%s\n", json);
    if (provision->shell)
        *text_out = arena_format(arena,
                                 "kcadm.sh config credentials --server %s --realm master --user %s\n"
                                 "kcadm.sh create realms -f - <<'EOF'\n%s\nEOF\n",
                                 shell_quote(arena, url != NULL ? url : "https://keycloak.example.org"),
                                 shell_quote(arena, provision->as != NULL ? provision->as : "admin"), json);
    return NULL;
}
