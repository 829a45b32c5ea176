/* SPDX-License-Identifier: MIT */
/* What the files of the directory store share. */
#ifndef GATEHOUSE_BLOB_DIRECTORY_INT_H
#define GATEHOUSE_BLOB_DIRECTORY_INT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id.h"

struct arena;
struct blob_final;
struct blob_found;
struct blob_io;
struct blob_partial_functions;
struct blob_reader;
struct blob_store;
struct blob_stray;
struct error;

#define DIRECTORY_MODE 0750
#define FILE_MODE 0640
#define SHARDS 256
#define SHARD_NAME_BYTES 3
#define TEMPORARY "tmp"
#define QUARANTINE "quarantine"
#define PARTIAL "partial"
#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct directory {
    const struct blob_io *io;
    const char *path;
    int root;
    dev_t device;
    ino_t inode;
    bool writes_parts;    /* see directory_write.c */
    bool durable[SHARDS]; /* shards whose entry in the root this process has made durable */
};

/* A blob on its way. */
struct directory_pending {
    int fd;                  /* -1 when closed */
    int temporary;           /* the directory of its temporary name, -1 when it has none */
    char name[ID_HEX_BYTES]; /* that name */
    bool kept;               /* that name stays (directory_partial.c) */
    off_t written;           /* bytes so far */
    off_t started;           /* how many of them were given to the disk */
    off_t flushed;           /* how many of them are on the disk and have left the memory */
};

/* blob/partial.h (directory_partial.c). */
extern const struct blob_partial_functions directory_partials;

struct directory *directory_of(struct blob_store *store);

/* The error for a call that failed with `number` (an errno); `what` says which. */
struct error *directory_failure(struct arena *arena, int number, const char *what);

/* openat(), again after a signal. */
int directory_open_at(const struct directory *directory, int at, const char *path, int flags);

/* Closes; -1 is fine. */
void directory_shut(const struct directory *directory, int fd);

/* Opens the root's directory `name`, making it where it is missing. -1 with errno. */
int directory_make(const struct directory *directory, const char *name, bool *made_out);

/* Opens the shard of `id` where it is; -1 with errno where it is not. */
int directory_find_shard(const struct directory *directory, struct id id);

/* Opens the shard of `id` for a commit. When this returns NULL, the shard's entry in the root is durable. */
struct error *directory_open_shard(struct directory *directory, struct arena *arena, struct id id, int *fd_out);

/* Opens the root, or another directory that has appeared at the path since then. */
struct error *directory_refresh(struct directory *directory, struct arena *arena);

/* Removes a leftover. Where that fails the log says so; the sweep and fsck find the leftover later. */
void directory_unlink_or_log(const struct directory *directory, int at, const char *name);

/* blob_begin(), blob_write(), blob_read(), blob_commit() and blob_abort() (directory_write.c). */
struct error *directory_begin(struct blob_store *store, struct arena *arena, void **state_out);
struct error *directory_write(struct blob_store *store, struct arena *arena, void *state, const void *bytes,
                              size_t length);
struct error *directory_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset, void *bytes,
                             size_t length, size_t *got_out);
struct error *directory_commit(struct blob_store *store, struct arena *arena, void *state,
                               const struct blob_final *final);
void directory_abort(struct blob_store *store, void *state);

/* blob_open(), blob_read(), blob_close() and blob_give() (directory_read.c). */
struct error *directory_open(struct blob_store *store, struct arena *arena, struct id id,
                             struct blob_reader *reader_out);
struct error *directory_fetch(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out);
void directory_close(struct blob_reader *reader);
struct error *directory_give(struct blob_store *store, struct arena *arena, struct id id);

/* blob_sweep(), blob_each(), blob_look(), blob_each_stray() and blob_set_aside() (directory_sweep.c). */
struct error *directory_sweep(struct blob_store *store, struct arena *arena, int64_t before, size_t *count_out);
struct error *directory_each(struct blob_store *store, struct arena *arena,
                             struct error *(*visit)(void *context, const struct blob_found *found), void *context);
struct error *directory_look(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                             bool *there_out);
struct error *directory_each_stray(struct blob_store *store, struct arena *arena,
                                   struct error *(*visit)(void *context, const struct blob_stray *stray),
                                   void *context);
struct error *directory_set_aside(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                                  const char **where_out);

#endif
