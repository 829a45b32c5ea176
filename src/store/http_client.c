/* SPDX-License-Identifier: MIT */
/* Makes calls over HTTP with libcurl, within a deadline and a size. */
#include "store/http_client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/network.h"
#include "base/text.h"
#include "codec/sigv4.h"

#define HEADER_BYTES_MAX 4096
#define UPLOAD_BUFFER_BYTES (256 * 1024)

struct http_client {
    CURL *curl;
    const char *ca_file;
};

/* One call and its answer. */
struct exchange {
    struct arena *arena;
    CURL *curl;
    const struct http_client_call *call;
    struct http_client_answer *answer;
    struct buffer body;
    size_t bound;
    size_t placed;   /* bytes in call->into */
    uint64_t offset; /* of the next byte that the source gives */
    bool too_long;
};

static void release(void *argument)
{
    curl_easy_cleanup(argument);
}

bool http_client_load(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

struct error *http_client_new(struct arena *arena, const char *ca_file, struct http_client **client_out)
{
    struct http_client *client = arena_alloc(arena, sizeof *client);
    client->curl = curl_easy_init();
    if (client->curl == NULL)
        return error_new(arena, ERROR_INTERNAL, "the HTTP client could not be started");
    arena_defer(arena, release, client->curl);
    client->ca_file = arena_text(arena, ca_file);
    *client_out = client;
    return NULL;
}

/* ---- reading the answer --------------------------------------------------------------------------- */

/* The wanted bytes go to where the caller wants them. An answer that says why there are none is text as any other. */
static bool has_place(const struct exchange *exchange)
{
    long status = 0;
    if (exchange->call->into == NULL)
        return false;
    (void)curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
    return status / 100 == 2;
}

static size_t place_body(struct exchange *exchange, const char *bytes, size_t length)
{
    if (length > exchange->call->into_bytes - exchange->placed) {
        exchange->too_long = true;
        return 0;
    }
    memcpy((char *)exchange->call->into + exchange->placed, bytes, length);
    exchange->placed += length;
    return length;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    size_t length = size * count;
    if (has_place(exchange))
        return place_body(exchange, bytes, length);
    if (length > exchange->bound - exchange->body.length) {
        exchange->too_long = true;
        return 0;
    }
    buffer_add(&exchange->body, bytes, length);
    return length;
}

/* The headers of an interim answer (100) are dropped: a new status line begins the real answer. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    struct http_client_answer *answer = exchange->answer;
    size_t length = size * count;
    const char *colon = memchr(bytes, ':', length);
    if (length >= 5 && strncmp(bytes, "HTTP/", 5) == 0)
        answer->header_count = 0;
    if (colon == NULL || length > HEADER_BYTES_MAX || answer->header_count == HTTP_CLIENT_HEADERS_MAX)
        return length;
    const char *value = colon + 1;
    const char *end = bytes + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (unsigned char)end[-1] <= ' ')
        end--;
    answer->headers[answer->header_count++] = (struct http_client_header){
        .name = arena_copy(exchange->arena, bytes, (size_t)(colon - bytes)),
        .value = arena_copy(exchange->arena, value, (size_t)(end - value)),
    };
    return length;
}

const char *http_client_answer_header(const struct http_client_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->header_count; i++)
        if (text_equal_ignoring_case(answer->headers[i].name, name))
            return answer->headers[i].value;
    return NULL;
}

/* ---- calling -------------------------------------------------------------------------------------- */

/* For libcurl 0 means no bound. */
static int64_t milliseconds_of(const struct http_client_call *call)
{
    int64_t now = clock_monotonic();
    int64_t left = (clock_within_horizon(now + call->milliseconds * 1000) - now) / 1000;
    return left < 1 ? 1 : left;
}

static void set_connection(CURL *curl, const struct http_client *client, const struct http_client_call *call)
{
    int64_t milliseconds = milliseconds_of(call);
    (void)curl_easy_setopt(curl, CURLOPT_URL, call->url);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    /* Does not wait for a name server when the time is over: name servers have longer timeouts. */
    (void)curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, call->once ? 1L : 0L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)milliseconds);
    (void)curl_easy_setopt(
        curl, CURLOPT_CONNECTTIMEOUT_MS,
        (long)(milliseconds < HTTP_CLIENT_CONNECT_MILLISECONDS ? milliseconds : HTTP_CLIENT_CONNECT_MILLISECONDS));
    if (call->stall_seconds > 0) {
        (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)call->stall_seconds);
    }
    if (client->ca_file != NULL)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, client->ca_file);
}

