/* SPDX-License-Identifier: MIT */
/*
 * The functions of the service cache: finds, loads once, evicts.
 *
 * One loader at a time. A process that misses claims the key's lease in a writing transaction. The others see the lease
 * and look again every few milliseconds until there is a value. A lease ends when its loader has stored or failed, when
 * the loader's process is dead, or at its deadline, whichever comes first; then the next process claims it. An eviction
 * removes the lease together with the entry, so a loader that is still busy stores nothing: what it read may be older
 * than the change.
 */
#include "store/cache/cache.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "codec/random.h"
#include "store/cache/cache_int.h"

#define PAUSE_MIN_NANOSECONDS 250000L
#define PAUSE_MAX_NANOSECONDS 2000000L

struct cache *cache_new(const struct cache_options *options)
{
    static const char label[] = "gatehouse service cache 1";
    struct arena *memory = arena_new();
    struct cache *cache = arena_alloc(memory, sizeof *cache);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    cache->memory = memory;
    cache->path = arena_text(memory, options->path);
    cache->bytes = options->path == NULL ? 0 : options->bytes / page * page;
    digest_hmac(options->master, label, sizeof label - 1, cache->key);
    return cache;
}

void cache_free(struct cache **cache)
{
    if (*cache == NULL)
        return;
    struct arena *memory = (*cache)->memory;
    cache_close(*cache);
    arena_free(&memory);
    *cache = NULL;
}

bool cache_spent(const struct cache *cache)
{
    return cache != NULL && cache->spent;
}

struct cache_counts cache_counts(const struct cache *cache)
{
    static const struct cache_counts none = {0};
    return cache == NULL ? none : cache->counts;
}

/* Before the first version nothing is known to be current. */
static bool usable(const struct cache *cache, const char *key)
{
    return cache != NULL && cache->bytes != 0 && cache->version != 0 && strlen(key) <= LIMIT_CACHE_KEY_BYTES;
}

/* ---- finding ------------------------------------------------------------------------------------- */

struct finding {
    struct arena *arena;
    const char *key;
    void *bytes;
    size_t length;
    bool found;
};

static int find_body(struct cache *cache, MDB_txn *txn, void *context)
{
    struct finding *finding = context;
    struct cache_value value;
    int64_t version;
    int code = cache_get_version(cache, txn, &version);
    if (code != 0 || version < cache->version)
        return code;
    code = cache_get(cache, txn, finding->arena, finding->key, &value);
    if (code != 0)
        return code == MDB_NOTFOUND ? 0 : code;
    finding->bytes = value.bytes;
    finding->length = value.length;
    finding->found = true;
    return 0;
}

bool cache_find(struct cache *cache, struct arena *arena, const char *key, void **bytes_out, size_t *length_out)
{
    struct finding finding = {.arena = arena, .key = key};
    if (!usable(cache, key))
        return false;
    if (!cache_read(cache, find_body, &finding)) {
        metrics_add(METRIC_CACHE_FAILED, 1);
        return false;
    }
    *(finding.found ? &cache->counts.hits : &cache->counts.misses) += 1;
    metrics_add(finding.found ? METRIC_CACHE_HIT : METRIC_CACHE_MISS, 1);
    *bytes_out = finding.bytes;
    *length_out = finding.length;
    return finding.found;
}

/* ---- loading ------------------------------------------------------------------------------------- */

struct lease {
    uint8_t nonce[8];
    int64_t pid;
    int64_t deadline; /* cache_clock() */
};

enum claim_result {
    CLAIM_NONE,  /* the file cannot be used: load without it */
    CLAIM_TAKEN, /* this process has the lease */
    CLAIM_BUSY,  /* another process is loading */
    CLAIM_FOUND  /* the value is there by now */
};

struct claim {
    struct finding finding;
    struct lease lease;
    enum claim_result result;
};

/* kill() answers EPERM for a process of another user, so that process lives. */
static bool holds(const struct lease *lease)
{
    return lease->deadline > cache_clock() && (kill((pid_t)lease->pid, 0) == 0 || errno != ESRCH);
}

