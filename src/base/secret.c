/* SPDX-License-Identifier: MIT */
/* Holds secrets, reads them from files and writes them, compares them in constant time and wipes them. */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"

#define SECRET_FILE_BYTES 4096

struct secret secret_copy(struct arena *arena, const void *bytes, size_t length)
{
    return (struct secret){.bytes = (unsigned char *)arena_copy(arena, bytes, length), .length = length};
}

struct secret secret_of(const char *text)
{
    return (struct secret){.bytes = (const unsigned char *)text, .length = text == NULL ? 0 : strlen(text)};
}

const char *secret_reveal(struct secret secret)
{
    return (const char *)secret.bytes;
}

bool secret_equal(struct secret a, struct secret b)
{
    if (a.length != b.length || a.bytes == NULL || b.bytes == NULL)
        return false;
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < a.length; i++)
        difference |= a.bytes[i] ^ b.bytes[i];
    return difference == 0;
}

struct error *secret_read(struct arena *arena, const char *path, struct secret *secret_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_new(arena, ERROR_INTERNAL, "cannot open the secret file %s: %s", path, strerror(errno));
    char bytes[SECRET_FILE_BYTES + 1]; /* one byte more than the limit, to notice a longer file */
    size_t length = 0;
    ssize_t got = 0;
    while (length < sizeof bytes && (got = read(fd, bytes + length, sizeof bytes - length)) > 0)
        length += (size_t)got;
    int failure = got < 0 ? errno : 0;
    (void)close(fd);
    bool too_long = length == sizeof bytes;
    if (length > 0 && bytes[length - 1] == '\n')
        length--;
    if (failure == 0 && length > 0 && !too_long)
        *secret_out = secret_copy(arena, bytes, length);
    explicit_bzero(bytes, sizeof bytes);
    if (failure != 0)
        return error_new(arena, ERROR_INTERNAL, "cannot read the secret file %s: %s", path, strerror(failure));
    if (length == 0 || too_long)
        return error_new(arena, ERROR_INTERNAL, "the secret file %s is %s", path, too_long ? "too long" : "empty");
    return NULL;
}

/* Makes the name of the file durable: otherwise a power cut could take the secret while what it has sealed stays. */
static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

/* 0, or an errno. */
static int write_file(int fd, const char *text, const char *folder)
{
    struct stat status;
    size_t length = strlen(text);
    if (stat(folder, &status) == 0 && fchown(fd, (uid_t)-1, status.st_gid) == 0)
        (void)fchmod(fd, 0640);
    errno = EIO; /* of a write that is cut */
    return write(fd, text, length) == (ssize_t)length && fsync(fd) == 0 ? 0 : errno;
}

struct error *secret_create(struct arena *arena, const char *path, struct secret secret)
{
    char *temporary = arena_format(arena, "%s.XXXXXX", path);
    const char *folder = folder_of(arena, path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    int failure = fd < 0 ? errno : write_file(fd, arena_format(arena, "%s\n", secret_reveal(secret)), folder);
    if (fd >= 0)
        (void)close(fd);
    /*
     * link() never replaces a file: of two programs that start at once, one makes it and both use it. A symbolic link
     * that leads nowhere is in the way as well.
     */
    if (failure == 0 && link(temporary, path) != 0 && (errno != EEXIST || access(path, F_OK) != 0))
        failure = errno;
    if (fd >= 0)
        (void)unlink(temporary);
    if (failure != 0)
        return error_message(error_new(arena, ERROR_INTERNAL, "%s", strerror(failure)), "The file %s cannot be made.",
                             path);
    sync_folder(folder);
    return NULL;
}

void secret_protect_process(void)
{
    static const struct rlimit none = {0, 0};
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)setrlimit(RLIMIT_CORE, &none);
}
