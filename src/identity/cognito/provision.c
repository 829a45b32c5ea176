/* SPDX-License-Identifier: MIT */
/*
 * A user pool as Gatehouse wants it. UpdateUserPool takes what is left out as "back to the default", so an update sends all
 * that the pool says of itself and can be sent, with what is to change in its place.
 */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "identity/cognito/provision_int.h"

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

static struct error *make_pool(struct cognito_setup *task, struct arena *arena)
{
    const struct document *answer;
    TRY(cognito_setup_do(task, arena, "CreateUserPool", cognito_wanted_pool(arena, task->setup), &answer));
    task->pool_id = document_text(document_member(document_member(answer, "UserPool"), "Id"));
    if (task->pool_id == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito CreateUserPool: it names no id");
    setup_tell(task->setup, arena, PROVIDER_DEED_MADE, "the user pool %s", task->pool_id);
    return NULL;
}

static bool is_recovered_by(const struct document *recovery, const char *name)
{
    const struct document *list = document_member(recovery, "RecoveryMechanisms");
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *found = document_text(document_member(one, "Name"));
        if (found != NULL && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* Who mails codes: the pool where the configuration says so, and else nobody but us. */
static void judge_mails(struct cognito_setup *task, const struct document *verified, const struct document *recovery,
                        struct wanted *wanted)
{
    bool phone = setup_holds(verified, "phone_number");
    bool codes = cognito_setup_mails_codes(task->configuration);
    if (codes && !setup_holds(verified, "email"))
        wanted_add(wanted, "AutoVerifiedAttributes", phone ? "[\"email\",\"phone_number\"]" : "[\"email\"]");
    if (!codes && setup_holds(verified, "email"))
        wanted_add(wanted, "AutoVerifiedAttributes", phone ? "[\"phone_number\"]" : "[]");
    if (codes && is_recovered_by(recovery, "admin_only"))
        wanted_add(wanted, "AccountRecoverySetting", COGNITO_RECOVERY_BY_EMAIL);
}

/* What of the pool can be changed and is not right. */
static void judge_pool(struct cognito_setup *task, struct arena *arena, const struct document *pool, struct wanted *wanted)
{
    const struct document *policies = document_member(pool, "Policies");
    const struct document *policy = document_member(policies, "PasswordPolicy");
    const struct document *creation = document_member(pool, "AdminCreateUserConfig");
    const struct document *verified = document_member(pool, "AutoVerifiedAttributes");
    const char *better = cognito_wanted_policy(arena, task->configuration, policy);
    struct wanted inner = {.count = 0};
    if (better != NULL) {
        wanted_add(&inner, "PasswordPolicy", better);
        wanted_add(wanted, "Policies", wanted_merge(arena, &inner, policies, NULL));
    }
    if (setup_is(creation, "AllowAdminCreateUserOnly", true)) {
        static const char *const kept[] = {"InviteMessageTemplate", NULL};
        inner = (struct wanted){.count = 0};
        wanted_add(&inner, "AllowAdminCreateUserOnly", "false");
        wanted_add(wanted, "AdminCreateUserConfig", wanted_merge(arena, &inner, creation, kept));
    }
    judge_mails(task, verified, document_member(pool, "AccountRecoverySetting"), wanted);
}

/* An older member of AdminCreateUserConfig that Cognito still tells and takes no more beside the policy's. */
static void drop_old(struct arena *arena, const struct document *pool, struct wanted *wanted)
{
    static const char *const kept[] = {"AllowAdminCreateUserOnly", "InviteMessageTemplate", NULL};
    const struct document *creation = document_member(pool, "AdminCreateUserConfig");
    struct wanted nothing = {.count = 0};
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->names[i], "AdminCreateUserConfig") == 0)
            return;
    if (creation != NULL)
        wanted_add(wanted, "AdminCreateUserConfig", wanted_merge(arena, &nothing, creation, kept));
}

static struct error *update_pool(struct cognito_setup *task, struct arena *arena, const struct document *pool,
                                 struct wanted *wanted)
{
    static const char *const kept[] = {
        "Policies", "DeletionProtection", "LambdaConfig", "AutoVerifiedAttributes", "SmsVerificationMessage",
        "EmailVerificationMessage", "EmailVerificationSubject", "VerificationMessageTemplate", "SmsAuthenticationMessage",
        "UserAttributeUpdateSettings", "MfaConfiguration", "DeviceConfiguration", "EmailConfiguration", "SmsConfiguration",
        "UserPoolTags", "AdminCreateUserConfig", "UserPoolAddOns", "AccountRecoverySetting", "UserPoolTier", NULL};
    const char *names = wanted_names(arena, wanted);
    struct buffer id;
    buffer_init(&id, arena);
    buffer_add_json_text(&id, task->pool_id);
    drop_old(arena, pool, wanted);
    wanted_add(wanted, "UserPoolId", id.bytes);
    TRY(cognito_setup_do(task, arena, "UpdateUserPool", wanted_merge(arena, wanted, pool, kept), NULL));
    setup_tell(task->setup, arena, PROVIDER_DEED_CHANGED, "the user pool %s: %s", task->pool_id, names);
    return NULL;
}

static const struct document *attribute_of(const struct document *pool, const char *name)
{
    const struct document *list = document_member(pool, "SchemaAttributes");
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *found = document_text(document_member(one, "Name"));
        if (found != NULL && strcmp(found, name) == 0)
            return one;
    }
    return NULL;
}