static int get_lease(struct cache *cache, MDB_txn *txn, const char *key, struct lease *lease_out)
{
    struct cache_name name;
    MDB_val wanted = cache_name(&name, 'l', key, strlen(key));
    MDB_val found;
    int code = mdb_get(txn, cache->dbi, &wanted, &found);
    if (code == 0 && found.mv_size != sizeof *lease_out)
        return MDB_NOTFOUND;
    if (code == 0)
        memcpy(lease_out, found.mv_data, sizeof *lease_out);
    return code;
}

/* A file that is behind the version that this process has followed holds nothing usable. */
static int catch_up(struct cache *cache, MDB_txn *txn)
{
    int64_t version;
    int code = cache_get_version(cache, txn, &version);
    return code == 0 && version < cache->version ? cache_empty(cache, txn, &cache->version) : code;
}

static int claim_body(struct cache *cache, MDB_txn *txn, void *context)
{
    struct claim *claim = context;
    struct cache_name name;
    struct lease held;
    claim->result = CLAIM_NONE;
    claim->finding.found = false;
    int code = catch_up(cache, txn);
    if (code == 0)
        code = find_body(cache, txn, &claim->finding);
    if (code != 0)
        return code;
    if (claim->finding.found) {
        claim->result = CLAIM_FOUND;
        return CACHE_QUIT;
    }
    code = get_lease(cache, txn, claim->finding.key, &held);
    if (code != 0 && code != MDB_NOTFOUND)
        return code;
    if (code == 0 && holds(&held)) {
        claim->result = CLAIM_BUSY;
        return CACHE_QUIT;
    }
    MDB_val key = cache_name(&name, 'l', claim->finding.key, strlen(claim->finding.key));
    MDB_val value = {.mv_data = &claim->lease, .mv_size = sizeof claim->lease};
    claim->result = CLAIM_TAKEN;
    return mdb_put(txn, cache->dbi, &key, &value, 0);
}

static enum claim_result claim_key(struct cache *cache, struct claim *claim, unsigned lease_seconds)
{
    claim->result = CLAIM_NONE;
    random_bytes(claim->lease.nonce, sizeof claim->lease.nonce);
    claim->lease.pid = getpid();
    claim->lease.deadline = cache_clock() + (int64_t)lease_seconds * 1000000;
    bool done = cache_write(cache, claim_body, claim);
    return done || claim->result != CLAIM_TAKEN ? claim->result : CLAIM_NONE;
}

struct keeping {
    const struct claim *claim;
    const void *bytes; /* NULL: only the lease is released */
    size_t length;
    unsigned ttl_seconds;
};

static int keep_body(struct cache *cache, MDB_txn *txn, void *context)
{
    const struct keeping *keeping = context;
    const struct claim *claim = keeping->claim;
    struct cache_name name;
    struct lease held;
    int64_t version;
    int code = cache_get_version(cache, txn, &version);
    if (code == 0)
        code = get_lease(cache, txn, claim->finding.key, &held);
    if (code != 0)
        return code == MDB_NOTFOUND ? CACHE_QUIT : code;
    if (memcmp(held.nonce, claim->lease.nonce, sizeof held.nonce) != 0)
        return CACHE_QUIT;
    MDB_val key = cache_name(&name, 'l', claim->finding.key, strlen(claim->finding.key));
    code = mdb_del(txn, cache->dbi, &key, NULL);
    if (code != 0 || keeping->bytes == NULL || version < cache->version)
        return code;
    return cache_put(cache, txn, claim->finding.key, keeping->bytes, keeping->length, keeping->ttl_seconds);
}

