/* SPDX-License-Identifier: MIT */
/*
 * A realm as Gatehouse wants it, made by an administrator of the realm "master". What a representation leaves out Keycloak
 * leaves as it is, so only what is to change is sent; the user profile and a client are replaced as a whole.
 */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "codec/encoding.h"
#include "identity/keycloak/provision_int.h"

#define MILLISECONDS 50000 

/* ---- the realm ------------------------------------------------------------------------------------ */

static struct error *make_realm(struct keycloak_setup *task, struct arena *arena)
{
    struct wanted wanted = {.count = 0};
    keycloak_wanted_realm(arena, task->configuration, NULL, &wanted);
    TRY(keycloak_setup_call_at(task, arena, "POST", arena_format(arena, "%s/admin/realms", task->configuration->keycloak.url),
                wanted_merge(arena, &wanted, NULL, NULL), NULL));
    setup_tell(task->setup, arena, PROVIDER_DEED_MADE, "the realm %s", task->realm);
    /* The token from before knows nothing of the rights in the new realm. */
    return keycloak_setup_sign_in(task, arena);
}

static struct error *mend_realm(struct keycloak_setup *task, struct arena *arena)
{
    const struct document *realm = NULL;
    struct wanted wanted = {.count = 0};
    TRY(keycloak_setup_call(task, arena, "GET", "", NULL, &realm));
    if (realm == NULL)
        return make_realm(task, arena);
    if (setup_is(realm, "bruteForceProtected", true))
        setup_tell(task->setup, arena, PROVIDER_DEED_LEFT,
                   "the brute-force detection of the realm %s, which is on and refuses logins of one account at the same time",
                   task->realm);
    keycloak_wanted_realm(arena, task->configuration, realm, &wanted);
    if (wanted.count == 0) {
        setup_tell(task->setup, arena, PROVIDER_DEED_LEFT, "the realm %s", task->realm);
        return NULL;
    }
    TRY(keycloak_setup_call(task, arena, "PUT", "", wanted_merge(arena, &wanted, NULL, NULL), NULL));
    setup_tell(task->setup, arena, PROVIDER_DEED_CHANGED, "the realm %s: %s", task->realm, wanted_names(arena, &wanted));
    return NULL;
}

static struct error *mend_profile(struct keycloak_setup *task, struct arena *arena)
{
    const struct document *profile = NULL;
    TRY(keycloak_setup_call(task, arena, "GET", "/users/profile", NULL, &profile));
    if (profile == NULL)
        return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE),
                             "Keycloak knows no user profile; is it older than 24?");
    const char *better = keycloak_wanted_profile(arena, profile);
    if (better != NULL)
        TRY(keycloak_setup_call(task, arena, "PUT", "/users/profile", better, NULL));
    setup_tell(task->setup, arena, better != NULL ? PROVIDER_DEED_CHANGED : PROVIDER_DEED_LEFT,
               "the user profile of the realm %s", task->realm);
    return NULL;
}

/*
 * Actions that every new account would have to do first keep people out of Gatehouse; the two that it uses itself must be
 * there.
 */
static struct error *mend_action(struct keycloak_setup *task, struct arena *arena, const struct document *action)
{
    struct wanted wanted = {.count = 0};
    const char *alias = document_text(document_member(action, "alias"));
    bool used = alias != NULL && (strcmp(alias, KEYCLOAK_UPDATE_PASSWORD) == 0 || strcmp(alias, KEYCLOAK_VERIFY_EMAIL) == 0);
    if (alias == NULL)
        return NULL;
    if (setup_is(action, "defaultAction", true))
        wanted_add(&wanted, "defaultAction", "false");
    if (used && setup_is(action, "enabled", false))
        wanted_add(&wanted, "enabled", "true");
    if (wanted.count == 0)
        return NULL;
    const char *path = arena_format(arena, "/authentication/required-actions/%s", percent_encode(arena, alias, strlen(alias)));
    TRY(keycloak_setup_call(task, arena, "PUT", path, wanted_merge(arena, &wanted, action, NULL), NULL));
    setup_tell(task->setup, arena, PROVIDER_DEED_CHANGED, "the required action %s: %s", alias, wanted_names(arena, &wanted));
    return NULL;
}

