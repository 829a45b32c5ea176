/* SPDX-License-Identifier: MIT */
/*
 * What the files behind store/cache.h share: cache_file.c opens, guards and replaces the LMDB file and runs transactions on
 * it; cache_entry.c knows how entries, leases and the file's version are written; cache.c is the face.
 *
 * One database without a name; the first byte of a key tells what it is:
 *   'e' key             an entry: struct entry_head and the value
 *   'a' time key        the same entry by its time of storing (big-endian), so that the oldest come first; no value
 *   'l' key             a lease: whoever loads this key (struct lease)
 *   'm' "format"        what the file is and under which secret; 'm' "version": the change applied last
 */
#ifndef GATEHOUSE_STORE_CACHE_INT_H
#define GATEHOUSE_STORE_CACHE_INT_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "codec/digest.h"
#include "store/cache.h"

#define CACHE_KEY_MAX (1 + 8 + LIMIT_CACHE_KEY_BYTES)
#define CACHE_TAG_BYTES 16

struct cache {
    struct arena *memory;
    const char *path;
    size_t bytes;
    uint8_t key[DIGEST_BYTES]; /* authenticates entries */
    MDB_env *env;              /* NULL: not open */
    MDB_dbi dbi;
    MDB_txn *reader; /* kept between reads, reset */
    dev_t device;
    ino_t inode;
    int64_t looked_at; /* when the path was last seen to lead to our file (clock_monotonic()) */
    int64_t retry_at;  /* not opened again before */
    int64_t full_since; /* since when no page was free; 0: there are some */
    bool complained;
    bool spent;
    int64_t version; /* that this process has followed */
    struct cache_counts counts;
};

/* ---- cache_file.c -------------------------------------------------------------------------------- */

/* A step inside a transaction: an LMDB code; anything but 0 and CACHE_QUIT is a failure. */
typedef int cache_body(struct cache *cache, MDB_txn *txn, void *context);

/* Ends a writing transaction without a change and without complaint. */
#define CACHE_QUIT (-1)

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

int cache_get_version(struct cache *cache, MDB_txn *txn, int64_t *version_out);
int cache_put_version(struct cache *cache, MDB_txn *txn, int64_t version);

/* A value as it lies in the file, whole and alive; MDB_NOTFOUND otherwise. The bytes live as long as the transaction. */
struct cache_value {
    const unsigned char *bytes;
    size_t length;
    int64_t left; /* microseconds */
};
int cache_get(struct cache *cache, MDB_txn *txn, const char *key, size_t key_length, struct cache_value *value_out);

int cache_put(struct cache *cache, MDB_txn *txn, const char *key, const void *bytes, size_t length, unsigned ttl_seconds);

/* Removes an entry and a lease of that key; *removed_out counts the entries. */
int cache_remove(struct cache *cache, MDB_txn *txn, const char *key, size_t length, size_t *removed_out);

/* Removes the oldest entries until the rest takes a good part less than the file may hold. */
int cache_trim(struct cache *cache, MDB_txn *txn);

/* Microseconds of a clock that goes on while the machine sleeps. */
int64_t cache_clock(void);

#endif
