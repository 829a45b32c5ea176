/* SPDX-License-Identifier: MIT */
/* The app client that signs people in. As with the pool, an update sends all that stays as well. */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "identity/cognito/provision_int.h"

static const char *client_request(struct cognito_setup *task, struct arena *arena)
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

/* Seconds of one kind of token ("AccessToken"); -1: it is not said. */
static int64_t seconds_of(struct arena *arena, const struct document *client, const char *kind, const char *unit_at_first)
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

static void judge_times(struct cognito_setup *task, struct arena *arena, const struct document *client,
                        const struct document *right, struct wanted *wanted)
{
    static const char *const names[] = {"AccessTokenValidity", "IdTokenValidity", "RefreshTokenValidity", "TokenValidityUnits"};
    int64_t access = at_least(task->configuration->identity.access_token_seconds, COGNITO_ACCESS_LEAST);
    int64_t refresh = at_least(task->configuration->identity.refresh_token_seconds, COGNITO_REFRESH_LEAST);
    if (seconds_of(arena, client, "AccessToken", "hours") == access && seconds_of(arena, client, "IdToken", "hours") == access &&
        seconds_of(arena, client, "RefreshToken", "days") == refresh)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buffer json;
        buffer_init(&json, arena);
        document_write(document_member(right, names[i]), -1, &json);
        wanted_add(wanted, names[i], json.bytes);
    }
}

/* Those that it has, and ours where it lacks them. */
static void judge_flows(struct arena *arena, const struct document *client, struct wanted *wanted)
{
    static const char *const ours[] = {COGNITO_FLOW_PASSWORD, COGNITO_FLOW_REFRESH};
    const struct document *flows = document_member(client, "ExplicitAuthFlows");
    struct buffer json;
    if (setup_holds(flows, ours[0]) && setup_holds(flows, ours[1]))
        return;
    buffer_init(&json, arena);
    buffer_add_text(&json, "[\"" COGNITO_FLOW_PASSWORD "\",\"" COGNITO_FLOW_REFRESH "\"");
    /* Names without ALLOW_ are an older kind, which Cognito does not take beside the newer. */
    for (const struct document *one = document_first(flows); one != NULL; one = document_next(one)) {
        const char *name = document_text(one);
        if (name == NULL || strncmp(name, "ALLOW_", 6) != 0 || strcmp(name, ours[0]) == 0 || strcmp(name, ours[1]) == 0)
            continue;
        buffer_add_char(&json, ',');
        buffer_add_json_text(&json, name);
    }
    buffer_add_char(&json, ']');
    wanted_add(wanted, "ExplicitAuthFlows", json.bytes);
}

/* Who could write our attributes could raise the mirror. */
static void judge_attributes(struct arena *arena, const struct document *client, struct wanted *wanted)
{
    const struct document *list = document_member(client, "WriteAttributes");
    struct buffer json;
    if (!setup_holds(list, "custom:permissions") && !setup_holds(list, "custom:svc_user_id"))
        return;
    buffer_init(&json, arena);
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *name = document_text(one);
        if (name == NULL || strcmp(name, "custom:permissions") == 0 || strcmp(name, "custom:svc_user_id") == 0)
            continue;
        buffer_add_char(&json, json.length == 0 ? '[' : ',');
        buffer_add_json_text(&json, name);
    }
    wanted_add(wanted, "WriteAttributes", json.length == 0 ? "[\"email\"]" : arena_format(arena, "%s]", json.bytes));
}

static void judge(struct cognito_setup *task, struct arena *arena, const struct document *client,
                  const struct document *right, struct wanted *wanted)
{
    const char *existence = document_text(document_member(client, "PreventUserExistenceErrors"));
    const char *rotation = document_text(document_member(document_member(client, "RefreshTokenRotation"), "Feature"));
    judge_flows(arena, client, wanted);
    judge_times(task, arena, client, right, wanted);
    judge_attributes(arena, client, wanted);
    if (existence == NULL || strcmp(existence, "ENABLED") != 0)
        wanted_add(wanted, "PreventUserExistenceErrors", "\"ENABLED\"");
    if (setup_is(client, "EnableTokenRevocation", false))
        wanted_add(wanted, "EnableTokenRevocation", "true");
    /* We rotate tokens of our own; with its rotation Cognito does not take REFRESH_TOKEN_AUTH. */
    if (rotation != NULL && strcmp(rotation, "ENABLED") == 0)
        wanted_add(wanted, "RefreshTokenRotation", "{\"Feature\":\"DISABLED\"}");
}

/* ---- making and mending --------------------------------------------------------------------------- */

