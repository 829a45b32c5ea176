/* SPDX-License-Identifier: MIT */
/*
 * Makes the calls to Cognito (JSON 1.1 over POST) and tells its exceptions apart, by their names and never by the
 * status.
 */
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "identity/cognito/cognito_int.h"

#define TARGET "AWSCognitoIdentityProviderService."
#define THROTTLE_TRIES 2
#define THROTTLE_WAIT_MILLISECONDS 100
#define THROTTLE_WAIT_MAX_MILLISECONDS 800

static void begin(struct arena *arena, const char *operation, bool is_signed, struct cognito_call *call_out)
{
    *call_out = (struct cognito_call){.operation = operation, .is_signed = is_signed};
    buffer_init(&call_out->body, arena);
}

void cognito_admin_begin(struct cognito *cognito, struct arena *arena, const char *operation,
                         struct cognito_call *call_out)
{
    begin(arena, operation, true, call_out);
    cognito_call_add(call_out, "UserPoolId", cognito->options.user_pool_id);
}

void cognito_user_begin(struct cognito *cognito, struct arena *arena, const char *operation, const char *username,
                        struct cognito_call *call_out)
{
    cognito_admin_begin(cognito, arena, operation, call_out);
    cognito_call_add(call_out, "Username", username);
}

void cognito_signed_begin(struct arena *arena, const char *operation, struct cognito_call *call_out)
{
    begin(arena, operation, true, call_out);
}

void cognito_client_begin(struct cognito *cognito, struct arena *arena, const char *operation,
                          struct cognito_call *call_out)
{
    begin(arena, operation, false, call_out);
    cognito_call_add(call_out, "ClientId", cognito->options.client_id);
}

void cognito_call_add(struct cognito_call *call, const char *name, const char *value)
{
    buffer_add_char(&call->body, call->body.length == 0 ? '{' : ',');
    buffer_add_json_text(&call->body, name);
    buffer_add_char(&call->body, ':');
    buffer_add_json_text(&call->body, value);
}

void cognito_call_add_attribute(struct cognito_call *call, const char *name, const char *value, bool first)
{
    buffer_add_text(&call->body, first ? "{\"Name\":" : ",{\"Name\":");
    buffer_add_json_text(&call->body, name);
    buffer_add_text(&call->body, ",\"Value\":");
    buffer_add_json_text(&call->body, value);
    buffer_add_char(&call->body, '}');
}

void cognito_call_add_parameter(struct cognito_call *call, const char *name, const char *value, bool first)
{
    if (!first)
        buffer_add_char(&call->body, ',');
    buffer_add_json_text(&call->body, name);
    buffer_add_char(&call->body, ':');
    buffer_add_json_text(&call->body, value);
}

const char *cognito_secret_hash(struct cognito *cognito, struct arena *arena, const char *username)
{
    uint8_t digest[DIGEST_BYTES];
    if (cognito->client_secret.bytes == NULL)
        return NULL;
    const char *text = arena_format(arena, "%s%s", username, cognito->options.client_id);
    digest_hmac(cognito->client_secret, text, strlen(text), digest);
    return base64_encode(arena, digest, sizeof digest);
}

/* ---- what failed ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum cognito_fault fault;
} faults[] = {
    {"NotAuthorizedException", COGNITO_NOT_AUTHORIZED},
    {"UserNotFoundException", COGNITO_USER_NOT_FOUND},
    {"UserNotConfirmedException", COGNITO_USER_NOT_CONFIRMED},
    {"UsernameExistsException", COGNITO_USERNAME_EXISTS},
    {"AliasExistsException", COGNITO_ALIAS_EXISTS},
    {"InvalidPasswordException", COGNITO_INVALID_PASSWORD},
    {"PasswordHistoryPolicyViolationException", COGNITO_INVALID_PASSWORD},
    {"InvalidParameterException", COGNITO_INVALID_PARAMETER},
    {"CodeMismatchException", COGNITO_CODE_MISMATCH},
    {"ExpiredCodeException", COGNITO_EXPIRED_CODE},
    {"PasswordResetRequiredException", COGNITO_RESET_REQUIRED},
    {"ResourceNotFoundException", COGNITO_RESOURCE_NOT_FOUND},
    {"LimitExceededException", COGNITO_LIMIT_EXCEEDED},
    {"TooManyFailedAttemptsException", COGNITO_LIMIT_EXCEEDED},
};

/* "com.amazonaws#UserNotFoundException:http://…" is UserNotFoundException. */
static const char *bare_name(struct arena *arena, const char *type)
{
    const char *hash = strrchr(type, '#');
    const char *name = hash != NULL ? hash + 1 : type;
    return arena_copy(arena, name, strcspn(name, ":"));
}

/* The exception's name; NULL: the answer names none, so it does not come from Cognito. */
static const char *exception_of(struct arena *arena, const struct http_client_answer *answer,
                                const struct document *document)
{
    const char *type = document_text(document_member(document, "__type"));
    if (type == NULL)
        type = http_client_answer_header(answer, "x-amzn-ErrorType");
    return type == NULL ? NULL : bare_name(arena, type);
}

static enum cognito_fault fault_of(const char *name)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0)
            return faults[i].fault;
    return COGNITO_OTHER;
}

bool cognito_is_misconfigured(const struct cognito_call *call)
{
    static const char *const signs[] = {"secret hash", "configured for secret", "flow not enabled", "Auth flow not"};
    if (call->fault == COGNITO_RESOURCE_NOT_FOUND)
        return true;
    for (size_t i = 0; call->fault != COGNITO_OK && i < sizeof signs / sizeof *signs; i++)
        if (strstr(call->message, signs[i]) != NULL)
            return true;
    return false;
}

