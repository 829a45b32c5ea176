/* SPDX-License-Identifier: MIT */
/* The layout of the host's shared memory, and how its file is mapped. For the files of base that use this memory. */
#ifndef GATEHOUSE_BASE_HOST_MEMORY_INT_H
#define GATEHOUSE_BASE_HOST_MEMORY_INT_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/host/memory.h"
#include "base/limits.h"
#include "base/metrics.h"

/* Numbers that different processes write at once lie on cache lines of their own. */
#define HOST_MEMORY_LINE _Alignas(64)

#define METRICS_BUCKETS 14  /* with a bound; one more takes all longer durations */
#define METRICS_STATUSES 18 /* the last one takes every status that has no column */
#define METRICS_NAME_BYTES 40
#define HOST_HINTS 8192

struct metrics_histogram {
    _Atomic uint64_t buckets[METRICS_BUCKETS + 1]; /* each counts its own range; they are not cumulative */
    _Atomic uint64_t sum;                          /* microseconds */
};

struct metrics_cell {
    HOST_MEMORY_LINE _Atomic uint64_t value;
};

struct metrics_operation_row {
    HOST_MEMORY_LINE char name[METRICS_NAME_BYTES];
    _Atomic uint64_t statuses[METRICS_STATUSES];
    struct metrics_histogram durations;
};

/* One process. `pid` is 0 in a free slot, and it is written last. */
struct host_process_slot {
    HOST_MEMORY_LINE _Atomic uint32_t pid;
    _Atomic uint32_t busy;
    uint32_t role;
    char pool[20];
    int64_t started; /* milliseconds since 1970 */
};

struct host_memory {
    char magic[8];
    uint64_t layout; /* metrics_layout() of the program that made the file */
    uint64_t size;
    int64_t created; /* milliseconds since 1970 */
    HOST_MEMORY_LINE _Atomic uint64_t change_version;
    HOST_MEMORY_LINE _Atomic uint32_t operation_count; /* rows that have their names */
    struct metrics_operation_row operations[LIMIT_METRICS_OPERATIONS];
    struct metrics_cell cells[METRIC_COUNT];
    struct {
        HOST_MEMORY_LINE struct metrics_histogram histogram;
    } histograms[METRIC_HISTOGRAM_COUNT];
    struct host_process_slot processes[LIMIT_METRICS_PROCESSES];
    HOST_MEMORY_LINE _Atomic uint32_t hints[HOST_HINTS];
    HOST_MEMORY_LINE _Atomic uint64_t upload_slots[LIMIT_UPLOAD_SLOTS]; /* 0: free */
};

/* A file that was found or made, and is mapped. */
struct host_memory_file {
    struct host_memory *memory;
    int fd;
    dev_t device;
    ino_t inode;
};

/* The memory in use: the shared one, or this process's own. Never NULL. */
struct host_memory *host_memory(void);

/*
 * Maps the file at `path`. It makes the file (mode 0600, all blocks allocated) where it is missing, and replaces a file
 * of this user that has another layout. False with a static sentence in *problem_out when that is impossible, or when
 * the path is a link or another user's file. The memory in use stays until host_memory_use().
 */
bool host_memory_find(const char *path, struct host_memory_file *file_out, const char **problem_out);

/* Uses `file` from now on and unmaps the one before. */
void host_memory_use(const struct host_memory_file *file);

/* Unmaps the shared memory; this process uses its own from now on. */
void host_memory_close(void);

/* Whether the file at `path` is the one in use. */
bool host_memory_is_file(const char *path);

/*
 * Takes the lock on the whole file, which callers hold for moments only. False when it stays taken for a second or
 * cannot be taken. Without a shared file it is true at once.
 */
bool host_memory_lock(void);
void host_memory_unlock(void);

/*
 * Locks byte `index` of the file until this process ends or closes the file. The lock belongs to the open file
 * (F_OFD_SETLK): a lock of the process (F_SETLK) would be lost when any descriptor of the file is closed. False when
 * another process holds it.
 */
bool host_memory_lock_byte(size_t index);

/* Whether nobody holds the lock on byte `index`; the caller's own lock does not count. */
bool host_memory_byte_is_free(size_t index);

#endif
