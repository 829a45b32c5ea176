/* SPDX-License-Identifier: MIT */
/*
 * What the files behind store/cache/cache.h share: cache_file.c opens and replaces the LMDB file and runs transactions on it;
 * cache_guard.c has its lock and the way back from a fault; cache_entry.c knows how entries, leases and the file's version
 * are written, cache_evict.c goes over many of them; cache.c is the face.
 *
 * One database without a name; the first byte of a key tells what it is:
 *   'e' key             an entry: struct entry_head and the value
 *   'a' time key        the same entry by its time of storing (big-endian), so that the oldest come first; no value
 *   'l' key             a lease: whoever loads this key (struct lease)
 *   'm' "format"        what the file is and under which secret; 'm' "version": the change applied last
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

/* Entries that a transaction takes out, by why. */
struct cache_removed {
    uint64_t told;    /* a change evicts them, or makes the whole file untrue */
    uint64_t room;    /* the oldest make room */
    uint64_t expired; /* their time is over */
};

struct cache {
    struct arena *memory;
    const char *path;
    size_t bytes;
    uint8_t key[DIGEST_BYTES]; /* authenticates entries */
    MDB_env *env;              /* NULL: not open */
    int descriptor;            /* while it is open: what is locked */
    MDB_dbi dbi;
    MDB_txn *reader; /* kept between reads, reset */
    dev_t device;
    ino_t inode;
    int64_t looked_at; /* when the path was last seen to lead to our file (clock_monotonic()) */
    int64_t retry_at;  /* not opened again before */
    bool complained;
    bool spent;
    struct cache_removed removed; /* by the transaction that is under way */
    int64_t version; /* that this process has followed */
    struct cache_counts counts;
};

/* A step inside a transaction: an LMDB code; anything but 0 and CACHE_QUIT is a failure. */
typedef int cache_body(struct cache *cache, MDB_txn *txn, void *context);

/* No codes of LMDB's or of the system's. QUIT ends a writing transaction without a change and without complaint. */
#define CACHE_QUIT (-1)
#define CACHE_FAULT (-2)
#define CACHE_STUCK (-3)
#define CACHE_BUSY (-4)

/* ---- cache_guard.c ------------------------------------------------------------------------------- */

/* One run of a body, as far as it came. */
struct cache_attempt {
    struct cache *cache;
    cache_body *body;
    void *context;
    MDB_txn *txn;
};

/* Makes the handlers that cache_guarded() needs; once for each file that is opened. */
void cache_guard_install(void);

/* What the step answers, or CACHE_FAULT when it ran into a fault or did not come to an end. */
int cache_guarded(int (*step)(struct cache_attempt *attempt), struct cache_attempt *attempt);

/* For mdb_env_set_assert(). */
void cache_on_assert(MDB_env *env, const char *message);

/*
 * 0; after a second without the lock CACHE_STUCK when somebody has kept it all the time, CACHE_BUSY when others were faster;
 * or what the system says against it. However many read in turns, one that wants to be alone gets in.
 */
int cache_lock(int descriptor, bool alone);
void cache_unlock(int descriptor);

/* ---- cache_file.c -------------------------------------------------------------------------------- */

/* Runs the body in a transaction. False when it did not come to pass; the file may have been replaced then. */
bool cache_read(struct cache *cache, cache_body *body, void *context);
bool cache_write(struct cache *cache, cache_body *body, void *context);

/* Closes the file and removes it, unless another has taken its place already; the next use makes a new one. */
void cache_discard(struct cache *cache, const char *reason);
void cache_close(struct cache *cache);

/* ---- cache_entry.c ------------------------------------------------------------------------------- */

/* A key of the file. */
struct cache_name {
    unsigned char bytes[CACHE_KEY_MAX];
    size_t length;
};

MDB_val cache_name(struct cache_name *name, char kind, const char *key, size_t length);

/* Prepares a file that was just opened: what is of another format or under another secret is emptied. */
cache_body cache_prepare;

/* Empties the file but for its format; *context is the int64_t version it gets. */
cache_body cache_empty;

/* A file that was prepared always has one: without it, or where it is damaged, the file is MDB_CORRUPTED. */
int cache_get_version(struct cache *cache, MDB_txn *txn, int64_t *version_out);
int cache_put_version(struct cache *cache, MDB_txn *txn, int64_t version);

/* A value that is alive; what is dead or not there is MDB_NOTFOUND. */
struct cache_value {
    unsigned char *bytes;
    size_t length;
    int64_t left; /* microseconds */
};

/* The value as it was stored, byte for byte, in the arena. */
int cache_get(struct cache *cache, MDB_txn *txn, struct arena *arena, const char *key, struct cache_value *value_out);

/* The value where it lies in the file, as long as the transaction lives, and nobody's word that it is whole. */
int cache_peek(struct cache *cache, MDB_txn *txn, const char *key, size_t key_length, struct cache_value *value_out);

int cache_put(struct cache *cache, MDB_txn *txn, const char *key, const void *bytes, size_t length, unsigned ttl_seconds);

/* Removes an entry and a lease of that key; *counter (one of cache->removed) counts the entries. */
int cache_remove(struct cache *cache, MDB_txn *txn, const char *key, size_t length, uint64_t *counter);

/* Microseconds of a clock that goes on while the machine sleeps. */
int64_t cache_clock(void);

#endif
