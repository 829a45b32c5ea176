/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a worker: file calls below one folder are counted, and one of them fails on purpose.
 *
 * TORTURE_FOLDER names the folder, TORTURE_CONTROL a file that the test shares with us: struct control, in which it
 * says which call is to fail and reads what happened. A call is one of those of enum operation on a descriptor or a
 * path below the folder; all others pass untouched.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

/* In the order of OPERATIONS in support_faults.py. */
enum operation {
    OPENAT,
    WRITE,
    FSYNC,
    CLOSE,
    FCHMOD,
    MKDIRAT,
    LINKAT,
    UTIMENSAT,
    UNLINKAT,
    FSTAT,
    FSTATAT,
    READ,
    PREAD,
    OPERATIONS
};

struct control {
    uint32_t operation;   /* which kind shall fail */
    uint32_t nth;         /* the how-manieth call of that kind, from 1; 0: none */
    uint32_t number;      /* with this errno; 0: it moves half of the bytes */
    uint32_t lie;         /* fsync() reports success and does nothing */
    uint32_t fired;       /* the call has failed */
    uint32_t asked_again; /* fsync() on a file whose fsync() has failed */
    uint32_t counts[OPERATIONS];
};

static struct control *control;
static dev_t failed_device;
static ino_t failed_inode;

__attribute__((constructor)) static void start(void)
{
    control = watched_start("TORTURE_CONTROL", "TORTURE_FOLDER", sizeof *control);
}

/* Whether this call of the kind is the one that fails; errno is set then. `half`: it may be cut short instead. */
static bool fails(enum operation operation, bool watched, bool *half)
{
    if (control == NULL || !watched)
        return false;
    uint32_t count = ++control->counts[operation];
    if (control->nth == 0 || control->operation != (uint32_t)operation || control->nth != count)
        return false;
    control->fired = 1;
    if (control->number == 0) {
        if (half != NULL)
            *half = true;
        return false;
    }
    errno = (int)control->number;
    return true;
}

int openat(int directory, const char *path, int flags, ...)
{
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))real("openat");
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (fails(OPENAT, watched_path(directory, path), NULL))
        return -1;
    return call(directory, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");
    bool half = false;
    if (fails(WRITE, watched_fd(fd), &half))
        return -1;
    return call(fd, bytes, half && length > 1 ? length / 2 : length);
}

#include "watched_reads.h"

int fsync(int fd)
{
    int (*call)(int) = (int (*)(int))real("fsync");
    if (!watched_fd(fd))
        return call(fd);
    struct stat status;
    bool file = fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 && S_ISREG(status.st_mode);
    if (file && failed_inode != 0 && status.st_ino == failed_inode && status.st_dev == failed_device)
        control->asked_again++;
    if (fails(FSYNC, true, NULL)) {
        if (file) {
            failed_device = status.st_dev;
            failed_inode = status.st_ino;
        }
        return -1;
    }
    return control->lie ? 0 : call(fd);
}

/*
 * Forgets the file whose fsync() failed when its last descriptor closes and it has no name. It is gone then, and the
 * file system may give its inode number to the next file at once.
 */
static void forget_failed(int fd)
{
    struct stat status;
    if (failed_inode != 0 && fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 && status.st_nlink == 0 &&
        status.st_ino == failed_inode && status.st_dev == failed_device)
        failed_inode = 0;
}

/* A close() that reports a failure has closed the descriptor all the same. */
int close(int fd)
{
    int (*call)(int) = (int (*)(int))real("close");
    if (control != NULL)
        forget_failed(fd);
    bool fail = fails(CLOSE, watched_fd(fd), NULL);
    int number = errno;
    int result = call(fd);
    if (!fail)
        return result;
    errno = number;
    return -1;
}

int fchmod(int fd, mode_t mode)
{
    int (*call)(int, mode_t) = (int (*)(int, mode_t))real("fchmod");
    return fails(FCHMOD, watched_fd(fd), NULL) ? -1 : call(fd, mode);
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    int (*call)(int, const char *, mode_t) = (int (*)(int, const char *, mode_t))real("mkdirat");
    return fails(MKDIRAT, watched_path(directory, path), NULL) ? -1 : call(directory, path, mode);
}

int linkat(int from, const char *source, int to, const char *target, int flags)
{
    int (*call)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))real("linkat");
    return fails(LINKAT, watched_path(to, target), NULL) ? -1 : call(from, source, to, target, flags);
}

int utimensat(int directory, const char *path, const struct timespec times[2], int flags)
{
    int (*call)(int, const char *, const struct timespec *, int) =
        (int (*)(int, const char *, const struct timespec *, int))real("utimensat");
    bool watched = watched_path(directory, path);
    return fails(UTIMENSAT, watched, NULL) ? -1 : call(directory, path, times, flags);
}

int unlinkat(int directory, const char *path, int flags)
{
    int (*call)(int, const char *, int) = (int (*)(int, const char *, int))real("unlinkat");
    return fails(UNLINKAT, watched_path(directory, path), NULL) ? -1 : call(directory, path, flags);
}

int fstat(int fd, struct stat *status)
{
    int (*call)(int, struct stat *) = (int (*)(int, struct stat *))real("fstat");
    return fails(FSTAT, watched_fd(fd), NULL) ? -1 : call(fd, status);
}

int fstatat(int directory, const char *restrict path, struct stat *restrict status, int flags)
{
    int (*call)(int, const char *, struct stat *, int) =
        (int (*)(int, const char *, struct stat *, int))real("fstatat");
    bool watched = *path != '\0' && watched_path(directory, path);
    return fails(FSTATAT, watched, NULL) ? -1 : call(directory, path, status, flags);
}
