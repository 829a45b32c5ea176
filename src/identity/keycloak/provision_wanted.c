/* SPDX-License-Identifier: MIT */
/* Works out what a realm, its user profile and its clients must be like for Gatehouse, as JSON that Keycloak takes. */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "identity/keycloak/provision_int.h"

/* ---- names ----------------------------------------------------------------------------------------- */

/* for all of it: the administrator's token lives a minute */

const char *keycloak_wanted_realm_name(const struct configuration *configuration)
{
    return configuration->keycloak.realm != NULL ? configuration->keycloak.realm : KEYCLOAK_DEFAULT_REALM;
}

void keycloak_wanted_clients(const struct configuration *configuration, struct keycloak_client clients_out[2])
{
    const char *id = configuration->keycloak.client_id;
    const char *admin_id = configuration->keycloak.admin_client_id;
    clients_out[0] = (struct keycloak_client){.id = id != NULL ? id : KEYCLOAK_DEFAULT_CLIENT,
                                              .secret_file = configuration->keycloak.client_secret_file};
    clients_out[1] = (struct keycloak_client){.id = admin_id != NULL ? admin_id : KEYCLOAK_DEFAULT_ADMIN,
                                              .secret_file = configuration->keycloak.admin_client_secret_file,
                                              .manages = true};
}

/* ---- the realm ------------------------------------------------------------------------------------ */

static void want_flag(struct merge_patch *patch, const struct document *old, const char *name, bool flag)
{
    if (!json_is(old, name, flag))
        merge_patch_add(patch, name, json_boolean(flag));
}

static void want_number(struct merge_patch *patch, struct arena *arena, const struct document *old, const char *name,
                        int64_t number)
{
    int64_t found = number + 1;
    if (!document_integer(document_member(old, name), &found) || found != number)
        merge_patch_add(patch, name, arena_format(arena, "%lld", (long long)number));
}

/*
 * The password policy that is wanted, over the old one ("length(12) and digits(1)"). The length is ours. Parts that ask
 * nothing of the password stay. All others go; one that makes people change their passwords would become a required
 * action.
 */
static const char *policy_over(struct arena *arena, const char *old, int64_t least)
{
    static const char *const kept[] = {"hashIterations(", "hashAlgorithm(", NULL};
    struct buffer policy;
    buffer_init(&policy, arena);
    buffer_add_format(&policy, "length(%lld)", (long long)least);
    while (old != NULL && *old != '\0') {
        const char *end = strstr(old, " and ");
        size_t length = end != NULL ? (size_t)(end - old) : strlen(old);
        for (size_t i = 0; kept[i] != NULL; i++)
            if (strncmp(old, kept[i], strlen(kept[i])) == 0)
                buffer_add_format(&policy, " and %.*s", (int)length, old);
        old = end != NULL ? end + strlen(" and ") : old + length;
    }
    return policy.bytes;
}

void keycloak_wanted_realm(struct arena *arena, const struct configuration *configuration, const struct document *old,
                           struct merge_patch *patch)
{
    const char *found = document_text(document_member(old, "passwordPolicy"));
    const char *policy = policy_over(arena, found, configuration->password.minimum_length);
    const char *algorithm = document_text(document_member(old, "defaultSignatureAlgorithm"));
    want_flag(patch, old, "enabled", true);
    want_flag(patch, old, "verifyEmail", false);
    want_flag(patch, old, "loginWithEmailAllowed", true);
    want_flag(patch, old, "duplicateEmailsAllowed", false);
    /* The user name is the address, and follows it. */
    want_flag(patch, old, "editUsernameAllowed", true);
    want_number(patch, arena, old, "quickLoginCheckMilliSeconds", 0);
    want_number(patch, arena, old, "accessTokenLifespan", configuration->identity.access_token_seconds);
    want_number(patch, arena, old, "ssoSessionIdleTimeout", configuration->identity.refresh_token_seconds);
    want_number(patch, arena, old, "ssoSessionMaxLifespan", configuration->identity.refresh_token_seconds);
    if (found == NULL || strcmp(found, policy) != 0)
        merge_patch_add(patch, "passwordPolicy", json_text(arena, policy));
    if (algorithm == NULL || strcmp(algorithm, "RS256") != 0)
        merge_patch_add(patch, "defaultSignatureAlgorithm", "\"RS256\"");
    if (old != NULL)
        return;
    merge_patch_add(patch, "realm", json_text(arena, keycloak_wanted_realm_name(configuration)));
    merge_patch_add(patch, "registrationAllowed", "false");
    /* With brute-force detection Keycloak refuses logins of one account at the same time, even right ones. */
    merge_patch_add(patch, "bruteForceProtected", "false");
    merge_patch_add(patch, "sslRequired", "\"external\"");
}

/* ---- the user profile ----------------------------------------------------------------------------- */