static struct error *update(struct cognito_setup *task, struct arena *arena, const struct document *client,
                            struct wanted *wanted)
{
    static const char *const kept[] = {"UserPoolId", "ClientId", "ClientName", "RefreshTokenValidity", "AccessTokenValidity",
                                       "IdTokenValidity", "TokenValidityUnits", "ReadAttributes", "WriteAttributes",
                                       "ExplicitAuthFlows", "SupportedIdentityProviders", "CallbackURLs", "LogoutURLs",
                                       "DefaultRedirectURI", "AllowedOAuthFlows", "AllowedOAuthScopes",
                                       "AllowedOAuthFlowsUserPoolClient", "AnalyticsConfiguration",
                                       "PreventUserExistenceErrors", "EnableTokenRevocation",
                                       "EnablePropagateAdditionalUserContextData", "AuthSessionValidity",
                                       "RefreshTokenRotation", NULL};
    if (wanted->count == 0) {
        setup_tell(task->setup, arena, PROVIDER_DEED_LEFT, "the app client %s", task->client_id);
        return NULL;
    }
    TRY(cognito_setup_do(task, arena, "UpdateUserPoolClient", wanted_merge(arena, wanted, client, kept), NULL));
    setup_tell(task->setup, arena, PROVIDER_DEED_CHANGED, "the app client %s: %s", task->client_id,
               wanted_names(arena, wanted));
    return NULL;
}

static struct error *mend(struct cognito_setup *task, struct arena *arena, const struct document **client_out)
{
    struct cognito_call call;
    struct document *right = NULL;
    struct wanted wanted = {.count = 0};
    TRY(cognito_setup_call(task, arena, "DescribeUserPoolClient", client_request(task, arena), &call));
    if (call.fault == COGNITO_RESOURCE_NOT_FOUND)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "The user pool has no app client %s. Correct client_id in [cognito], or leave it out to have one "
                             "made.",
                             task->client_id);
    if (call.fault != COGNITO_FINE)
        return error_message(cognito_unexpected(arena, &call), "Cognito did not carry out DescribeUserPoolClient.");
    const char *text = cognito_wanted_client(arena, task->setup, NULL);
    TRY(document_parse(arena, text, strlen(text), &right));
    *client_out = document_member(call.answer, "UserPoolClient");
    judge(task, arena, *client_out, right, &wanted);
    return update(task, arena, *client_out, &wanted);
}

static struct error *make(struct cognito_setup *task, struct arena *arena, const struct document **client_out)
{
    const struct document *answer;
    const char *request = cognito_wanted_client(arena, task->setup, task->pool_id);
    TRY(cognito_setup_do(task, arena, "CreateUserPoolClient", request, &answer));
    *client_out = document_member(answer, "UserPoolClient");
    task->client_id = document_text(document_member(*client_out, "ClientId"));
    if (task->client_id == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito CreateUserPoolClient: it names no id");
    setup_tell(task->setup, arena, PROVIDER_DEED_MADE, "the app client %s", task->client_id);
    return NULL;
}

static struct error *keep_secret(struct cognito_setup *task, struct arena *arena, const struct document *client)
{
    const char *secret = document_text(document_member(client, "ClientSecret"));
    const char *path = task->configuration->cognito.client_secret_file;
    const char *name = arena_format(arena, "the app client %s", task->client_id);
    if (path == NULL && secret != NULL)
        setup_tell(task->setup, arena, PROVIDER_DEED_WRONG, "%s has a secret: set client_secret_file in [cognito] and do this again",
                   name);
    else if (path != NULL && secret == NULL)
        setup_tell(task->setup, arena, PROVIDER_DEED_WRONG,
                   "%s has no secret, which cannot be changed: leave out client_id in [cognito] and give another --name, or leave "
                   "out client_secret_file",
                   name);
    else if (path == NULL)
        setup_tell(task->setup, arena, PROVIDER_DEED_LEFT,
                   "%s has no secret, so that anybody can sign up at the pool: set client_secret_file in [cognito] for one that has",
                   name);
    else
        return setup_keep_secret(task->setup, arena, name, path, secret);
    return NULL;
}

struct error *cognito_setup_client(struct cognito_setup *task, struct arena *arena)
{
    const struct cognito_list clients = {"ListUserPoolClients", "UserPoolClients", "ClientId", "ClientName", task->pool_id};
    const struct document *client = NULL;
    const char *name = task->setup->name != NULL ? task->setup->name : COGNITO_SETUP_NAME;
    if (task->client_id == NULL)
        TRY(cognito_setup_find(task, arena, &clients, name, &task->client_id));
    if (task->client_id == NULL)
        TRY(make(task, arena, &client));
    else
        TRY(mend(task, arena, &client));
    TRY(keep_secret(task, arena, client));
    if (task->setup->show_secrets && document_text(document_member(client, "ClientSecret")) != NULL)
        setup_tell(task->setup, arena, PROVIDER_DEED_LEFT, "the secret of the app client is %s",
                   document_text(document_member(client, "ClientSecret")));
    return NULL;
}