static struct error *load_and_keep(struct cache *cache, struct arena *arena, const struct claim *claim,
                                   const struct cache_loader *loader, void **bytes_out, size_t *length_out)
{
    struct error *error = loader->load(arena, loader->context, bytes_out, length_out);
    struct keeping keeping = {.claim = claim, .ttl_seconds = loader->ttl_seconds};
    if (error == NULL && *length_out <= LIMIT_CACHE_VALUE_BYTES) {
        keeping.bytes = *bytes_out;
        keeping.length = *length_out;
    }
    if (claim->result == CLAIM_TAKEN && cache_write(cache, keep_body, &keeping) && keeping.bytes != NULL)
        metrics_add(METRIC_CACHE_STORED, 1);
    return error;
}

static void pause_and_double(long *nanoseconds)
{
    const struct timespec wait = {.tv_nsec = *nanoseconds};
    (void)nanosleep(&wait, NULL);
    *nanoseconds = *nanoseconds < PAUSE_MAX_NANOSECONDS ? *nanoseconds * 2 : *nanoseconds;
}

/* While another process loads, only look: a claim would make every waiting process a writer. */
static bool is_busy(struct cache *cache, struct claim *claim)
{
    long pause = PAUSE_MIN_NANOSECONDS;
    claim->finding.found = false;
    for (int looks = 0; looks < 16 && !claim->finding.found; looks++) {
        pause_and_double(&pause);
        if (!cache_read(cache, find_body, &claim->finding))
            return false;
    }
    return !claim->finding.found;
}

struct error *cache_fetch(struct cache *cache, struct arena *arena, const char *key, const struct cache_loader *loader,
                          void **bytes_out, size_t *length_out)
{
    struct claim claim = {.finding = {.arena = arena, .key = key}, .result = CLAIM_NONE};
    if (cache_find(cache, arena, key, bytes_out, length_out))
        return NULL;
    int64_t patience = cache_clock() + (int64_t)loader->lease_seconds * 2000000;
    int64_t horizon = clock_within_horizon(0);
    while (usable(cache, key) && claim_key(cache, &claim, loader->lease_seconds) == CLAIM_BUSY) {
        if (!is_busy(cache, &claim))
            claim.result = claim.finding.found ? CLAIM_FOUND : CLAIM_NONE;
        if (claim.result != CLAIM_BUSY || cache_clock() > patience || (horizon != 0 && clock_monotonic() > horizon))
            break;
    }
    if (claim.result == CLAIM_FOUND) {
        *bytes_out = claim.finding.bytes;
        *length_out = claim.finding.length;
        return NULL;
    }
    TRY(load_and_keep(cache, arena, &claim, loader, bytes_out, length_out));
    return NULL;
}

struct storing {
    const char *key;
    const void *bytes;
    size_t length;
    unsigned ttl_seconds;
    int64_t version; /* the file must not be newer than this; 0: any version */
};

static int store_body(struct cache *cache, MDB_txn *txn, void *context)
{
    const struct storing *storing = context;
    int64_t version = 0;
    int code = catch_up(cache, txn);
    if (code == 0 && storing->version != 0)
        code = cache_get_version(cache, txn, &version);
    if (code == 0 && version > storing->version)
        return CACHE_QUIT;
    return code != 0 ? code
                     : cache_put(cache, txn, storing->key, storing->bytes, storing->length, storing->ttl_seconds);
}

void cache_store(struct cache *cache, const char *key, const void *bytes, size_t length, unsigned ttl_seconds)
{
    struct storing storing = {key, bytes, length, ttl_seconds, 0};
    if (usable(cache, key) && length <= LIMIT_CACHE_VALUE_BYTES && cache_write(cache, store_body, &storing))
        metrics_add(METRIC_CACHE_STORED, 1);
}

int64_t cache_followed(const struct cache *cache)
{
    return cache == NULL ? 0 : cache->version;
}

void cache_store_at(struct cache *cache, const char *key, const void *bytes, size_t length, unsigned ttl_seconds,
                    int64_t version)
{
    struct storing storing = {key, bytes, length, ttl_seconds, version};
    if (usable(cache, key) && version == cache->version && length <= LIMIT_CACHE_VALUE_BYTES &&
        cache_write(cache, store_body, &storing))
        metrics_add(METRIC_CACHE_STORED, 1);
}