static struct error *add_attribute(struct cognito_setup *task, struct arena *arena, const struct document *pool,
                                   const char *name)
{
    struct buffer json;
    if (attribute_of(pool, arena_format(arena, ATTRIBUTE, name)) != NULL)
        return NULL;
    buffer_init(&json, arena);
    buffer_add_text(&json, "{\"UserPoolId\":");
    buffer_add_json_text(&json, task->pool_id);
    buffer_add_format(&json, ",\"CustomAttributes\":%s}", cognito_wanted_attributes(arena, name));
    TRY(cognito_setup_do(task, arena, "AddCustomAttributes", json.bytes, NULL));
    setup_tell(task->setup, arena, PROVIDER_DEED_MADE, "the attribute custom:%s", name);
    return NULL;
}

/* What cannot be changed once a pool is there, and what is not ours to decide. */
static void tell_wrong(struct cognito_setup *task, struct arena *arena, const struct document *pool)
{
    const char *factors = document_text(document_member(pool, "MfaConfiguration"));
    if (!setup_holds(document_member(pool, "UsernameAttributes"), "email"))
        setup_tell(task->setup, arena, PROVIDER_DEED_WRONG,
                   "the user names of the pool %s are not e-mail addresses, which cannot be changed: make another pool",
                   task->pool_id);
    if (factors != NULL && strcmp(factors, "ON") == 0)
        setup_tell(task->setup, arena, PROVIDER_DEED_WRONG,
                   "the pool %s demands a second factor, which Gatehouse cannot ask for: make it optional or switch it off",
                   task->pool_id);
}

static struct error *mend_pool(struct cognito_setup *task, struct arena *arena)
{
    struct cognito_call call;
    struct wanted wanted = {.count = 0};
    TRY(cognito_setup_call(task, arena, "DescribeUserPool", id_request(arena, task->pool_id), &call));
    if (call.fault == COGNITO_RESOURCE_NOT_FOUND)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "There is no user pool %s. Correct user_pool_id in [cognito], or leave it out to have one made.",
                             task->pool_id);
    if (call.fault != COGNITO_FINE)
        return error_message(cognito_unexpected(arena, &call), "Cognito did not carry out DescribeUserPool.");
    const struct document *pool = document_member(call.answer, "UserPool");
    tell_wrong(task, arena, pool);
    judge_pool(task, arena, pool, &wanted);
    if (wanted.count != 0)
        TRY(update_pool(task, arena, pool, &wanted));
    else
        setup_tell(task->setup, arena, PROVIDER_DEED_LEFT, "the user pool %s", task->pool_id);
    TRY(add_attribute(task, arena, pool, "permissions"));
    return add_attribute(task, arena, pool, "svc_user_id");
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static struct error *need_settings(struct arena *arena, const struct provider_setup *setup)
{
    const struct configuration *configuration = setup->configuration;
    TRY(setup_need(arena, "region in [cognito]", configuration->cognito.region));
    TRY(setup_need(arena, "access_key_id in [cognito] (or --as)",
                   setup->as != NULL ? setup->as : configuration->cognito.access_key_id));
    return setup_need(arena, "secret_access_key_file in [cognito] (or --secret-file)",
                      setup->secret_file != NULL ? setup->secret_file : configuration->cognito.secret_access_key_file);
}

