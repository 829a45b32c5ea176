/* SPDX-License-Identifier: MIT */
/*
 * One HTTP request as the web server passes it on. Everything here is data and proves nothing: the only identity of a
 * request is the one that its token proves.
 *
 * The request does not know FastCGI. A struct request_source (http/fastcgi.c, or a test) supplies parameters and body.
 */
#ifndef GATEHOUSE_HTTP_REQUEST_H
#define GATEHOUSE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_OTHER
};

#define REQUEST_SOURCE_FAULT (-2)

/*
 * The parameters of a question: that it is one, how many bytes of body the client has announced, and the request's id
 * where the web server sets X-Request-Id too late (Apache).
 */
#define ADMISSION_PARAMETER "GATEHOUSE_ADMISSION"
#define ANNOUNCED_PARAMETER "GATEHOUSE_ANNOUNCED_LENGTH"
#define REQUEST_ID_PARAMETER "GATEHOUSE_REQUEST_ID"

/*
 * What the web server asks the worker to do. Only the web server can set it: the names of a client's headers arrive
 * with HTTP_ in front.
 */
enum request_kind {
    REQUEST_WHOLE, /* the request is to be served */
    /* whether the body of a request may be received; the other parameters are those of the request */
    REQUEST_QUESTION,
    REQUEST_AUTHORISER /* the same question, in the FastCGI role of an authoriser */
};

/* Where a request comes from. */
struct request_source {
    void *context;
    enum request_kind kind;
    /*
     * A CGI parameter (RFC 3875, section 4.1), e.g. "HTTP_AUTHORIZATION"; NULL when absent. Lives as long as the
     * request.
     */
    const char *(*parameter)(void *context, const char *name);
    /* Whether the web server has passed that parameter on more than once; NULL: it never does. */
    bool (*repeated)(void *context, const char *name);
    /*
     * Reads up to `size` bytes of the body; 0 at its end, -1 when the peer failed or fell silent, REQUEST_SOURCE_FAULT
     * when this side failed.
     */
    long (*read)(void *context, void *bytes, size_t size);
};

/* The content_length of a chunked body whose length the web server does not state: it is read to its end. */
#define REQUEST_LENGTH_UNSAID INT64_MAX

struct request {
    struct arena *arena;
    struct request_source source;
    enum method method;
    /* raw (not percent-decoded), starts with '/', without the base path; NULL: outside it */
    const char *path;
    const char *query;          /* raw, without '?'; "" when there is none */
    const char *request_id;     /* the client's when it is well formed, else a new one */
    const char *client_address; /* as the web server states it; "" when it does not */
    int64_t content_length;     /* 0 when there is no body; -1 when the length is not valid */
    int64_t body_left;          /* bytes of the body not read yet */
    int64_t announced_length;   /* of a question: bytes of the body that may follow; -1 when unknown */
};

/*
 * Fills *request from `source`. `base_path` ("" or "/api") is removed from the path. Never fails: invalid parameters
 * become values that match no route.
 */
void request_init(struct request *request, struct arena *arena, const struct request_source *source,
                  const char *base_path);

/* A request header by its CGI name without "HTTP_", e.g. "IF_NONE_MATCH"; NULL when absent. */
const char *request_header(const struct request *request, const char *name);

/*
 * Whether the client sent that header more than once and the web server passed each of them on. request_header() gives
 * the first.
 */
bool request_header_repeated(const struct request *request, const char *name);

/* The Content-Type header, NULL when absent or empty. */
const char *request_content_type(const struct request *request);

/*
 * Reads up to `size` bytes of the body: exactly content_length bytes arrive in total. *got_out is 0 at the end.
 * REQUEST_MALFORMED when the peer left or fell silent before the announced end. STORAGE_UNAVAILABLE when a body that
 * the web server has stored cannot be read.
 */
struct error *request_read(struct request *request, void *bytes, size_t size, size_t *got_out);

/*
 * Reads the whole body into the arena. TOO_LARGE when it is longer than `maximum` (nothing is read then).
 */
struct error *request_read_all(struct request *request, int64_t maximum, char **bytes_out, size_t *length_out);

/*
 * Whether the Content-Type's media type is `media_type` (case-blind, parameters ignored) and there is no
 * Content-Encoding; MEDIA_TYPE with a sentence otherwise.
 */
struct error *request_require_type(const struct request *request, const char *media_type);

const char *request_method_text(enum method method);

#endif
