/* SPDX-License-Identifier: MIT */
/* Opens caches, looks things up and starts processes for the tests of the service cache. */
#ifndef GATEHOUSE_TESTS_STORE_SUPPORT_CACHE_H
#define GATEHOUSE_TESTS_STORE_SUPPORT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/cache/cache.h"

#define CACHE_MASTER "0123456789abcdef0123456789abcdef"
#define CACHE_BYTES ((size_t)4 << 20)
/* Whoever waits for so long takes the lock for stuck (cache_guard.c). */
#define STUCK_MICROSECONDS 1000000

/*
 * For tests in which LMDB is to meet garbage while it writes: it may then copy in ways that AddressSanitizer ends a
 * process for at once, instead of the fault that the cache comes back from.
 */
void skip_with_sanitizer(void);

/* A path for a file in a new directory. */
const char *cache_path(struct arena *arena);

/*
 * The same in memory, for a case in which nobody may keep the file's lock for long: a disk may hold a writer up until
 * others take the lock for stuck (STUCK_MICROSECONDS). Where memory has no room for files, it is on the disk.
 */
const char *cache_path_in_memory(struct arena *arena);

/* A handle of CACHE_BYTES that has followed that version. */
struct cache *given_cache(const char *path, int64_t version);

/* One of sixteen times the size, at version 1. */
struct cache *given_large_cache(const char *path);

/* The value as a text; NULL where there is none. */
const char *found(struct cache *cache, struct arena *arena, const char *key);

/* What a loader does: counts, waits, evicts through another handle, fails, or answers a text. */
struct counter {
    unsigned loads;
    const char *text;
    bool fail;
    unsigned milliseconds;
    struct cache *other;
    const struct cache_eviction *eviction;
    int log; /* a descriptor that gets a byte for each load; 0: none */
};
struct cache_loader counting_loader(struct counter *counter);

/* The value by cache_fetch(), for 60 s; fails the test on an error. */
const char *fetched(struct cache *cache, struct arena *arena, const char *key, struct counter *counter);

/* fork() for the processes of a test: whatever becomes of it, they do not outlive it. */
pid_t start_process(void);

/* Kills a child and waits for its end. */
void end_process(pid_t child);

#endif
