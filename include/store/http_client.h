/* SPDX-License-Identifier: MIT */
/*
 * Calls over HTTP to services that Gatehouse needs (an identity provider, its key set), by libcurl. A call has one
 * deadline for everything and a bound on its answer. It follows no redirect, uses no proxy from the environment, and
 * verifies certificates. A failure says whether the call may have been carried out; that decides whether it may be
 * repeated (docs/identity-providers.md).
 */
#ifndef GATEHOUSE_STORE_HTTP_CLIENT_H
#define GATEHOUSE_STORE_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/secret.h"

struct arena;
struct error;
struct http_client;

#define HTTP_CLIENT_CONNECT_MILLISECONDS 2000
#define HTTP_CLIENT_HEADERS_MAX 32
#define HTTP_CLIENT_ANSWER_BYTES_MAX (1024 * 1024)

enum http_client_outcome {
    HTTP_CLIENT_ANSWERED,    /* a complete answer came, whatever its status */
    HTTP_CLIENT_UNREACHABLE, /* certainly not carried out: no name, no connection, no TLS, or nothing was sent */
    HTTP_CLIENT_UNKNOWN      /* sent, but no complete answer came in time: may have been carried out */
};

struct http_client_header {
    const char *name;
    const char *value; /* not empty, and without control characters */
};

/*
 * Signs a call with AWS Signature Version 4 (codec/sigv4.h). The path of the URL is percent-encoded as it is sent, and
 * its query is one of sigv4_query(); for other services than S3 the path is "/".
 */
struct http_client_signature {
    const char *region;
    const char *service;
    const char *key_id;
    struct secret key;
    const char *payload; /* of sigv4_payload(); NULL: that of `body` */
};

/*
 * Gives `length` bytes of a body from `offset` on. It may be asked for bytes that it has given before. false: they
 * cannot be had, and the call ends.
 */
typedef bool http_client_source(void *context, uint64_t offset, void *bytes, size_t length);

struct http_client_call {
    const char *method; /* GET, HEAD, POST, PUT or DELETE */
    const char *url;
    const struct http_client_header *headers;
    size_t header_count;
    const void *body; /* NULL: none */
    size_t body_length;
    http_client_source *source; /* in place of `body`: gives body_length bytes, for PUT; NULL: none */
    void *source_context;
    void *into; /* the body of an answer of the 2xx goes there; NULL: to the arena */
    size_t into_bytes;
    const struct http_client_signature *signature; /* NULL: not signed */
    const char *user;                              /* HTTP basic authentication (RFC 7617); NULL: none */
    struct secret password;
    int64_t milliseconds;   /* for the whole call; connecting takes HTTP_CLIENT_CONNECT_MILLISECONDS at most */
    unsigned stall_seconds; /* the call also ends after so long without a byte in either direction; 0: not so */
    size_t answer_bytes;    /* a longer answer counts as none; 0: HTTP_CLIENT_ANSWER_BYTES_MAX */
    /* Called about once a second, or more often, while the call lasts; it must not call the client. NULL: none */
    void (*tick)(void *context);
    void *tick_context;
    /*
     * The call must not be carried out twice, so it uses a new connection: on a kept connection that the peer has
     * closed, libcurl would send it again.
     */
    bool once;
};

struct http_client_answer {
    long status;
    char *body; /* NUL-terminated beyond length */
    size_t length;
    struct http_client_header headers[HTTP_CLIENT_HEADERS_MAX]; /* the first HTTP_CLIENT_HEADERS_MAX ones */
    size_t header_count;
};

/*
 * Starts libcurl, for a process that may load no library later. False where it cannot be; then the first client fails.
 */
bool http_client_load(void);

/*
 * Makes a client that keeps its connections for the next call. It lives as long as the arena (the process's own).
 * `ca_file` (may be NULL) names certificates that are trusted in place of the system's. INTERNAL when libcurl does not
 * start.
 */
struct error *http_client_new(struct arena *arena, const char *ca_file, struct http_client **client_out);

/*
 * Makes one call. HTTP_CLIENT_ANSWERED fills the answer; otherwise *reason_out is a sentence for the log, without a
 * part of what was sent.
 */
enum http_client_outcome http_client_call(struct http_client *client, struct arena *arena,
                                          const struct http_client_call *call, struct http_client_answer *answer_out,
                                          const char **reason_out);

/* The value of an answer's header, by its name in any case; NULL when it has none. */
const char *http_client_answer_header(const struct http_client_answer *answer, const char *name);

/*
 * Whether the service may be called at `url`: https, or http to this machine; a host; no user, query or fragment.
 */
bool http_client_url_usable(const char *url);

#endif
