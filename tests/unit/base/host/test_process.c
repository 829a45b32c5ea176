/* SPDX-License-Identifier: MIT */
/* Slots of processes: taken, given back, and buried when a process has died. */
#include "base/host/process.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host/census.h"
#include "base/host/hints.h"
#include "base/metrics.h"
#include "base/support.h"
#include "harness.h"

#define SECOND INT64_C(1000000)

static unsigned living_workers(void)
{
    struct host_census census;
    host_census_take(&census);
    return census.workers;
}

/* A child that counts until it is killed; it is busy when this returns. */
static pid_t start_victim(const char *path)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *problem;
        if (!host_process_open(path, &problem))
            _exit(1);
        host_process_join(HOST_PROCESS_WORKER, "victim");
        unsigned operation = metrics_operation("victimOperation");
        host_process_busy();
        (void)!write(ready[1], "x", 1);
        for (;;) {
            metrics_request(operation, 500, 1);
            metrics_add(METRIC_CACHE_MISS, 1);
            host_process_busy();
        }
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void a_killed_process_leaves_valid_numbers_and_is_not_counted_as_alive(void **state)
{
    const char *path = support_new_path(state);
    uint64_t last = 0;
    support_open_host(path);
    host_process_join(HOST_PROCESS_JOBS, NULL);
    for (int round = 1; round <= 20; round++) {
        pid_t victim = start_victim(path);
        struct host_census census;
        host_census_take(&census);
        assert_int_equal(census.workers, 1);
        assert_int_equal(census.job_runners, 1);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(waitpid(victim, NULL, 0), victim);
        host_census_take(&census);
        assert_int_equal(census.workers, 0);
        assert_int_equal(census.busy, 0);
        assert_int_equal(metrics_value(METRIC_PROCESS_DEATHS), round);
        assert_true(metrics_value(METRIC_CACHE_MISS) >= last);
        last = metrics_value(METRIC_CACHE_MISS);
    }
    host_process_close();
    support_open_host(path);
    assert_true(metrics_value(METRIC_CACHE_MISS) == last);
    host_process_close();
}

static void a_worker_knows_how_many_its_pool_has(void **state)
{
    const char *path = support_new_path(state);
    host_process_join(HOST_PROCESS_WORKER, "victim");
    assert_int_equal(host_process_pool_workers(), 0);
    host_process_close();
    support_open_host(path);
    assert_int_equal(host_process_pool_workers(), 0);
    pid_t victim = start_victim(path);
    host_process_join(HOST_PROCESS_WORKER, "victim");
    assert_true(host_process_in_pool("victim"));
    assert_false(host_process_in_pool("worker"));
    assert_int_equal(host_process_pool_workers(), 2);
    assert_int_equal(kill(victim, SIGKILL), 0);
    assert_int_equal(waitpid(victim, NULL, 0), victim);
    assert_int_equal(host_process_pool_workers(), 1);
    host_process_close();
    assert_false(host_process_in_pool("victim"));
    support_open_host(path);
    host_process_join(HOST_PROCESS_JOBS, NULL);
    assert_int_equal(host_process_pool_workers(), 0);
    host_process_close();
}

static void the_slot_of_the_dead_is_taken_by_the_next(void **state)
{
    const char *path = support_new_path(state);
    for (int round = 0; round < 2; round++) {
        pid_t victim = start_victim(path);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(waitpid(victim, NULL, 0), victim);
    }
    support_open_host(path);
    host_process_join(HOST_PROCESS_WORKER, "Not a good name");
    assert_int_equal(metrics_value(METRIC_PROCESS_DEATHS), 2);
    assert_int_equal(living_workers(), 1);
    host_process_busy();
    assert_true(support_metrics_have(state, "gatehouse_workers{pool=\"worker\",state=\"busy\"} 1"));
    assert_true(support_metrics_have(state, "gatehouse_workers{pool=\"worker\",state=\"idle\"} 0"));
    host_process_close();
}

static ino_t inode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_ino;
}

static void a_process_follows_a_file_that_was_replaced(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    unsigned operation = metrics_operation("followedOperation");
    host_hints_publish_change_version(41);
    host_process_follow(100 * SECOND);
    assert_int_equal(unlink(path), 0);
    host_process_follow(105 * SECOND); /* too early to look */
    assert_int_equal(access(path, F_OK), -1);
    host_process_follow(111 * SECOND);
    ino_t inode = inode_of(path);
    host_process_follow(122 * SECOND);
    assert_true(inode_of(path) == inode);
    assert_int_equal(host_hints_change_version(), 41);
    metrics_request(operation, 404, 1);
    assert_true(
        support_metrics_have(state, "gatehouse_requests_total{operation=\"followedOperation\",status=\"404\"} 1"));
    assert_int_equal(living_workers(), 1);
    host_process_close();
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_killed_process_leaves_valid_numbers_and_is_not_counted_as_alive),
    HARNESS_TEST(a_worker_knows_how_many_its_pool_has),
    HARNESS_TEST(the_slot_of_the_dead_is_taken_by_the_next),
    HARNESS_TEST(a_process_follows_a_file_that_was_replaced),
};
HARNESS_MODULE(host_process, cases)
