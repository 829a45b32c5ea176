/* SPDX-License-Identifier: MIT */
/*
 * The reply that is being built. A header value with CR, LF, NUL or another control character ends the process in a
 * debug build and is dropped otherwise: no caller may pass one.
 */
#ifndef GATEHOUSE_HTTP_REPLY_H
#define GATEHOUSE_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct arena;

#define REPLY_HEADERS_MAX 32

struct reply_header {
    const char *name;
    const char *value;
};

/* What a producer of a long reply says of the piece that it has just written. */
enum reply_piece {
    REPLY_PIECE_MORE,  /* another one comes */
    REPLY_PIECE_LAST,  /* the reply is complete with it */
    REPLY_PIECE_BROKEN /* nothing more can be made: the connection is cut, so that nobody takes a part for the whole */
};

struct reply {
    struct arena *arena;
    int status; /* 200 at first */
    struct reply_header headers[REPLY_HEADERS_MAX];
    size_t header_count;
    struct buffer body;
    /*
     * When `stream` is not NULL it gives the bytes that are sent in place of `body`: `length` of them from `offset` on.
     * false, or fewer: they cannot be had, and the connection is cut.
     */
    bool (*stream)(void *context, uint64_t offset, void *bytes, size_t length, size_t *got_out);
    void *stream_context;
    int64_t stream_first;
    int64_t stream_length;
    /*
     * When `produce` is not NULL the body is made while it is sent, so that its length does not matter. It adds a piece
     * whose memory it takes from `arena`; all of that memory is gone at the next call.
     */
    enum reply_piece (*produce)(void *context, struct arena *arena, struct buffer *piece);
    void *context;
    bool no_body; /* HEAD, 304: headers only */
};

/* Makes an empty 200 reply in `arena`. */
void reply_init(struct reply *reply, struct arena *arena);

/* Removes status, headers and body, for an error that occurs late. */
void reply_clear(struct reply *reply);

/* Sets a header, and replaces one of the same name in any case. `name` is a literal, `value` is copied. */
void reply_set_header(struct reply *reply, const char *name, const char *value);

/* Adds a header beside those of the same name, for Set-Cookie (RFC 6265, section 3); none beyond the bound. */
void reply_add_header(struct reply *reply, const char *name, const char *value);
void reply_format_header(struct reply *reply, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The header's value, NULL when it is not set. */
const char *reply_find_header(const struct reply *reply, const char *name);

/* The CGI header block (RFC 3875, section 6.3) with its empty line, in the arena. */
struct buffer reply_head(const struct reply *reply);

#endif
