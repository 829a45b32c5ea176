/* SPDX-License-Identifier: MIT */
/*
 * What the files behind store/cache/cache.h share. cache_guard.c has the lock and the return from faults. cache_file.c
 * opens and replaces the LMDB file and runs transactions. cache_entry.c knows how entries, leases and the file's
 * version are written. cache_evict.c works on many entries, cache_summary.c counts them. cache.c has the public
 * functions.
 *
 * There is one database without a name. The first byte of a key says what it is:
 *   'e' key             an entry: struct entry_head and the value
 *   'a' time key        the same entry by its time of storing (big-endian), so that the oldest come first; no value
 *   'l' key             a lease: the process that loads this key (struct lease)
 *   'm' "format"        format and secret of the file; 'm' "version": the last change that was applied
 */
#ifndef GATEHOUSE_STORE_CACHE_CACHE_INT_H
#define GATEHOUSE_STORE_CACHE_CACHE_INT_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "codec/digest.h"
#include "store/cache/cache.h"

#define CACHE_KEY_MAX (1 + 8 + LIMIT_CACHE_KEY_BYTES)
#define CACHE_TAG_BYTES 16

/* Entries that a transaction removes, by reason. */
struct cache_removed {
    uint64_t told;    /* a change evicts them, or invalidates the whole file */
    uint64_t room;    /* the oldest, to free space */
    uint64_t expired; /* expired */
};

struct cache {
    struct arena *memory;
    const char *path;
    size_t bytes;
    uint8_t key[DIGEST_BYTES]; /* authenticates entries */
    MDB_env *env;              /* NULL: not open */
    int descriptor;            /* while it is open: what is locked */
    MDB_dbi dbi;
    MDB_txn *reader; /* kept between reads, after mdb_txn_reset() */
    dev_t device;
    ino_t inode;
    int64_t looked_at; /* when the path was last seen to lead to the open file (clock_monotonic()) */
    int64_t retry_at;  /* not opened again before */
    bool complained;
    bool spent;
    struct cache_removed removed; /* by the current transaction */
    int64_t version;              /* that this process has followed */
    struct cache_counts counts;
};

/* A step inside a transaction returns an LMDB code; anything but 0 and CACHE_QUIT is a failure. */
typedef int cache_body(struct cache *cache, MDB_txn *txn, void *context);

/* Not codes of LMDB or of the system. QUIT ends a writing transaction without a change and without a report. */
#define CACHE_QUIT (-1)
#define CACHE_FAULT (-2)
#define CACHE_STUCK (-3)
#define CACHE_BUSY (-4)

/* ---- cache_guard.c ------------------------------------------------------------------------------- */

/* One run of a body, and how far it came. */
struct cache_attempt {
    struct cache *cache;
    cache_body *body;
    void *context;
    MDB_txn *txn;
};

/* Installs the handlers that cache_guarded() needs; once for each file that is opened. */
void cache_guard_install(void);

/* The step's own code, or CACHE_FAULT when it ran into a fault or did not end. */
int cache_guarded(int (*step)(struct cache_attempt *attempt), struct cache_attempt *attempt);

/* For mdb_env_set_assert(). */
void cache_on_assert(MDB_env *env, const char *message);

/*
 * 0 with the lock. After a second without it: CACHE_STUCK when one process has kept it all the time, CACHE_BUSY when
 * others were faster. Or the system's error. A writer gets the lock however many readers there are.
 */
int cache_lock(int descriptor, bool alone);
void cache_unlock(int descriptor);

/* ---- cache_file.c -------------------------------------------------------------------------------- */

/* Runs the body in a transaction. False when that was impossible; the file may have been replaced then. */
bool cache_read(struct cache *cache, cache_body *body, void *context);
bool cache_write(struct cache *cache, cache_body *body, void *context);

/* Closes the file and removes it, unless another file has taken its place already; the next use makes a new one. */
void cache_discard(struct cache *cache, const char *reason);
void cache_close(struct cache *cache);

/* ---- cache_entry.c ------------------------------------------------------------------------------- */

/* A key of the file. */
struct cache_name {
    unsigned char bytes[CACHE_KEY_MAX];
    size_t length;
};

MDB_val cache_name(struct cache_name *name, char kind, const char *key, size_t length);

/* Prepares a file that was just opened: a file of another format or secret is emptied. */
cache_body cache_prepare;

/* Empties the file except for its format; *context is its new version, an int64_t. */
cache_body cache_empty;

/* A prepared file always has a version. Without one, or with a damaged one, the file is MDB_CORRUPTED. */
int cache_get_version(struct cache *cache, MDB_txn *txn, int64_t *version_out);
int cache_put_version(struct cache *cache, MDB_txn *txn, int64_t version);

/* A live value; MDB_NOTFOUND for an expired or missing one. */
struct cache_value {
    unsigned char *bytes;
    size_t length;
    int64_t left; /* microseconds */
};

/* The value as it was stored, byte for byte, in the arena. */
int cache_get(struct cache *cache, MDB_txn *txn, struct arena *arena, const char *key, struct cache_value *value_out);

/* The value where it lies in the file, as long as the transaction lives. Nothing says that it is complete. */
int cache_peek(struct cache *cache, MDB_txn *txn, const char *key, size_t key_length, struct cache_value *value_out);

/* Whether the time of an entry, as it is stored, is not over. A damaged one does not live. */
bool cache_entry_lives(const MDB_val *stored);

int cache_put(struct cache *cache, MDB_txn *txn, const char *key, const void *bytes, size_t length,
              unsigned ttl_seconds);

/* Removes an entry and a lease of that key; *counter (one of cache->removed) counts the entries. */
int cache_remove(struct cache *cache, MDB_txn *txn, const char *key, size_t length, uint64_t *counter);

/* Microseconds of a clock that goes on while the machine sleeps. */
int64_t cache_clock(void);

#endif
