/* SPDX-License-Identifier: MIT */
/*
 * The host's shared memory where the system refuses a call, or another process comes in between: the process counts for
 * itself, and what others use stays as it is.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/host/census.h"
#include "base/host/memory.h"
#include "base/host/process.h"
#include "base/host_memory_int.h"
#include "base/metrics.h"
#include "base/support.h"

#define SECOND INT64_C(1000000)

/* ---- calls that fail -------------------------------------------------------------------------------- */

enum call { CALL_NONE, CALL_ALLOCATE, CALL_MODE, CALL_MAP, CALL_LINK, CALL_LOCK, CALL_LOOK, CALL_UNLINK, CALL_BYTE };

static struct {
    enum call call;       /* the one that fails */
    int number;           /* with this errno */
    int times;            /* so often; -1: always */
    void (*before)(void); /* what another process does just before that call; NULL: nothing */
    unsigned pauses;
} fault;

static const char *file_path; /* for `before` */

int __real_posix_fallocate(int fd, off_t offset, off_t length);
int __wrap_posix_fallocate(int fd, off_t offset, off_t length);
int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
int __real_linkat(int from_folder, const char *from, int folder, const char *to, int flags);
int __wrap_linkat(int from_folder, const char *from, int folder, const char *to, int flags);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_lstat(const char *path, struct stat *status);
int __wrap_lstat(const char *path, struct stat *status);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_fcntl(int fd, int command, void *argument);
int __wrap_fcntl(int fd, int command, void *argument);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

static bool fails(enum call call)
{
    if (fault.call != call || fault.times == 0)
        return false;
    fault.times -= fault.times > 0;
    if (fault.before != NULL)
        fault.before();
    errno = fault.number;
    return fault.number != 0;
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t length)
{
    return fails(CALL_ALLOCATE) ? fault.number : __real_posix_fallocate(fd, offset, length);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return fails(CALL_MODE) ? -1 : __real_fchmod(fd, mode);
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    return fd >= 0 && fails(CALL_MAP) ? MAP_FAILED : __real_mmap(at, length, protection, flags, fd, offset);
}

int __wrap_linkat(int from_folder, const char *from, int folder, const char *to, int flags)
{
    return fails(CALL_LINK) ? -1 : __real_linkat(from_folder, from, folder, to, flags);
}

int __wrap_flock(int fd, int operation)
{
    return fails(CALL_LOCK) ? -1 : __real_flock(fd, operation);
}

int __wrap_lstat(const char *path, struct stat *status)
{
    return fails(CALL_LOOK) ? -1 : __real_lstat(path, status);
}

int __wrap_unlink(const char *path)
{
    return fails(CALL_UNLINK) ? -1 : __real_unlink(path);
}

int __wrap_fcntl(int fd, int command, void *argument)
{
    return command == F_OFD_SETLK && fails(CALL_BYTE) ? -1 : __real_fcntl(fd, command, argument);
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    fault.pauses++;
    return fault.call == CALL_NONE ? __real_nanosleep(time, left) : 0;
}

static void set_fault(enum call call, int number, int times, void (*before)(void))
{
    memset(&fault, 0, sizeof fault);
    fault.call = call;
    fault.number = number;
    fault.times = times;
    fault.before = before;
}

static void clear_fault(void)
{
    set_fault(CALL_NONE, 0, 0, NULL);
}

/* The process counts for itself, and is told why. */
static void expect_alone(const char *path, const char *words)
{
    const char *problem = NULL;
    if (host_process_open(path, &problem))
        fail_msg("%s: was opened", words);
    clear_fault();
    if (problem == NULL || strstr(problem, words) == NULL)
        fail_msg("%s: is told as: %s", words, problem == NULL ? "nothing" : problem);
    assert_false(host_memory_is_shared());
    metrics_add(METRIC_UPLOAD_FILES, 1);
    assert_true(metrics_value(METRIC_UPLOAD_FILES) > 0);
    host_process_close();
}

/* A file with the garbage of another version. */
static const char *given_garbage(void **state)
{
    const char *path = support_new_path(state);
    (void)harness_write(harness_arena(state), arena_copy(harness_arena(state), path, strlen(path) - strlen("/metrics")),
                        "metrics", "garbage", 7);
    assert_int_equal(chmod(path, 0600), 0);
    file_path = path;
    return path;
}