/* The headers of a call. One that lacks a header, be it a condition or a signature, must not be made. */
struct lines {
    struct curl_slist *list;
    bool whole;
};

static void add_line(struct lines *lines, const char *line)
{
    struct curl_slist *longer = curl_slist_append(lines->list, line);
    if (longer == NULL)
        lines->whole = false;
    else
        lines->list = longer;
}

static void add_header(struct lines *lines, struct arena *scratch, const char *name, const char *value)
{
    add_line(lines, arena_format(scratch, "%s: %s", name, value));
}

static const char *header_given(const struct http_client_call *call, const char *name)
{
    for (size_t i = 0; i < call->header_count; i++)
        if (text_equal_ignoring_case(call->headers[i].name, name))
            return call->headers[i].value;
    return NULL;
}

/*
 * Splits a URL into the parts that a signature covers; false where it is no URL. The default port of the scheme is left
 * out.
 */
static bool split_url(struct arena *arena, const char *url, const char **host_out, struct sigv4_request *request)
{
    CURLU *parts = curl_url();
    char *host = NULL, *port = NULL, *path = NULL, *query = NULL;
    bool good = parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK;
    if (good) {
        bool named = curl_url_get(parts, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT) == CURLUE_OK;
        *host_out = named ? arena_format(arena, "%s:%s", host, port) : arena_text(arena, host);
        request->path = arena_text(arena, path);
        request->query = curl_url_get(parts, CURLUPART_QUERY, &query, 0) == CURLUE_OK ? arena_text(arena, query) : "";
    }
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_free(query);
    curl_url_cleanup(parts);
    return good;
}

/* Adds Authorization, and Host and X-Amz-Date unless the caller gave them. All headers of the call are signed. */
static void add_signature(struct lines *lines, struct arena *scratch, const struct http_client_call *call)
{
    const struct http_client_signature *signature = call->signature;
    const struct sigv4_scope scope = {signature->region, signature->service, signature->key_id, signature->key};
    struct sigv4_pair *headers = arena_alloc(scratch, (call->header_count + 2) * sizeof *headers);
    char now[SIGV4_TIME_BYTES], payload[SIGV4_PAYLOAD_BYTES];
    const char *host = NULL, *date = header_given(call, "X-Amz-Date");
    struct sigv4_request request = {.method = call->method, .headers = headers, .payload = signature->payload};
    if (!split_url(scratch, call->url, &host, &request)) {
        lines->whole = false;
        return;
    }
    for (size_t i = 0; i < call->header_count; i++)
        headers[request.header_count++] = (struct sigv4_pair){call->headers[i].name, call->headers[i].value};
    if (header_given(call, "Host") == NULL) {
        headers[request.header_count++] = (struct sigv4_pair){"Host", host};
        add_header(lines, scratch, "Host", host);
    }
    if (date == NULL) {
        sigv4_time(clock_now(), now);
        headers[request.header_count++] = (struct sigv4_pair){"X-Amz-Date", now};
        add_header(lines, scratch, "X-Amz-Date", now);
    }
    if (request.payload == NULL) {
        sigv4_payload(call->body, call->body_length, payload);
        request.payload = payload;
    }
    request.time = date != NULL ? date : now;
    add_header(lines, scratch, "Authorization", sigv4_authorization(scratch, &scope, &request));
}

static struct lines set_headers(CURL *curl, const struct http_client_call *call)
{
    struct lines lines = {.whole = true};
    struct arena *scratch = arena_new();
    for (size_t i = 0; i < call->header_count; i++)
        add_header(&lines, scratch, call->headers[i].name, call->headers[i].value);
    if (call->signature != NULL)
        add_signature(&lines, scratch, call);
    /* libcurl would wait a second for a "100 Continue" that not every server sends. */
    if (call->source != NULL)
        add_line(&lines, "Expect:");
    arena_free(&scratch);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines.list);
    return lines;
}

static size_t give_body(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    const struct http_client_call *call = exchange->call;
    uint64_t left = call->body_length - exchange->offset;
    size_t length = size * count < left ? size * count : (size_t)left;
    if (length > 0 && !call->source(call->source_context, exchange->offset, bytes, length))
        return CURL_READFUNC_ABORT;
    exchange->offset += length;
    return length;
}