#define EVERYBODY "{\"view\":[\"admin\",\"user\"],\"edit\":[\"admin\",\"user\"]}"
#define OURS "{\"view\":[\"admin\"],\"edit\":[\"admin\"]}"

static const struct {
    const char *name;
    const char *json;
    bool ours;
} attributes[] = {
    {"username",
     "{\"name\":\"username\",\"permissions\":" EVERYBODY
     ",\"validations\":{\"length\":{\"min\":3,\"max\":255}},\"multivalued\":false}",
     false},
    {"email",
     "{\"name\":\"email\",\"permissions\":" EVERYBODY
     ",\"validations\":{\"email\":{},\"length\":{\"max\":255}},\"multivalued\":false}",
     false},
    {"firstName",
     "{\"name\":\"firstName\",\"permissions\":" EVERYBODY
     ",\"validations\":{\"length\":{\"max\":255}},\"multivalued\":false}",
     false},
    {"lastName",
     "{\"name\":\"lastName\",\"permissions\":" EVERYBODY
     ",\"validations\":{\"length\":{\"max\":255}},\"multivalued\":false}",
     false},
    {"permissions",
     "{\"name\":\"permissions\",\"permissions\":" OURS
     ",\"validations\":{\"length\":{\"max\":" LIMIT_TEXT(LIMIT_PERMISSIONS_BYTES) "}},\"multivalued\":false}",
     true},
    {"svcUserId",
     "{\"name\":\"svcUserId\",\"permissions\":" OURS
     ",\"validations\":{\"length\":{\"max\":64}},\"multivalued\":false}",
     true},
    {"phoneNumber",
     "{\"name\":\"phoneNumber\",\"permissions\":" OURS
     ",\"validations\":{\"length\":{\"max\":32}},\"multivalued\":false}",
     true},
    {"phoneNumberVerified",
     "{\"name\":\"phoneNumberVerified\",\"permissions\":" OURS
     ",\"validations\":{\"length\":{\"max\":8}},\"multivalued\":false}",
     true},
};

#define ATTRIBUTES (sizeof attributes / sizeof *attributes)

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (attributes[i].ours && strcmp(attributes[i].name, name) == 0)
            return true;
    return false;
}

/* Whether the attribute is declared, and only administrators may write it. */
static bool is_right(const struct document *one)
{
    const struct document *edit = document_member(document_member(one, "permissions"), "edit");
    return one != NULL && json_array_has(edit, "admin") && !json_array_has(edit, "user");
}

/* Whether the attribute is required. Nobody could sign in before it was filled in. */
static bool is_demanded(const struct document *one)
{
    return one != NULL && document_member(one, "required") != NULL;
}

static bool profile_is_right(const struct document *list)
{
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (attributes[i].ours && !is_right(json_find(list, "name", attributes[i].name)))
            return false;
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *name = document_text(document_member(one, "name"));
        if (name != NULL && strcmp(name, "username") != 0 && strcmp(name, "email") != 0 && is_demanded(one))
            return false;
    }
    return true;
}

static const char *attributes_over(struct arena *arena, const struct document *list)
{
    struct buffer json;
    buffer_init(&json, arena);
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *name = document_text(document_member(one, "name"));
        struct merge_patch patch = {.count = 0};
        if (name == NULL || (is_ours(name) && !is_right(one)))
            continue;
        if (strcmp(name, "username") != 0 && strcmp(name, "email") != 0)
            merge_patch_add(&patch, "required", NULL);
        buffer_add_char(&json, json.length == 0 ? '[' : ',');
        buffer_add_text(&json, merge_patch_apply(arena, &patch, one, NULL));
    }
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        const struct document *one = json_find(list, "name", attributes[i].name);
        if (attributes[i].ours ? is_right(one) : list != NULL)
            continue;
        buffer_add_char(&json, json.length == 0 ? '[' : ',');
        buffer_add_text(&json, attributes[i].json);
    }
    buffer_add_char(&json, ']');
    return json.bytes;
}

const char *keycloak_wanted_profile(struct arena *arena, const struct document *old)
{
    const struct document *list = document_member(old, "attributes");
    struct merge_patch patch = {.count = 0};
    if (old != NULL && profile_is_right(list))
        return NULL;
    merge_patch_add(&patch, "attributes", attributes_over(arena, list));
    return merge_patch_apply(arena, &patch, old, NULL);
}

/* ---- clients -------------------------------------------------------------------------------------- */

void keycloak_wanted_client(const struct keycloak_client *client, const struct document *old, struct merge_patch *patch)
{
    want_flag(patch, old, "enabled", true);
    want_flag(patch, old, "publicClient", false);
    want_flag(patch, old, "bearerOnly", false);
    want_flag(patch, old, "standardFlowEnabled", false);
    want_flag(patch, old, "implicitFlowEnabled", false);
    want_flag(patch, old, "directAccessGrantsEnabled", !client->manages);
    want_flag(patch, old, "serviceAccountsEnabled", client->manages);
}
