/* SPDX-License-Identifier: MIT */
/*
 * Goes over the files of the directory, removes old temporary ones and moves others aside. To move is a link and an
 * unlink, never a rename, which would replace an existing file. A crash between the two leaves two names of the same
 * bytes; the next run finds that and removes the old one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/directory_int.h"
#include "blob/io.h"

/* How many names are tried for one thing. One name is moved aside more than once only by an operator who repeats it. */
#define ASIDE_TRIES 100

/* ---- blobs and temporary files ------------------------------------------------------------------- */

/* A regular file with an id for a name. */
struct entry {
    const struct directory *directory;
    struct arena *arena;
    int at; /* the directory it lies in */
    const char *name;
    struct blob_found found;
};

static struct error *scan_entry(struct entry *entry, struct error *(*visit)(void *context, const struct entry *entry),
                                void *context)
{
    struct stat status;
    if (!blob_id_of(entry->name, &entry->found.id))
        return NULL;
    if (entry->directory->io->fstatat(entry->at, entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? NULL : directory_failure(entry->arena, errno, "look at a file");
    if (!S_ISREG(status.st_mode))
        return NULL;
    entry->found.size = (uint64_t)status.st_size;
    entry->found.modified = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    return visit(context, entry);
}

/* Visits the files of the root's directory `name`; a missing one has none. */
static struct error *scan(const struct directory *directory, struct arena *arena, const char *name,
                          struct error *(*visit)(void *context, const struct entry *entry), void *context)
{
    int fd = directory_open_at(directory, directory->root, name, DIRECTORY_FLAGS);
    if (fd < 0)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "open a directory");
    DIR *stream = directory->io->fdopendir(fd);
    if (stream == NULL) {
        int number = errno;
        directory_shut(directory, fd);
        return directory_failure(arena, number, "open a directory");
    }
    struct error *error = NULL;
    while (error == NULL) {
        errno = 0;
        const struct dirent *found = directory->io->readdir(stream);
        if (found == NULL) {
            error = errno == 0 ? NULL : directory_failure(arena, errno, "read a directory");
            break;
        }
        struct entry entry = {.directory = directory, .arena = arena, .at = fd, .name = found->d_name};
        error = scan_entry(&entry, visit, context);
    }
    (void)directory->io->closedir(stream);
    return error;
}

struct sweep {
    int64_t before;
    size_t count;
};

static struct error *sweep_file(void *context, const struct entry *entry)
{
    struct sweep *sweep = context;
    if (entry->found.modified >= sweep->before)
        return NULL;
    if (entry->directory->io->unlinkat(entry->at, entry->name, 0) == 0)
        sweep->count++;
    else if (errno != ENOENT)
        return directory_failure(entry->arena, errno, "remove a temporary file");
    return NULL;
}

struct error *directory_sweep(struct blob_store *store, struct arena *arena, int64_t before, size_t *count_out)
{
    struct sweep sweep = {.before = before};
    TRY(scan(directory_of(store), arena, TEMPORARY, sweep_file, &sweep));
    *count_out = sweep.count;
    return NULL;
}

struct each {
    struct error *(*visit)(void *context, const struct blob_found *found);
    void *context;
    unsigned shard;
};

/* A blob in another blob's shard cannot be opened, so it does not count as one. */
static struct error *each_file(void *context, const struct entry *entry)
{
    const struct each *each = context;
    bool in_place = entry->found.id.bytes[ID_BYTES - 1] == each->shard;
    return in_place ? each->visit(each->context, &entry->found) : NULL;
}

struct error *directory_each(struct blob_store *store, struct arena *arena,
                             struct error *(*visit)(void *context, const struct blob_found *found), void *context)
{
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        struct each each = {.visit = visit, .context = context, .shard = shard};
        char name[SHARD_NAME_BYTES];
        (void)snprintf(name, sizeof name, "%02x", shard & 0xff);
        TRY(scan(directory_of(store), arena, name, each_file, &each));
    }
    return NULL;
}

/* ---- strays -------------------------------------------------------------------------------------- */

struct stray_scan {
    const struct directory *directory;
    struct arena *arena;
    const char *folder;
    int shard; /* -1: the folder of temporary files */
    int fd;
    struct error *(*visit)(void *context, const struct blob_stray *stray);
    void *context;
};

/* A file that is removed while it is open elsewhere is renamed to .nfs… by NFS; it disappears by itself. */
static bool is_expected(const struct stray_scan *scan, const char *name)
{
    struct id id;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strncmp(name, ".nfs", 4) == 0)
        return true;
    return scan->shard >= 0 && blob_id_of(name, &id) && id.bytes[ID_BYTES - 1] == scan->shard;
}

