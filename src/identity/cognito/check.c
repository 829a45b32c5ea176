/* SPDX-License-Identifier: MIT */
/*
 * Finds out what is wrong with the pool, the app client or the access key, by calls that change nothing and name no
 * person.
 */
#include <string.h>

#include "base/arena.h"
#include "identity/cognito/provision_int.h"

static bool says(const struct cognito_call *call, const char *text)
{
    return call->message != NULL && strstr(call->message, text) != NULL;
}

/* ---- the access key ------------------------------------------------------------------------------- */

/* Says in a sentence why Amazon refuses a signed call before Cognito sees it. */
static struct error *explain_key(const struct cognito *cognito, struct arena *arena, const struct cognito_call *call,
                                 struct error *error)
{
    const struct cognito_options *options = &cognito->options;
    if (says(call, "UnrecognizedClientException") || says(call, "InvalidClientTokenId"))
        return remote_check_failed(arena, "Amazon does not know the access key %s; correct access_key_id in [cognito].",
                                   options->access_key_id);
    if (says(call, "Signature expired") || says(call, "Signature not yet current"))
        return remote_check_failed(arena, "Amazon says that the clock of this host is wrong (%s); set it by NTP.",
                                   call->message);
    if (says(call, "InvalidSignatureException") || says(call, "IncompleteSignatureException"))
        return remote_check_failed(
            arena, "The secret in %s is not that of the access key %s; correct secret_access_key_file in [cognito].",
            options->secret_access_key_file, options->access_key_id);
    if (says(call, "AccessDeniedException"))
        return remote_check_failed(
            arena,
            "The access key %s may not call %s: give its user the policy that gatehousectl identity setup "
            "prints.",
            options->access_key_id, call->operation);
    return error != NULL && call->message == NULL ? error : NULL;
}

static struct error *check_key(struct cognito *cognito, struct arena *arena)
{
    const struct cognito_options *options = &cognito->options;
    struct cognito_call call;
    cognito_admin_begin(cognito, arena, "AdminGetUser", &call);
    cognito_call_add(&call, "Username", id_text(arena, id_new()));
    struct error *error = cognito_call(cognito, arena, &call);
    TRY(explain_key(cognito, arena, &call, error));
    if (error == NULL && call.fault == COGNITO_RESOURCE_NOT_FOUND)
        return remote_check_failed(arena,
                                   "There is no user pool %s in %s; correct user_pool_id or region in [cognito].",
                                   options->user_pool_id, options->region);
    /* cognito-local answers NotAuthorizedException for a user who does not exist. */
    if (error == NULL && (call.fault == COGNITO_USER_NOT_FOUND || call.fault == COGNITO_NOT_AUTHORIZED))
        return NULL;
    return remote_check_failed(arena, "Cognito answers at %s with something else (%s).", options->endpoint,
                               call.message != NULL ? call.message : "no exception");
}

/* ---- the app client ------------------------------------------------------------------------------- */

static struct error *check_client(struct cognito *cognito, struct arena *arena)
{
    const struct cognito_options *options = &cognito->options;
    struct provider_login nobody = {.password = secret_of("nobody's password")};
    struct remote_grant grant = {0};
    const char *proof = NULL;
    enum provider_outcome outcome;
    struct error *error = cognito_login(&cognito->remote, arena, &nobody, &grant, &proof, &outcome);
    if (error == NULL)
        return NULL;
    const char *detail = error->detail != NULL ? error->detail : "";
    if (strstr(detail, "ResourceNotFoundException") != NULL)
        return remote_check_failed(arena, "The user pool has no app client %s; correct client_id in [cognito].",
                                   options->client_id);
    if (strstr(detail, "ecret") != NULL)
        return remote_check_failed(
            arena,
            "The app client %s does not take our SECRET_HASH: is its secret the one in client_secret_file in "
            "[cognito] (%s)? Without a secret of its own leave that out.",
            options->client_id, options->client_secret_file != NULL ? options->client_secret_file : "not set");
    if (strstr(detail, "flow") != NULL)
        return remote_check_failed(arena,
                                   "The app client %s does not allow " COGNITO_FLOW_PASSWORD
                                   "; run gatehousectl identity setup --apply, or allow it.",
                                   options->client_id);
    return error;
}

/* ---- the pool ------------------------------------------------------------------------------------- */

static struct error *want_pool_settings(struct cognito *cognito, struct arena *arena, const struct document *pool)
{
    static const char *const attributes[] = {"custom:permissions", "custom:svc_user_id"};
    const char *id = cognito->options.user_pool_id;
    const char *factors = document_text(document_member(pool, "MfaConfiguration"));
    bool mails = json_array_has(document_member(pool, "AutoVerifiedAttributes"), "email");
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (json_find(document_member(pool, "SchemaAttributes"), "Name", attributes[i]) == NULL)
            return remote_check_failed(
                arena, "The user pool %s lacks the attribute %s; run gatehousectl identity setup --apply, or add it.",
                id, attributes[i]);
    if (!json_array_has(document_member(pool, "UsernameAttributes"), "email"))
        return remote_check_failed(
            arena,
            "The user names of the pool %s are not e-mail addresses, which cannot be changed: make another "
            "pool.",
            id);
    if (factors != NULL && strcmp(factors, "ON") == 0)
        return remote_check_failed(arena, "The user pool %s demands a second factor, which Gatehouse cannot ask for.",
                                   id);
    if (mails != cognito->remote.options.codes)
        return remote_check_failed(
            arena,
            mails ? "The user pool %s verifies addresses and mails codes beside ours; run gatehousectl identity "
                    "setup --apply, or set [identity] codes = provider."
                  : "The user pool %s does not verify addresses, so it mails no codes; run gatehousectl "
                    "identity setup --apply, or set [identity] codes = service.",
            id);
    return NULL;
}

/* Where the access key may not describe the pool, it is not checked. */
static struct error *check_pool(struct cognito *cognito, struct arena *arena)
{
    struct cognito_call call;
    cognito_admin_begin(cognito, arena, "DescribeUserPool", &call);
    struct error *error = cognito_call(cognito, arena, &call);
    const struct document *pool = document_member(call.answer, "UserPool");
    return error != NULL || call.fault != COGNITO_OK || pool == NULL ? NULL : want_pool_settings(cognito, arena, pool);
}

static struct error *check_issuer(const struct cognito *cognito, struct arena *arena)
{
    const char *id = cognito->options.user_pool_id;
    const char *slash = strrchr(cognito->options.issuer, '/');
    if (slash != NULL && strcmp(slash + 1, id) == 0)
        return NULL;
    return remote_check_failed(
        arena,
        "The issuer %s does not end with the user pool %s, so none of its tokens would be valid; correct issuer in "
        "[cognito], or leave it out.",
        cognito->options.issuer, id);
}

struct error *cognito_check(struct remote *remote, struct arena *arena)
{
    struct cognito *cognito = cognito_of(remote);
    struct http_client_answer answer;
    TRY(remote_check_get(remote, arena, "endpoint", cognito->options.endpoint, &answer));
    TRY(check_key(cognito, arena));
    TRY(check_client(cognito, arena));
    TRY(check_pool(cognito, arena));
    return check_issuer(cognito, arena);
}
