/* SPDX-License-Identifier: MIT */
/* Works out what a pool and its app client must be like for Gatehouse, as JSON that Cognito takes. */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "identity/cognito/provision_int.h"

#define MINUTE 60
#define DAY 86400
#define POLICY_LENGTH_MAX 99

static const char *json_number(struct arena *arena, int64_t number)
{
    return arena_format(arena, "%lld", (long long)number);
}

/* A duration as Cognito takes it. */
struct duration {
    int64_t number;
    const char *unit; /* "seconds", "minutes" or "days" */
};

static struct duration duration_of(int64_t seconds, int64_t least)
{
    if (seconds < least)
        seconds = least;
    if (seconds % DAY == 0)
        return (struct duration){seconds / DAY, "days"};
    if (seconds % MINUTE == 0)
        return (struct duration){seconds / MINUTE, "minutes"};
    return (struct duration){seconds, "seconds"};
}

/* ---- the pool ------------------------------------------------------------------------------------- */

static const char *const attributes[][2] = {
    {"permissions",
     "{\"Name\":\"permissions\",\"AttributeDataType\":\"String\",\"Mutable\":true,"
     "\"StringAttributeConstraints\":{\"MinLength\":\"0\",\"MaxLength\":\"" LIMIT_TEXT(LIMIT_PERMISSIONS_BYTES) "\"}}"},
    {"svc_user_id", "{\"Name\":\"svc_user_id\",\"AttributeDataType\":\"String\",\"Mutable\":true,"
                    "\"StringAttributeConstraints\":{\"MinLength\":\"0\",\"MaxLength\":\"64\"}}"},
};

const char *cognito_wanted_attribute(struct arena *arena, const char *name)
{
    return arena_format(arena, "[%s]", attributes[strcmp(attributes[0][0], name) == 0 ? 0 : 1][1]);
}

/*
 * The policy is as strict as we are about the length, and asks for nothing else. A shorter length of the old one stays.
 */
const char *cognito_wanted_policy(struct arena *arena, const struct configuration *configuration,
                                  const struct document *old)
{
    static const char *const kinds[] = {"RequireUppercase", "RequireLowercase", "RequireNumbers", "RequireSymbols"};
    struct merge_patch patch = {.count = 0};
    int64_t least = configuration->password.minimum_length;
    int64_t days = (configuration->identity.temporary_password_seconds + DAY - 1) / DAY;
    int64_t number = 0;
    least = least > POLICY_LENGTH_MAX ? POLICY_LENGTH_MAX : least;
    if (!document_integer(document_member(old, "MinimumLength"), &number) || number > least)
        merge_patch_add(&patch, "MinimumLength", json_number(arena, least));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!json_is(old, kinds[i], false))
            merge_patch_add(&patch, kinds[i], "false");
    number = 0;
    if (!document_integer(document_member(old, "TemporaryPasswordValidityDays"), &number) || number < days)
        merge_patch_add(&patch, "TemporaryPasswordValidityDays", json_number(arena, days));
    return old != NULL && patch.count == 0 ? NULL : merge_patch_apply(arena, &patch, old, NULL);
}

bool cognito_wanted_codes(const struct configuration *configuration)
{
    return strcmp(configuration->identity.codes, "provider") == 0;
}

