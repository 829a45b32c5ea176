/* SPDX-License-Identifier: MIT */
/* The root of the directory store and the directories in it: opens and makes them; and what the other files share. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/sandbox/sandbox.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"

struct directory *directory_of(struct blob_store *store)
{
    return store->context;
}

struct error *directory_failure(struct arena *arena, int number, const char *what)
{
    bool full = number == ENOSPC || number == EDQUOT;
    return error_new(arena, full ? ERROR_STORAGE_FULL : ERROR_STORAGE_UNAVAILABLE, "blob store: %s: %s", what,
                     strerror(number));
}

int directory_open_at(const struct directory *directory, int at, const char *path, int flags)
{
    int fd;
    do
        fd = directory->io->openat(at, path, flags, FILE_MODE);
    while (fd < 0 && errno == EINTR);
    return fd;
}

void directory_shut(const struct directory *directory, int fd)
{
    if (fd >= 0)
        (void)directory->io->close(fd);
}

void directory_unlink_or_log(const struct directory *directory, int at, const char *name)
{
    if (directory->io->unlinkat(at, name, 0) != 0)
        LOG(WARN, BLOB, "a file that is not needed could not be removed", LOG_TEXT("name", name),
            LOG_TEXT("reason", strerror(errno)));
}

/*
 * Whether parts of a file can be synced by themselves: only on file systems where sync_file_range() is known to write
 * and wait for exactly these pages and to report failures. On an overlay it does neither, FUSE and NFS return errors of
 * others, and a container may forbid it (without flags the call only answers).
 */
static bool writes_parts(const struct directory *directory, int fd)
{
    struct statfs system;
    return directory->io->fstatfs(fd, &system) == 0 &&
           (system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC) &&
           directory->io->sync_file_range(fd, 0, 0, 0) == 0;
}

struct error *directory_refresh(struct directory *directory, struct arena *arena)
{
    struct stat status;
    if (directory->io->fstatat(AT_FDCWD, directory->path, &status, 0) != 0)
        return directory_failure(arena, errno, "look at the root");
    if (directory->root >= 0 && status.st_dev == directory->device && status.st_ino == directory->inode)
        return NULL;
    int fd = directory_open_at(directory, AT_FDCWD, directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        int number = errno;
        /* Another folder has taken the place of the one that this process may open: a new process may open it. */
        if (number == EACCES && directory->root >= 0)
            sandbox_outdate();
        return directory_failure(arena, number, "open the root");
    }
    if (directory->io->fstat(fd, &status) != 0) {
        int number = errno;
        directory_shut(directory, fd);
        return directory_failure(arena, number, "look at the open root");
    }
    directory_shut(directory, directory->root);
    directory->root = fd;
    directory->writes_parts = writes_parts(directory, fd);
    directory->device = status.st_dev;
    directory->inode = status.st_ino;
    memset(directory->durable, 0, sizeof directory->durable);
    return NULL;
}

/* The permissions of a new directory, whatever the umask; a group that the root passes on is kept. */
static bool set_mode(const struct directory *directory, int fd)
{
    struct stat status;
    return directory->io->fstat(fd, &status) == 0 &&
           ((status.st_mode & 0777) == DIRECTORY_MODE ||
            directory->io->fchmod(fd, (status.st_mode & S_ISGID) | DIRECTORY_MODE) == 0);
}

int directory_make(const struct directory *directory, const char *name, bool *made_out)
{
    *made_out = false;
    int fd = directory_open_at(directory, directory->root, name, DIRECTORY_FLAGS);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    if (directory->io->mkdirat(directory->root, name, DIRECTORY_MODE) == 0)
        *made_out = true;
    else if (errno != EEXIST)
        return -1;
    fd = directory_open_at(directory, directory->root, name, DIRECTORY_FLAGS);
    int number = errno;
    if (fd >= 0 && *made_out && !set_mode(directory, fd)) {
        number = errno;
        directory_shut(directory, fd);
        fd = -1;
    }
    if (fd < 0 && *made_out)
        (void)directory->io->unlinkat(directory->root, name, AT_REMOVEDIR);
    errno = number;
    return fd;
}

struct error *directory_open_shard(struct directory *directory, struct arena *arena, struct id id, int *fd_out)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    const char *name = hex + ID_HEX_BYTES - SHARD_NAME_BYTES;
    bool *durable = &directory->durable[id.bytes[ID_BYTES - 1]];
    bool made;
    int fd = directory_make(directory, name, &made);
    if (fd < 0)
        return directory_failure(arena, errno, "open a directory of blobs");
    if ((made || !*durable) && directory->io->fsync(directory->root) != 0) {
        int number = errno;
        directory_shut(directory, fd);
        if (made)
            (void)directory->io->unlinkat(directory->root, name, AT_REMOVEDIR);
        return directory_failure(arena, number, "make a directory of blobs durable");
    }
    *durable = true;
    *fd_out = fd;
    return NULL;
}

int directory_find_shard(const struct directory *directory, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    return directory_open_at(directory, directory->root, hex + ID_HEX_BYTES - SHARD_NAME_BYTES, DIRECTORY_FLAGS);
}
