/* SPDX-License-Identifier: MIT */
/*
 * AWS Signature Version 4 (AWS General Reference, "Signature Version 4 signing process"), for requests to Cognito and
 * to stores that speak the S3 protocol. The signature covers the method, the path, the query, every given header, and
 * the digest of the body. It is sent in the Authorization header or, for a URL that is used without headers, in the
 * query.
 */
#ifndef GATEHOUSE_CODEC_SIGV4_H
#define GATEHOUSE_CODEC_SIGV4_H

#include <stddef.h>
#include <stdint.h>

#include "base/secret.h"
#include "codec/digest.h"

struct arena;

/* Room for "20150830T123600Z" and its NUL. */
#define SIGV4_TIME_BYTES 17

/* Room for the hexadecimal text of a digest and its NUL. */
#define SIGV4_PAYLOAD_BYTES (2 * DIGEST_BYTES + 1)

/* In place of the digest of a payload, where the service accepts an unsigned body (S3 over TLS, presigned URLs). */
#define SIGV4_UNSIGNED_PAYLOAD "UNSIGNED-PAYLOAD"

/* A header, or a parameter of a query before any encoding. The value may be empty, not NULL. */
struct sigv4_pair {
    const char *name;
    const char *value;
};

/* Who signs, and for which service. */
struct sigv4_scope {
    const char *region;
    const char *service; /* "s3", "cognito-idp" */
    const char *key_id;
    struct secret key; /* at least one byte */
};

struct sigv4_request {
    const char *method;
    const char
        *path; /* begins with '/'; percent-encoded once, as it is sent. S3 signs it so; for other services use "/" */
    const char *query;                /* of sigv4_query(); "": none */
    const struct sigv4_pair *headers; /* all headers to sign; Host must be among them */
    size_t header_count;
    const char *time;    /* of sigv4_time(); X-Amz-Date carries it */
    const char *payload; /* of sigv4_payload(), or SIGV4_UNSIGNED_PAYLOAD */
};

/* Writes the time in the form of X-Amz-Date; `milliseconds` since 1970, up to the year 9999. */
void sigv4_time(int64_t milliseconds, char time_out[SIGV4_TIME_BYTES]);

/* Writes the digest of a body (NULL with length 0: none) in the form of X-Amz-Content-Sha256. */
void sigv4_payload(const void *body, size_t length, char payload_out[SIGV4_PAYLOAD_BYTES]);

/*
 * The parameters as a query without '?': encoded, in the order in which they are signed. It must be sent exactly so. In
 * the arena.
 */
const char *sigv4_query(struct arena *arena, const struct sigv4_pair *parameters, size_t count);

/* The value of the Authorization header, in the arena. */
const char *sigv4_authorization(struct arena *arena, const struct sigv4_scope *scope,
                                const struct sigv4_request *request);

/*
 * The query of a URL that is valid for `seconds` (1 to 604800) from request->time, in the arena: `parameters`, the
 * signature, and what the signature needs. request->query is not used. Whoever uses the URL must send request->headers
 * (usually Host).
 */
const char *sigv4_presign(struct arena *arena, const struct sigv4_scope *scope, const struct sigv4_request *request,
                          const struct sigv4_pair *parameters, size_t count, unsigned seconds);

#endif
