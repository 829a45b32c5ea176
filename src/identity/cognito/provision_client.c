/* SPDX-License-Identifier: MIT */
/* Provisions the app client that signs people in. As with the pool, an update sends also what does not change. */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "identity/cognito/provision_int.h"

static const char *client_request(struct cognito_provision *task, struct arena *arena)
{
    struct buffer json;
    buffer_init(&json, arena);
    buffer_add_text(&json, "{\"UserPoolId\":");
    buffer_add_json_text(&json, task->pool_id);
    buffer_add_text(&json, ",\"ClientId\":");
    buffer_add_json_text(&json, task->client_id);
    buffer_add_char(&json, '}');
    return json.bytes;
}

/* ---- what is wanted ------------------------------------------------------------------------------- */

/* How many seconds one kind of token ("AccessToken") is valid; -1: the client does not say. */
static int64_t seconds_of(struct arena *arena, const struct document *client, const char *kind,
                          const char *unit_at_first)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}};
    int64_t number = 0;
    const char *unit = document_text(document_member(document_member(client, "TokenValidityUnits"), kind));
    if (!document_integer(document_member(client, arena_format(arena, "%sValidity", kind)), &number) || number == 0)
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit != NULL ? unit : unit_at_first, units[i].name) == 0)
            return number * units[i].seconds;
    return -1;
}

static int64_t at_least(int64_t seconds, int64_t least)
{
    return seconds < least ? least : seconds;
}

static void want_times(struct cognito_provision *task, struct arena *arena, const struct document *client,
                       const struct document *right, struct merge_patch *patch)
{
    static const char *const names[] = {"AccessTokenValidity", "IdTokenValidity", "RefreshTokenValidity",
                                        "TokenValidityUnits"};
    int64_t access = at_least(task->configuration->identity.access_token_seconds, COGNITO_ACCESS_LEAST);
    int64_t refresh = at_least(task->configuration->identity.refresh_token_seconds, COGNITO_REFRESH_LEAST);
    if (seconds_of(arena, client, "AccessToken", "hours") == access &&
        seconds_of(arena, client, "IdToken", "hours") == access &&
        seconds_of(arena, client, "RefreshToken", "days") == refresh)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buffer json;
        buffer_init(&json, arena);
        document_write(document_member(right, names[i]), -1, &json);
        merge_patch_add(patch, names[i], json.bytes);
    }
}

/* Adds our flows to those that the client has. */
static void want_flows(struct arena *arena, const struct document *client, struct merge_patch *patch)
{
    static const char *const ours[] = {COGNITO_FLOW_PASSWORD, COGNITO_FLOW_REFRESH};
    const struct document *flows = document_member(client, "ExplicitAuthFlows");
    struct buffer json;
    if (json_array_has(flows, ours[0]) && json_array_has(flows, ours[1]))
        return;
    buffer_init(&json, arena);
    buffer_add_text(&json, "[\"" COGNITO_FLOW_PASSWORD "\",\"" COGNITO_FLOW_REFRESH "\"");
    /* Names without ALLOW_ are an older kind, which Cognito does not take beside the new one. */
    for (const struct document *one = document_first(flows); one != NULL; one = document_next(one)) {
        const char *name = document_text(one);
        if (name == NULL || strncmp(name, "ALLOW_", 6) != 0 || strcmp(name, ours[0]) == 0 || strcmp(name, ours[1]) == 0)
            continue;
        buffer_add_char(&json, ',');
        buffer_add_json_text(&json, name);
    }
    buffer_add_char(&json, ']');
    merge_patch_add(patch, "ExplicitAuthFlows", json.bytes);
}

/* Takes away the right to write our attributes: a person could give themselves permissions in their tokens. */
static void want_attributes(struct arena *arena, const struct document *client, struct merge_patch *patch)
{
    const struct document *list = document_member(client, "WriteAttributes");
    struct buffer json;
    if (!json_array_has(list, "custom:permissions") && !json_array_has(list, "custom:svc_user_id"))
        return;
    buffer_init(&json, arena);
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *name = document_text(one);
        if (name == NULL || strcmp(name, "custom:permissions") == 0 || strcmp(name, "custom:svc_user_id") == 0)
            continue;
        buffer_add_char(&json, json.length == 0 ? '[' : ',');
        buffer_add_json_text(&json, name);
    }
    merge_patch_add(patch, "WriteAttributes",
                    json.length == 0 ? "[\"email\"]" : arena_format(arena, "%s]", json.bytes));
}

static void want_client(struct cognito_provision *task, struct arena *arena, const struct document *client,
                        const struct document *right, struct merge_patch *patch)
{
    const char *existence = document_text(document_member(client, "PreventUserExistenceErrors"));
    const char *rotation = document_text(document_member(document_member(client, "RefreshTokenRotation"), "Feature"));
    want_flows(arena, client, patch);
    want_times(task, arena, client, right, patch);
    want_attributes(arena, client, patch);
    if (existence == NULL || strcmp(existence, "ENABLED") != 0)
        merge_patch_add(patch, "PreventUserExistenceErrors", "\"ENABLED\"");
    if (json_is(client, "EnableTokenRevocation", false))
        merge_patch_add(patch, "EnableTokenRevocation", "true");
    /* We rotate refresh tokens of our own. With its own rotation Cognito does not take REFRESH_TOKEN_AUTH. */
    if (rotation != NULL && strcmp(rotation, "ENABLED") == 0)
        merge_patch_add(patch, "RefreshTokenRotation", "{\"Feature\":\"DISABLED\"}");
}

