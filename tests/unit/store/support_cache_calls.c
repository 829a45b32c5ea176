/* SPDX-License-Identifier: MIT */
/* Stands between the service cache and what it calls. */
#include "store/support_cache_calls.h"

#include <errno.h>
#include <lmdb.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct cache_calls cache_calls;
static int64_t passed; /* microseconds that the tests' clock is ahead; a clock never goes back */

static bool fails(enum cache_call kind)
{
    if (kind != cache_calls.kind)
        return false;
    cache_calls.calls++;
    if (cache_calls.fail_at == 0 || cache_calls.calls < cache_calls.fail_at ||
        (cache_calls.calls > cache_calls.fail_at && !cache_calls.and_later))
        return false;
    errno = cache_calls.code;
    return true;
}

#define LMDB(name, parameters, arguments)                                                                              \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        return fails(KIND_LMDB) ? cache_calls.code : __real_##name arguments;                                          \
    }

LMDB(mdb_txn_begin, (MDB_env * env, MDB_txn *parent, unsigned flags, MDB_txn **out), (env, parent, flags, out))
LMDB(mdb_txn_renew, (MDB_txn * txn), (txn))
LMDB(mdb_dbi_open, (MDB_txn * txn, const char *name, unsigned flags, MDB_dbi *out), (txn, name, flags, out))
LMDB(mdb_get, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *value), (txn, dbi, key, value))
LMDB(mdb_put, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *value, unsigned flags), (txn, dbi, key, value, flags))
LMDB(mdb_del, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *value), (txn, dbi, key, value))
LMDB(mdb_drop, (MDB_txn * txn, MDB_dbi dbi, int all), (txn, dbi, all))
LMDB(mdb_stat, (MDB_txn * txn, MDB_dbi dbi, MDB_stat *out), (txn, dbi, out))
LMDB(mdb_cursor_open, (MDB_txn * txn, MDB_dbi dbi, MDB_cursor **out), (txn, dbi, out))
LMDB(mdb_cursor_get, (MDB_cursor * cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op), (cursor, key, value, op))
LMDB(mdb_cursor_del, (MDB_cursor * cursor, unsigned flags), (cursor, flags))
LMDB(mdb_env_create, (MDB_env * *out), (out))

int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_txn_commit(MDB_txn *txn);
int __real_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode);
int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode);
int __real_mdb_env_get_fd(MDB_env *env, int *fd_out);
int __wrap_mdb_env_get_fd(MDB_env *env, int *fd_out);
int64_t __real_clock_monotonic(void);
int64_t __wrap_clock_monotonic(void);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __real_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer_out);
int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer_out);

/* A commit that fails has ended the transaction. */
int __wrap_mdb_txn_commit(MDB_txn *txn)
{
    if (!fails(KIND_LMDB))
        return __real_mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return cache_calls.code;
}

int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode)
{
    return fails(KIND_LMDB) || fails(KIND_ENV_OPEN) ? cache_calls.code : __real_mdb_env_open(env, path, flags, mode);
}

int __wrap_mdb_env_get_fd(MDB_env *env, int *fd_out)
{
    return fails(KIND_ENV_FD) ? cache_calls.code : __real_mdb_env_get_fd(env, fd_out);
}

int64_t __wrap_clock_monotonic(void)
{
    return __real_clock_monotonic() + passed;
}

int __wrap_flock(int fd, int operation)
{
    return fails(KIND_LOCK) ? -1 : __real_flock(fd, operation);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
    return fails(KIND_ALLOCATE) ? -1 : __real_fallocate(fd, mode, offset, length);
}

int __wrap_unlink(const char *path)
{
    return fails(KIND_UNLINK) ? -1 : __real_unlink(path);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return fails(KIND_MODE) ? -1 : __real_fchmod(fd, mode);
}

int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer_out)
{
    return fails(KIND_TIMER) ? -1 : __real_timer_create(clock, event, timer_out);
}

void cache_calls_fail(enum cache_call kind, size_t call, bool and_later, int code)
{
    cache_calls = (struct cache_calls){.kind = kind, .fail_at = call, .and_later = and_later, .code = code};
}

void cache_calls_clear(void)
{
    cache_calls = (struct cache_calls){.calls = 0};
    cache_calls_wait();
}

void cache_calls_wait(void)
{
    passed += 20000000;
}