static void expect_garbage(void **state, const char *path)
{
    assert_string_equal(harness_read(harness_arena(state), path, NULL), "garbage");
}

/* ---- making the file -------------------------------------------------------------------------------- */

static void a_file_that_cannot_be_made_leaves_nothing_and_is_told(void **state)
{
    static const struct {
        enum call call;
        int number;
    } rows[] = {{CALL_ALLOCATE, ENOSPC}, {CALL_MODE, EPERM}, {CALL_MAP, ENOMEM}, {CALL_LINK, EACCES}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = support_new_path(state);
        set_fault(rows[i].call, rows[i].number, -1, NULL);
        expect_alone(path, "cannot be made");
        assert_int_equal(access(path, F_OK), -1);
    }
    expect_alone("no-folder-in-this-path", "cannot be made");
}

static void make_one_first(void)
{
    clear_fault();
    const char *problem;
    assert_true(host_process_open(file_path, &problem));
    metrics_add(METRIC_UPLOAD_FILES, 41);
    host_process_close();
    fault.number = EEXIST;
}

static void the_file_of_who_was_faster_is_taken(void **state)
{
    file_path = support_new_path(state);
    set_fault(CALL_LINK, EEXIST, 1, make_one_first);
    support_open_host(file_path);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 41);
    host_process_close();
    clear_fault();
}

/* ---- files that are there --------------------------------------------------------------------------- */

/* Others use it. A process that lacks memory must not take it away from them. */
static void a_good_file_that_cannot_be_mapped_stays(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    metrics_add(METRIC_UPLOAD_FILES, 7);
    host_process_close();
    set_fault(CALL_MAP, ENOMEM, -1, NULL);
    expect_alone(path, "something else");
    support_open_host(path);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 7);
    host_process_close();
}

static void garbage_that_somebody_has_locked_stays(void **state)
{
    const char *path = given_garbage(state);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    set_fault(CALL_BYTE, 0, 0, NULL); /* pauses take no time */
    const char *problem = NULL;
    assert_false(host_process_open(path, &problem));
    assert_non_null(strstr(problem, "something else"));
    assert_true(fault.pauses > 10);
    clear_fault();
    host_process_close();
    expect_garbage(state, path);
    (void)close(fd);
    support_open_host(path);
    host_process_close();
}

static void garbage_that_cannot_be_locked_looked_at_or_removed_stays(void **state)
{
    static const struct {
        enum call call;
        int number;
    } rows[] = {{CALL_LOCK, ENOLCK}, {CALL_LOOK, EACCES}, {CALL_UNLINK, EACCES}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = given_garbage(state);
        set_fault(rows[i].call, rows[i].number, -1, NULL);
        expect_alone(path, "something else");
        expect_garbage(state, path);
    }
}

static void a_lock_that_a_signal_interrupts_is_tried_again(void **state)
{
    const char *path = given_garbage(state);
    set_fault(CALL_LOCK, EINTR, 3, NULL);
    support_open_host(path);
    assert_int_equal(fault.pauses, 3);
    clear_fault();
    host_process_close();
}

static void remove_it(void)
{
    assert_int_equal(__real_unlink(file_path), 0);
    fault.number = ENOENT;
}

static void replace_it(void)
{
    assert_int_equal(__real_unlink(file_path), 0);
    make_one_first();
    fault.number = 0;
}

/* Who waited for the lock finds that another process has removed the file, or made the new one. */
static void garbage_that_another_process_has_removed_is_not_removed_again(void **state)
{
    const char *path = given_garbage(state);
    set_fault(CALL_LOOK, 0, 1, remove_it);
    support_open_host(path);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 0);
    host_process_close();
    path = given_garbage(state);
    set_fault(CALL_LOOK, 0, 1, replace_it);
    support_open_host(path);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 41);
    host_process_close();
    clear_fault();
}

static void put_garbage(void)
{
    int fd = open(file_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "garbage", 7), 7);
    (void)close(fd);
    fault.number = EEXIST;
}

static void a_file_that_is_replaced_again_and_again_is_given_up(void **state)
{
    file_path = support_new_path(state);
    set_fault(CALL_LINK, EEXIST, -1, put_garbage);
    expect_alone(file_path, "again and again");
}

