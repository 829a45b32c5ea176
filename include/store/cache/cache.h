/* SPDX-License-Identifier: MIT */
/*
 * The service cache: one LMDB file a host, shared by its workers, the job runner and gatehousectl, with values that are
 * costly to fetch. It is a copy that may be thrown away at any moment. Whatever goes wrong with it (a full disk, a file
 * that is broken, cut or another user's), the calls below answer as if nothing were stored, and a broken file is
 * replaced. None of them can make a request fail, and none waits for another process longer than a second: a process
 * that is stopped or hangs inside the file keeps the old file, and all others go on with a new one.
 *
 * Keys are texts of at most LIMIT_CACHE_KEY_BYTES with a prefix that names the owner ("jwks:embedded"). A secret may be
 * stored only if its owner has sealed it. Values are authenticated here, with a key made from the service's secret, so
 * that a damaged or foreign entry counts as missing; but they are not encrypted. The file's mode is 0600.
 *
 * Versions. The file carries the version of the last change (domain/change_log.h) that was applied to it; a process
 * knows the version that it has followed. A process reads nothing from a file that is behind it, and stores nothing
 * there; before it has followed a first version it uses no file at all. So a process that has heard of a change never
 * reads an entry that the change evicts, whatever happens to the file.
 *
 * The time to live is measured by a clock that neither jumps nor stops while the machine sleeps, and by the wall clock
 * too, for files that survive a restart of the machine. A wall clock that is set forward costs a fetch; one that is set
 * back makes nothing live longer.
 */
#ifndef GATEHOUSE_STORE_CACHE_CACHE_H
#define GATEHOUSE_STORE_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/secret.h"
#include "base/text.h"

struct arena;
struct cache;
struct error;

struct cache_options {
    const char *path;     /* the file; there are no others beside it */
    size_t bytes;         /* the maximum size of the file; 0: no cache */
    struct secret master; /* the service's secret */
};

/* Makes a handle; its first use opens the file. Heap; released with cache_free(). A NULL handle caches nothing. */
struct cache *cache_new(const struct cache_options *options);
void cache_free(struct cache **cache);

/* ---- reading and loading ------------------------------------------------------------------------- */

/* Whether there is a live entry; *bytes_out is a copy in the arena. */
bool cache_find(struct cache *cache, struct arena *arena, const char *key, void **bytes_out, size_t *length_out);

/* Fetches a value that is not stored: bytes in the arena, or an error. */
struct cache_loader {
    struct error *(*load)(struct arena *arena, void *context, void **bytes_out, size_t *length_out);
    void *context;
    unsigned ttl_seconds;
    unsigned lease_seconds; /* after so long others stop waiting for a loader; they never wait for a dead one */
};

/*
 * Returns the entry, or what the loader fetches, which is then stored. Only one process of the host at a time loads a
 * key; the others wait for its result. The only error is the loader's. A value that was evicted while it was being
 * loaded is returned once but not stored.
 */
struct error *cache_fetch(struct cache *cache, struct arena *arena, const char *key, const struct cache_loader *loader,
                          void **bytes_out, size_t *length_out);

/*
 * Stores a value without a lease. Only for values that no change can invalidate: a value that was computed before an
 * eviction may be stored after it.
 */
void cache_store(struct cache *cache, const char *key, const void *bytes, size_t length, unsigned ttl_seconds);

/*
 * The same for a value that was computed earlier, when this process had followed `version` (cache_followed(); 0: none
 * yet). Nothing is stored once the process or the file has followed a later version, so that no old value is stored
 * behind a change.
 */
void cache_store_at(struct cache *cache, const char *key, const void *bytes, size_t length, unsigned ttl_seconds,
                    int64_t version);

/* ---- evicting and versions ----------------------------------------------------------------------- */

struct cache_eviction {
    int64_t version; /* of the change that asks for it */
    struct text_list keys;
    struct text_list prefixes;
    bool flush;
};

/* The version that this process has followed; 0: none yet. */
int64_t cache_followed(const struct cache *cache);

/* The version of the file; 0: the file is new, or there is none. */
int64_t cache_version(struct cache *cache);

/*
 * Brings a file that is behind to `version`, in one step for all readers. The evictions are those of all changes up to
 * `version`, in order and without a gap from some version on, or none. Those newer than the file are applied; a file
 * older than the first of them is emptied. `reset` empties the file and sets its version, whatever it was. A file to
 * which this cannot be done is thrown away. Where even that is impossible, a process that was told to reset uses no
 * file until it follows the next version. From now on this process reads nothing from a file that is behind `version`.
 */
void cache_follow(struct cache *cache, const struct cache_eviction *evictions, size_t count, int64_t version,
                  bool reset);

/* How many live entries an eviction would remove now. */
size_t cache_count(struct cache *cache, const struct cache_eviction *eviction);

/* ---- looking after it ---------------------------------------------------------------------------- */

struct cache_entry {
    const char *key;
    size_t bytes;
    int64_t seconds_left;
};

/*
 * Lists the keys of live entries in order, at most `limit`, behind the key `after` (NULL: from the start); returns
 * their number.
 */
size_t cache_list(struct cache *cache, struct arena *arena, const char *after, size_t limit,
                  struct cache_entry **entries_out);

struct cache_summary {
    int64_t entries;       /* live ones; where a count is -1: all that are stored, those whose time is over included */
    int64_t bytes;         /* of the file that are in use */
    int64_t maximum_bytes; /* the size of the file; 0: there is no cache */
    int64_t *counts;       /* live entries under each prefix; -1: not known */
};

/*
 * Counts the entries by prefixes that do not overlap. It looks at no more than `budget` entries; prefixes that come
 * behind those have -1 then. A file that cannot be read counts as empty. The counts lie in the arena.
 */
void cache_summarise(struct cache *cache, struct arena *arena, const struct text_list *prefixes, size_t budget,
                     struct cache_summary *summary_out);

/* Removes expired entries; the job runner calls it now and then. */
void cache_sweep(struct cache *cache);

/*
 * Whether this process must end after the current request: a fault in the mapped file came during a write, and may have
 * left this process's own memory inconsistent.
 */
bool cache_spent(const struct cache *cache);

/* How often a value was found, and how often not; for metrics and tests. */
struct cache_counts {
    uint64_t hits;
    uint64_t misses;
    uint64_t rebuilds;
};
struct cache_counts cache_counts(const struct cache *cache);

#endif
