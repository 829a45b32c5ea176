/* SPDX-License-Identifier: MIT */
/*
 * Bytes that arrive in pieces, in a directory: <root>/partial has a file for each, with the id for a name. The process
 * that has one open holds the lock of the file, which the kernel takes away when the process ends. Where the file
 * system is shared by hosts, the lock is, too (NFS from version 4 on).
 */
#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"
#include "blob/partial.h"

/* Opens the directory; -1 with errno. A new one is durable when this returns. */
static int open_place(const struct directory *directory)
{
    bool made;
    int fd = directory_make(directory, PARTIAL, &made);
    if (fd < 0 || !made || directory->io->fsync(directory->root) == 0)
        return fd;
    int number = errno;
    directory_shut(directory, fd);
    errno = number;
    return -1;
}

/* Makes the file and its name durable; 0 or an errno. */
static int make_file(const struct directory *directory, int place, const char *name)
{
    int fd = directory_open_at(directory, place, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int number = directory->io->fchmod(fd, FILE_MODE) == 0 && directory->io->fsync(place) == 0 ? 0 : errno;
    directory_shut(directory, fd);
    if (number != 0)
        directory_unlink_or_log(directory, place, name);
    return number;
}

static struct error *create(struct blob_store *store, struct arena *arena, struct id id)
{
    struct directory *directory = directory_of(store);
    char name[ID_HEX_BYTES];
    TRY(directory_refresh(directory, arena));
    int place = open_place(directory);
    if (place < 0)
        return directory_failure(arena, errno, "open the directory of partial files");
    id_hex(id, name);
    int number = make_file(directory, place, name);
    directory_shut(directory, place);
    if (number == EEXIST)
        return error_new(arena, ERROR_INTERNAL, "blob store: there is a partial file %s already", name);
    return number == 0 ? NULL : directory_failure(arena, number, "make a partial file");
}

/* Takes the lock; 0 or an errno. */
static int lock_file(const struct directory *directory, int fd, enum blob_partial_state *outcome_out)
{
    struct stat status;
    *outcome_out = BLOB_PARTIAL_BUSY;
    if (directory->io->flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? 0 : errno;
    if (directory->io->fstat(fd, &status) != 0)
        return errno;
    /* Whoever had the lock before may have removed the file. */
    *outcome_out = status.st_nlink == 0 ? BLOB_PARTIAL_LOST : BLOB_PARTIAL_OPEN;
    return 0;
}

static struct error *open_bytes(struct blob_store *store, struct arena *arena, struct id id, void **state_out,
                                enum blob_partial_state *outcome_out)
{
    struct directory *directory = directory_of(store);
    struct directory_pending *pending = arena_alloc(arena, sizeof *pending);
    TRY(directory_refresh(directory, arena));
    *outcome_out = BLOB_PARTIAL_LOST;
    pending->kept = true;
    pending->temporary = directory_open_at(directory, directory->root, PARTIAL, DIRECTORY_FLAGS);
    if (pending->temporary < 0)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "open the directory of partial files");
    id_hex(id, pending->name);
    pending->fd = directory_open_at(directory, pending->temporary, pending->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    int number = pending->fd < 0 ? errno : lock_file(directory, pending->fd, outcome_out);
    *state_out = pending;
    if (number == 0 && *outcome_out == BLOB_PARTIAL_OPEN)
        return NULL;
    directory_abort(store, pending);
    return number == 0 || number == ENOENT ? NULL : directory_failure(arena, number, "open a partial file");
}

/* Goes behind the first `size` bytes; 0 or an errno. */
static int drop_rest(const struct directory *directory, int fd, off_t size, bool *there_out)
{
    struct stat status;
    if (directory->io->fstat(fd, &status) != 0)
        return errno;
    *there_out = status.st_size >= size;
    if (status.st_size > size && directory->io->ftruncate(fd, size) != 0)
        return errno;
    return *there_out && directory->io->lseek(fd, size, SEEK_SET) < 0 ? errno : 0;
}

static struct error *go_on(struct blob_store *store, struct arena *arena, void *state, uint64_t size, bool *there_out)
{
    struct directory_pending *pending = state;
    int number = drop_rest(directory_of(store), pending->fd, (off_t)size, there_out);
    pending->written = pending->started = pending->flushed = (off_t)size;
    return number == 0 ? NULL : directory_failure(arena, number, "go on in a partial file");
}

static struct error *sync_bytes(struct blob_store *store, struct arena *arena, void *state)
{
    const struct directory_pending *pending = state;
    return directory_of(store)->io->fsync(pending->fd) == 0
               ? NULL
               : directory_failure(arena, errno, "make the bytes of a partial file durable");
}

static struct error *remove_bytes(struct blob_store *store, struct arena *arena, struct id id)
{
    struct directory *directory = directory_of(store);
    char name[ID_HEX_BYTES];
    TRY(directory_refresh(directory, arena));
    int place = directory_open_at(directory, directory->root, PARTIAL, DIRECTORY_FLAGS);
    if (place < 0)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "open the directory of partial files");
    id_hex(id, name);
    int number = directory->io->unlinkat(place, name, 0) == 0 ? 0 : errno;
    directory_shut(directory, place);
    return number == 0 || number == ENOENT ? NULL : directory_failure(arena, number, "remove a partial file");
}

static struct error *visit_entry(const struct directory *directory, int place, const char *name,
                                 struct error *(*visit)(void *context, const struct blob_partial_found *found),
                                 void *context)
{
    struct blob_partial_found found;
    struct stat status;
    if (!blob_id_of(name, &found.id) || directory->io->fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return NULL;
    found.size = (uint64_t)status.st_size;
    found.modified = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    return visit(context, &found);
}

static struct error *each(struct blob_store *store, struct arena *arena,
                          struct error *(*visit)(void *context, const struct blob_partial_found *found), void *context)
{
    struct directory *directory = directory_of(store);
    struct error *error = NULL;
    TRY(directory_refresh(directory, arena));
    int place = directory_open_at(directory, directory->root, PARTIAL, DIRECTORY_FLAGS);
    if (place < 0)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "open the directory of partial files");
    DIR *stream = directory->io->fdopendir(place);
    if (stream == NULL) {
        int number = errno;
        directory_shut(directory, place);
        return directory_failure(arena, number, "read the directory of partial files");
    }
    const struct dirent *entry;
    errno = 0;
    while (error == NULL && (entry = directory->io->readdir(stream)) != NULL) {
        error = visit_entry(directory, place, entry->d_name, visit, context);
        errno = 0;
    }
    int number = errno;
    (void)directory->io->closedir(stream);
    if (error == NULL && number != 0)
        return directory_failure(arena, number, "read the directory of partial files");
    return error;
}

const struct blob_partial_functions directory_partials = {
    .locks = true,
    .create = create,
    .open = open_bytes,
    .go_on = go_on,
    .write = directory_write,
    .sync = sync_bytes,
    .close = directory_abort,
    .remove = remove_bytes,
    .each = each,
};
