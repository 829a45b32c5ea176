/* SPDX-License-Identifier: MIT */
/*
 * The order of calls is what makes a commit durable, and each failure has its answer:
 *
 * - fsync(file). Where it fails the kernel may have dropped the dirty pages and would report success the next
 *   time, so it is never asked twice: the file is discarded. The same is true of what writes out a part of it (write_out()).
 * - The file has no holes: what was lost before fsync() was asked is one (look_for_holes()).
 * - The shard directory is made on demand. Its entry in the root is made durable by an fsync of the root,
 * once per process and shard: another worker may have made the directory a moment ago and crash.
 * - linkat() to the name refuses to replace (EEXIST).
 * - close(file). Where it fails the name is taken back. EINTR is no failure, the bytes are durable already.
 * - fsync(shard). Where it fails the name is taken back.
 */
#include "blob/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"

#define FILE_MODE 0640

/* How much of a large file goes to the disk at a time, and how much of it may still be under way: see write_out(). */
#define WRITE_OUT_BYTES (2 * 1024 * 1024)
#define WRITE_BEHIND_BYTES (2 * WRITE_OUT_BYTES)

/* A blob on its way. */
struct pending {
    int fd;                  /* -1 when closed */
    int temporary;           /* the directory of its temporary name, -1 when it has none */
    char name[ID_HEX_BYTES]; /* that name */
    off_t written;           /* bytes so far */
    off_t started;           /* of these, what has been sent to the disk */
    off_t settled;           /* of these, what is there and has left the memory */
};

struct directory *directory_of(struct blob_store *store)
{
    return store->context;
}

/* The error for a call that failed with `number` (an errno); `what` says which. */
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

/* For leftovers that cannot be helped: the sweep and fsck find them. */
static void unlink_or_log(const struct directory *directory, int at, const char *name)
{
    if (directory->io->unlinkat(at, name, 0) != 0)
        LOG(WARN, BLOB, "a file that is not needed could not be removed", LOG_TEXT("name", name),
            LOG_TEXT("reason", strerror(errno)));
}

/* ---- the root and its directories ---- */

/*
 * Whether parts of a file can be written out by themselves here: where sync_file_range() is known to write and to wait for
 * the very pages of the file and to tell what went wrong. On an overlay it does neither, FUSE and NFS hand on errors that
 * others make up, and a container may forbid it (without flags it does nothing but answer).
 */
static bool writes_parts(const struct directory *directory, int fd)
{
    struct statfs system;
    return directory->io->fstatfs(fd, &system) == 0 &&
           (system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC) &&
           directory->io->sync_file_range(fd, 0, 0, 0) == 0;
}