static struct error *mend_actions(struct keycloak_setup *task, struct arena *arena)
{
    const struct document *actions = NULL;
    TRY(keycloak_setup_call(task, arena, "GET", "/authentication/required-actions", NULL, &actions));
    for (const struct document *one = document_first(actions); one != NULL; one = document_next(one))
        TRY(mend_action(task, arena, one));
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static struct error *run(struct keycloak_setup *task, struct arena *arena)
{
    struct keycloak_client clients[2];
    keycloak_setup_clients(task->configuration, clients);
    outside_start(&task->keycloak->outside, MILLISECONDS);
    TRY(keycloak_setup_sign_in(task, arena));
    TRY(mend_realm(task, arena));
    TRY(mend_profile(task, arena));
    TRY(mend_actions(task, arena));
    for (size_t i = 0; i < 2; i++)
        TRY(keycloak_setup_client(task, arena, &clients[i]));
    return NULL;
}

/* A provider that nobody signs in with: only its calls are wanted. */
static struct error *open_provider(struct arena *arena, const struct provider_setup *setup, struct provider **provider_out)
{
    const struct configuration *configuration = setup->configuration;
    struct outside_options outside = {.ca_file = configuration->keycloak.ca_file, .calls_max = 1};
    struct keycloak_options options = {
        .url = configuration->keycloak.url,
        .realm = keycloak_setup_realm_name(configuration),
        .issuer = configuration->keycloak.url,
        .keys_url = configuration->keycloak.url,
    };
    return keycloak_new(arena, &outside, &options, provider_out);
}

struct error *keycloak_setup_apply(struct arena *arena, const struct provider_setup *setup, const char **settings_out)
{
    struct provider *provider;
    struct keycloak_client clients[2];
    const struct configuration *configuration = setup->configuration;
    TRY(setup_need(arena, "url in [keycloak]", configuration->keycloak.url));
    TRY(setup_need(arena, "client_secret_file in [keycloak]", configuration->keycloak.client_secret_file));
    TRY(setup_need(arena, "admin_client_secret_file in [keycloak]", configuration->keycloak.admin_client_secret_file));
    TRY(setup_need(arena, "--as (an administrator of the realm master)", setup->as));
    TRY(setup_need(arena, "--secret-file (with the password)", setup->secret_file));
    TRY(open_provider(arena, setup, &provider));
    const char *realm = keycloak_setup_realm_name(configuration);
    struct keycloak_setup task = {
        .setup = setup,
        .configuration = configuration,
        .keycloak = keycloak_of(outside_of(provider)),
        .realm = realm,
        .base = arena_format(arena, "%s/admin/realms/%s", configuration->keycloak.url,
                             percent_encode(arena, realm, strlen(realm))),
    };
    struct error *error = run(&task, arena);
    provider_free(&provider);
    keycloak_setup_clients(configuration, clients);
    if (error == NULL)
        *settings_out = arena_format(arena, "[keycloak]\nrealm = %s\nclient_id = %s\nadmin_client_id = %s\n", realm,
                                     clients[0].id, clients[1].id);
    return error;
}

/* ---- in words ------------------------------------------------------------------------------------- */

static struct error *client_json(struct arena *arena, const struct provider_setup *setup,
                                 const struct keycloak_client *client, const char **json_out)
{
    struct wanted wanted = {.count = 0};
    struct secret secret = {0};
    bool found = false;
    wanted_add(&wanted, "clientId", keycloak_json_text(arena, client->id));
    keycloak_wanted_client(client, NULL, &wanted);
    if (setup->show_secrets)
        TRY(setup_read_secret(arena, client->secret_file, &secret, &found));
    if (found)
        wanted_add(&wanted, "secret", keycloak_json_text(arena, secret_reveal(secret)));
    *json_out = wanted_merge(arena, &wanted, NULL, NULL);
    return NULL;
}

static const char *account_json(struct arena *arena, const struct keycloak_client *client)
{
    struct buffer json;
    buffer_init(&json, arena);
    buffer_add_format(&json, "{\"username\":%s,\"enabled\":true,\"serviceAccountClientId\":%s,\"clientRoles\":{\""
                             KEYCLOAK_MANAGEMENT "\":[",
                      keycloak_json_text(arena, arena_format(arena, "service-account-%s", client->id)),
                      keycloak_json_text(arena, client->id));
    for (size_t i = 0; keycloak_setup_roles[i] != NULL; i++)
        buffer_add_format(&json, "%s\"%s\"", i == 0 ? "" : ",", keycloak_setup_roles[i]);
    buffer_add_text(&json, "]}}");
    return json.bytes;
}

/* A realm as an import takes it, whole. */
static struct error *realm_json(struct arena *arena, const struct provider_setup *setup, const char **json_out)
{
    struct keycloak_client clients[2];
    struct wanted wanted = {.count = 0};
    const char *texts[2];
    keycloak_setup_clients(setup->configuration, clients);
    keycloak_wanted_realm(arena, setup->configuration, NULL, &wanted);
    for (size_t i = 0; i < 2; i++)
        TRY(client_json(arena, setup, &clients[i], &texts[i]));
    wanted_add(&wanted, "clients", arena_format(arena, "[%s,%s]", texts[0], texts[1]));
    wanted_add(&wanted, "users", arena_format(arena, "[%s]", account_json(arena, &clients[1])));
    wanted_add(&wanted, "components",
               arena_format(arena,
                            "{\"org.keycloak.userprofile.UserProfileProvider\":[{\"providerId\":\"declarative-user-profile\","
                            "\"config\":{\"kc.user.profile.config\":[%s]}}]}",
                            keycloak_json_text(arena, keycloak_wanted_profile(arena, NULL))));
    *json_out = setup_pretty(arena, wanted_merge(arena, &wanted, NULL, NULL));
    return NULL;
}

struct error *keycloak_setup_describe(struct arena *arena, const struct provider_setup *setup, const char **text_out)
{
    const char *json;
    const char *url = setup->configuration->keycloak.url;
    TRY(realm_json(arena, setup, &json));
    *text_out = arena_format(arena, "%s\n", json);
    if (setup->shell)
        *text_out = arena_format(arena,
                                 "kcadm.sh config credentials --server %s --realm master --user %s\n"
                                 "kcadm.sh create realms -f - <<'EOF'\n%s\nEOF\n",
                                 setup_quote(arena, url != NULL ? url : "https://keycloak.example.org"),
                                 setup_quote(arena, setup->as != NULL ? setup->as : "admin"), json);
    return NULL;
}