static struct error *scan_stray(const struct stray_scan *scan, const char *name)
{
    struct stat status;
    if (is_expected(scan, name))
        return NULL;
    if (scan->directory->io->fstatat(scan->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? NULL : directory_failure(scan->arena, errno, "look at a file");
    const struct blob_stray stray = {
        .folder = scan->folder,
        .name = name,
        .temporary = scan->shard < 0,
        .is_file = S_ISREG(status.st_mode),
        .modified = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000,
    };
    return scan->visit(scan->context, &stray);
}

static struct error *scan_folder(struct stray_scan *scan)
{
    const struct directory *directory = scan->directory;
    scan->fd = directory_open_at(directory, directory->root, scan->folder, DIRECTORY_FLAGS);
    if (scan->fd < 0)
        return errno == ENOENT ? NULL : directory_failure(scan->arena, errno, "open a directory");
    DIR *stream = directory->io->fdopendir(scan->fd);
    if (stream == NULL) {
        int number = errno;
        directory_shut(directory, scan->fd);
        return directory_failure(scan->arena, number, "open a directory");
    }
    struct error *error = NULL;
    while (error == NULL) {
        errno = 0;
        const struct dirent *found = directory->io->readdir(stream);
        if (found == NULL) {
            error = errno == 0 ? NULL : directory_failure(scan->arena, errno, "read a directory");
            break;
        }
        error = scan_stray(scan, found->d_name);
    }
    (void)directory->io->closedir(stream);
    return error;
}

struct error *directory_each_stray(struct blob_store *store, struct arena *arena,
                                   struct error *(*visit)(void *context, const struct blob_stray *stray), void *context)
{
    struct stray_scan scan = {
        .directory = directory_of(store), .arena = arena, .visit = visit, .context = context, .shard = -1};
    scan.folder = TEMPORARY;
    TRY(scan_folder(&scan));
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        static const char digits[] = "0123456789abcdef";
        const char folder[SHARD_NAME_BYTES] = {digits[shard >> 4], digits[shard & 15], '\0'};
        scan.folder = folder;
        scan.shard = (int)shard;
        TRY(scan_folder(&scan));
    }
    return NULL;
}

/* ---- moving aside -------------------------------------------------------------------------------- */

struct aside {
    const struct directory *directory;
    struct arena *arena;
    int from;
    int to;
};

static bool same_file(const struct aside *aside, const char *name, const char *other)
{
    struct stat one, two;
    const struct blob_io *io = aside->directory->io;
    return io->fstatat(aside->from, name, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
           io->fstatat(aside->to, other, &two, AT_SYMLINK_NOFOLLOW) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* Links `name` to a free name in the quarantine. */
static struct error *link_aside(const struct aside *aside, const char *name, const char **where_out)
{
    const char *target = name;
    for (unsigned try = 1; try <= ASIDE_TRIES; try++) {
        *where_out = arena_format(aside->arena, "%s/%s", QUARANTINE, target);
        if (aside->directory->io->linkat(aside->from, name, aside->to, target, 0) == 0 ||
            (errno == EEXIST && same_file(aside, name, target)))
            return NULL;
        if (errno == ENOENT) {
            *where_out = NULL;
            return NULL;
        }
        if (errno != EEXIST)
            return directory_failure(aside->arena, errno, "move a file aside");
        target = arena_format(aside->arena, "%s.%u", name, try);
    }
    return directory_failure(aside->arena, EEXIST, "move a file aside");
}

/* The new name is durable before the old one goes. */
static struct error *move(const struct aside *aside, const char *name, const char **where_out)
{
    const struct blob_io *io = aside->directory->io;
    TRY(link_aside(aside, name, where_out));
    if (*where_out == NULL)
        return NULL;
    if (io->fsync(aside->to) != 0)
        return directory_failure(aside->arena, errno, "make a move durable");
    if (io->unlinkat(aside->from, name, 0) != 0 && errno != ENOENT)
        return directory_failure(aside->arena, errno, "move a file aside");
    if (io->fsync(aside->from) != 0)
        return directory_failure(aside->arena, errno, "make a move durable");
    return NULL;
}

struct error *directory_set_aside(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                                  const char **where_out)
{
    const struct directory *directory = directory_of(store);
    struct aside aside = {.directory = directory, .arena = arena};
    bool made;
    aside.from = directory_open_at(directory, directory->root, folder, DIRECTORY_FLAGS);
    if (aside.from < 0)
        return directory_failure(arena, errno, "open a directory");
    struct error *error = NULL;
    aside.to = directory_make(directory, QUARANTINE, &made);
    if (aside.to < 0 || (made && directory->io->fsync(directory->root) != 0))
        error = directory_failure(arena, errno, "make the quarantine");
    else
        error = move(&aside, name, where_out);
    directory_shut(directory, aside.to);
    directory_shut(directory, aside.from);
    return error;
}

struct error *directory_look(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                             bool *there_out)
{
    const struct directory *directory = directory_of(store);
    struct stat status;
    *there_out = directory->io->fstatat(directory->root, blob_path(arena, id), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*there_out)
        return errno == ENOENT ? NULL : directory_failure(arena, errno, "look at a blob");
    *found_out = (struct blob_found){
        .id = id,
        .size = (uint64_t)status.st_size,
        .modified = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000,
    };
    return NULL;
}
