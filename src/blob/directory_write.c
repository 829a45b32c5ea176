/* SPDX-License-Identifier: MIT */
/*
 * Writes a blob to the disk. The order of the calls makes a commit durable, and each failure has its answer:
 *
 * - fsync(file). Where it fails, the kernel may have dropped the dirty pages and would report success the next time. So
 *   it is never repeated: the file is discarded. The same holds for the calls that write out a part of it
 *   (write_out()).
 * - The file has no holes: bytes that were lost before fsync() leave one (look_for_holes()).
 * - The shard directory is made when it is needed. Its entry in the root is made durable by an fsync of the root, once
 *   per process and shard: another worker may have made the directory a moment ago and crash.
 * - linkat() to the name refuses to replace (EEXIST).
 * - close(file). Where it fails, the name is removed. EINTR is no failure: the bytes are durable already.
 * - fsync(shard). Where it fails, the name is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"

/* How much of a large file is written out at a time, and how much of it may be in progress: see write_out(). */
#define WRITE_OUT_BYTES (2 * 1024 * 1024)
#define WRITE_BEHIND_BYTES (2 * WRITE_OUT_BYTES)

/* A file with a name in <root>/tmp, for file systems that have no unnamed ones. */
static bool open_named(const struct directory *directory, struct directory_pending *pending)
{
    bool made;
    int temporary = directory_make(directory, TEMPORARY, &made);
    if (temporary < 0)
        return false;
    id_hex(id_new(), pending->name);
    int fd = directory_open_at(directory, temporary, pending->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
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

static bool open_pending(const struct directory *directory, struct directory_pending *pending)
{
    pending->temporary = -1;
    pending->fd = directory_open_at(directory, directory->root, ".", O_RDWR | O_TMPFILE | O_CLOEXEC);
    if (pending->fd >= 0)
        return true;
    /* How file systems and kernels without O_TMPFILE answer: see open(2). */
    bool unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT;
    return unsupported && open_named(directory, pending);
}

void directory_abort(struct blob_store *store, void *state)
{
    const struct directory *directory = directory_of(store);
    struct directory_pending *pending = state;
    directory_shut(directory, pending->fd);
    pending->fd = -1;
    if (pending->temporary >= 0) {
        if (!pending->kept)
            directory_unlink_or_log(directory, pending->temporary, pending->name);
        directory_shut(directory, pending->temporary);
        pending->temporary = -1;
    }
}

struct error *directory_begin(struct blob_store *store, struct arena *arena, void **state_out)
{
    struct directory *directory = directory_of(store);
    TRY(directory_refresh(directory, arena));
    struct directory_pending *pending = arena_alloc(arena, sizeof *pending);
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
 * A large file is written out while it arrives, so that little is left for the final fsync(), and each part leaves the
 * memory as soon as the disk has it. So an upload uses WRITE_BEHIND_BYTES and a part of the page cache, always the same
 * pages, and does not displace pages that others need. On a virtual machine each page that is used for the first time
 * comes from the host; that was measured to take ten times as long as the writing itself.
 *
 * Both calls may report lost bytes that fsync() would not report again: the first when the file system has no space for
 * them, the second when the disk did not take them. So each failure is final. 0 or an errno.
 */
static int write_out(const struct blob_store *store, struct directory_pending *pending)
{
    const struct directory *directory = store->context;
    if (!directory->writes_parts || pending->written - pending->started < WRITE_OUT_BYTES)
        return 0;
    if (directory->io->sync_file_range(pending->fd, pending->started, pending->written - pending->started,
                                       SYNC_FILE_RANGE_WRITE) != 0)
        return errno;
    pending->started = pending->written;
    off_t length = pending->started - WRITE_BEHIND_BYTES - pending->flushed;
    if (length <= 0 || store->reads_back)
        return 0;
    if (directory->io->sync_file_range(pending->fd, pending->flushed, length,
                                       SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                           SYNC_FILE_RANGE_WAIT_AFTER) != 0)
        return errno;
    (void)directory->io->posix_fadvise(pending->fd, pending->flushed, length, POSIX_FADV_DONTNEED);
    pending->flushed += length;
    return 0;
}

struct error *directory_write(struct blob_store *store, struct arena *arena, void *state, const void *bytes,
                              size_t length)
{
    const struct directory *directory = directory_of(store);
    struct directory_pending *pending = state;
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

struct error *directory_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset, void *bytes,
                             size_t length, size_t *got_out)
{
    const struct directory *directory = directory_of(store);
    const struct directory_pending *pending = state;
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
static int link_pending(const struct directory *directory, const struct directory_pending *pending, int shard,
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
    /* There is no /proc here. This way needs a privilege on older kernels. */
    return io->linkat(pending->fd, "", shard, name, AT_EMPTY_PATH) == 0 ? 0 : errno;
}

/* From the link on, a failure removes the name again. */
static struct error *publish(const struct directory *directory, struct arena *arena, struct directory_pending *pending,
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
        directory_unlink_or_log(directory, shard, name);
        return directory_failure(arena, number, "close a blob");
    }
    if (directory->io->fsync(shard) != 0) {
        number = errno;
        directory_unlink_or_log(directory, shard, name);
        return directory_failure(arena, number, "make a blob's name durable");
    }
    return NULL;
}

/*
 * Where the kernel has written out a part by itself and the file system had no space for it, nothing reports that, not
 * even fsync(): the part has left the memory and is a hole. Received bytes are written without holes. 0 or an errno.
 */
static int look_for_holes(const struct directory *directory, const struct directory_pending *pending)
{
    if (!directory->writes_parts || pending->written == 0)
        return 0;
    off_t hole = directory->io->lseek(pending->fd, 0, SEEK_HOLE);
    if (hole < 0)
        return errno;
    return hole == pending->written ? 0 : EIO;
}

struct error *directory_commit(struct blob_store *store, struct arena *arena, void *state,
                               const struct blob_final *final)
{
    struct directory *directory = directory_of(store);
    struct directory_pending *pending = state;
    if (directory->io->fsync(pending->fd) != 0)
        return directory_failure(arena, errno, "make a blob's bytes durable");
    if (pending->started > WRITE_BEHIND_BYTES)
        (void)directory->io->posix_fadvise(pending->fd, 0, 0, POSIX_FADV_DONTNEED);
    int number = look_for_holes(directory, pending);
    if (number != 0)
        return directory_failure(arena, number, "look for all of a blob's bytes");
    int shard = -1;
    TRY(directory_open_shard(directory, arena, final->id, &shard));
    char name[ID_HEX_BYTES];
    id_hex(final->id, name);
    struct error *error = publish(directory, arena, pending, shard, name);
    directory_shut(directory, shard);
    if (error == NULL)
        directory_abort(store, pending); /* the temporary name, where there is one */
    return error;
}