/* Moves over to another directory that has appeared at the path since it was opened. */
static struct error *refresh(struct directory *directory, struct arena *arena)
{
    struct stat status;
    if (directory->io->fstatat(AT_FDCWD, directory->path, &status, 0) != 0)
        return directory_failure(arena, errno, "look at the root");
    if (directory->root >= 0 && status.st_dev == directory->device && status.st_ino == directory->inode)
        return NULL;
    int fd = directory_open_at(directory, AT_FDCWD, directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return directory_failure(arena, errno, "open the root");
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

/* The permissions of a new directory, whatever the umask; a group that the root hands down is kept. */
static bool set_mode(const struct directory *directory, int fd)
{
    struct stat status;
    return directory->io->fstat(fd, &status) == 0 &&
           ((status.st_mode & 0777) == DIRECTORY_MODE ||
            directory->io->fchmod(fd, (status.st_mode & S_ISGID) | DIRECTORY_MODE) == 0);
}

/* Opens the root's directory `name`, making it where it is missing. -1 with errno. */
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

/* Opens the shard of `id` for a commit: when this returns NULL its entry in the root is durable. */
static struct error *open_shard(struct directory *directory, struct arena *arena, struct id id, int *fd_out)
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

/* Opens the shard of `id` where it is; -1 with errno where it is not. */
static int find_shard(const struct directory *directory, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    return directory_open_at(directory, directory->root, hex + ID_HEX_BYTES - SHARD_NAME_BYTES, DIRECTORY_FLAGS);
}

/* ---- writing ---- */

/* A file with a name in <root>/tmp, for file systems that have no unnamed ones. */
static bool open_named(const struct directory *directory, struct pending *pending)
{
    bool made;
    int temporary = directory_make(directory, TEMPORARY, &made);
    if (temporary < 0)
        return false;
    id_hex(id_new(), pending->name);
    int fd =
        directory_open_at(directory, temporary, pending->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int number = errno;
        directory_shut(directory, temporary);
        errno = number;
        return false;
    }
    pending->fd = fd;
    pending->temporary = temporary;
    return true;
}

static bool open_pending(const struct directory *directory, struct pending *pending)
{
    pending->temporary = -1;
    pending->fd = directory_open_at(directory, directory->root, ".", O_RDWR | O_TMPFILE | O_CLOEXEC);
    if (pending->fd >= 0)
        return true;
    /* How file systems and kernels without O_TMPFILE answer: open(2). */
    bool unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT;
    return unsupported && open_named(directory, pending);
}

static void directory_abort(struct blob_store *store, void *state)
{
    const struct directory *directory = directory_of(store);
    struct pending *pending = state;
    directory_shut(directory, pending->fd);
    pending->fd = -1;
    if (pending->temporary >= 0) {
        unlink_or_log(directory, pending->temporary, pending->name);
        directory_shut(directory, pending->temporary);
        pending->temporary = -1;
    }
}

static struct error *directory_begin(struct blob_store *store, struct arena *arena, void **state_out)
{
    struct directory *directory = directory_of(store);
    TRY(refresh(directory, arena));
    struct pending *pending = arena_alloc(arena, sizeof *pending);
    if (!open_pending(directory, pending))
        return directory_failure(arena, errno, "make a temporary file");
    if (directory->io->fchmod(pending->fd, FILE_MODE) != 0) {
        int number = errno;
        directory_abort(store, pending);
        return directory_failure(arena, number, "set the mode of a temporary file");
    }
    *state_out = pending;
    return NULL;
}

/*
 * A large file is written out while it arrives, so that little is left for fsync() when it ends, and each part leaves the
 * memory as soon as the disk has it. So an upload takes WRITE_BEHIND_BYTES and a part of the page cache, always the same
 * pages, instead of pushing out what others still use. On a virtual machine each page that is used for the first time is got
 * from the host, which was measured to take ten times the writing itself.
 *
 * Both calls may tell of bytes that are lost and that fsync() would not tell of again: the first when the file system finds
 * no place for them, the second when the disk did not take them. So each failure is final. 0 or an errno.
 */
static int write_out(const struct blob_store *store, struct pending *pending)
{
    const struct directory *directory = store->context;
    if (!directory->writes_parts || pending->written - pending->started < WRITE_OUT_BYTES)
        return 0;
    if (directory->io->sync_file_range(pending->fd, pending->started, pending->written - pending->started,
                                       SYNC_FILE_RANGE_WRITE) != 0)
        return errno;
    pending->started = pending->written;
    off_t length = pending->started - WRITE_BEHIND_BYTES - pending->settled;
    if (length <= 0 || store->reads_back)
        return 0;
    if (directory->io->sync_file_range(pending->fd, pending->settled, length,
                                       SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                           SYNC_FILE_RANGE_WAIT_AFTER) != 0)
        return errno;
    (void)directory->io->posix_fadvise(pending->fd, pending->settled, length, POSIX_FADV_DONTNEED);
    pending->settled += length;
    return 0;
}

static struct error *directory_write(struct blob_store *store, struct arena *arena, void *state,
                                     const void *bytes, size_t length)
{
    const struct directory *directory = directory_of(store);
    struct pending *pending = state;
    const unsigned char *from = bytes;
    while (length > 0) {
        ssize_t written = directory->io->write(pending->fd, from, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return directory_failure(arena, written < 0 ? errno : EIO, "write");
        from += written;
        length -= (size_t)written;
        pending->written += written;
    }
    int number = write_out(store, pending);
    return number == 0 ? NULL : directory_failure(arena, number, "write out");
}

static struct error *directory_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset,
                                    void *bytes, size_t length, size_t *got_out)
{
    const struct directory *directory = directory_of(store);
    const struct pending *pending = state;
    unsigned char *into = bytes;
    size_t got = 0;
    while (got < length) {
        ssize_t step = directory->io->pread(pending->fd, into + got, length - got, (off_t)(offset + got));
        if (step < 0 && errno == EINTR)
            continue;
        if (step < 0)
            return directory_failure(arena, errno, "pread");
        if (step == 0)
            break;
        got += (size_t)step;
    }
    *got_out = got;
    return NULL;
}

/* Gives the pending file its name; 0 or an errno. */
static int link_pending(const struct directory *directory, const struct pending *pending, int shard,
                        const char *name)
{
    const struct blob_io *io = directory->io;
    if (pending->temporary >= 0)
        return io->linkat(pending->temporary, pending->name, shard, name, 0) == 0 ? 0 : errno;
    char path[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", pending->fd);
    if (io->linkat(AT_FDCWD, path, shard, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != ENOENT)
        return errno;
    /* No /proc here; this way takes a privilege on older kernels. */
    return io->linkat(pending->fd, "", shard, name, AT_EMPTY_PATH) == 0 ? 0 : errno;
}

/* From the link on: what fails takes the name back. */
static struct error *publish(const struct directory *directory, struct arena *arena, struct pending *pending,
                             int shard, const char *name)
{
    int number = link_pending(directory, pending, shard, name);
    if (number == EEXIST)
        return error_new(arena, ERROR_INTERNAL, "blob store: there is a blob %s already", name);
    if (number != 0)
        return directory_failure(arena, number, "link a blob to its name");
    int closed = directory->io->close(pending->fd);
    pending->fd = -1;
    if (closed != 0 && errno != EINTR) {
        number = errno;
        unlink_or_log(directory, shard, name);
        return directory_failure(arena, number, "close a blob");
    }
    if (directory->io->fsync(shard) != 0) {
        number = errno;
        unlink_or_log(directory, shard, name);
        return directory_failure(arena, number, "make a blob's name durable");
    }
    return NULL;
}

/*
 * Where the kernel has written out a part by itself and the file system found no place for it, nobody is told, fsync()
 * included: the part is gone from the memory and is a hole. What is received is written without holes. 0 or an errno.
 */
static int look_for_holes(const struct directory *directory, const struct pending *pending)
{
    if (!directory->writes_parts || pending->written == 0)
        return 0;
    off_t hole = directory->io->lseek(pending->fd, 0, SEEK_HOLE);
    if (hole < 0)
        return errno;
    return hole == pending->written ? 0 : EIO;
}

static struct error *directory_commit(struct blob_store *store, struct arena *arena, void *state,
                                      struct id id)
{
    struct directory *directory = directory_of(store);
    struct pending *pending = state;
    if (directory->io->fsync(pending->fd) != 0)
        return directory_failure(arena, errno, "make a blob's bytes durable");
    if (pending->started > WRITE_BEHIND_BYTES)
        (void)directory->io->posix_fadvise(pending->fd, 0, 0, POSIX_FADV_DONTNEED);
    int number = look_for_holes(directory, pending);
    if (number != 0)
        return directory_failure(arena, number, "look for all of a blob's bytes");
    int shard = -1;
    TRY(open_shard(directory, arena, id, &shard));
    char name[ID_HEX_BYTES];
    id_hex(id, name);
    struct error *error = publish(directory, arena, pending, shard, name);
    directory_shut(directory, shard);
    if (error == NULL)
        directory_abort(store, pending); /* the temporary name, where there is one */
    return error;
}

/* ---- a second name ---- */

/*
 * 0, or an errno with nothing left. The time is set before the link, so that there is no moment in which the new name
 * looks old to whoever clears away.
 */
static int link_again(const struct directory *directory, int source, const char *from, int shard, const char *to,
                      uint64_t size)
{
    static const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    const struct blob_io *io = directory->io;
    struct stat status;
    if (io->utimensat(source, from, now, AT_SYMLINK_NOFOLLOW) != 0 ||
        io->linkat(source, from, shard, to, 0) != 0)
        return errno;
    if (io->fstatat(shard, to, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size == size)
        return 0;
    unlink_or_log(directory, shard, to);
    return ESTALE;
}

static struct error *directory_link(struct blob_store *store, struct arena *arena, struct id from, struct id to,
                                    uint64_t size, bool *linked_out)
{
    struct directory *directory = directory_of(store);
    char old[ID_HEX_BYTES];
    char new[ID_HEX_BYTES];
    id_hex(from, old);
    id_hex(to, new);
    int source = find_shard(directory, from);
    if (source < 0)
        return NULL;
    int shard = -1;
    struct error *error = open_shard(directory, arena, to, &shard);
    if (error == NULL) {
        int number = link_again(directory, source, old, shard, new, size);
        if (number == EEXIST)
            error = error_new(arena, ERROR_INTERNAL, "blob store: there is a blob %s already", new);
        *linked_out = number == 0;
    }
    if (*linked_out && directory->io->fsync(shard) != 0) {
        error = directory_failure(arena, errno, "make a blob's second name durable");
        unlink_or_log(directory, shard, new);
        *linked_out = false;
    }
    directory_shut(directory, shard);
    directory_shut(directory, source);
    return error;
}

/* ---- reading and keeping house ---- */

static struct error *directory_remove(struct blob_store *store, struct arena *arena, struct id id)
{
    const struct directory *directory = directory_of(store);
    int shard = find_shard(directory, id);
    if (shard < 0)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "open a directory of blobs");
    char name[ID_HEX_BYTES];
    id_hex(id, name);
    int number = directory->io->unlinkat(shard, name, 0) == 0 ? 0 : errno;
    directory_shut(directory, shard);
    return number == 0 || number == ENOENT ? NULL : directory_failure(arena, number, "remove a blob");
}

static struct error *directory_open(struct blob_store *store, struct arena *arena, struct id id, int *fd_out,
                                    uint64_t *size_out)
{
    const struct directory *directory = directory_of(store);
    int shard = find_shard(directory, id);
    if (shard < 0)
        return directory_failure(arena, errno, "open a directory of blobs");
    char name[ID_HEX_BYTES];
    id_hex(id, name);
    int fd = directory_open_at(directory, shard, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int number = errno;
    directory_shut(directory, shard);
    if (fd < 0)
        return directory_failure(arena, number, "open a blob");
    struct stat status;
    number = directory->io->fstat(fd, &status) == 0 ? 0 : errno;
    if (number == 0 && !S_ISREG(status.st_mode))
        number = EINVAL;
    if (number != 0) {
        directory_shut(directory, fd);
        return directory_failure(arena, number, "look at a blob");
    }
    *fd_out = fd;
    *size_out = (uint64_t)status.st_size;
    return NULL;
}

static struct error *directory_check(struct blob_store *store, struct arena *arena)
{
    struct directory *directory = directory_of(store);
    void *state;
    TRY(directory_begin(store, arena, &state));
    directory_abort(store, state);
    struct statvfs status;
    if (directory->io->fstatvfs(directory->root, &status) != 0)
        return directory_failure(arena, errno, "look at the file system");
    if ((uint64_t)status.f_bavail * status.f_frsize < BLOB_FREE_BYTES_MIN ||
        (status.f_files != 0 && status.f_favail == 0))
        return directory_failure(arena, ENOSPC, "little is left");
    return NULL;
}

static struct error *directory_space(struct blob_store *store, struct arena *arena, struct blob_space *space_out)
{
    struct directory *directory = directory_of(store);
    struct statvfs status;
    if (directory->io->fstatvfs(directory->root, &status) != 0)
        return directory_failure(arena, errno, "look at the file system");
    *space_out = (struct blob_space){.free_bytes = (uint64_t)status.f_bavail * status.f_frsize,
                                     .total_bytes = (uint64_t)status.f_blocks * status.f_frsize};
    return NULL;
}

static const struct blob_functions functions = {
    .begin = directory_begin,
    .write = directory_write,
    .read = directory_read,
    .commit = directory_commit,
    .abort = directory_abort,
    .link = directory_link,
    .remove = directory_remove,
    .open = directory_open,
    .check = directory_check,
    .space = directory_space,
    .sweep = directory_sweep,
    .each = directory_each,
    .look = directory_look,
    .each_stray = directory_each_stray,
    .set_aside = directory_set_aside,
};

static void close_directory(void *argument)
{
    struct directory *directory = argument;
    directory_shut(directory, directory->root);
    directory->root = -1;
}

struct error *blob_directory_open(struct arena *arena, const char *root, const struct blob_io *io,
                                  struct blob_store **store_out)
{
    struct directory *directory = arena_alloc(arena, sizeof *directory);
    directory->io = io == NULL ? &blob_io_system : io;
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/')
        length--;
    directory->path = arena_copy(arena, root, length);
    directory->root = -1;
    TRY(refresh(directory, arena));
    arena_defer(arena, close_directory, directory);
    struct blob_store *store = arena_alloc(arena, sizeof *store);
    store->functions = &functions;
    store->root = directory->path;
    store->context = directory;
    store->block = arena_alloc(arena, LIMIT_BLOB_BLOCK_BYTES);
    *store_out = store;
    return NULL;
}
