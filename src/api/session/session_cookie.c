/* SPDX-License-Identifier: MIT */
/* Sets and reads the cookie of a browser's session, and checks where a request comes from. */
#include "api/session_cookie_int.h"

#include <stdbool.h>
#include <string.h>

#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/text.h"
#include "domain/session/known_device.h"
#include "http/cookie.h"
#include "http/reply.h"
#include "http/request.h"
#include "service/runtime/service.h"

#define REFRESH_NAME "gatehouse-refresh"
#define REFRESH_PATH "/customers/refresh"
#define DEVICE_NAME "gatehouse-device"
#define DEVICE_PATH "/customers/login"

/* ---- origins -------------------------------------------------------------------------------------- */

/* An origin in its parts (RFC 6454); all empty for what is none. */
struct origin {
    const char *scheme;
    const char *host;
    const char *port;
};

static const char *default_port(const char *scheme)
{
    return strcmp(scheme, "https") == 0 ? "443" : "80";
}

/* Reads the origin of an address; what follows the host is ignored. */
static struct origin origin_of(struct arena *arena, const char *url)
{
    struct origin origin = {"", "", ""};
    const char *colon = strstr(url, "://");
    if (colon == NULL)
        return origin;
    char *authority = text_lowered(arena, colon + 3);
    authority[strcspn(authority, "/?#")] = '\0';
    /* The colons of an IPv6 address are in brackets. */
    char *bracket = strchr(authority, ']');
    char *port = strchr(bracket != NULL ? bracket : authority, ':');
    if (port != NULL)
        *port++ = '\0';
    origin.scheme = text_lowered(arena, arena_copy(arena, url, (size_t)(colon - url)));
    origin.host = authority;
    origin.port = port != NULL ? port : default_port(origin.scheme);
    return origin;
}

static bool is_loopback(const struct origin *origin)
{
    return strcmp(origin->host, "localhost") == 0 || strcmp(origin->host, "[::1]") == 0 ||
           (strncmp(origin->host, "127.", 4) == 0 && origin->host[strspn(origin->host, "0123456789.")] == '\0');
}

static bool is_local(const struct origin *origin)
{
    return strcmp(origin->scheme, "http") == 0 && is_loopback(origin);
}

static bool same_origin(const struct origin *one, const struct origin *other)
{
    bool same_host = strcmp(one->host, other->host) == 0 || (is_local(one) && is_local(other));
    return same_host && *one->host != '\0' && strcmp(one->scheme, other->scheme) == 0 &&
           strcmp(one->port, other->port) == 0;
}

static struct origin own_origin(const struct call *call)
{
    return origin_of(call->arena, call->service->configuration->service.base_url);
}

/* What the Origin header says of the page that sends the request. */
enum sender { SENDER_UNSAID, SENDER_SAME, SENDER_PAGES, SENDER_FOREIGN };

static enum sender sender_of(const struct call *call)
{
    const char *text = request_header(call->request, "ORIGIN");
    if (text == NULL)
        return SENDER_UNSAID;
    size_t end = strcspn(text, "/") + 2;
    /* An origin is a scheme, a host and a port: nothing follows them. */
    if (request_header_repeated(call->request, "ORIGIN") || end > strlen(text) || strpbrk(text + end, "/?#@ ,") != NULL)
        return SENDER_FOREIGN;
    struct origin sent = origin_of(call->arena, text);
    struct origin own = own_origin(call);
    struct origin pages = origin_of(call->arena, call->service->configuration->service.web_url);
    if (same_origin(&sent, &own))
        return SENDER_SAME;
    return same_origin(&sent, &pages) ? SENDER_PAGES : SENDER_FOREIGN;
}

struct error *session_cookie_check_origin(const struct call *call)
{
    const char *site = request_header(call->request, "SEC_FETCH_SITE");
    enum sender sender = sender_of(call);
    bool good = false;
    if (request_header_repeated(call->request, "SEC_FETCH_SITE"))
        good = false;
    else if (site == NULL)
        good = sender == SENDER_SAME || sender == SENDER_PAGES;
    else if (strcmp(site, "same-origin") == 0)
        good = sender == SENDER_SAME || sender == SENDER_UNSAID;
    else if (strcmp(site, "same-site") == 0)
        good = sender == SENDER_PAGES;
    if (good)
        return NULL;
    return error_new(call->arena, ERROR_ORIGIN, "Sec-Fetch-Site %s, the Origin is %s", site == NULL ? "missing" : site,
                     sender == SENDER_UNSAID ? "missing" : "not ours");
}

/* ---- the cookie ----------------------------------------------------------------------------------- */

/* Browsers take a cookie with Secure, and with the prefix that asks for it, over https only. */
static const char *name_of(const struct call *call, const char *name)
{
    struct origin own = own_origin(call);
    return is_local(&own) ? name : arena_format(call->arena, "__Secure-%s", name);
}

static enum cookie_result find(const struct call *call, const char *name, const char **value_out)
{
    enum cookie_result result =
        cookie_find(call->arena, request_header(call->request, "COOKIE"), name_of(call, name), value_out);
    return request_header_repeated(call->request, "COOKIE") ? COOKIE_MANY : result;
}

struct error *session_cookie_check_type(struct call *call)
{
    const char *token;
    if (find(call, REFRESH_NAME, &token) == COOKIE_NONE ||
        request_require_type(call->request, "application/json") == NULL)
        return NULL;
    return error_new(call->arena, ERROR_ORIGIN, "the cookie came along with a body that is not JSON");
}

struct error *session_cookie_read(const struct call *call, const char **token_out)
{
    enum cookie_result result = find(call, REFRESH_NAME, token_out);
    if (result == COOKIE_ONE)
        return NULL;
    if (result == COOKIE_NONE)
        return error_plain(call->arena, ERROR_TOKEN_MISSING);
    return error_entry(error_plain(call->arena, ERROR_REQUEST_INVALID), "cookie", "duplicate",
                       "must be there once only; clear the cookies of this site");
}

/* The value of Set-Cookie for the cookie of that name, which the browser sends below that path. */
static const char *cookie_text(const struct call *call, const char *name, const char *below, const char *value,
                               int64_t seconds)
{
    struct origin own = own_origin(call);
    const char *path = strchr(strstr(call->service->configuration->service.base_url, "://") + 3, '/');
    return arena_format(call->arena, "%s=%s; Path=%s%s; Max-Age=%lld; HttpOnly;%s SameSite=Strict", name_of(call, name),
                        value, path == NULL ? "" : path, below, (long long)seconds, is_local(&own) ? "" : " Secure;");
}

void session_cookie_set(const struct call *call, const char *token, int64_t seconds)
{
    reply_set_header(call->reply, "Set-Cookie",
                     cookie_text(call, REFRESH_NAME, REFRESH_PATH, token, seconds > 0 ? seconds : 0));
}

void session_cookie_clear(const struct call *call)
{
    reply_set_header(call->reply, "Set-Cookie", cookie_text(call, REFRESH_NAME, REFRESH_PATH, "", 0));
}

const char *session_cookie_device(const struct call *call)
{
    const char *mark = "";
    return find(call, DEVICE_NAME, &mark) == COOKIE_ONE ? mark : "";
}

void session_cookie_set_device(const struct call *call, const char *mark)
{
    reply_add_header(call->reply, "Set-Cookie",
                     cookie_text(call, DEVICE_NAME, DEVICE_PATH, mark, KNOWN_DEVICE_SECONDS));
}
