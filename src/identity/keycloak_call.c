/* SPDX-License-Identifier: MIT */
/* The wire: forms for OpenID Connect, JSON with a service account's token for the Admin REST interface. */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "codec/encoding.h"
#include "identity/keycloak_int.h"

/* How long before its end the service account's token is not used any more. */
#define TOKEN_MARGIN_SECONDS 30

/* ---- what an answer says -------------------------------------------------------------------------- */

static const char *member_or_nothing(const struct keycloak_call *call, const char *name)
{
    const char *text = document_text(document_member(call->answer, name));
    return text != NULL ? text : "";
}

const char *keycloak_error_name(const struct keycloak_call *call)
{
    return member_or_nothing(call, "error");
}

const char *keycloak_error_text(const struct keycloak_call *call)
{
    const char *text = member_or_nothing(call, "error_description");
    return *text != '\0' ? text : member_or_nothing(call, "errorMessage");
}

bool keycloak_is_absent(const struct keycloak_call *call)
{
    return call->status == 404 && strncmp(keycloak_error_name(call), "User not found", 14) == 0;
}

bool keycloak_is_refused(const struct keycloak_call *call)
{
    return call->status == 400 && (strncmp(keycloak_error_name(call), "invalidPassword", 15) == 0 ||
                                   strncmp(keycloak_error_text(call), "Password policy not met", 23) == 0 ||
                                   strncmp(keycloak_error_text(call), "invalidPassword", 15) == 0);
}

struct error *keycloak_unexpected(struct arena *arena, const struct keycloak_call *call)
{
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak %s: status %ld %s %s", call->name, call->status,
                     keycloak_error_name(call), keycloak_error_text(call));
}

/* ---- calling -------------------------------------------------------------------------------------- */

static void begin(struct arena *arena, const char *name, const char *method, const char *url,
                  struct keycloak_call *call_out)
{
    *call_out = (struct keycloak_call){.name = name, .method = method, .url = url};
    buffer_init(&call_out->body, arena);
}

/* Sends it and reads the answer, whatever its status below 500. */
static struct error *call_once(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call,
                               const struct web_header *headers, size_t header_count)
{
    struct outside_answer answer;
    const char *reason = NULL;
    const struct web_call wire = {.method = call->method,
                                  .url = call->url,
                                  .headers = headers,
                                  .header_count = header_count,
                                  .body = call->body.length != 0 ? call->body.bytes : NULL,
                                  .body_length = call->body.length,
                                  .once = call->once};
    keycloak->outside.sets_password = call->sets_password;
    if (outside_call(&keycloak->outside, arena, &wire, &answer, &reason) != WEB_ANSWERED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak %s: %s", call->name, reason);
    const struct document *document = answer.document;
    call->status = answer.web.status;
    call->answer = document;
    call->location = web_answer_header(&answer.web, "Location");
    /* A body that is not JSON comes from something in between, whatever its status says. */
    if (call->status >= 500 || call->status < 200 || (answer.web.length != 0 && document == NULL))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak %s: status %ld, %s", call->name, call->status,
                         document != NULL ? keycloak_error_name(call) : "not readable");
    return NULL;
}

void keycloak_add(struct keycloak_call *call, const char *name, const char *value)
{
    if (call->body.length != 0)
        buffer_add_char(&call->body, '&');
    buffer_add_text(&call->body, name);
    buffer_add_char(&call->body, '=');
    buffer_add_text(&call->body, percent_encode(call->body.arena, value, strlen(value)));
}

static void begin_form(struct keycloak *keycloak, struct arena *arena, const char *endpoint, const char *id,
                       struct secret secret, struct keycloak_call *call_out)
{
    begin(arena, endpoint, "POST", arena_format(arena, "%s/%s", keycloak->oidc, endpoint), call_out);
    keycloak_add(call_out, "client_id", id);
    keycloak_add(call_out, "client_secret", secret_reveal(secret));
    call_out->once = true;
}

void keycloak_client(struct keycloak *keycloak, struct arena *arena, const char *endpoint, struct keycloak_call *call_out)
{
    begin_form(keycloak, arena, endpoint, keycloak->options.client_id, keycloak->client_secret, call_out);
}

struct error *keycloak_client_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call)
{
    static const struct web_header headers[] = {{"Content-Type", "application/x-www-form-urlencoded"}};
    return call_once(keycloak, arena, call, headers, 1);
}

/* ---- the service account -------------------------------------------------------------------------- */

void keycloak_token_forget(struct keycloak *keycloak)
{
    arena_free(&keycloak->token_arena);
    keycloak->token = NULL;
}

struct error *keycloak_token_ask(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call)
{
    int64_t now = clock_monotonic();
    int64_t seconds = 0;
    keycloak_token_forget(keycloak);
    begin_form(keycloak, arena, "token", keycloak->options.admin_client_id, keycloak->admin_secret, call);
    call->name = "token of the service account";
    keycloak_add(call, "grant_type", "client_credentials");
    TRY(keycloak_client_call(keycloak, arena, call));
    const char *token = document_text(document_member(call->answer, "access_token"));
    if (call->status != 200 || token == NULL)
        return NULL;
    (void)document_integer(document_member(call->answer, "expires_in"), &seconds);
    keycloak->token_arena = arena_new();
    keycloak->token = arena_text(keycloak->token_arena, token);
    keycloak->token_until = now + (seconds - TOKEN_MARGIN_SECONDS) * 1000000;
    return NULL;
}

static struct error *fetch_token(struct keycloak *keycloak, struct arena *arena)
{
    struct keycloak_call call;
    TRY(keycloak_token_ask(keycloak, arena, &call));
    return keycloak->token != NULL ? NULL : keycloak_unexpected(arena, &call);
}

void keycloak_admin(struct keycloak *keycloak, struct arena *arena, const char *method, const char *path,
                    struct keycloak_call *call_out)
{
    begin(arena, arena_format(arena, "%s users", method), method, arena_format(arena, "%s%s", keycloak->users, path),
          call_out);
}

void keycloak_operator(struct arena *arena, const char *method, const char *url, struct keycloak_call *call_out)
{
    begin(arena, arena_format(arena, "%s %s", method, url), method, url, call_out);
}

struct error *keycloak_token_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call,
                                  const char *token)
{
    const struct web_header headers[] = {
        {"Authorization", arena_format(arena, "Bearer %s", token)},
        {"Content-Type", "application/json"},
    };
    return call_once(keycloak, arena, call, headers, call->body.length != 0 ? 2 : 1);
}

struct error *keycloak_admin_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call)
{
    bool fresh = keycloak->token == NULL || clock_monotonic() >= keycloak->token_until;
    if (fresh)
        TRY(fetch_token(keycloak, arena));
    for (int round = 0; round < 2; round++) {
        TRY(keycloak_token_call(keycloak, arena, call, keycloak->token));
        if (call->status != 401 || fresh || round != 0)
            break;
        /* It ended before its time: the server was restarted, its keys changed. What was not taken was not done. */
        TRY(fetch_token(keycloak, arena));
    }
    if (call->status == 401)
        keycloak_token_forget(keycloak);
    return call->status == 401 || call->status == 403 ? keycloak_unexpected(arena, call) : NULL;
}

const char *keycloak_path(struct arena *arena, const char *subject, const char *rest)
{
    return arena_format(arena, "/%s%s", percent_encode(arena, subject, strlen(subject)), rest);
}