/* ---- processes without a slot, and what stands in slots --------------------------------------------- */

static void a_process_without_a_slot_counts_all_the_same(void **state)
{
    struct host_census census;
    const char *path = support_new_path(state);
    support_open_host(path);
    set_fault(CALL_BYTE, EAGAIN, -1, NULL);
    host_process_join(HOST_PROCESS_WORKER, "login");
    clear_fault();
    assert_false(host_process_in_pool("login"));
    assert_int_equal(host_process_pool_workers(), 0);
    host_process_busy();
    host_process_idle();
    metrics_add(METRIC_UPLOAD_FILES, 3);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 3);
    assert_int_equal(metrics_value(METRIC_PROCESS_STARTS), 1);
    host_census_take(&census);
    assert_int_equal(census.workers, 0);
    host_process_close();
}

/* The new file cannot be opened: the old one is used until it can. */
static void a_replaced_file_that_cannot_be_opened_is_followed_later(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    host_process_join(HOST_PROCESS_WORKER, "login");
    metrics_add(METRIC_UPLOAD_FILES, 5);
    assert_int_equal(unlink(path), 0);
    set_fault(CALL_ALLOCATE, ENOSPC, -1, NULL);
    host_process_follow(50 * SECOND);
    clear_fault();
    assert_true(host_memory_is_shared());
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 5);
    assert_true(host_process_in_pool("login"));
    host_process_follow(70 * SECOND);
    assert_true(host_memory_is_file(path));
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), 0);
    assert_true(host_process_in_pool("login"));
    host_process_close();
}

static void put_worker(size_t index, const char *pool, bool busy)
{
    struct host_process_slot *slot = &host_memory()->processes[index];
    slot->role = HOST_PROCESS_WORKER;
    slot->started = 1000 - (int64_t)index;
    memset(slot->pool, 0, sizeof slot->pool);
    memcpy(slot->pool, pool, strlen(pool));
    atomic_store(&slot->busy, busy);
    atomic_store(&slot->pid, 1);
}

/* Any bytes may stand in the shared memory; they go into the text of the metrics. */
static void a_census_takes_any_name_and_any_number_of_pools(void **state)
{
    struct host_census census;
    struct arena *arena = harness_arena(state);
    host_process_close();
    put_worker(0, "a\"\n}Z9-.", true);
    for (size_t i = 1; i < HOST_CENSUS_POOLS + 3; i++)
        put_worker(i, arena_format(arena, "pool%zu", i), false);
    host_census_take(&census);
    assert_string_equal(census.pools[0].name, "a___Z9-_");
    assert_int_equal(census.pool_count, HOST_CENSUS_POOLS);
    assert_int_equal(census.pools[HOST_CENSUS_POOLS - 1].workers, 4);
    assert_int_equal(census.workers, HOST_CENSUS_POOLS + 3);
    assert_int_equal(census.busy, 1);
    assert_int_equal(census.oldest, 1000 - (HOST_CENSUS_POOLS + 2));
    for (size_t i = 0; i < HOST_CENSUS_POOLS + 3; i++)
        memset(&host_memory()->processes[i], 0, sizeof host_memory()->processes[i]);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_file_that_cannot_be_made_leaves_nothing_and_is_told),
    HARNESS_TEST(the_file_of_who_was_faster_is_taken),
    HARNESS_TEST(a_good_file_that_cannot_be_mapped_stays),
    HARNESS_TEST(garbage_that_somebody_has_locked_stays),
    HARNESS_TEST(garbage_that_cannot_be_locked_looked_at_or_removed_stays),
    HARNESS_TEST(a_lock_that_a_signal_interrupts_is_tried_again),
    HARNESS_TEST(garbage_that_another_process_has_removed_is_not_removed_again),
    HARNESS_TEST(a_file_that_is_replaced_again_and_again_is_given_up),
    HARNESS_TEST(a_process_without_a_slot_counts_all_the_same),
    HARNESS_TEST(a_replaced_file_that_cannot_be_opened_is_followed_later),
    HARNESS_TEST(a_census_takes_any_name_and_any_number_of_pools),
};
HARNESS_MODULE(host_memory_faults, cases)
