/* SPDX-License-Identifier: MIT */
/*
 * Opens, locks and replaces the LMDB file.
 *
 * LMDB trusts its file: it reads pages straight from the mapping, and a file that is cut or overwritten meanwhile ends
 * the process. A cache must not make a request fail. So each transaction runs inside cache_guarded(), which returns
 * from such a fault, and the file is then thrown away. After a fault in a writing transaction LMDB's own memory may be
 * inconsistent, so the process ends after the current request (cache_spent()). A writer that is killed does no harm:
 * what it had not committed was never there.
 *
 * The file is opened under its lock. A process that makes a new file only removes the old one from the path. Processes
 * that still have the old one open use it until they look at the path again, a second later at most: they miss entries,
 * but what they read is valid, since every file carries its own version.
 *
 * Pages are written in the mapping (MDB_WRITEMAP), and not in copies on the heap, which LMDB could overrun because of a
 * broken page. All blocks of the file are allocated from the start, so a full disk shows when the file is opened.
 * Nothing is synced: a power cut may leave a broken file, and that is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/cache/cache_int.h"

#define TRIES 3
#define LOOK_MICROSECONDS 1000000
#define RETRY_MICROSECONDS 1000000
#define REMOVAL_MICROSECONDS 10000000

/* The path leads to something other than a file of ours. Not a code of LMDB or of the system. */
#define FOREIGN (-5)

/* ---- opening and closing ------------------------------------------------------------------------- */

static const char *code_text(int code)
{
    switch (code) {
    case 0:
        return NULL;
    case CACHE_FAULT:
        return "fault";
    case CACHE_STUCK:
        return "somebody keeps its lock";
    case CACHE_BUSY:
        return "too many write at once";
    case FOREIGN:
        return "the path leads to somebody else's file";
    default:
        return mdb_strerror(code);
    }
}

static void complain(struct cache *cache, const char *what, int code)
{
    if (!cache->complained)
        LOG(WARN, STORE, "the service cache is not used at the moment", LOG_TEXT("reason", what),
            LOG_TEXT("error", code_text(code)));
    cache->complained = true;
}

static int close_step(struct cache_attempt *attempt)
{
    if (attempt->cache->reader != NULL)
        mdb_txn_abort(attempt->cache->reader);
    mdb_env_close(attempt->cache->env);
    return 0;
}

/* Where the file or LMDB's memory is so broken that the file cannot even be closed, its mapping is left behind. */
void cache_close(struct cache *cache)
{
    struct cache_attempt attempt = {.cache = cache};
    if (cache->env == NULL)
        return;
    if (!cache->spent)
        (void)cache_guarded(close_step, &attempt);
    (void)close(cache->descriptor);
    cache->env = NULL;
    cache->reader = NULL;
}

static bool is_ours(const struct cache *cache)
{
    struct stat found;
    return stat(cache->path, &found) == 0 && found.st_dev == cache->device && found.st_ino == cache->inode;
}

