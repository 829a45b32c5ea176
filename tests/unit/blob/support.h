/* SPDX-License-Identifier: MIT */
/* What the tests of the blob store share: looking at a directory from outside, and a table of calls that
 * fail. */
#ifndef GATEHOUSE_TESTS_BLOB_SUPPORT_H
#define GATEHOUSE_TESTS_BLOB_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "blob/blob.h"
#include "blob/io.h"

struct arena;

/* Regular files below `directory`, and file descriptors that this process has open. */
size_t support_files(const char *directory);
size_t support_descriptors(void);

/* `length` bytes that differ from one seed to the next. */
unsigned char *support_bytes(struct arena *arena, size_t length, unsigned seed);

/* Stores the bytes in pieces of `piece`, under `id`. */
struct error *support_store(struct blob_store *store, struct arena *arena, struct id id, const void *bytes,
                            size_t length, size_t piece);

/* Fails the test unless the store has exactly these bytes under `id`. */
void support_assert_stored(struct blob_store *store, struct arena *arena, struct id id, const void *bytes,
                           size_t length);

/* The kinds of calls in the order of struct blob_io. */
enum support_call {
    CALL_OPENAT,
    CALL_WRITE,
    CALL_PREAD,
    CALL_FTRUNCATE,
    CALL_FLOCK,
    CALL_FSYNC,
    CALL_SYNC_FILE_RANGE,
    CALL_WAIT_FILE_RANGE,  /* the same, waiting for the disk */
    CALL_PROBE_FILE_RANGE, /* the same, doing nothing */
    CALL_POSIX_FADVISE,
    CALL_LSEEK,
    CALL_CLOSE,
    CALL_FCHMOD,
    CALL_MKDIRAT,
    CALL_LINKAT,
    CALL_UTIMENSAT,
    CALL_UNLINKAT,
    CALL_FSTAT,
    CALL_FSTATAT,
    CALL_FSTATFS,
    CALL_FSTATVFS,
    CALL_FDOPENDIR,
    CALL_READDIR,
    CALL_CLOSEDIR,
    CALL_KINDS
};

#define SUPPORT_TRACE_MAX 256

/* The system's calls, watched and made to fail. */
struct support_faults {
    size_t calls;             /* made so far */
    size_t fail_at;           /* the call, counted from 1, that fails; 0: none */
    int number;               /* with this errno */
    bool short_write;         /* instead: it writes half of the bytes (at least one) */
    bool short_read;          /* each file ends where it is read */
    bool no_tmpfile;          /* O_TMPFILE is not supported */
    bool no_proc;             /* /proc is not mounted */
    long file_system;         /* what fstatfs() reports, 0: ext4's */
    off_t hole;               /* where the file has lost its bytes, 0: nowhere */
    uint64_t free_bytes;      /* what fstatvfs() reports, 0: the truth */
    enum support_call failed; /* the kind of the call that failed */
    bool failed_on_directory; /* and whether its descriptor was a directory's */
    off_t started;            /* the end of what was sent to the disk, from the file's beginning on */
    off_t flushed;            /* the end of what was waited for */
    off_t dropped;            /* the end of what has left the memory */
    /* The first calls. */
    enum support_call trace[SUPPORT_TRACE_MAX];
    bool trace_directory[SUPPORT_TRACE_MAX];
};

/* The table's calls obey this one; clear it with support_faults_clear(). */
extern struct support_faults support_faults;
extern const struct blob_io support_io;

void support_faults_clear(void);

/* Before the next file: no call has been made, and nothing of it is on the disk. */
void support_faults_restart(void);

const char *support_call_text(enum support_call call);

/* A store in a new directory. */
struct blob_store *support_new_store(struct arena *arena, const struct blob_io *io);

const char *support_path(struct blob_store *store, struct arena *arena, struct id id);

/* The length of a file that goes to the disk at once, and of one that does so while it is written. */
#define SUPPORT_SMALL_BYTES 700000
#define SUPPORT_LARGE_BYTES (9 * 1024 * 1024 + 5)

/* One id in each way of being stored: the directory is made, it is there, with and without O_TMPFILE. */
struct support_way {
    bool no_tmpfile;
    bool shard_there;
};
#define SUPPORT_WAYS 4
extern const struct support_way support_ways[SUPPORT_WAYS];

struct id support_next_id(struct id id);

/* A store in which `way` holds; the faults are off. */
struct blob_store *support_prepare(struct arena *arena, const struct support_way *way, struct id id);

#endif
