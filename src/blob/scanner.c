/* SPDX-License-Identifier: MIT */
/*
 * Talks to clamd over one connection a scan. The worker sends "zINSTREAM" and NUL, then chunks, each behind its length
 * in four bytes (big-endian), and an empty chunk at the end. The daemon answers a text ended by NUL: "stream: OK",
 * "stream: NAME FOUND", or a line that ends in ERROR. When a stream is longer than StreamMaxLength, the daemon answers
 * and closes the connection in the middle of it.
 */
#include "blob/scanner.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"

#define MICROSECONDS INT64_C(1000000)
#define CHUNK_HEAD 4
#define BYTES_A_SECOND (16 * 1024 * 1024)
/* A store elsewhere is asked for so many bytes at a time. */
#define CHUNK_BYTES ((size_t)1024 * 1024)
/* While the daemon works, whoever watches the store is told this often. */
#define TELL_MICROSECONDS MICROSECONDS

struct scanner {
    const char *path;
    int64_t timeout_seconds;
    char answer[LIMIT_SCAN_ANSWER_BYTES];
};

/* One connection. */
struct talk {
    int fd;
    int64_t deadline;                 /* of clock_monotonic() */
    const struct blob_writer *writer; /* of the bytes that are scanned; NULL: none */
};

struct scanner *scanner_new(struct arena *arena, const char *socket_path, int64_t timeout_seconds)
{
    struct scanner *scanner = arena_alloc(arena, sizeof *scanner);
    scanner->path = arena_text(arena, socket_path);
    scanner->timeout_seconds = timeout_seconds;
    return scanner;
}

static struct error *failure(struct arena *arena, const char *what, int number)
{
    struct error *error =
        number == 0 ? error_new(arena, ERROR_STORAGE_UNAVAILABLE, "virus scanner: %s", what)
                    : error_new(arena, ERROR_STORAGE_UNAVAILABLE, "virus scanner: %s: %s", what, strerror(number));
    return error_message(error, "The file could not be checked for viruses at the moment. Try again shortly.");
}

/* Whether the socket became ready before the deadline. */
static bool is_ready(const struct talk *talk, short events)
{
    for (;;) {
        int64_t left = talk->deadline - clock_monotonic();
        struct pollfd poller = {.fd = talk->fd, .events = events};
        if (left <= 0)
            return false;
        if (talk->writer != NULL)
            blob_writer_tell(talk->writer);
        int found = poll(&poller, 1, (int)((left < TELL_MICROSECONDS ? left : TELL_MICROSECONDS) / 1000) + 1);
        if (found > 0)
            return true;
        if (found < 0 && errno != EINTR)
            return false;
    }
}