/* Opens or creates the file, for its lock. Only a file of our own may be used. */
static int open_descriptor(struct cache *cache, int *descriptor_out)
{
    struct stat found;
    int descriptor = open(cache->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (descriptor < 0)
        return errno == ELOOP || errno == EISDIR || errno == ENXIO ? FOREIGN : errno;
    int code = fstat(descriptor, &found) != 0 ? errno : 0;
    if (code == 0 && (!S_ISREG(found.st_mode) || found.st_uid != geteuid()))
        code = FOREIGN;
    if (code == 0 && (found.st_mode & 077) != 0 && fchmod(descriptor, 0600) != 0)
        code = errno;
    if (code != 0) {
        (void)close(descriptor);
        return code;
    }
    cache->device = found.st_dev;
    cache->inode = found.st_ino;
    *descriptor_out = descriptor;
    return 0;
}

/* Whether LMDB has opened the same file that is locked. */
static bool is_same(const struct cache *cache)
{
    struct stat found;
    int descriptor;
    return mdb_env_get_fd(cache->env, &descriptor) == 0 && fstat(descriptor, &found) == 0 &&
           found.st_dev == cache->device && found.st_ino == cache->inode;
}

/* Allocates all blocks of the file at once, so that writing into the mapping cannot meet a full disk. */
static int allocate(const struct cache *cache)
{
    return fallocate(cache->descriptor, 0, 0, (off_t)cache->bytes) == 0 || errno == EOPNOTSUPP ? 0 : errno;
}

/*
 * LMDB believes the sizes in the first two pages of the file, and maps as much. Garbage there would look like a lack of
 * memory or disk space, and the file would never be replaced. LMDB finds all other faults of these pages itself.
 */
static bool sizes_fit(const struct cache *cache)
{
    enum { MAGIC_AT = 16, PAGE_SIZE_AT = 40, LAST_PAGE_AT = 136, META_BYTES = 144, PAGES = 2 };
    static const uint32_t magic = 0xBEEFC0DE;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char meta[META_BYTES];
    uint32_t page_size;
    uint64_t last_page;
    for (size_t i = 0; i < PAGES; i++) {
        if (pread(cache->descriptor, meta, sizeof meta, (off_t)(i * page)) != (ssize_t)sizeof meta ||
            memcmp(meta + MAGIC_AT, &magic, sizeof magic) != 0)
            continue;
        memcpy(&page_size, meta + PAGE_SIZE_AT, sizeof page_size);
        memcpy(&last_page, meta + LAST_PAGE_AT, sizeof last_page);
        if (page_size != page || last_page >= cache->bytes / page)
            return false;
    }
    return true;
}

/* Within a transaction LMDB reports a lack of memory only for a list of pages whose length is garbage. */
static int checked_code(int code)
{
    return code == ENOMEM ? MDB_CORRUPTED : code;
}

static int prepare_step(struct cache_attempt *attempt)
{
    struct cache *cache = attempt->cache;
    int code = mdb_txn_begin(cache->env, NULL, 0, &attempt->txn);
    if (code != 0)
        return code;
    code = mdb_dbi_open(attempt->txn, NULL, 0, &cache->dbi);
    if (code == 0)
        code = cache_prepare(cache, attempt->txn, NULL);
    if (code != 0)
        mdb_txn_abort(attempt->txn);
    return code != 0 ? code : mdb_txn_commit(attempt->txn);
}

static int open_step(struct cache_attempt *attempt)
{
    static const unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS | MDB_NORDAHEAD;
    struct cache *cache = attempt->cache;
    if (!sizes_fit(cache))
        return MDB_CORRUPTED;
    int code = mdb_env_create(&cache->env);
    if (code != 0)
        return code;
    (void)mdb_env_set_mapsize(cache->env, cache->bytes);
    (void)mdb_env_set_assert(cache->env, cache_on_assert);
    code = mdb_env_open(cache->env, cache->path, flags, 0600);
    if (code == 0)
        code = is_same(cache) ? allocate(cache) : CACHE_STUCK;
    return code != 0 ? code : checked_code(prepare_step(attempt));
}

/* After a fault in a writing transaction nothing of LMDB's is touched any more. */
static void give_up(struct cache *cache)
{
    LOG(ERROR, STORE, "a fault in the service cache's file: this process ends after the current request");
    cache->spent = true;
}

static int open_once(struct cache *cache)
{
    struct cache_attempt attempt = {.cache = cache};
    int code = open_descriptor(cache, &cache->descriptor);
    if (code != 0)
        return code;
    code = cache_lock(cache->descriptor, true);
    if (code == 0) {
        code = cache_guarded(open_step, &attempt);
        cache_unlock(cache->descriptor);
    }
    if (code == CACHE_FAULT && attempt.txn != NULL)
        give_up(cache);
    if (cache->env == NULL)
        (void)close(cache->descriptor);
    else if (code != 0)
        cache_close(cache);
    return code;
}

/* A full disk, a limit of the process, or too much load: the file itself is in order. */
static bool is_shortage(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM || code == EMFILE || code == ENFILE ||
           code == EROFS || code == EACCES || code == EPERM || code == ENOENT || code == ENOTDIR || code == ENOLCK ||
           code == EOPNOTSUPP || code == FOREIGN || code == CACHE_BUSY;
}

static void count_rebuild(struct cache *cache)
{
    cache->counts.rebuilds++;
    metrics_add(METRIC_CACHE_REBUILT, 1);
}

static bool open_file(struct cache *cache)
{
    cache_guard_install();
    int code = open_once(cache);
    if (code != 0 && !is_shortage(code)) {
        /*
         * This process has met a fault in the file and leaves it to others. But the same file must not end the next
         * process too.
         */
        LOG(WARN, STORE, "the file of the service cache was not usable and is replaced",
            LOG_TEXT("error", code_text(code)));
        count_rebuild(cache);
        if (is_ours(cache))
            (void)unlink(cache->path);
        if (!cache->spent)
            code = open_once(cache);
    }
    if (cache->env != NULL) {
        cache->looked_at = clock_monotonic();
        cache->complained = false;
        return true;
    }
    complain(cache, "it cannot be opened", code);
    cache->retry_at = clock_monotonic() + RETRY_MICROSECONDS;
    return false;
}

/* A writer looks at the path each time: what it stored in a file that is given up would be lost. */
static bool ready(struct cache *cache, bool look)
{
    if (cache == NULL || cache->bytes == 0 || cache->spent)
        return false;
    int64_t now = clock_monotonic();
    if (cache->env != NULL && (look || now - cache->looked_at > LOOK_MICROSECONDS)) {
        cache->looked_at = now;
        if (!is_ours(cache))
            cache_close(cache);
    }
    return cache->env != NULL || (now >= cache->retry_at && open_file(cache));
}

/*
 * When several processes find the same file broken, one throws it away. Where it cannot be removed, it is not used for
 * a while.
 */
void cache_discard(struct cache *cache, const char *reason)
{
    if (is_ours(cache)) {
        LOG(WARN, STORE, "the file of the service cache is thrown away", LOG_TEXT("reason", reason));
        count_rebuild(cache);
        if (unlink(cache->path) != 0 && errno != ENOENT) {
            complain(cache, "a file that does not serve cannot be removed", errno);
            cache->retry_at = clock_monotonic() + REMOVAL_MICROSECONDS;
        }
    }
    cache_close(cache);
}

/* ---- transactions -------------------------------------------------------------------------------- */

static int read_step(struct cache_attempt *attempt)
{
    struct cache *cache = attempt->cache;
    int code = cache->reader == NULL ? mdb_txn_begin(cache->env, NULL, MDB_RDONLY, &cache->reader)
                                     : mdb_txn_renew(cache->reader);
    if (code != 0)
        return code;
    code = attempt->body(cache, cache->reader, attempt->context);
    mdb_txn_reset(cache->reader);
    return code;
}

static int write_step(struct cache_attempt *attempt)
{
    struct cache *cache = attempt->cache;
    int code = mdb_txn_begin(cache->env, NULL, 0, &attempt->txn);
    if (code != 0)
        return code;
    code = attempt->body(cache, attempt->txn, attempt->context);
    if (code == 0)
        return mdb_txn_commit(attempt->txn);
    mdb_txn_abort(attempt->txn);
    return code;
}

static void count_removed(const struct cache_removed *removed)
{
    metrics_add(METRIC_CACHE_EVICTED_TOLD, removed->told);
    metrics_add(METRIC_CACHE_EVICTED_ROOM, removed->room);
    metrics_add(METRIC_CACHE_EVICTED_EXPIRED, removed->expired);
}

/* Runs one transaction under the lock. Removed entries are counted when it commits. */
static int run_once(struct cache *cache, int (*step)(struct cache_attempt *attempt), cache_body *body, void *context)
{
    struct cache_attempt attempt = {.cache = cache, .body = body, .context = context};
    bool writes = step == write_step;
    int code = cache_lock(cache->descriptor, writes);
    if (code != 0)
        return code;
    cache->removed = (struct cache_removed){0};
    code = checked_code(cache_guarded(step, &attempt));
    cache_unlock(cache->descriptor);
    if (code == 0 && writes)
        count_removed(&cache->removed);
    if (code == CACHE_FAULT && writes)
        give_up(cache);
    return code;
}

/*
 * No page is free, though the oldest entries are removed in time: their pages are scattered. All entries go, or the
 * whole file where even that needs pages.
 */
static bool make_room(struct cache *cache)
{
    int code = run_once(cache, write_step, cache_empty, &cache->version);
    if (code != 0)
        cache_discard(cache, code_text(code));
    return true;
}

/*
 * Whether the cause of the failure is gone, so that the attempt may run again. A file that claims to have grown
 * (MDB_MAP_RESIZED) is thrown away as well: all processes use the same size. LMDB would unmap the old pages before it
 * finds that it cannot map as much as garbage asks for, and would then go on with invalid addresses.
 */
static bool repair(struct cache *cache, int code)
{
    if (code == MDB_MAP_FULL)
        return make_room(cache);
    if (is_shortage(code))
        complain(cache, "it takes nothing", code);
    else
        cache_discard(cache, code_text(code));
    return false;
}

static bool run(struct cache *cache, int (*step)(struct cache_attempt *attempt), cache_body *body, void *context)
{
    for (int tries = 0; tries < TRIES; tries++) {
        if (!ready(cache, step == write_step))
            break;
        int code = run_once(cache, step, body, context);
        if (code == CACHE_QUIT)
            return false;
        if (code == 0) {
            cache->complained = cache->complained && step == read_step;
            return true;
        }
        if (!repair(cache, code))
            break;
    }
    if (cache != NULL && cache->bytes != 0)
        metrics_add(METRIC_CACHE_PASSED, 1);
    return false;
}

bool cache_read(struct cache *cache, cache_body *body, void *context)
{
    return run(cache, read_step, body, context);
}

bool cache_write(struct cache *cache, cache_body *body, void *context)
{
    return run(cache, write_step, body, context);
}
