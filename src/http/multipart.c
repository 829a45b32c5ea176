/* SPDX-License-Identifier: MIT */
/*
 * How the search works. A delimiter is CR LF "--" boundary. A boundary holds no CR, so the CR at the front of a
 * delimiter is its only one. If a partial match turns out to be content, it cannot hold a second start, so no table of
 * partial matches is needed. The bytes that are held back between two calls are a prefix of the delimiter, so it is
 * enough to keep their number (`matched`). At the start of the body and of each part, the line end that belongs to a
 * delimiter has been read already. It counts as matched, but it is not content when the match fails (`borrowed`).
 *
 *     body, part's content --delimiter--> AFTER --CRLF--> header --empty line--> part's content
 *                                           `--"--"--> CLOSED --[CRLF]--> end of the body
 */
#include "http/multipart.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "http/multipart_int.h"

/* CR LF - - */
#define DELIMITER_FRONT 4
#define DELIMITER_BYTES (DELIMITER_FRONT + LIMIT_BOUNDARY_BYTES)

/* Blanks after a boundary: RFC 2046 allows them, no client sends them. */
#define PADDING_MAX 70

enum state {
    STATE_CONTENT,   /* looking for a delimiter */
    STATE_AFTER,     /* behind a delimiter: the rest of its line decides */
    STATE_DASH,      /* behind a delimiter and one '-' */
    STATE_PADDING,   /* blanks behind a delimiter */
    STATE_LINE_FEED, /* the delimiter's line has a CR */
    STATE_HEADER,    /* gathering a part's header */
    STATE_CLOSED,    /* behind the closing delimiter */
    STATE_CLOSED_CR, /* and its CR */
    STATE_CLOSED_LF, /* and its LF */
    STATE_FAILED
};

struct multipart {
    struct arena *arena;
    struct multipart_handler handler;
    void *context;
    enum state state;
    bool in_part;      /* content belongs to a part; without one there must be none */
    size_t count;      /* parts begun */
    size_t matched;    /* bytes of the delimiter matched and held back */
    size_t borrowed;   /* how many of them do not belong to the content */
    size_t padding;    /* blanks seen */
    uint64_t position; /* bytes of the body before this call, for the log */
    struct error *error;
    size_t delimiter_length;
    char delimiter[DELIMITER_BYTES];
    size_t head_length;
    char head[LIMIT_PART_HEADER_BYTES];
};

static struct error *malformed(struct multipart *multipart, const char *what)
{
    struct error *error = multipart_refuse(multipart->arena, what);
    error->detail = arena_format(multipart->arena, "%s (part %zu, after byte %" PRIu64 ")", error->detail,
                                 multipart->count, multipart->position);
    return error;
}

/* The header is complete, with the empty line that ends it. */
static struct error *begin_part(struct multipart *multipart)
{
    struct part_header header;
    const char *fault = multipart_header_parse(multipart->arena, multipart->head, multipart->head_length, &header);
    if (fault != NULL)
        return malformed(multipart, fault);
    multipart->in_part = true;
    multipart->state = STATE_CONTENT;
    /* The end of the empty line may belong to a delimiter already: a part without content (RFC 2046, section 5.1.1). */
    multipart->matched = 2;
    multipart->borrowed = 2;
    return multipart->handler.begin(multipart->context, &header);
}

static struct error *header_byte(struct multipart *multipart, char byte)
{
    size_t length = multipart->head_length;
    char before = length == 0 ? '\0' : multipart->head[length - 1];
    if ((byte == '\n') != (before == '\r'))
        return malformed(multipart, "a line of a part's header does not end in CR LF");
    if (byte == '\0')
        return malformed(multipart, "a part's header holds a control character");
    if (length == sizeof multipart->head)
        return malformed(multipart, "a part's header is too long");
    multipart->head[length++] = byte;
    multipart->head_length = length;
    bool empty_line = byte == '\n' && (length == 2 || (length >= 4 && multipart->head[length - 3] == '\n'));
    return empty_line ? begin_part(multipart) : NULL;
}