/* An empty list of AutoVerifiedAttributes means the same as none, but cognito-local does not take it. */
const char *cognito_wanted_pool(struct arena *arena, const struct provider_provision *provision)
{
    struct merge_patch patch = {.count = 0};
    merge_patch_add(&patch, "PoolName",
                    json_text(arena, provision->name != NULL ? provision->name : COGNITO_DEFAULT_NAME));
    merge_patch_add(&patch, "UsernameAttributes", "[\"email\"]");
    merge_patch_add(&patch, "UsernameConfiguration", "{\"CaseSensitive\":false}");
    bool codes = cognito_wanted_codes(provision->configuration);
    if (codes)
        merge_patch_add(&patch, "AutoVerifiedAttributes", "[\"email\"]");
    merge_patch_add(&patch, "MfaConfiguration", "\"OFF\"");
    merge_patch_add(&patch, "AdminCreateUserConfig", "{\"AllowAdminCreateUserOnly\":false}");
    merge_patch_add(&patch, "AccountRecoverySetting", codes ? COGNITO_RECOVERY_BY_EMAIL : COGNITO_RECOVERY_BY_US);
    merge_patch_add(
        &patch, "Policies",
        arena_format(arena, "{\"PasswordPolicy\":%s}", cognito_wanted_policy(arena, provision->configuration, NULL)));
    merge_patch_add(
        &patch, "Schema",
        arena_format(arena,
                     "[{\"Name\":\"email\",\"AttributeDataType\":\"String\",\"Required\":true,\"Mutable\":true},"
                     "%s,%s]",
                     attributes[0][1], attributes[1][1]));
    return merge_patch_apply(arena, &patch, NULL, NULL);
}

/* ---- the app client ------------------------------------------------------------------------------- */

const char *cognito_wanted_client(struct arena *arena, const struct provider_provision *provision, const char *pool_id)
{
    const struct configuration *configuration = provision->configuration;
    struct duration access = duration_of(configuration->identity.access_token_seconds, COGNITO_ACCESS_LEAST);
    struct duration refresh = duration_of(configuration->identity.refresh_token_seconds, COGNITO_REFRESH_LEAST);
    struct merge_patch patch = {.count = 0};
    if (pool_id != NULL)
        merge_patch_add(&patch, "UserPoolId", json_text(arena, pool_id));
    merge_patch_add(&patch, "ClientName",
                    json_text(arena, provision->name != NULL ? provision->name : COGNITO_DEFAULT_NAME));
    merge_patch_add(&patch, "GenerateSecret", json_boolean(configuration->cognito.client_secret_file != NULL));
    merge_patch_add(&patch, "ExplicitAuthFlows", "[\"" COGNITO_FLOW_PASSWORD "\",\"" COGNITO_FLOW_REFRESH "\"]");
    merge_patch_add(&patch, "PreventUserExistenceErrors", "\"ENABLED\"");
    merge_patch_add(&patch, "EnableTokenRevocation", "true");
    merge_patch_add(&patch, "AccessTokenValidity", json_number(arena, access.number));
    merge_patch_add(&patch, "IdTokenValidity", json_number(arena, access.number));
    merge_patch_add(&patch, "RefreshTokenValidity", json_number(arena, refresh.number));
    merge_patch_add(&patch, "TokenValidityUnits",
                    arena_format(arena, "{\"AccessToken\":\"%s\",\"IdToken\":\"%s\",\"RefreshToken\":\"%s\"}",
                                 access.unit, access.unit, refresh.unit));
    merge_patch_add(&patch, "ReadAttributes",
                    "[\"email\",\"email_verified\",\"phone_number\",\"phone_number_verified\",\"custom:permissions\"]");
    merge_patch_add(&patch, "WriteAttributes", "[\"email\",\"phone_number\"]");
    return merge_patch_apply(arena, &patch, NULL, NULL);
}

/* ---- rights --------------------------------------------------------------------------------------- */

const char *cognito_wanted_rights(struct arena *arena, const struct configuration *configuration)
{
    static const char *const operations[] = {
        "AdminConfirmSignUp",     "AdminCreateUser", "AdminDeleteUser",      "AdminDisableUser",
        "AdminEnableUser",        "AdminGetUser",    "AdminSetUserPassword", "AdminUpdateUserAttributes",
        "AdminUserGlobalSignOut", "DescribeUserPool"};
    const char *pool = configuration->cognito.user_pool_id;
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_text(&text, "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":[");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        buffer_add_format(&text, "%s\"cognito-idp:%s\"", i == 0 ? "" : ",", operations[i]);
    buffer_add_text(&text, "],\"Resource\":");
    buffer_add_json_text(&text, arena_format(arena, "arn:aws:cognito-idp:%s:ACCOUNT:userpool/%s",
                                             configuration->cognito.region, pool != NULL ? pool : "POOL"));
    buffer_add_text(&text, "}]}");
    return text.bytes;
}
