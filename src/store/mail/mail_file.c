/* SPDX-License-Identifier: MIT */
/*
 * Writes mail into a directory, for development and tests. No reader sees half a message: it is written under a hidden
 * name, synced to the disk, and renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "store/mail/mail.h"

#define RANDOM_BYTES 8

/* Microseconds, so that names sort in the order of sending. */
static const char *message_name(struct arena *arena)
{
    struct timespec now;
    struct tm parts;
    char text[32];
    unsigned char random[RANDOM_BYTES];
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &parts);
    (void)strftime(text, sizeof text, "%Y%m%dT%H%M%S", &parts);
    random_bytes(random, sizeof random);
    return arena_format(arena, "%s.%06ldZ-%s.eml", text, now.tv_nsec / 1000, hex_encode(arena, random, sizeof random));
}

/* The message with \n for each CR LF; *length_out is its length. */
static const char *with_line_feeds(struct arena *arena, const struct mail_message *message, size_t *length_out)
{
    char *bytes = arena_alloc(arena, message->length);
    size_t length = 0;
    for (size_t i = 0; i < message->length; i++)
        if (message->bytes[i] != '\r' || i + 1 == message->length || message->bytes[i + 1] != '\n')
            bytes[length++] = message->bytes[i];
    *length_out = length;
    return bytes;
}

static bool write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Writes a new file, completely and synced to the disk; false leaves errno. */
static bool write_file(int directory, const char *name, const char *bytes, size_t length)
{
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool good = fchmod(file, 0600) == 0 && write_all(file, bytes, length) && fsync(file) == 0;
    int failure = errno;
    if (close(file) != 0 && good) {
        good = false;
        failure = errno;
    }
    errno = failure;
    return good;
}

static enum mail_outcome send_to_file(void *context, struct arena *arena, const struct mail_message *message,
                                      const char **reason_out)
{
    const char *path = context;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        *reason_out = arena_format(arena, "cannot make the mail directory: %s", strerror(errno));
        return MAIL_LATER;
    }
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        *reason_out = arena_format(arena, "cannot open the mail directory: %s", strerror(errno));
        return MAIL_LATER;
    }
    size_t length;
    const char *bytes = with_line_feeds(arena, message, &length);
    const char *name = message_name(arena);
    const char *hidden = arena_format(arena, ".%s.part", name);
    bool good = write_file(directory, hidden, bytes, length) && renameat(directory, hidden, directory, name) == 0 &&
                fsync(directory) == 0;
    if (!good) {
        *reason_out = arena_format(arena, "cannot write to the mail directory: %s", strerror(errno));
        (void)unlinkat(directory, hidden, 0);
        (void)unlinkat(directory, name, 0); /* it is sent again */
    }
    (void)close(directory);
    return good ? MAIL_SENT : MAIL_LATER;
}

/* The first message creates a missing directory; so the parent must be writable. */
static bool probe_directory(void *context, struct arena *arena, unsigned seconds, const char **reason_out)
{
    const char *path = context;
    (void)seconds;
    /* access() would ignore the capabilities of a process that is not root. */
    if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0)
        return true;
    const char *slash = strrchr(path, '/');
    bool missing = errno == ENOENT && slash > path;
    if (missing && faccessat(AT_FDCWD, arena_copy(arena, path, (size_t)(slash - path)), W_OK | X_OK, AT_EACCESS) == 0)
        return true;
    *reason_out = arena_format(arena, "cannot write to the mail directory: %s", strerror(errno));
    return false;
}

struct mail_transport *mail_transport_file(struct arena *arena, const char *directory)
{
    struct mail_transport *transport = arena_alloc(arena, sizeof *transport);
    transport->send = send_to_file;
    transport->probe = probe_directory;
    transport->context = arena_text(arena, directory);
    return transport;
}