static struct error *gather_header(struct multipart *multipart, const char *bytes, size_t length, size_t *used_out)
{
    size_t used = 0;
    struct error *error = NULL;
    while (error == NULL && used < length && multipart->state == STATE_HEADER)
        error = header_byte(multipart, bytes[used++]);
    *used_out = used;
    return error;
}

/* ---- content and delimiters ---- */

static struct error *emit(struct multipart *multipart, const void *bytes, size_t length)
{
    if (length == 0)
        return NULL;
    if (!multipart->in_part)
        return malformed(multipart, "there are bytes before its first boundary");
    return multipart->handler.data(multipart->context, bytes, length);
}

/* The bytes that were held back are content. */
static struct error *emit_held(struct multipart *multipart)
{
    size_t from = multipart->borrowed;
    size_t length = multipart->matched - from;
    multipart->matched = 0;
    multipart->borrowed = 0;
    return emit(multipart, multipart->delimiter + from, length);
}

/* Continues a match that began in an earlier call, or with the line end before the content. */
static struct error *resume(struct multipart *multipart, const char *bytes, size_t length, size_t *used_out)
{
    size_t used = 0;
    while (used < length && multipart->matched < multipart->delimiter_length &&
           bytes[used] == multipart->delimiter[multipart->matched]) {
        multipart->matched++;
        used++;
    }
    *used_out = used;
    if (multipart->matched == multipart->delimiter_length) {
        multipart->state = STATE_AFTER;
        return NULL;
    }
    if (used == length)
        return NULL;
    return emit_held(multipart);
}

/* How many bytes at the end of the piece may start a delimiter. Only the last CR of the piece can begin one. */
static size_t held_at_end(const struct multipart *multipart, const char *bytes, size_t length)
{
    size_t most = multipart->delimiter_length - 1;
    size_t tail = length < most ? length : most;
    const char *start = memrchr(bytes + length - tail, '\r', tail);
    if (start == NULL)
        return 0;
    size_t held = (size_t)(bytes + length - start);
    return memcmp(start, multipart->delimiter, held) == 0 ? held : 0;
}

static struct error *content(struct multipart *multipart, const char *bytes, size_t length, size_t *used_out)
{
    if (multipart->matched > 0)
        return resume(multipart, bytes, length, used_out);
    const char *found = memmem(bytes, length, multipart->delimiter, multipart->delimiter_length);
    size_t plain;
    if (found != NULL) {
        plain = (size_t)(found - bytes);
        multipart->matched = multipart->delimiter_length;
        multipart->state = STATE_AFTER;
    } else {
        multipart->matched = held_at_end(multipart, bytes, length);
        plain = length - multipart->matched;
    }
    *used_out = plain + multipart->matched;
    return emit(multipart, bytes, plain);
}

/* The line of a delimiter is complete: the part before it ends, the next one's header begins. */
static struct error *next_part(struct multipart *multipart)
{
    bool had_part = multipart->in_part;
    multipart->in_part = false;
    multipart->matched = 0;
    multipart->borrowed = 0;
    if (had_part)
        TRY(multipart->handler.end(multipart->context));
    if (multipart->count == LIMIT_PARTS) {
        struct error *error = error_new(multipart->arena, ERROR_REQUEST_INVALID, "multipart body: too many parts");
        error_message(error, "The multipart body has more than %d parts. Send fewer.", LIMIT_PARTS);
        return error_entry(error, "", "tooMany", "more parts than allowed");
    }
    multipart->count++;
    multipart->padding = 0;
    multipart->head_length = 0;
    multipart->state = STATE_HEADER;
    return NULL;
}

static struct error *close_body(struct multipart *multipart)
{
    bool had_part = multipart->in_part;
    multipart->in_part = false;
    multipart->state = STATE_CLOSED;
    return had_part ? multipart->handler.end(multipart->context) : NULL;
}

/* The line goes on with a visible character, so it is no delimiter. */
static struct error *look_alike(struct multipart *multipart, bool dash)
{
    multipart->state = STATE_CONTENT;
    TRY(emit_held(multipart));
    return dash ? emit(multipart, "-", 1) : NULL;
}