/* A provider that nobody signs in with: only its calls are wanted. */
static struct error *open_provider(struct arena *arena, const struct provider_setup *setup, struct provider **provider_out)
{
    const struct configuration *configuration = setup->configuration;
    const char *endpoint = configuration->cognito.endpoint;
    struct outside_options outside = {.ca_file = configuration->cognito.ca_file, .calls_max = 1};
    if (endpoint == NULL)
        endpoint = arena_format(arena, "https://cognito-idp.%s.amazonaws.com", configuration->cognito.region);
    struct cognito_options options = {
        .region = configuration->cognito.region,
        .endpoint = endpoint,
        .issuer = endpoint,
        .keys_url = endpoint,
        .access_key_id = setup->as != NULL ? setup->as : configuration->cognito.access_key_id,
        .secret_access_key_file =
            setup->secret_file != NULL ? setup->secret_file : configuration->cognito.secret_access_key_file,
    };
    return cognito_new(arena, &outside, &options, provider_out);
}

static struct error *run(struct cognito_setup *task, struct arena *arena)
{
    static const struct cognito_list pools = {"ListUserPools", "UserPools", "Id", "Name", NULL};
    const char *name = task->setup->name != NULL ? task->setup->name : COGNITO_SETUP_NAME;
    task->pool_id = task->configuration->cognito.user_pool_id;
    task->client_id = task->configuration->cognito.client_id;
    if (task->pool_id == NULL)
        TRY(cognito_setup_find(task, arena, &pools, name, &task->pool_id));
    if (task->pool_id == NULL)
        TRY(make_pool(task, arena));
    else
        TRY(mend_pool(task, arena));
    return cognito_setup_client(task, arena);
}

struct error *cognito_setup_apply(struct arena *arena, const struct provider_setup *setup, const char **settings_out)
{
    struct provider *provider;
    TRY(need_settings(arena, setup));
    TRY(open_provider(arena, setup, &provider));
    struct cognito_setup task = {
        .setup = setup, .configuration = setup->configuration, .cognito = cognito_of(outside_of(provider))};
    struct error *error = NULL;
    if (setup->session_token_file != NULL)
        error = secret_read(arena, setup->session_token_file, &task.cognito->session_token);
    if (error == NULL)
        error = run(&task, arena);
    provider_free(&provider);
    if (error == NULL)
        *settings_out = arena_format(arena, "[cognito]\nuser_pool_id = %s\nclient_id = %s\n", task.pool_id, task.client_id);
    return error;
}

/* ---- in words ------------------------------------------------------------------------------------- */

static const char *shell(struct arena *arena, const struct provider_setup *setup)
{
    const struct configuration *configuration = setup->configuration;
    const char *endpoint = configuration->cognito.endpoint;
    const char *where = arena_format(arena, "--region %s", setup_quote(arena, configuration->cognito.region));
    struct buffer text;
    buffer_init(&text, arena);
    if (endpoint != NULL)
        where = arena_format(arena, "%s --endpoint-url %s", where, setup_quote(arena, endpoint));
    buffer_add_format(&text, "pool=$(aws cognito-idp create-user-pool %s --query UserPool.Id --output text --cli-input-json %s)\n",
                      where, setup_quote(arena, cognito_wanted_pool(arena, setup)));
    buffer_add_format(&text,
                      "client=$(aws cognito-idp create-user-pool-client %s --user-pool-id \"$pool\" --query "
                      "UserPoolClient.ClientId --output text --cli-input-json %s)\n",
                      where, setup_quote(arena, cognito_wanted_client(arena, setup, NULL)));
    if (configuration->cognito.client_secret_file != NULL)
        buffer_add_format(&text,
                          "(umask 077; aws cognito-idp describe-user-pool-client %s --user-pool-id \"$pool\" --client-id "
                          "\"$client\" --query UserPoolClient.ClientSecret --output text > %s)\n",
                          where, setup_quote(arena, configuration->cognito.client_secret_file));
    buffer_add_text(&text, "printf '[cognito]\\nuser_pool_id = %s\\nclient_id = %s\\n' \"$pool\" \"$client\"\n");
    return text.bytes;
}

struct error *cognito_setup_describe(struct arena *arena, const struct provider_setup *setup, const char **text_out)
{
    TRY(setup_need(arena, "region in [cognito]", setup->configuration->cognito.region));
    if (setup->shell) {
        *text_out = shell(arena, setup);
        return NULL;
    }
    const char *json = arena_format(arena, "{\"CreateUserPool\":%s,\"CreateUserPoolClient\":%s,\"policy\":%s}",
                                    cognito_wanted_pool(arena, setup),
                                    cognito_wanted_client(arena, setup, setup->configuration->cognito.user_pool_id),
                                    cognito_wanted_rights(arena, setup->configuration));
    *text_out = arena_format(arena, "%s\n", setup_pretty(arena, json));
    return NULL;
}
