/* SPDX-License-Identifier: MIT */
/*
 * The service cache: one LMDB file a host, shared by its workers, the job runner and gatehousectl, of what is dear to
 * fetch. It is a copy that can be thrown away at any moment: whatever goes wrong with it (no room on the disk, a file that
 * is broken, cut or somebody else's), the calls below answer as if nothing were stored, and a broken file is replaced.
 * None of them can fail a request, and none waits for another process longer than a second: whoever was stopped or hangs in
 * the file keeps the old one, and all others go on with a new one.
 *
 * Keys are texts of at most LIMIT_CACHE_KEY_BYTES with a prefix that names the owner ("jwks:embedded"). Nothing secret may
 * be stored but what its owner has sealed: what is handed in is authenticated with a key made from the service's secret, so that
 * a damaged or foreign entry is no entry, but it is not sealed here. The file's mode is 0600.
 *
 * Versions. The file carries the version of the last change (domain/change_log.h) that was applied to it, and a process the one
 * that it has followed. A process takes nothing from a file that is behind it, and stores nothing there; before the first
 * version it has followed it uses no file at all. So an entry that a change evicts is never read by whoever has heard of
 * the change, whatever became of the file meanwhile.
 *
 * Time to live is judged by a clock that neither steps nor stops while the machine sleeps, and by the wall clock on top, for
 * files that outlive the machine's start: a step forward costs a fetch, a step back lengthens nothing.
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
    const char *path;     /* the file; nothing lies beside it */
    size_t bytes;         /* the file's size at most; 0: no cache */
    struct secret master; /* the service's secret */
};

/* Makes a handle; the file is opened at its first use. Heap; released with cache_free(). A NULL handle caches nothing. */
struct cache *cache_new(const struct cache_options *options);
void cache_free(struct cache **cache);

/* ---- reading and loading ------------------------------------------------------------------------- */

/* Whether there is a live entry; *bytes_out is a copy in the arena. */
bool cache_find(struct cache *cache, struct arena *arena, const char *key, void **bytes_out, size_t *length_out);

/* What fetches a value when it is not there: bytes in the arena, or an error. */
struct cache_loader {
    struct error *(*load)(struct arena *arena, void *context, void **bytes_out, size_t *length_out);
    void *context;
    unsigned ttl_seconds;
    unsigned lease_seconds; /* after so long the others do not wait for a loader any more; one that died is not waited for */
};

/*
 * The entry, or what the loader fetches, which is stored. Of all processes of the host one at a time loads a key; the
 * others wait for what it stores. The only error is the loader's. What was evicted while it was being loaded is handed out
 * once but not stored.
 */
struct error *cache_fetch(struct cache *cache, struct arena *arena, const char *key, const struct cache_loader *loader,
                          void **bytes_out, size_t *length_out);

/*
 * Stores a value without a lease. Only for what no change can make untrue: a value that was computed before an eviction may
 * be stored after it.
 */
void cache_store(struct cache *cache, const char *key, const void *bytes, size_t length, unsigned ttl_seconds);

/*
 * The same for a value that was computed earlier, when this process had followed `version` (cache_followed(); 0: none yet):
 * nothing is stored once the process or the file has gone further, so that no change is overtaken.
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

/* The version that the file is at; 0: it is new, or there is none. */
int64_t cache_version(struct cache *cache);

/*
 * Puts a file that is behind at `version`, at once for all readers. The evictions are those of all changes from some version
 * on up to `version`, in order and without a gap, or none: those newer than the file are applied; a file of before the first
 * of them is emptied. `reset` empties the file and puts it at `version` wherever it was. A file to which this cannot be done
 * is thrown away; where not even that can be done, a process that was told to reset does without any until it follows the
 * next version. From now on this process takes nothing from a file that is behind `version`.
 */
void cache_follow(struct cache *cache, const struct cache_eviction *evictions, size_t count, int64_t version, bool reset);

/* How many live entries an eviction would remove now. */
size_t cache_count(struct cache *cache, const struct cache_eviction *eviction);

/* ---- looking after it ---------------------------------------------------------------------------- */

struct cache_entry {
    const char *key;
    size_t bytes;
    int64_t seconds_left;
};

/* Live entries in the order of their keys, at most `limit`, behind the key `after` (NULL: from the start); their number. */
size_t cache_list(struct cache *cache, struct arena *arena, const char *after, size_t limit,
                  struct cache_entry **entries_out);

/* Removes what has expired; for the job runner, now and then. */
void cache_sweep(struct cache *cache);

/*
 * Whether this process has to end after the request in hand: a fault in the mapped file came while it was written, and may
 * have left this process's own memory in the middle of something.
 */
bool cache_spent(const struct cache *cache);

/* How often a value was found, and how often it was not; for metrics and tests. */
struct cache_counts {
    uint64_t hits;
    uint64_t misses;
    uint64_t rebuilds;
};
struct cache_counts cache_counts(const struct cache *cache);

#endif