/* ---- making and correcting ------------------------------------------------------------------------ */

static struct error *update(struct cognito_provision *task, struct arena *arena, const struct document *client,
                            struct merge_patch *patch)
{
    static const char *const kept[] = {"UserPoolId",
                                       "ClientId",
                                       "ClientName",
                                       "RefreshTokenValidity",
                                       "AccessTokenValidity",
                                       "IdTokenValidity",
                                       "TokenValidityUnits",
                                       "ReadAttributes",
                                       "WriteAttributes",
                                       "ExplicitAuthFlows",
                                       "SupportedIdentityProviders",
                                       "CallbackURLs",
                                       "LogoutURLs",
                                       "DefaultRedirectURI",
                                       "AllowedOAuthFlows",
                                       "AllowedOAuthScopes",
                                       "AllowedOAuthFlowsUserPoolClient",
                                       "AnalyticsConfiguration",
                                       "PreventUserExistenceErrors",
                                       "EnableTokenRevocation",
                                       "EnablePropagateAdditionalUserContextData",
                                       "AuthSessionValidity",
                                       "RefreshTokenRotation",
                                       NULL};
    if (patch->count == 0) {
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the app client %s", task->client_id);
        return NULL;
    }
    TRY(cognito_provision_do(task, arena, "UpdateUserPoolClient", merge_patch_apply(arena, patch, client, kept), NULL));
    provision_tell(task->provision, arena, PROVISION_CHANGED, "the app client %s: %s", task->client_id,
                   merge_patch_names(arena, patch));
    return NULL;
}

static struct error *update_if_wrong(struct cognito_provision *task, struct arena *arena,
                                     const struct document **client_out)
{
    struct cognito_call call;
    struct document *right = NULL;
    struct merge_patch patch = {.count = 0};
    TRY(cognito_provision_call(task, arena, "DescribeUserPoolClient", client_request(task, arena), &call));
    if (call.fault == COGNITO_RESOURCE_NOT_FOUND)
        return error_message(
            error_plain(arena, ERROR_INTERNAL),
            "The user pool has no app client %s. Correct client_id in [cognito], or leave it out to have one "
            "made.",
            task->client_id);
    if (call.fault != COGNITO_OK)
        return error_message(cognito_unexpected(arena, &call), "Cognito did not carry out DescribeUserPoolClient.");
    const char *text = cognito_wanted_client(arena, task->provision, NULL);
    TRY(document_parse(arena, text, strlen(text), &right));
    *client_out = document_member(call.answer, "UserPoolClient");
    want_client(task, arena, *client_out, right, &patch);
    return update(task, arena, *client_out, &patch);
}

static struct error *make(struct cognito_provision *task, struct arena *arena, const struct document **client_out)
{
    const struct document *answer;
    const char *request = cognito_wanted_client(arena, task->provision, task->pool_id);
    TRY(cognito_provision_do(task, arena, "CreateUserPoolClient", request, &answer));
    *client_out = document_member(answer, "UserPoolClient");
    task->client_id = document_text(document_member(*client_out, "ClientId"));
    if (task->client_id == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito CreateUserPoolClient: it names no id");
    provision_tell(task->provision, arena, PROVISION_MADE, "the app client %s", task->client_id);
    return NULL;
}

static struct error *store_secret(struct cognito_provision *task, struct arena *arena, const struct document *client)
{
    const char *secret = document_text(document_member(client, "ClientSecret"));
    const char *path = task->configuration->cognito.client_secret_file;
    const char *name = arena_format(arena, "the app client %s", task->client_id);
    if (path == NULL && secret != NULL)
        provision_tell(task->provision, arena, PROVISION_WRONG,
                       "%s has a secret: set client_secret_file in [cognito] and do this again", name);
    else if (path != NULL && secret == NULL)
        provision_tell(task->provision, arena, PROVISION_WRONG,
                       "%s has no secret, which cannot be changed: leave out client_id in [cognito] and give another "
                       "--name, or leave "
                       "out client_secret_file",
                       name);
    else if (path == NULL)
        provision_tell(task->provision, arena, PROVISION_UNCHANGED,
                       "%s has no secret, so that anybody can sign up at the pool: set client_secret_file in [cognito] "
                       "for one that has",
                       name);
    else
        return provision_store_secret(task->provision, arena, name, path, secret);
    return NULL;
}

struct error *cognito_provision_client(struct cognito_provision *task, struct arena *arena)
{
    const struct cognito_list clients = {"ListUserPoolClients", "UserPoolClients", "ClientId", "ClientName",
                                         task->pool_id};
    const struct document *client = NULL;
    const char *name = task->provision->name != NULL ? task->provision->name : COGNITO_DEFAULT_NAME;
    if (task->client_id == NULL)
        TRY(cognito_provision_find(task, arena, &clients, name, &task->client_id));
    if (task->client_id == NULL)
        TRY(make(task, arena, &client));
    else
        TRY(update_if_wrong(task, arena, &client));
    TRY(store_secret(task, arena, client));
    if (task->provision->show_secrets && document_text(document_member(client, "ClientSecret")) != NULL)
        provision_tell(task->provision, arena, PROVISION_UNCHANGED, "the secret of the app client is %s",
                       document_text(document_member(client, "ClientSecret")));
    return NULL;
}
