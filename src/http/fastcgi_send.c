/* SPDX-License-Identifier: MIT */
/* Sends a reply: its text, the bytes of a file, or a body that is made piece by piece. */
#include "http/fastcgi_send_int.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/fastcgi_deadline_int.h"
#include "http/reply.h"

#define MICROSECONDS INT64_C(1000000)
#define SLOWEST_BYTES_PER_SECOND (256 * 1024)

/* Where a reply goes. */
struct output {
    FCGX_Request *request;
    int64_t io_timeout_seconds;
};

static bool put(const struct output *output, const char *bytes, size_t length)
{
    while (length > 0) {
        int step = length > LIMIT_BLOCK_BYTES ? LIMIT_BLOCK_BYTES : (int)length;
        if (FCGX_PutStr(bytes, step, output->request->out) != step)
            return false;
        bytes += step;
        length -= (size_t)step;
    }
    return true;
}

/* A slow client must not occupy the worker for ever. Web servers buffer replies and wait for slow clients. */
static bool is_too_slow(const struct output *output, int64_t microseconds, int64_t sent)
{
    int64_t grace = output->io_timeout_seconds * MICROSECONDS;
    return microseconds > grace && sent / SLOWEST_BYTES_PER_SECOND < (microseconds - grace) / MICROSECONDS;
}

static bool put_stream(const struct output *output, const struct reply *reply)
{
    char *block = arena_alloc(reply->arena, LIMIT_BLOCK_BYTES);
    int64_t at = reply->stream_first;
    int64_t left = reply->stream_length;
    int64_t started = clock_monotonic();
    while (left > 0) {
        if (is_too_slow(output, clock_monotonic() - started, reply->stream_length - left)) {
            LOG(WARN, HTTP, "a download was cut: the client took the bytes too slowly", LOG_INTEGER("missing", left));
            (void)shutdown(output->request->ipcFd, SHUT_RDWR);
            return false;
        }
        size_t want = left > LIMIT_BLOCK_BYTES ? LIMIT_BLOCK_BYTES : (size_t)left;
        size_t got = 0;
        if (!reply->stream(reply->stream_context, (uint64_t)at, block, want, &got) || got == 0) {
            /* The announced length is impossible now: cut the connection, so that nobody takes a part for the whole. */
            LOG(ERROR, HTTP, "a file ended before its recorded size", LOG_INTEGER("missing", left));
            (void)shutdown(output->request->ipcFd, SHUT_RDWR);
            return false;
        }
        if (!put(output, block, got))
            return false;
        at += (int64_t)got;
        left -= (int64_t)got;
    }
    return true;
}

/* Bytes that fit into the socket are sent without a deadline, since nothing is waited for. */
static bool put_text(const struct output *output, const struct buffer *text)
{
    if (text->length <= LIMIT_BLOCK_BYTES)
        return put(output, text->bytes, text->length);
    fastcgi_deadline_start(output->request->ipcFd, SHUT_RDWR, output->io_timeout_seconds * MICROSECONDS);
    bool sent = put(output, text->bytes, text->length);
    return !fastcgi_deadline_end() && sent;
}

/* Sends a piece of a reply. The peer has to take it within the deadline, and all pieces at the least rate. */
static bool put_piece(const struct output *output, const struct buffer *piece)
{
    fastcgi_deadline_start(output->request->ipcFd, SHUT_RDWR, output->io_timeout_seconds * MICROSECONDS);
    bool sent = put(output, piece->bytes, piece->length);
    return !fastcgi_deadline_end() && sent;
}

/*
 * Makes and sends a body piece by piece. Where that fails, the connection is cut before its end record, so that the web
 * server does not take the part for the whole either. The time in which a piece is made does not count against the
 * peer.
 */
static bool put_pieces(const struct output *output, const struct reply *reply)
{
    struct arena *arena = arena_new();
    int64_t waited = 0;
    int64_t bytes = 0;
    enum reply_piece kind;
    bool sent;
    do {
        struct buffer piece;
        arena_reset(arena);
        buffer_init(&piece, arena);
        kind = reply->produce(reply->context, arena, &piece);
        int64_t made = clock_monotonic();
        sent = kind != REPLY_PIECE_BROKEN && put_piece(output, &piece);
        waited += clock_monotonic() - made;
        bytes += (int64_t)piece.length;
    } while (sent && kind == REPLY_PIECE_MORE && !is_too_slow(output, waited, bytes));
    arena_free(&arena);
    if (sent && kind == REPLY_PIECE_LAST)
        return true;
    LOG(WARN, HTTP, "a reply was cut: it could not be made, or the client took it too slowly or left",
        LOG_INTEGER("sent", bytes));
    (void)shutdown(output->request->ipcFd, SHUT_RDWR);
    return false;
}

bool fastcgi_send_reply(FCGX_Request *request, int64_t io_timeout_seconds, const struct reply *reply)
{
    const struct output output = {request, io_timeout_seconds};
    struct buffer head = reply_head(reply);
    if (reply->no_body)
        return put(&output, head.bytes, head.length);
    if (reply->stream != NULL)
        return put(&output, head.bytes, head.length) && put_stream(&output, reply);
    if (reply->produce != NULL)
        return put(&output, head.bytes, head.length) && put_pieces(&output, reply);
    buffer_add(&head, reply->body.bytes, reply->body.length);
    return put_text(&output, &head);
}
