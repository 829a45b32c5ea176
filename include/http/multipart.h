/* SPDX-License-Identifier: MIT */
/*
 * A push parser for multipart/form-data (RFC 7578 on the framing of RFC 2046, section 5.1).
 *
 * The body is fed in pieces of any size. The handler gets each part's header once, then its bytes in pieces as they
 * arrive, then its end. However the body is cut, the handler gets the same calls with the same bytes (only the pieces
 * of `data` differ). Memory stays constant: the only bytes held back are those that may start a delimiter, and these
 * are known and need no copy.
 *
 * The parser does not know which parts are expected. It is strict wherever two readers could otherwise see two
 * different bodies: nothing before the first delimiter (except one empty line), nothing after the last (except its line
 * end), only CRLF line ends, no folded lines, no field or name twice, names in UTF-8. A line that begins like a
 * delimiter and goes on with a visible character is content.
 */
#ifndef GATEHOUSE_HTTP_MULTIPART_H
#define GATEHOUSE_HTTP_MULTIPART_H

#include <stddef.h>

struct arena;
struct error;
struct multipart;

/* The header of a part. Valid while `begin` runs; the texts live as long as the parser's arena. */
struct part_header {
    const char *name;              /* never NULL, valid UTF-8; may be "" */
    const char *file_name;         /* NULL: none given. As sent (paths, control characters), valid UTF-8 */
    const char *content_type;      /* NULL: none given. As sent, a claim only */
    const char *transfer_encoding; /* NULL: none given. As sent; the bytes are passed on undecoded */
};

/* The receiver. An error that it returns ends the parsing, and multipart_feed() returns it. No member may be NULL. */
struct multipart_handler {
    struct error *(*begin)(void *context, const struct part_header *header);
    /* At least one byte; they are valid during the call. */
    struct error *(*data)(void *context, const void *bytes, size_t length);
    struct error *(*end)(void *context);
};

/*
 * Finds the boundary in a Content-Type header (RFC 2046, section 5.1.1: 1 to LIMIT_BOUNDARY_BYTES characters).
 * MEDIA_TYPE when `content_type` is NULL or another type than multipart/form-data. REQUEST_MALFORMED when the boundary
 * is missing, repeated or not well formed. Other parameters are ignored.
 */
struct error *multipart_boundary(struct arena *arena, const char *content_type, const char **boundary_out);

/*
 * A parser for one body. `boundary` comes from multipart_boundary(); `handler` is copied, and each of its functions
 * gets `context`. Lives in the arena, which also holds the parts' headers (at worst a few times LIMIT_PART_HEADER_BYTES
 * for each of LIMIT_PARTS) and the errors.
 */
struct multipart *multipart_new(struct arena *arena, const char *boundary, const struct multipart_handler *handler,
                                void *context);

/*
 * Takes the next `length` bytes of the body. REQUEST_MALFORMED when they break the syntax or a header is
 * longer than LIMIT_PART_HEADER_BYTES, REQUEST_INVALID (entry code "tooMany") at part LIMIT_PARTS + 1, else
 * what the handler returned. After an error each further call returns that same error.
 */
struct error *multipart_feed(struct multipart *multipart, const void *bytes, size_t length);

/* Call it when the body has ended. REQUEST_MALFORMED when its closing delimiter has not come. */
struct error *multipart_finish(struct multipart *multipart);

/* Parts begun so far; for tests. */
size_t multipart_count(const struct multipart *multipart);

#endif
