/* SPDX-License-Identifier: MIT */
/*
 * Makes the calls to Keycloak: forms for OpenID Connect; JSON for the Admin REST interface, with a token of the service
 * account, which all processes of the host share.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/seal.h"
#include "identity/keycloak/keycloak_int.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"

/* So long before its end the service account's token is not used any more. */
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

/* Sends the call and reads its answer. Every status below 500 is an answer. */
static struct error *call_once(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call,
                               const struct http_client_header *headers, size_t header_count)
{
    struct remote_answer answer;
    const char *reason = NULL;
    const struct http_client_call request = {.method = call->method,
                                             .url = call->url,
                                             .headers = headers,
                                             .header_count = header_count,
                                             .body = call->body.length != 0 ? call->body.bytes : NULL,
                                             .body_length = call->body.length,
                                             .once = call->once};
    keycloak->remote.sets_password = call->sets_password;
    if (remote_call(&keycloak->remote, arena, &request, &answer, &reason) != HTTP_CLIENT_ANSWERED)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak %s: %s", call->name, reason);
    const struct document *document = answer.document;
    call->status = answer.http.status;
    call->answer = document;
    call->location = http_client_answer_header(&answer.http, "Location");
    /* A body that is not JSON comes from a proxy in between, whatever its status says. */
    if (call->status >= 500 || call->status < 200 || (answer.http.length != 0 && document == NULL))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "keycloak %s: status %ld, %s", call->name, call->status,
                         document != NULL ? keycloak_error_name(call) : "not readable");
    return NULL;
}

void keycloak_form_add(struct keycloak_call *call, const char *name, const char *value)
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
    keycloak_form_add(call_out, "client_id", id);
    keycloak_form_add(call_out, "client_secret", secret_reveal(secret));
    call_out->once = true;
}

void keycloak_form_begin(struct keycloak *keycloak, struct arena *arena, const char *endpoint,
                         struct keycloak_call *call_out)
{
    begin_form(keycloak, arena, endpoint, keycloak->options.client_id, keycloak->client_secret, call_out);
}

struct error *keycloak_form_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call)
{
    static const struct http_client_header headers[] = {{"Content-Type", "application/x-www-form-urlencoded"}};
    return call_once(keycloak, arena, call, headers, 1);
}

/* ---- the service account -------------------------------------------------------------------------- */

void keycloak_service_token_forget(struct keycloak *keycloak)
{
    arena_free(&keycloak->token_arena);
    keycloak->token = NULL;
}

struct error *keycloak_service_token_request(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call)
{
    int64_t now = clock_monotonic();
    int64_t seconds = 0;
    keycloak_service_token_forget(keycloak);
    begin_form(keycloak, arena, "token", keycloak->options.admin_client_id, keycloak->admin_secret, call);
    call->name = "token of the service account";
    keycloak_form_add(call, "grant_type", "client_credentials");
    TRY(keycloak_form_call(keycloak, arena, call));
    const char *token = document_text(document_member(call->answer, "access_token"));
    if (call->status != 200 || token == NULL)
        return NULL;
    (void)document_integer(document_member(call->answer, "expires_in"), &seconds);
    keycloak->token_arena = arena_new();
    keycloak->token = arena_text(keycloak->token_arena, token);
    keycloak->token_until = now + (seconds - TOKEN_MARGIN_SECONDS) * 1000000;
    return NULL;
}

/*
 * The token lies sealed in the host's cache, for all its processes: "MILLISECONDS TOKEN", where the number says until
 * when it is used (clock_now()). No process waits there while another fetches a token, since the provider may be slow.
 * An eviction of CACHE_PREFIX_TOKENS removes it, and so does one of all secrets.
 */
static const char *shared_name(const struct keycloak *keycloak, struct arena *arena)
{
    uint8_t digest[DIGEST_BYTES];
    const char *whose = arena_format(arena, "%s %s", keycloak->users, keycloak->options.admin_client_id);
    digest_sha256(whose, strlen(whose), digest);
    return arena_format(arena, CACHE_TOKENS_ADMIN "%s", hex_encode(arena, digest, 8));
}