/* A blank behind a boundary, or the CR that ends its line. */
static struct error *padding_byte(struct multipart *multipart, char byte)
{
    multipart->state = STATE_PADDING;
    if (byte == '\r')
        multipart->state = STATE_LINE_FEED;
    else if ((byte != ' ' && byte != '\t') || ++multipart->padding > PADDING_MAX)
        return malformed(multipart, "a boundary's line holds more than the boundary");
    return NULL;
}

/* The first byte behind a boundary. *used_out is 0 where the line turns out to be content. */
static struct error *byte_after(struct multipart *multipart, char byte, size_t *used_out)
{
    if (byte == '-') {
        multipart->state = STATE_DASH;
        return NULL;
    }
    if ((unsigned char)byte <= ' ' || byte == 0x7f)
        return padding_byte(multipart, byte);
    *used_out = 0;
    return look_alike(multipart, false);
}

/* A byte behind the closing boundary: only CR LF may follow. */
static struct error *closed_byte(struct multipart *multipart, char byte)
{
    if (multipart->state == STATE_CLOSED && byte == '\r')
        multipart->state = STATE_CLOSED_CR;
    else if (multipart->state == STATE_CLOSED_CR && byte == '\n')
        multipart->state = STATE_CLOSED_LF;
    else
        return malformed(multipart, "there are bytes after its closing boundary");
    return NULL;
}

/* One byte, in the states that take single bytes. *used_out is 0 where the next state takes the byte. */
static struct error *line_byte(struct multipart *multipart, char byte, size_t *used_out)
{
    *used_out = 1;
    switch (multipart->state) {
    case STATE_AFTER:
        return byte_after(multipart, byte, used_out);
    case STATE_PADDING:
        return padding_byte(multipart, byte);
    case STATE_DASH:
        if (byte == '-')
            return close_body(multipart);
        *used_out = 0;
        return look_alike(multipart, true);
    case STATE_LINE_FEED:
        return byte == '\n' ? next_part(multipart) : malformed(multipart, "a boundary's line does not end in CR LF");
    default:
        return closed_byte(multipart, byte);
    }
}

static struct error *step(struct multipart *multipart, const char *bytes, size_t length, size_t *used_out)
{
    switch (multipart->state) {
    case STATE_CONTENT:
        return content(multipart, bytes, length, used_out);
    case STATE_HEADER:
        return gather_header(multipart, bytes, length, used_out);
    default:
        return line_byte(multipart, *bytes, used_out);
    }
}

static struct error *fail(struct multipart *multipart, struct error *error)
{
    multipart->state = STATE_FAILED;
    multipart->error = error;
    return error;
}

/* ---- the face ---- */

struct multipart *multipart_new(struct arena *arena, const char *boundary, const struct multipart_handler *handler,
                                void *context)
{
    struct multipart *multipart = arena_alloc(arena, sizeof *multipart);
    multipart->arena = arena;
    multipart->handler = *handler;
    multipart->context = context;
    multipart->state = STATE_CONTENT;
    multipart->matched = 2;
    multipart->borrowed = 2;
    size_t length = strnlen(boundary, LIMIT_BOUNDARY_BYTES);
    memcpy(multipart->delimiter, "\r\n--", DELIMITER_FRONT);
    memcpy(multipart->delimiter + DELIMITER_FRONT, boundary, length);
    multipart->delimiter_length = DELIMITER_FRONT + length;
    return multipart;
}

struct error *multipart_feed(struct multipart *multipart, const void *bytes, size_t length)
{
    if (multipart->state == STATE_FAILED)
        return multipart->error;
    const char *at = bytes;
    while (length > 0) {
        size_t used = 0;
        struct error *error = step(multipart, at, length, &used);
        if (error != NULL)
            return fail(multipart, error_trace(error, __func__, __FILE__, __LINE__));
        at += used;
        length -= used;
        multipart->position += used;
    }
    return NULL;
}

struct error *multipart_finish(struct multipart *multipart)
{
    if (multipart->state == STATE_FAILED)
        return multipart->error;
    if (multipart->state == STATE_CLOSED || multipart->state == STATE_CLOSED_LF)
        return NULL;
    return fail(multipart, malformed(multipart, "it ends before its closing boundary"));
}

size_t multipart_count(const struct multipart *multipart)
{
    return multipart->count;
}
