/* SPDX-License-Identifier: MIT */
/* Reads a blob of the directory store, and gives blobs to the user whom the directory belongs to. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"
#include "blob/reader_int.h"

struct error *directory_open(struct blob_store *store, struct arena *arena, struct id id,
                             struct blob_reader *reader_out)
{
    const struct directory *directory = directory_of(store);
    int shard = directory_find_shard(directory, id);
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
    reader_out->file = fd;
    reader_out->size = (uint64_t)status.st_size;
    return NULL;
}

struct error *directory_fetch(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out)
{
    const struct directory *directory = directory_of(reader->store);
    ssize_t got;
    do
        got = directory->io->pread(reader->file, bytes, length, (off_t)offset);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return directory_failure(reader->arena, errno, "read a blob");
    *got_out = (size_t)got;
    return NULL;
}

void directory_close(struct blob_reader *reader)
{
    directory_shut(directory_of(reader->store), reader->file);
    reader->file = -1;
}

struct error *directory_give(struct blob_store *store, struct arena *arena, struct id id)
{
    struct stat status;
    if (geteuid() != 0 || stat(store->root, &status) != 0)
        return NULL;
    const char *path = blob_path(arena, id);
    const char *file = arena_format(arena, "%s/%s", store->root, path);
    const char *shard = arena_format(arena, "%s/%.2s", store->root, path);
    if (lchown(file, status.st_uid, status.st_gid) == 0 && lchown(shard, status.st_uid, status.st_gid) == 0)
        return NULL;
    return directory_failure(arena, errno, "give a blob to the owner of the directory");
}