static void share_token(struct keycloak *keycloak, struct arena *arena, int64_t version)
{
    const struct remote_options *options = &keycloak->remote.options;
    int64_t lasting = (keycloak->token_until - clock_monotonic()) / 1000;
    unsigned char *sealed;
    size_t length;
    if (options->cache == NULL || lasting < 1000)
        return;
    const char *name = shared_name(keycloak, arena);
    const char *text = arena_format(arena, "%" PRId64 " %s", clock_now() + lasting, keycloak->token);
    if (seal(arena, options->master, name, text, strlen(text), &sealed, &length) == NULL)
        cache_store_at(options->cache, name, sealed, length, (unsigned)(lasting / 1000), version);
}

static bool find_shared_token(struct keycloak *keycloak, struct arena *arena)
{
    const struct remote_options *options = &keycloak->remote.options;
    struct secret opened;
    void *bytes;
    size_t length;
    int64_t until;
    if (options->cache == NULL)
        return false;
    const char *name = shared_name(keycloak, arena);
    if (!cache_find(options->cache, arena, name, &bytes, &length) ||
        unseal(arena, options->master, name, bytes, length, &opened) != NULL)
        return false;
    const char *text = secret_reveal(opened);
    const char *blank = strchr(text, ' ');
    if (blank == NULL ||
        !text_to_integer(arena_format(arena, "%.*s", (int)(blank - text), text), 0, INT64_MAX, &until) ||
        until <= clock_now() || blank[1] == '\0')
        return false;
    keycloak_service_token_forget(keycloak);
    keycloak->token_arena = arena_new();
    keycloak->token = arena_text(keycloak->token_arena, blank + 1);
    keycloak->token_until = clock_monotonic() + (until - clock_now()) * 1000;
    return true;
}

static struct error *fetch_token(struct keycloak *keycloak, struct arena *arena)
{
    struct keycloak_call call;
    int64_t version = cache_followed(keycloak->remote.options.cache);
    TRY(keycloak_service_token_request(keycloak, arena, &call));
    if (keycloak->token == NULL)
        return keycloak_unexpected(arena, &call);
    share_token(keycloak, arena, version);
    return NULL;
}

void keycloak_admin_begin(struct keycloak *keycloak, struct arena *arena, const char *method, const char *path,
                          struct keycloak_call *call_out)
{
    begin(arena, arena_format(arena, "%s users", method), method, arena_format(arena, "%s%s", keycloak->users, path),
          call_out);
}

void keycloak_url_begin(struct arena *arena, const char *method, const char *url, struct keycloak_call *call_out)
{
    begin(arena, arena_format(arena, "%s %s", method, url), method, url, call_out);
}

struct error *keycloak_bearer_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call,
                                   const char *token)
{
    const struct http_client_header headers[] = {
        {"Authorization", arena_format(arena, "Bearer %s", token)},
        {"Content-Type", "application/json"},
    };
    return call_once(keycloak, arena, call, headers, call->body.length != 0 ? 2 : 1);
}

struct error *keycloak_admin_call(struct keycloak *keycloak, struct arena *arena, struct keycloak_call *call)
{
    bool fresh =
        (keycloak->token == NULL || clock_monotonic() >= keycloak->token_until) && !find_shared_token(keycloak, arena);
    if (fresh)
        TRY(fetch_token(keycloak, arena));
    for (int round = 0; round < 2; round++) {
        TRY(keycloak_bearer_call(keycloak, arena, call, keycloak->token));
        if (call->status != 401 || fresh || round != 0)
            break;
        /*
         * The token ended before its time: the server was restarted or its keys changed. A refused call was not carried
         * out.
         */
        TRY(fetch_token(keycloak, arena));
    }
    if (call->status == 401)
        keycloak_service_token_forget(keycloak);
    return call->status == 401 || call->status == 403 ? keycloak_unexpected(arena, call) : NULL;
}

const char *keycloak_user_path(struct arena *arena, const char *subject, const char *rest)
{
    return arena_format(arena, "/%s%s", percent_encode(arena, subject, strlen(subject)), rest);
}
