/* SPDX-License-Identifier: MIT */
/*
 * The LMDB file: opened, guarded and replaced.
 *
 * LMDB trusts its file: pages are read straight from the mapping, and a file that was cut or overwritten under it ends the
 * process (SIGBUS, SIGSEGV, or a failed assertion of its own). A cache must not cost a request, so each transaction runs
 * inside guarded(), which comes back from such a fault with FAULT; the file is then thrown away. After a fault in a reading
 * transaction nothing is held. A writing one holds the file's mutex, so the process ends after the request in hand
 * (cache_spent()): the mutex is robust, and the others go on at that moment. The same makes a writer that is killed harmless: what it had not committed was never there.
 *
 * Files are opened and replaced under a lock on path-guard, so that nobody pairs an old file with a new lock file. Whoever
 * still has the replaced file open works on in it until the next look at the path, a second later at the most: it misses,
 * but what it reads is as true as before, since every file carries its own version.
 *
 * Pages are written in the mapping (MDB_WRITEMAP), not in copies on the heap that a broken page could make LMDB overrun; the
 * file has all its blocks from the start, so a full disk shows when it is opened. Nothing is synced: a power cut may leave a
 * file that is broken, and that is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/cache_int.h"

#define READERS 1022
#define TRIES 3
#define LOOK_MICROSECONDS 1000000
#define RETRY_MICROSECONDS 1000000
#define FULL_MICROSECONDS 2000000
#define GUARD_TRIES 100
#define GUARD_PAUSE_NANOSECONDS 2000000

/* What guarded() answers after a fault; no code of LMDB's or of the system's. */
#define FAULT (-2)

/* ---- faults -------------------------------------------------------------------------------------- */

/* A signal handler takes no argument of ours. One thread, one guarded step at a time. */
static struct {
    sigjmp_buf point;
    volatile sig_atomic_t armed;
    struct sigaction bus, segment;
} guard;

/* A fault that is none of ours: the handler from before is put back, and the instruction runs again. */
static void on_fault(int number)
{
    if (guard.armed) {
        guard.armed = 0;
        siglongjmp(guard.point, 1);
    }
    (void)sigaction(number, number == SIGBUS ? &guard.bus : &guard.segment, NULL);
}

static void on_assert(MDB_env *env, const char *message)
{
    (void)env;
    (void)message;
    if (guard.armed) {
        guard.armed = 0;
        siglongjmp(guard.point, 1);
    }
}

static void install_guard(void)
{
    const struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_handler != on_fault)
        (void)sigaction(SIGBUS, &action, &guard.bus);
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler != on_fault)
        (void)sigaction(SIGSEGV, &action, &guard.segment);
}

/* One run of a body, as far as it came. */
struct attempt {
    struct cache *cache;
    cache_body *body;
    void *context;
    MDB_txn *txn;
    enum { STAGE_OPEN, STAGE_WRITE } stage; /* of opening: whether the mutex may be held */
};

static int guarded(int (*step)(struct attempt *attempt), struct attempt *attempt)
{
    if (sigsetjmp(guard.point, 0) != 0)
        return FAULT;
    guard.armed = 1;
    int code = step(attempt);
    guard.armed = 0;
    return code;
}

/* ---- opening and closing ------------------------------------------------------------------------- */

static void complain(struct cache *cache, const char *what, int code)
{
    if (!cache->complained)
        LOG(WARN, STORE, "the service cache is not used for the moment", LOG_TEXT("reason", what),
            LOG_TEXT("error", code == 0 ? NULL : code == FAULT ? "fault" : mdb_strerror(code)));
    cache->complained = true;
}

static int close_step(struct attempt *attempt)
{
    if (attempt->cache->reader != NULL)
        mdb_txn_abort(attempt->cache->reader);
    mdb_env_close(attempt->cache->env);
    return 0;
}

/*
 * Where the file is so broken that it cannot even be closed, its mapping is left behind. So it is where this process holds
 * the mutex: only of one that is still mapped does the kernel tell the others, when the process ends, that its owner died.
 */
void cache_close(struct cache *cache)
{
    struct attempt attempt = {.cache = cache};
    if (cache->env != NULL && !cache->spent)
        (void)guarded(close_step, &attempt);
    cache->env = NULL;
    cache->reader = NULL;
}