/* libcurl sends the body again where a kept connection was closed before anything came back. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
    struct exchange *exchange = context;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->call->body_length)
        return CURL_SEEKFUNC_FAIL;
    exchange->offset = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static void set_source(CURL *curl, struct exchange *exchange)
{
    (void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->call->body_length);
    (void)curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER_BYTES);
    (void)curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
    (void)curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
    (void)curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
    (void)curl_easy_setopt(curl, CURLOPT_SEEKDATA, exchange);
}

static void set_request(CURL *curl, struct exchange *exchange)
{
    const struct http_client_call *call = exchange->call;
    if (call->source != NULL)
        set_source(curl, exchange);
    if (strcmp(call->method, "HEAD") == 0)
        (void)curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    if (call->body != NULL) {
        (void)curl_easy_setopt(curl, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_length);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
    }
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
    if (call->user != NULL) {
        (void)curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        (void)curl_easy_setopt(curl, CURLOPT_USERNAME, call->user);
        (void)curl_easy_setopt(curl, CURLOPT_PASSWORD, secret_reveal(call->password));
    }
}

static void set_answer(CURL *curl, struct exchange *exchange)
{
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
}

static int tick(void *context, curl_off_t to_come, curl_off_t came, curl_off_t to_go, curl_off_t went)
{
    const struct http_client_call *call = context;
    (void)to_come;
    (void)came;
    (void)to_go;
    (void)went;
    call->tick(call->tick_context);
    return 0;
}

static void set_tick(CURL *curl, const struct http_client_call *call)
{
    if (call->tick == NULL)
        return;
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, tick);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, call);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

/*
 * Whether the call may have been carried out: it may once anything was sent, since a header alone may have an effect.
 */
static enum http_client_outcome outcome_of(CURL *curl, CURLcode result)
{
    long sent = 0;
    if (result == CURLE_OK)
        return HTTP_CLIENT_ANSWERED;
    (void)curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &sent);
    return sent > 0 ? HTTP_CLIENT_UNKNOWN : HTTP_CLIENT_UNREACHABLE;
}

enum http_client_outcome http_client_call(struct http_client *client, struct arena *arena,
                                          const struct http_client_call *call, struct http_client_answer *answer_out,
                                          const char **reason_out)
{
    CURL *curl = client->curl;
    struct exchange exchange = {.arena = arena, .curl = curl, .call = call, .answer = answer_out};
    exchange.bound = call->answer_bytes != 0 ? call->answer_bytes : HTTP_CLIENT_ANSWER_BYTES_MAX;
    buffer_init(&exchange.body, arena);
    *answer_out = (struct http_client_answer){0};
    curl_easy_reset(curl);
    set_connection(curl, client, call);
    struct lines headers = set_headers(curl, call);
    set_request(curl, &exchange);
    set_answer(curl, &exchange);
    set_tick(curl, call);
    enum http_client_outcome outcome = HTTP_CLIENT_UNREACHABLE;
    *reason_out = "its headers could not be made";
    if (headers.whole) {
        CURLcode result = curl_easy_perform(curl);
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer_out->status);
        outcome = outcome_of(curl, result);
        *reason_out = exchange.too_long ? "the answer was too long" : curl_easy_strerror(result);
    }
    curl_easy_reset(curl);
    curl_slist_free_all(headers.list);
    answer_out->body = exchange.body.bytes;
    answer_out->length = exchange.body.length;
    if (exchange.placed > 0) {
        answer_out->body = call->into;
        answer_out->length = exchange.placed;
    }
    return outcome;
}

/* ---- addresses ------------------------------------------------------------------------------------- */

bool http_client_url_usable(const char *url)
{
    static const CURLUPart unwanted[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT};
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL;
    bool good = parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    good = good && (strcmp(scheme, "https") == 0 || (strcmp(scheme, "http") == 0 && network_is_loopback(host)));
    for (size_t i = 0; good && i < sizeof unwanted / sizeof *unwanted; i++) {
        char *found = NULL;
        good = curl_url_get(parts, unwanted[i], &found, 0) != CURLUE_OK;
        curl_free(found);
    }
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(parts);
    return good;
}