bool cognito_is_password_refused(const struct cognito_call *call)
{
    /*
     * "Value at 'password' failed to satisfy constraint": Cognito refuses a password that begins or ends with a blank
     * before it applies the policy.
     */
    return call->fault == COGNITO_INVALID_PASSWORD ||
           (call->fault == COGNITO_INVALID_PARAMETER && strstr(call->message, "assword' failed to satisfy") != NULL);
}

struct error *cognito_unexpected(struct arena *arena, const struct cognito_call *call)
{
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito %s: %s", call->operation,
                     call->message != NULL ? call->message : "an unexpected answer");
}

/* ---- calling -------------------------------------------------------------------------------------- */

static enum http_client_outcome send_once(struct cognito *cognito, struct arena *arena, const struct cognito_call *call,
                                          struct remote_answer *answer, const char **reason)
{
    const struct http_client_header headers[] = {
        {"Content-Type", "application/x-amz-json-1.1"},
        {"X-Amz-Target", arena_format(arena, TARGET "%s", call->operation)},
        {"X-Amz-Security-Token", secret_reveal(cognito->session_token)},
    };
    size_t without = cognito->session_token.bytes == NULL ? 1 : 0;
    const struct http_client_signature signature = {.region = cognito->options.region,
                                                    .service = "cognito-idp",
                                                    .key_id = cognito->options.access_key_id,
                                                    .key = cognito->access_key};
    const struct http_client_call request = {.method = "POST",
                                             .url = arena_format(arena, "%s/", cognito->options.endpoint),
                                             .headers = headers,
                                             .header_count = sizeof headers / sizeof *headers - without,
                                             .body = call->body.bytes,
                                             .body_length = call->body.length,
                                             .signature = call->is_signed ? &signature : NULL,
                                             .once = call->once};
    cognito->remote.sets_password = call->sets_password;
    return remote_call(&cognito->remote, arena, &request, answer, reason);
}

/* Reads an answer. *throttled_out: the call was not carried out and may be made again. */
static struct error *read_answer(struct arena *arena, struct cognito_call *call, const struct remote_answer *answer,
                                 bool *throttled_out)
{
    struct document *document = answer->document;
    long status = answer->http.status;
    bool readable = document != NULL && document_kind(document) == DOCUMENT_OBJECT;
    const char *name = exception_of(arena, &answer->http, readable ? document : NULL);
    *throttled_out = false;
    call->fault = COGNITO_OK;
    call->answer = document;
    if (status == 200 && readable && name == NULL)
        return NULL;
    if (name == NULL || status >= 500)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito %s: status %ld and %s", call->operation, status,
                         name != NULL ? name : "no exception");
    const char *message = readable ? document_text(document_member(document, "message")) : NULL;
    if (message == NULL && readable)
        message = document_text(document_member(document, "Message"));
    *throttled_out = strcmp(name, "TooManyRequestsException") == 0 || strcmp(name, "ThrottlingException") == 0;
    call->fault = fault_of(name);
    call->message = arena_format(arena, "%s: %s", name, message != NULL ? message : "");
    return NULL;
}

static void wait_a_little(int64_t milliseconds_max)
{
    uint32_t number;
    random_bytes(&number, sizeof number);
    int64_t wait = THROTTLE_WAIT_MILLISECONDS + (int64_t)(number % (uint32_t)milliseconds_max);
    struct timespec pause = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

struct error *cognito_call(struct cognito *cognito, struct arena *arena, struct cognito_call *call)
{
    bool throttled = true;
    buffer_add_char(&call->body, '}');
    for (int round = 0; throttled && round <= THROTTLE_TRIES; round++) {
        struct remote_answer answer;
        const char *reason = NULL;
        if (round > 0 && remote_milliseconds_left(&cognito->remote) <= THROTTLE_WAIT_MAX_MILLISECONDS)
            break;
        if (round > 0)
            wait_a_little(THROTTLE_WAIT_MAX_MILLISECONDS - THROTTLE_WAIT_MILLISECONDS);
        if (send_once(cognito, arena, call, &answer, &reason) != HTTP_CLIENT_ANSWERED)
            return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito %s: %s", call->operation, reason);
        TRY(read_answer(arena, call, &answer, &throttled));
    }
    if (throttled)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "cognito %s: too many requests", call->operation);
    /* The operator must correct it: no rights, a wrong signature, a wrong clock. */
    if (call->fault == COGNITO_OTHER)
        return cognito_unexpected(arena, call);
    return NULL;
}

/* ---- what came of a call -------------------------------------------------------------------------- */

struct error *cognito_outcome(struct arena *arena, const struct cognito_call *call,
                              const struct cognito_meaning *meanings, size_t count, enum provider_outcome *outcome_out)
{
    *outcome_out = PROVIDER_OK;
    if (call->fault == COGNITO_OK)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (meanings[i].fault != call->fault)
            continue;
        *outcome_out = meanings[i].outcome;
        return NULL;
    }
    return cognito_unexpected(arena, call);
}

struct error *cognito_call_plain(struct cognito *cognito, struct arena *arena, struct cognito_call *call,
                                 enum provider_outcome *outcome_out)
{
    static const struct cognito_meaning meanings[] = {{COGNITO_USER_NOT_FOUND, PROVIDER_ABSENT}};
    TRY(cognito_call(cognito, arena, call));
    return cognito_outcome(arena, call, meanings, 1, outcome_out);
}

void cognito_grant_read(const struct document *answer, struct remote_grant *grant_out)
{
    const struct document *result = document_member(answer, "AuthenticationResult");
    const char *refresh = document_text(document_member(result, "RefreshToken"));
    *grant_out = (struct remote_grant){
        .access_token = document_text(document_member(result, "AccessToken")),
        .id_token = document_text(document_member(result, "IdToken")),
        .refresh_token = secret_of(refresh),
    };
}
