/* SPDX-License-Identifier: MIT */
/*
 * The functions of a store (blob.h) for a directory: second names, removing, free space, and opening the store.
 */
#include "blob/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"

/* ---- a second name ---- */

/*
 * Returns 0, or an errno and leaves nothing. The time is set before the link. So at no moment does the new name look
 * old to a sweep.
 */
static int link_again(const struct directory *directory, int source, const char *from, int shard, const char *to,
                      uint64_t size)
{
    static const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    const struct blob_io *io = directory->io;
    struct stat status;
    if (io->utimensat(source, from, now, AT_SYMLINK_NOFOLLOW) != 0 || io->linkat(source, from, shard, to, 0) != 0)
        return errno;
    if (io->fstatat(shard, to, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size == size)
        return 0;
    directory_unlink_or_log(directory, shard, to);
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
    int source = directory_find_shard(directory, from);
    if (source < 0)
        return NULL;
    int shard = -1;
    struct error *error = directory_open_shard(directory, arena, to, &shard);
    if (error == NULL) {
        int number = link_again(directory, source, old, shard, new, size);
        if (number == EEXIST)
            error = error_new(arena, ERROR_INTERNAL, "blob store: there is a blob %s already", new);
        *linked_out = number == 0;
    }
    if (*linked_out && directory->io->fsync(shard) != 0) {
        error = directory_failure(arena, errno, "make a blob's second name durable");
        directory_unlink_or_log(directory, shard, new);
        *linked_out = false;
    }
    directory_shut(directory, shard);
    directory_shut(directory, source);
    return error;
}

/* ---- keeping house ---- */

static struct error *directory_remove(struct blob_store *store, struct arena *arena, struct id id)
{
    const struct directory *directory = directory_of(store);
    int shard = directory_find_shard(directory, id);
    if (shard < 0)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "open a directory of blobs");
    char name[ID_HEX_BYTES];
    id_hex(id, name);
    int number = directory->io->unlinkat(shard, name, 0) == 0 ? 0 : errno;
    directory_shut(directory, shard);
    return number == 0 || number == ENOENT ? NULL : directory_failure(arena, number, "remove a blob");
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
    .fetch = directory_fetch,
    .close = directory_close,
    .give = directory_give,
    .check = directory_check,
    .space = directory_space,
    .sweep = directory_sweep,
    .each = directory_each,
    .look = directory_look,
    .each_stray = directory_each_stray,
    .set_aside = directory_set_aside,
    .partial = &directory_partials,
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
    TRY(directory_refresh(directory, arena));
    arena_defer(arena, close_directory, directory);
    struct blob_store *store = arena_alloc(arena, sizeof *store);
    store->functions = &functions;
    store->root = directory->path;
    store->has_files = true;
    store->context = directory;
    store->block = arena_alloc(arena, LIMIT_BLOB_BLOCK_BYTES);
    *store_out = store;
    return NULL;
}