/* The lock that openers and replacers take; -1 when somebody keeps it or it cannot be made. */
static int take_guard(const struct cache *cache)
{
    const struct timespec pause = {.tv_nsec = GUARD_PAUSE_NANOSECONDS};
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s-guard", cache->path) >= (int)sizeof path)
        return -1;
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    for (int i = 0; descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == GUARD_TRIES) {
            (void)close(descriptor);
            return -1;
        }
        (void)nanosleep(&pause, NULL);
    }
    return descriptor;
}

static void remove_files(const struct cache *cache)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s-lock", cache->path);
    (void)unlink(cache->path);
    (void)unlink(path);
}

/* Whether the path leads to something that may be used: nothing yet, or a file of our own. */
static bool may_use(const char *path)
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return errno == ENOENT;
    if (!S_ISREG(found.st_mode) || (geteuid() != 0 && found.st_uid != geteuid()))
        return false;
    return (found.st_mode & 077) == 0 || chmod(path, 0600) == 0;
}

/* What root makes (gatehousectl) belongs to whom the directory belongs to, so that the workers can use it. */
static void give_away(const struct cache *cache)
{
    char path[PATH_MAX];
    struct stat directory;
    (void)snprintf(path, sizeof path, "%s", cache->path);
    char *slash = strrchr(path, '/');
    if (geteuid() != 0 || slash == NULL)
        return;
    slash[slash == path ? 1 : 0] = '\0';
    if (stat(path, &directory) != 0 || directory.st_uid == 0)
        return;
    static const char *const endings[] = {"", "-lock", "-guard"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        (void)snprintf(path, sizeof path, "%s%s", cache->path, endings[i]);
        if (lchown(path, directory.st_uid, directory.st_gid) != 0)
            LOG(DEBUG, STORE, "a file of the service cache stays root's", LOG_TEXT("error", strerror(errno)));
    }
}

