/* SPDX-License-Identifier: MIT */
/*
 * Provisions a user pool and its app client: makes them as Gatehouse needs them, or corrects what is there.
 *
 * UpdateUserPool sets back to the default what an update leaves out. So an update sends all that the pool says of
 * itself and that can be sent, with the changed members in their place.
 */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "identity/cognito/provision_int.h"
#include "identity/provider_provision_int.h"

#define ATTRIBUTE "custom:%s"

/* ---- the pool ------------------------------------------------------------------------------------- */

static const char *id_request(struct arena *arena, const char *pool_id)
{
    struct buffer json;
    buffer_init(&json, arena);
    buffer_add_text(&json, "{\"UserPoolId\":");
    buffer_add_json_text(&json, pool_id);
    buffer_add_char(&json, '}');
    return json.bytes;
}

static struct error *make_pool(struct cognito_provision *task, struct arena *arena)
{
    const struct document *answer;
    TRY(cognito_provision_do(task, arena, "CreateUserPool", cognito_wanted_pool(arena, task->provision), &answer));
    task->pool_id = document_text(document_member(document_member(answer, "UserPool"), "Id"));
    if (task->pool_id == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito CreateUserPool: it names no id");
    provision_tell(task->provision, arena, PROVISION_MADE, "the user pool %s", task->pool_id);
    return NULL;
}

/* Adds what must change so that the pool mails codes, or does not, as the configuration says. */
static void want_mails(struct cognito_provision *task, const struct document *verified, const struct document *recovery,
                       struct merge_patch *patch)
{
    bool phone = json_array_has(verified, "phone_number");
    bool codes = cognito_wanted_codes(task->configuration);
    if (codes && !json_array_has(verified, "email"))
        merge_patch_add(patch, "AutoVerifiedAttributes", phone ? "[\"email\",\"phone_number\"]" : "[\"email\"]");
    if (!codes && json_array_has(verified, "email"))
        merge_patch_add(patch, "AutoVerifiedAttributes", phone ? "[\"phone_number\"]" : "[]");
    if (codes && json_find(document_member(recovery, "RecoveryMechanisms"), "Name", "admin_only") != NULL)
        merge_patch_add(patch, "AccountRecoverySetting", COGNITO_RECOVERY_BY_EMAIL);
}

/* Adds what is wrong with the pool and can be changed. */
static void want_pool_settings(struct cognito_provision *task, struct arena *arena, const struct document *pool,
                               struct merge_patch *patch)
{
    const struct document *policies = document_member(pool, "Policies");
    const struct document *policy = document_member(policies, "PasswordPolicy");
    const struct document *creation = document_member(pool, "AdminCreateUserConfig");
    const struct document *verified = document_member(pool, "AutoVerifiedAttributes");
    const char *better = cognito_wanted_policy(arena, task->configuration, policy);
    struct merge_patch inner = {.count = 0};
    if (better != NULL) {
        merge_patch_add(&inner, "PasswordPolicy", better);
        merge_patch_add(patch, "Policies", merge_patch_apply(arena, &inner, policies, NULL));
    }
    if (json_is(creation, "AllowAdminCreateUserOnly", true)) {
        static const char *const kept[] = {"InviteMessageTemplate", NULL};
        inner = (struct merge_patch){.count = 0};
        merge_patch_add(&inner, "AllowAdminCreateUserOnly", "false");
        merge_patch_add(patch, "AdminCreateUserConfig", merge_patch_apply(arena, &inner, creation, kept));
    }
    want_mails(task, verified, document_member(pool, "AccountRecoverySetting"), patch);
}

/*
 * Drops an older member of AdminCreateUserConfig, which Cognito still tells but does not take beside that of the
 * policy.
 */
static void drop_old(struct arena *arena, const struct document *pool, struct merge_patch *patch)
{
    static const char *const kept[] = {"AllowAdminCreateUserOnly", "InviteMessageTemplate", NULL};
    const struct document *creation = document_member(pool, "AdminCreateUserConfig");
    struct merge_patch nothing = {.count = 0};
    for (size_t i = 0; i < patch->count; i++)
        if (strcmp(patch->names[i], "AdminCreateUserConfig") == 0)
            return;
    if (creation != NULL)
        merge_patch_add(patch, "AdminCreateUserConfig", merge_patch_apply(arena, &nothing, creation, kept));
}

static struct error *update_pool(struct cognito_provision *task, struct arena *arena, const struct document *pool,
                                 struct merge_patch *patch)
{
    static const char *const kept[] = {"Policies",
                                       "DeletionProtection",
                                       "LambdaConfig",
                                       "AutoVerifiedAttributes",
                                       "SmsVerificationMessage",
                                       "EmailVerificationMessage",
                                       "EmailVerificationSubject",
                                       "VerificationMessageTemplate",
                                       "SmsAuthenticationMessage",
                                       "UserAttributeUpdateSettings",
                                       "MfaConfiguration",
                                       "DeviceConfiguration",
                                       "EmailConfiguration",
                                       "SmsConfiguration",
                                       "UserPoolTags",
                                       "AdminCreateUserConfig",
                                       "UserPoolAddOns",
                                       "AccountRecoverySetting",
                                       "UserPoolTier",
                                       NULL};
    const char *names = merge_patch_names(arena, patch);
    struct buffer id;
    buffer_init(&id, arena);
    buffer_add_json_text(&id, task->pool_id);
    drop_old(arena, pool, patch);
    merge_patch_add(patch, "UserPoolId", id.bytes);
    TRY(cognito_provision_do(task, arena, "UpdateUserPool", merge_patch_apply(arena, patch, pool, kept), NULL));
    provision_tell(task->provision, arena, PROVISION_CHANGED, "the user pool %s: %s", task->pool_id, names);
    return NULL;
}

static struct error *add_attribute(struct cognito_provision *task, struct arena *arena, const struct document *pool,
                                   const char *name)
{
    struct buffer json;
    if (json_find(document_member(pool, "SchemaAttributes"), "Name", arena_format(arena, ATTRIBUTE, name)) != NULL)
        return NULL;
    buffer_init(&json, arena);
    buffer_add_text(&json, "{\"UserPoolId\":");
    buffer_add_json_text(&json, task->pool_id);
    buffer_add_format(&json, ",\"CustomAttributes\":%s}", cognito_wanted_attribute(arena, name));
    TRY(cognito_provision_do(task, arena, "AddCustomAttributes", json.bytes, NULL));
    provision_tell(task->provision, arena, PROVISION_MADE, "the attribute custom:%s", name);
    return NULL;
}

/* Tells the operator what is wrong but cannot be changed in a pool, or is not ours to decide. */
static void tell_wrong(struct cognito_provision *task, struct arena *arena, const struct document *pool)
{
    const char *factors = document_text(document_member(pool, "MfaConfiguration"));
    if (!json_array_has(document_member(pool, "UsernameAttributes"), "email"))
        provision_tell(
            task->provision, arena, PROVISION_WRONG,
            "the user names of the pool %s are not e-mail addresses, which cannot be changed: make another pool",
            task->pool_id);
    if (factors != NULL && strcmp(factors, "ON") == 0)
        provision_tell(
            task->provision, arena, PROVISION_WRONG,
            "the pool %s demands a second factor, which Gatehouse cannot ask for: make it optional or switch it off",
            task->pool_id);
}

static struct error *update_pool_if_wrong(struct cognito_provision *task, struct arena *arena)
{
    struct cognito_call call;
    struct merge_patch patch = {.count = 0};
    TRY(cognito_provision_call(task, arena, "DescribeUserPool", id_request(arena, task->pool_id), &call));
    if (call.fault == COGNITO_RESOURCE_NOT_FOUND)
        return error_message(
            error_plain(arena, ERROR_INTERNAL),
            "There is no user pool %s. Correct user_pool_id in [cognito], or leave it out to have one made.",
            task->pool_id);
    if (call.fault != COGNITO_OK)
        return error_message(cognito_unexpected(arena, &call), "Cognito did not carry out DescribeUserPool.");
    const struct document *pool = document_member(call.answer, "UserPool");
    tell_wrong(task, arena, pool);
    want_pool_settings(task, arena, pool, &patch);
    if (patch.count != 0)
        TRY(update_pool(task, arena, pool, &patch));
    else
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the user pool %s", task->pool_id);
    TRY(add_attribute(task, arena, pool, "permissions"));
    return add_attribute(task, arena, pool, "svc_user_id");
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static struct error *need_settings(struct arena *arena, const struct provider_provision *provision)
{
    const struct configuration *configuration = provision->configuration;
    TRY(provision_need(arena, "region in [cognito]", configuration->cognito.region));
    TRY(provision_need(arena, "access_key_id in [cognito] (or --as)",
                       provision->as != NULL ? provision->as : configuration->cognito.access_key_id));
    return provision_need(arena, "secret_access_key_file in [cognito] (or --secret-file)",
                          provision->secret_file != NULL ? provision->secret_file
                                                         : configuration->cognito.secret_access_key_file);
}

/* Makes a provider only for its calls; nobody signs in with it. */
static struct error *open_provider(struct arena *arena, const struct provider_provision *provision,
                                   struct provider **provider_out)
{
    const struct configuration *configuration = provision->configuration;
    const char *endpoint = configuration->cognito.endpoint;
    struct remote_options remote = {.ca_file = configuration->cognito.ca_file, .calls_max = 1};
    if (endpoint == NULL)
        endpoint = arena_format(arena, "https://cognito-idp.%s.amazonaws.com", configuration->cognito.region);
    struct cognito_options options = {
        .region = configuration->cognito.region,
        .endpoint = endpoint,
        .issuer = endpoint,
        .keys_url = endpoint,
        .access_key_id = provision->as != NULL ? provision->as : configuration->cognito.access_key_id,
        .secret_access_key_file =
            provision->secret_file != NULL ? provision->secret_file : configuration->cognito.secret_access_key_file,
    };
    return cognito_new(arena, &remote, &options, provider_out);
}

static struct error *run(struct cognito_provision *task, struct arena *arena)
{
    static const struct cognito_list pools = {"ListUserPools", "UserPools", "Id", "Name", NULL};
    const char *name = task->provision->name != NULL ? task->provision->name : COGNITO_DEFAULT_NAME;
    task->pool_id = task->configuration->cognito.user_pool_id;
    task->client_id = task->configuration->cognito.client_id;
    if (task->pool_id == NULL)
        TRY(cognito_provision_find(task, arena, &pools, name, &task->pool_id));
    if (task->pool_id == NULL)
        TRY(make_pool(task, arena));
    else
        TRY(update_pool_if_wrong(task, arena));
    return cognito_provision_client(task, arena);
}

struct error *cognito_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                      const char **settings_out)
{
    struct provider *provider;
    TRY(need_settings(arena, provision));
    TRY(open_provider(arena, provision, &provider));
    struct cognito_provision task = {
        .provision = provision, .configuration = provision->configuration, .cognito = cognito_of(remote_of(provider))};
    struct error *error = NULL;
    if (provision->session_token_file != NULL)
        error = secret_read(arena, provision->session_token_file, &task.cognito->session_token);
    if (error == NULL)
        error = run(&task, arena);
    provider_free(&provider);
    if (error == NULL)
        *settings_out =
            arena_format(arena, "[cognito]\nuser_pool_id = %s\nclient_id = %s\n", task.pool_id, task.client_id);
    return error;
}

/* ---- in words ------------------------------------------------------------------------------------- */

static const char *shell(struct arena *arena, const struct provider_provision *provision)
{
    const struct configuration *configuration = provision->configuration;
    const char *endpoint = configuration->cognito.endpoint;
    const char *where = arena_format(arena, "--region %s", shell_quote(arena, configuration->cognito.region));
    struct buffer text;
    buffer_init(&text, arena);
    if (endpoint != NULL)
        where = arena_format(arena, "%s --endpoint-url %s", where, shell_quote(arena, endpoint));
    buffer_add_format(
        &text, "pool=$(aws cognito-idp create-user-pool %s --query UserPool.Id --output text --cli-input-json %s)\n",
        where, shell_quote(arena, cognito_wanted_pool(arena, provision)));
    buffer_add_format(&text,
                      "client=$(aws cognito-idp create-user-pool-client %s --user-pool-id \"$pool\" --query "
                      "UserPoolClient.ClientId --output text --cli-input-json %s)\n",
                      where, shell_quote(arena, cognito_wanted_client(arena, provision, NULL)));
    if (configuration->cognito.client_secret_file != NULL)
        buffer_add_format(
            &text,
            "(umask 077; aws cognito-idp describe-user-pool-client %s --user-pool-id \"$pool\" --client-id "
            "\"$client\" --query UserPoolClient.ClientSecret --output text > %s)\n",
            where, shell_quote(arena, configuration->cognito.client_secret_file));
    buffer_add_text(&text, "printf '[cognito]\\nuser_pool_id = %s\\nclient_id = %s\\n' \"$pool\" \"$client\"\n");
    return text.bytes;
}

struct error *cognito_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                         const char **text_out)
{
    TRY(provision_need(arena, "region in [cognito]", provision->configuration->cognito.region));
    if (provision->shell) {
        *text_out = shell(arena, provision);
        return NULL;
    }
    const char *json =
        arena_format(arena, "{\"CreateUserPool\":%s,\"CreateUserPoolClient\":%s,\"policy\":%s}",
                     cognito_wanted_pool(arena, provision),
                     cognito_wanted_client(arena, provision, provision->configuration->cognito.user_pool_id),
                     cognito_wanted_rights(arena, provision->configuration));
    *text_out = arena_format(arena, "%s\n", json_pretty(arena, json));
    return NULL;
}