static struct error *open_talk(struct scanner *scanner, struct arena *arena, const struct blob_writer *writer,
                               struct talk *talk_out)
{
    uint64_t bytes = writer == NULL ? 0 : blob_writer_size(writer);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(scanner->path);
    if (length >= sizeof address.sun_path)
        return failure(arena, "the path of its socket is too long", 0);
    memcpy(address.sun_path, scanner->path, length);
    talk_out->writer = writer;
    talk_out->deadline =
        clock_monotonic() + (scanner->timeout_seconds + (int64_t)(bytes / BYTES_A_SECOND)) * MICROSECONDS;
    talk_out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (talk_out->fd < 0)
        return failure(arena, "socket", errno);
    /* A Unix socket connects at once, or returns EAGAIN when too many connections wait. */
    if (connect(talk_out->fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return NULL;
    int number = errno;
    (void)close(talk_out->fd);
    return failure(arena, "it cannot be connected to", number);
}

/* Sends all bytes. *left_out says that the peer has closed the connection; it may have sent a reason. */
static struct error *send_all(const struct talk *talk, struct arena *arena, const void *bytes, size_t length,
                              bool *left_out)
{
    const char *from = bytes;
    while (length > 0) {
        ssize_t sent = send(talk->fd, from, length, MSG_NOSIGNAL);
        if (sent > 0) {
            from += sent;
            length -= (size_t)sent;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            *left_out = true;
            return NULL;
        } else if (errno != EAGAIN && errno != EINTR) {
            return failure(arena, "send", errno);
        } else if (!is_ready(talk, POLLOUT)) {
            return failure(arena, "it took too long to take the bytes", 0);
        }
    }
    return NULL;
}

static size_t chunk_bytes(const struct blob_writer *writer)
{
    uint64_t size = blob_writer_size(writer);
    return size < CHUNK_BYTES ? (size_t)size : CHUNK_BYTES;
}

/* *left_out: the peer has closed the connection before it had all bytes. `chunk` has room for one and its head. */
static struct error *send_blob(const struct talk *talk, struct arena *arena, struct blob_writer *writer,
                               unsigned char *chunk, bool *left_out)
{
    static const char command[] = "zINSTREAM";
    *left_out = false;
    TRY(send_all(talk, arena, command, sizeof command, left_out));
    uint64_t offset = 0;
    for (size_t got = 1; got > 0 && !*left_out; offset += got) {
        TRY(blob_writer_read(writer, offset, chunk + CHUNK_HEAD, chunk_bytes(writer), &got));
        for (size_t i = 0; i < CHUNK_HEAD; i++)
            chunk[i] = (unsigned char)(got >> (8 * (CHUNK_HEAD - 1 - i)));
        if (got == 0 && offset != blob_writer_size(writer))
            return failure(arena, "bytes of the file are missing", 0);
        TRY(send_all(talk, arena, chunk, CHUNK_HEAD + got, left_out));
    }
    return NULL;
}

/* Reads the answer into scanner->answer, without the NUL that ends it on the wire. */
static struct error *read_answer(struct scanner *scanner, const struct talk *talk, struct arena *arena)
{
    for (size_t length = 0; length < sizeof scanner->answer;) {
        ssize_t got = recv(talk->fd, scanner->answer + length, sizeof scanner->answer - length, 0);
        if (got > 0) {
            length += (size_t)got;
            if (memchr(scanner->answer, '\0', length) != NULL)
                return NULL;
        } else if (got == 0) {
            return failure(arena, "it closed the connection without an answer", 0);
        } else if (errno != EAGAIN && errno != EINTR) {
            return failure(arena, "recv", errno);
        } else if (!is_ready(talk, POLLIN)) {
            return failure(arena, "it took too long to answer", 0);
        }
    }
    return failure(arena, "its answer is too long", 0);
}

static struct error *talk_about(struct scanner *scanner, struct arena *arena, struct blob_writer *writer,
                                bool *left_out)
{
    struct talk talk;
    TRY(open_talk(scanner, arena, writer, &talk));
    struct arena *scratch = arena_new();
    unsigned char *chunk = arena_alloc(scratch, CHUNK_HEAD + chunk_bytes(writer));
    struct error *error = send_blob(&talk, arena, writer, chunk, left_out);
    arena_free(&scratch);
    if (error == NULL)
        error = read_answer(scanner, &talk, arena);
    (void)close(talk.fd);
    return error;
}

/* Whether `text` ends in `end`, which is then removed. */
static bool take_end(char *text, const char *end)
{
    size_t length = strlen(text);
    size_t wanted = strlen(end);
    if (length < wanted || strcmp(text + length - wanted, end) != 0)
        return false;
    text[length - wanted] = '\0';
    return true;
}

static const char *printable(struct arena *arena, const char *text)
{
    char *copy = arena_text(arena, text);
    for (char *at = copy; *at != '\0'; at++)
        if (*at < 0x20 || *at > 0x7e)
            *at = '?';
    return copy;
}

struct error *scanner_scan(struct scanner *scanner, struct arena *arena, struct blob_writer *writer,
                           struct scan_verdict *verdict_out)
{
    static const char prefix[] = "stream: ";
    bool left = false;
    TRY(talk_about(scanner, arena, writer, &left));
    char *answer = scanner->answer;
    *verdict_out = (struct scan_verdict){.result = SCAN_CLEAN};
    /* Of a part of the bytes nothing is clean. */
    if (strcmp(answer, "stream: OK") == 0 && !left)
        return NULL;
    if (strcmp(answer, "INSTREAM size limit exceeded. ERROR") == 0) {
        verdict_out->result = SCAN_TOO_LARGE;
        return NULL;
    }
    if (strncmp(answer, prefix, sizeof prefix - 1) == 0 && take_end(answer, " FOUND") &&
        strlen(answer) > sizeof prefix - 1) {
        verdict_out->result = SCAN_INFECTED;
        verdict_out->signature = printable(arena, answer + sizeof prefix - 1);
        return NULL;
    }
    return failure(arena, arena_format(arena, "it says '%s'", printable(arena, answer)), 0);
}

struct error *scanner_ping(struct scanner *scanner, struct arena *arena)
{
    static const char command[] = "zPING";
    struct talk talk;
    bool left = false;
    TRY(open_talk(scanner, arena, NULL, &talk));
    struct error *error = send_all(&talk, arena, command, sizeof command, &left);
    if (error == NULL)
        error = read_answer(scanner, &talk, arena);
    (void)close(talk.fd);
    if (error == NULL && strcmp(scanner->answer, "PONG") != 0)
        error = failure(arena, arena_format(arena, "it says '%s'", printable(arena, scanner->answer)), 0);
    return error;
}
