/* SPDX-License-Identifier: MIT */
/* Holds the status, headers and body of a reply, and writes its header block. */
#include "http/reply.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"

void reply_init(struct reply *reply, struct arena *arena)
{
    *reply = (struct reply){.arena = arena, .status = 200};
    buffer_init(&reply->body, arena);
}

void reply_clear(struct reply *reply)
{
    bool no_body = reply->no_body;
    reply_init(reply, reply->arena);
    reply->no_body = no_body;
}

static bool value_is_safe(const char *value)
{
    /* Most values are printable ASCII, which is checked eight bytes at a time. */
    for (const unsigned char *at = (const unsigned char *)value + text_plain_length(value, strlen(value)); *at != '\0';
         at++)
        if ((*at < 0x20 && *at != '\t') || *at == 0x7f)
            return false;
    return true;
}

/* Names are literals, so equal names usually have equal addresses. */
static bool same_name(const char *one, const char *other)
{
    return one == other || (text_lower(*one) == text_lower(*other) && text_equal_ignoring_case(one, other));
}

/* Puts a header in that place, which may be the one behind the last. */
static void put_header(struct reply *reply, size_t at, const char *name, const char *value)
{
    bool safe = value_is_safe(value);
    assert(safe);
    if (!safe || at == REPLY_HEADERS_MAX)
        return;
    reply->headers[at] = (struct reply_header){name, arena_text(reply->arena, value)};
    if (at == reply->header_count)
        reply->header_count++;
}

void reply_set_header(struct reply *reply, const char *name, const char *value)
{
    size_t at = 0;
    while (at < reply->header_count && !same_name(reply->headers[at].name, name))
        at++;
    put_header(reply, at, name, value);
}

void reply_add_header(struct reply *reply, const char *name, const char *value)
{
    put_header(reply, reply->header_count, name, value);
}

void reply_format_header(struct reply *reply, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    reply_set_header(reply, name, arena_format_list(reply->arena, format, arguments));
    va_end(arguments);
}

const char *reply_find_header(const struct reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (text_equal_ignoring_case(reply->headers[i].name, name))
            return reply->headers[i].value;
    return NULL;
}

/* The names of the statuses that are sent: RFC 9110, section 15; 423 from RFC 4918; 429 from RFC 6585; 460 from tus. */
static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {204, "No Content"},
    {206, "Partial Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {423, "Locked"},
    {429, "Too Many Requests"},
    {460, "Checksum Mismatch"},
    {500, "Internal Server Error"},
};

/* A status line may go without a name (RFC 9112, section 4). */
static const char *reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

struct buffer reply_head(const struct reply *reply)
{
    struct buffer head;
    buffer_init(&head, reply->arena);
    buffer_reserve(&head, 1024 + (reply->no_body ? 0 : reply->body.length));
    buffer_add(&head, "Status: ", 8);
    buffer_add_integer(&head, reply->status);
    buffer_add_char(&head, ' ');
    buffer_add_text(&head, reason(reply->status));
    buffer_add(&head, "\r\n", 2);
    for (size_t i = 0; i < reply->header_count; i++) {
        buffer_add_text(&head, reply->headers[i].name);
        buffer_add(&head, ": ", 2);
        buffer_add_text(&head, reply->headers[i].value);
        buffer_add(&head, "\r\n", 2);
    }
    buffer_add(&head, "\r\n", 2);
    return head;
}