/* Gives the file its blocks at once, so that writing into the mapping cannot meet a full disk. */
static int allocate(const struct cache *cache)
{
    int descriptor = open(cache->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return errno;
    int code = fallocate(descriptor, 0, 0, (off_t)cache->bytes) == 0 || errno == EOPNOTSUPP ? 0 : errno;
    (void)close(descriptor);
    return code;
}

static int open_step(struct attempt *attempt)
{
    struct cache *cache = attempt->cache;
    struct stat found;
    int code = mdb_env_create(&cache->env);
    if (code != 0)
        return code;
    (void)mdb_env_set_mapsize(cache->env, cache->bytes);
    (void)mdb_env_set_maxreaders(cache->env, READERS);
    (void)mdb_env_set_assert(cache->env, on_assert);
    code = mdb_env_open(cache->env, cache->path, MDB_NOSUBDIR | MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS | MDB_NORDAHEAD, 0600);
    if (code == 0)
        code = allocate(cache);
    if (code != 0 || stat(cache->path, &found) != 0)
        return code != 0 ? code : errno;
    cache->device = found.st_dev;
    cache->inode = found.st_ino;
    int dead;
    (void)mdb_reader_check(cache->env, &dead);
    attempt->stage = STAGE_WRITE;
    code = mdb_txn_begin(cache->env, NULL, 0, &attempt->txn);
    if (code != 0)
        return code;
    code = mdb_dbi_open(attempt->txn, NULL, 0, &cache->dbi);
    if (code == 0)
        code = cache_prepare(cache, attempt->txn, NULL);
    if (code != 0)
        mdb_txn_abort(attempt->txn);
    return code != 0 ? code : mdb_txn_commit(attempt->txn);
}

/*
 * After a fault in a writing transaction this process holds the mutex, and LMDB's own memory is in the middle of something:
 * nothing of it is touched any more.
 */
static void give_up(struct cache *cache)
{
    LOG(ERROR, STORE, "a fault in the service cache's file: this process ends after the request in hand");
    cache->spent = true;
}

static int open_once(struct cache *cache)
{
    struct attempt attempt = {.cache = cache};
    int code = guarded(open_step, &attempt);
    if (code == FAULT && attempt.stage != STAGE_OPEN)
        give_up(cache);
    if (code != 0)
        cache_close(cache);
    return code;
}

/* A disk without room or a limit of the process; nothing is wrong with the file. */
static bool is_shortage(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM || code == EMFILE || code == ENFILE ||
           code == EROFS || code == EACCES || code == EPERM || code == ENOENT || code == ENOTDIR;
}

static void count_rebuild(struct cache *cache)
{
    cache->counts.rebuilds++;
    metrics_add(METRIC_CACHE_REBUILT, 1);
}

static bool open_file(struct cache *cache)
{
    install_guard();
    int descriptor = take_guard(cache);
    int code = descriptor < 0 ? errno : 0;
    bool usable = descriptor >= 0 && may_use(cache->path);
    if (usable)
        code = open_once(cache);
    if (usable && code != 0 && !is_shortage(code) && !cache->spent) {
        LOG(WARN, STORE, "the service cache's file was not usable and is made anew",
            LOG_TEXT("error", code == FAULT ? "fault" : mdb_strerror(code)));
        count_rebuild(cache);
        remove_files(cache);
        code = open_once(cache);
    }
    if (descriptor >= 0) {
        give_away(cache);
        (void)close(descriptor);
    }
    if (cache->env != NULL) {
        cache->looked_at = clock_monotonic();
        cache->complained = false;
        return true;
    }
    complain(cache, usable || descriptor < 0 ? "it cannot be opened" : "its path leads to somebody else's file", code);
    cache->retry_at = clock_monotonic() + RETRY_MICROSECONDS;
    return false;
}

static bool is_ours(const struct cache *cache)
{
    struct stat found;
    return stat(cache->path, &found) == 0 && found.st_dev == cache->device && found.st_ino == cache->inode;
}

/* A writer looks at the path each time: it would wait for the mutex of a file that is given up. */
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

void cache_discard(struct cache *cache, const char *reason)
{
    LOG(WARN, STORE, "the service cache's file is thrown away", LOG_TEXT("reason", reason));
    count_rebuild(cache);
    int descriptor = take_guard(cache);
    if (is_ours(cache))
        remove_files(cache);
    if (descriptor >= 0)
        (void)close(descriptor);
    cache_close(cache);
}

/* ---- transactions -------------------------------------------------------------------------------- */

static int read_step(struct attempt *attempt)
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

static int write_step(struct attempt *attempt)
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

/*
 * No page is free. Readers that were killed keep pages from being used again, and so does, for its moment, one that the
 * system let wait in the middle: then nothing is stored for a while. When it stays so, all entries go, or the whole file
 * where even that takes pages that are not there.
 */
static bool make_room(struct cache *cache)
{
    int dead = 0;
    if (mdb_reader_check(cache->env, &dead) == 0 && dead > 0)
        return true;
    int64_t now = clock_monotonic();
    if (cache->full_since == 0)
        cache->full_since = now;
    if (now - cache->full_since < FULL_MICROSECONDS)
        return false;
    cache->full_since = 0;
    struct attempt attempt = {.cache = cache, .body = cache_empty, .context = &cache->version};
    int code = guarded(write_step, &attempt);
    if (code == FAULT)
        give_up(cache);
    if (code != 0)
        cache_discard(cache, code == FAULT ? "fault" : mdb_strerror(code));
    return true;
}

/*
 * Whether what made the attempt fail is mended, so that it may run again. A file that says it has grown (MDB_MAP_RESIZED)
 * goes as well: all processes have the same size, and LMDB would unmap the old pages before it finds that it cannot map as
 * much as garbage asks for, and then go on with addresses that are nobody's.
 */
static bool mend(struct cache *cache, int code)
{
    int dead = 0;
    switch (code) {
    case MDB_MAP_FULL:
        return make_room(cache);
    case MDB_READERS_FULL:
        return mdb_reader_check(cache->env, &dead) == 0 && dead > 0;
    default:
        if (is_shortage(code))
            complain(cache, "there is no room", code);
        else if (code != MDB_READERS_FULL)
            cache_discard(cache, code == FAULT ? "fault" : mdb_strerror(code));
        return false;
    }
}

static bool run(struct cache *cache, int (*step)(struct attempt *attempt), cache_body *body, void *context)
{
    for (int tries = 0; tries < TRIES; tries++) {
        struct attempt attempt = {.cache = cache, .body = body, .context = context};
        if (!ready(cache, step == write_step))
            return false;
        int code = guarded(step, &attempt);
        if (code == 0 || code == CACHE_QUIT) {
            if (code == 0 && step == write_step) {
                cache->complained = false;
                cache->full_since = 0;
            }
            return code == 0;
        }
        if (code == FAULT && step == write_step)
            give_up(cache);
        if (!mend(cache, code))
            return false;
    }
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
