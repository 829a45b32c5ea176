/* SPDX-License-Identifier: MIT */
#include "base/metrics.h"

#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"

#define SECOND INT64_C(1000000)

static const char *new_path(void **state)
{
    metrics_close();
    struct arena *arena = harness_arena(state);
    return arena_format(arena, "%s/metrics", harness_directory(arena));
}

static void open_good(const char *path)
{
    const char *problem = NULL;
    if (!metrics_open(path, &problem))
        fail_msg("%s: %s", path, problem);
    assert_true(metrics_are_shared());
}

static ino_t inode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_ino;
}

static const char *written(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, harness_arena(state));
    metrics_write(&buffer);
    return buffer.bytes;
}

/* Whether `line` is one of the lines that are written. */
static bool tells(void **state, const char *line)
{
    const char *text = written(state);
    size_t length = strlen(line);
    for (const char *at = strstr(text, line); at != NULL; at = strstr(at + 1, line))
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
    return false;
}

static void without_a_file_a_process_counts_for_itself(void **state)
{
    (void)state;
    metrics_close();
    uint64_t before = metrics_value(METRIC_UPLOAD_FILES);
    metrics_join(METRICS_WORKER, "worker");
    metrics_busy();
    metrics_add(METRIC_UPLOAD_FILES, 2);
    metrics_request(metrics_operation("someOperation"), 200, 3);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), before + 2);
    assert_false(metrics_are_shared());
    assert_true(tells(state, "gatehouse_metrics_shared 0"));
    metrics_close();
}

static void the_file_is_the_owners_only_and_of_fixed_size(void **state)
{
    const char *path = new_path(state);
    struct stat first;
    struct stat last;
    mode_t mask = umask(0);
    open_good(path);
    (void)umask(mask);
    assert_int_equal(lstat(path, &first), 0);
    assert_int_equal(first.st_mode & 07777, 0600);
    assert_int_equal(first.st_nlink, 1);
    /* All of it is allocated: a full disk cannot end a process that counts. */
    assert_true(first.st_blocks * 512 >= first.st_size);
    metrics_join(METRICS_WORKER, "worker");
    for (int i = 0; i < 300; i++) {
        char *name = arena_format(harness_arena(state), "operation%d", i);
        metrics_request(metrics_operation(name), 200, i);
        metrics_add(METRIC_CACHE_HIT, 1);
    }
    assert_int_equal(lstat(path, &last), 0);
    assert_true(last.st_size == first.st_size && last.st_blocks == first.st_blocks);
    metrics_close();
}

static void numbers_outlive_the_process(void **state)
{
    const char *path = new_path(state);
    open_good(path);
    metrics_add(METRIC_UPLOAD_BYTES, 12345);
    metrics_publish_change_version(7);
    metrics_close();
    open_good(path);
    assert_int_equal(metrics_value(METRIC_UPLOAD_BYTES), 12345);
    assert_int_equal(metrics_change_version(), 7);
    metrics_close();
}

/* ---- files that are not ours ---------------------------------------------------------------------- */

static void assert_replaced(const char *path, const char *what)
{
    const char *problem = NULL;
    if (!metrics_open(path, &problem))
        fail_msg("%s: %s", what, problem);
    if (metrics_value(METRIC_UPLOAD_FILES) != 0)
        fail_msg("%s: the old numbers were kept", what);
    metrics_add(METRIC_UPLOAD_FILES, 1);
    metrics_close();
}

static void another_content_is_replaced(void **state)
{
    const char *path = new_path(state);
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    open_good(path);
    metrics_add(METRIC_UPLOAD_FILES, 1);
    metrics_close();
    size_t size;
    char *good = harness_read(arena, path, &size);
    struct {
        const char *what;
        size_t length;
        size_t flipped; /* the byte that is changed; beyond the length: none */
    } rows[] = {{"empty", 0, SIZE_MAX},        {"short", size - 1, SIZE_MAX}, {"one byte", 1, SIZE_MAX},
                {"another magic", size, 0},    {"another layout", size, 8},   {"another size within", size, 16},
                {"a page", 4096, SIZE_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *bytes = arena_copy(arena, good, size);
        if (rows[i].flipped < size)
            bytes[rows[i].flipped] = (char)(bytes[rows[i].flipped] ^ 1);
        const char *file = harness_write(arena, directory, "metrics", bytes, rows[i].length);
        assert_int_equal(chmod(file, 0600), 0);
        assert_replaced(file, rows[i].what);
    }
    /* Others could write into it. */
    const char *file = harness_write(arena, directory, "metrics", good, size);
    assert_int_equal(chmod(file, 0660), 0);
    assert_replaced(file, "a wide mode");
}

static void assert_refused(const char *path, const char *what)
{
    const char *problem = NULL;
    if (metrics_open(path, &problem) || problem == NULL)
        fail_msg("%s: was opened", what);
    assert_false(metrics_are_shared());
    metrics_add(METRIC_UPLOAD_FILES, 1);
    metrics_close();
}

static void links_and_what_is_no_file_are_refused_and_left_alone(void **state)
{
    const char *path = new_path(state);
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *link_path = arena_format(arena, "%s/link", directory);
    const char *hard_path = arena_format(arena, "%s/hard", directory);
    const char *pipe_path = arena_format(arena, "%s/pipe", directory);
    const char *victim = harness_write(arena, directory, "victim", "precious", 8);
    assert_int_equal(symlink(victim, link_path), 0);
    assert_int_equal(link(victim, hard_path), 0);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_refused(link_path, "a symbolic link");
    assert_refused(hard_path, "a file with two names");
    assert_refused(pipe_path, "a pipe");
    assert_refused(directory, "a directory");
    assert_refused("/nowhere/metrics", "a missing directory");
    assert_refused("/proc/metrics", "a directory that takes no files");
    assert_string_equal(harness_read(arena, victim, NULL), "precious");
    assert_int_equal(access(path, F_OK), -1);
}

/* ---- several processes ---------------------------------------------------------------------------- */

#define CHILDREN 8
#define ADDITIONS 20000

static void run_child(const char *path)
{
    const char *problem;
    if (!metrics_open(path, &problem))
        _exit(1);
    metrics_join(METRICS_WORKER, "worker");
    unsigned operation = metrics_operation("sharedOperation");
    for (int i = 0; i < ADDITIONS; i++) {
        metrics_busy();
        metrics_add(METRIC_CACHE_HIT, 1);
        metrics_observe(METRIC_PROVIDER_CALL, i);
        metrics_request(operation, 200, i);
    }
    metrics_close();
    _exit(0);
}

static void assert_all_agree(void **state, const char *path)
{
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            run_child(path);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    open_good(path);
    assert_int_equal(metrics_value(METRIC_CACHE_HIT), CHILDREN * ADDITIONS);
    assert_int_equal(metrics_value(METRIC_PROCESS_STARTS), CHILDREN);
    assert_int_equal(metrics_value(METRIC_PROCESS_DEATHS), 0);
    assert_true(tells(state, "gatehouse_requests_total{operation=\"sharedOperation\",status=\"200\"} 160000"));
    assert_true(tells(state, "gatehouse_request_duration_seconds_count{operation=\"sharedOperation\"} 160000"));
    assert_true(tells(state, "gatehouse_provider_call_duration_seconds_count 160000"));
    assert_true(tells(state, "gatehouse_provider_call_duration_seconds_sum 1599.920000"));
    metrics_close();
}

static void processes_that_start_together_share_one_file(void **state)
{
    const char *path = new_path(state);
    assert_all_agree(state, path);
}

static void processes_that_start_together_on_garbage_share_one_file(void **state)
{
    struct arena *arena = harness_arena(state);
    metrics_close();
    const char *path = harness_write(arena, harness_directory(arena), "metrics", "garbage", 7);
    assert_int_equal(chmod(path, 0600), 0);
    assert_all_agree(state, path);
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
        if (!metrics_open(path, &problem))
            _exit(1);
        metrics_join(METRICS_WORKER, "victim");
        unsigned operation = metrics_operation("victimOperation");
        metrics_busy();
        (void)!write(ready[1], "x", 1);
        for (;;) {
            metrics_request(operation, 500, 1);
            metrics_add(METRIC_CACHE_MISS, 1);
            metrics_busy();
        }
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void a_killed_process_leaves_valid_numbers_and_is_not_counted_as_alive(void **state)
{
    const char *path = new_path(state);
    uint64_t last = 0;
    open_good(path);
    metrics_join(METRICS_JOBS, NULL);
    for (int round = 1; round <= 20; round++) {
        pid_t victim = start_victim(path);
        struct metrics_occupancy occupancy = metrics_occupancy();
        assert_int_equal(occupancy.workers, 1);
        assert_int_equal(occupancy.job_runners, 1);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(waitpid(victim, NULL, 0), victim);
        occupancy = metrics_occupancy();
        assert_int_equal(occupancy.workers, 0);
        assert_int_equal(occupancy.busy, 0);
        assert_int_equal(metrics_value(METRIC_PROCESS_DEATHS), round);
        assert_true(metrics_value(METRIC_CACHE_MISS) >= last);
        last = metrics_value(METRIC_CACHE_MISS);
    }
    metrics_close();
    open_good(path);
    assert_true(metrics_value(METRIC_CACHE_MISS) == last);
    metrics_close();
}

static void a_worker_knows_how_many_its_pool_has(void **state)
{
    const char *path = new_path(state);
    metrics_join(METRICS_WORKER, "victim");
    assert_int_equal(metrics_pool_workers(), 0);
    metrics_close();
    open_good(path);
    assert_int_equal(metrics_pool_workers(), 0);
    pid_t victim = start_victim(path);
    metrics_join(METRICS_WORKER, "victim");
    assert_true(metrics_in_pool("victim"));
    assert_false(metrics_in_pool("worker"));
    assert_int_equal(metrics_pool_workers(), 2);
    assert_int_equal(kill(victim, SIGKILL), 0);
    assert_int_equal(waitpid(victim, NULL, 0), victim);
    assert_int_equal(metrics_pool_workers(), 1);
    metrics_close();
    assert_false(metrics_in_pool("victim"));
    open_good(path);
    metrics_join(METRICS_JOBS, NULL);
    assert_int_equal(metrics_pool_workers(), 0);
    metrics_close();
}

static void the_slot_of_the_dead_is_taken_by_the_next(void **state)
{
    const char *path = new_path(state);
    for (int round = 0; round < 2; round++) {
        pid_t victim = start_victim(path);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(waitpid(victim, NULL, 0), victim);
    }
    open_good(path);
    metrics_join(METRICS_WORKER, "Not a good name");
    assert_int_equal(metrics_value(METRIC_PROCESS_DEATHS), 2);
    assert_int_equal(metrics_occupancy().workers, 1);
    metrics_busy();
    assert_true(tells(state, "gatehouse_workers{pool=\"worker\",state=\"busy\"} 1"));
    assert_true(tells(state, "gatehouse_workers{pool=\"worker\",state=\"idle\"} 0"));
    metrics_close();
}

static void a_process_follows_a_file_that_was_replaced(void **state)
{
    const char *path = new_path(state);
    open_good(path);
    metrics_join(METRICS_WORKER, "worker");
    unsigned operation = metrics_operation("followedOperation");
    metrics_publish_change_version(41);
    metrics_follow(100 * SECOND);
    assert_int_equal(unlink(path), 0);
    metrics_follow(105 * SECOND); /* too early to look */
    assert_int_equal(access(path, F_OK), -1);
    metrics_follow(111 * SECOND);
    ino_t inode = inode_of(path);
    metrics_follow(122 * SECOND);
    assert_true(inode_of(path) == inode);
    assert_int_equal(metrics_change_version(), 41);
    metrics_request(operation, 404, 1);
    assert_true(tells(state, "gatehouse_requests_total{operation=\"followedOperation\",status=\"404\"} 1"));
    assert_int_equal(metrics_occupancy().workers, 1);
    metrics_close();
}

/* ---- what is told --------------------------------------------------------------------------------- */

static void the_newest_version_never_goes_back(void **state)
{
    const char *path = new_path(state);
    open_good(path);
    assert_int_equal(metrics_change_version(), 0);
    static const uint64_t versions[] = {3, 2, 10, 9, 0, UINT64_MAX, 11};
    uint64_t newest = 0;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        newest = versions[i] > newest ? versions[i] : newest;
        metrics_publish_change_version(versions[i]);
        assert_true(metrics_change_version() == newest);
    }
    metrics_close();
}

static void more_operations_than_rows_are_counted_as_other(void **state)
{
    const char *path = new_path(state);
    struct arena *arena = harness_arena(state);
    open_good(path);
    assert_int_equal(metrics_operation("aNameThatIsFarLongerThanARowOfTheFileTakes"), 0);
    for (int i = 1; i < LIMIT_METRICS_OPERATIONS; i++)
        assert_int_equal(metrics_operation(arena_format(arena, "operation%d", i)), i);
    assert_int_equal(metrics_operation("operation1"), 1);
    assert_int_equal(metrics_operation("oneTooMany"), 0);
    metrics_request(0, 200, 1);
    metrics_request(100000, 200, 1);
    metrics_request(1, 299, 1);
    assert_true(tells(state, "gatehouse_requests_total{operation=\"other\",status=\"200\"} 2"));
    assert_true(tells(state, "gatehouse_requests_total{operation=\"operation1\",status=\"other\"} 1"));
    metrics_close();
}

static void durations_fall_into_their_buckets(void **state)
{
    const char *path = new_path(state);
    open_good(path);
    static const int64_t durations[] = {-5, 0, 500, 501, 10000000, 10000001, INT64_C(90000000)};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
        metrics_observe(METRIC_DATABASE_ROUND_TRIP, durations[i]);
    static const char *const lines[] = {
        "# TYPE gatehouse_database_round_trip_duration_seconds histogram",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"0.0005\"} 3",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"0.001\"} 4",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"10\"} 5",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"+Inf\"} 7",
        "gatehouse_database_round_trip_duration_seconds_sum 110.001002",
        "gatehouse_database_round_trip_duration_seconds_count 7",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!tells(state, lines[i]))
            fail_msg("%s is not told in\n%s", lines[i], written(state));
    metrics_close();
}

static void times_of_day_are_told_as_seconds_once_they_are_known(void **state)
{
    const char *path = new_path(state);
    open_good(path);
    assert_false(tells(state, "gatehouse_outbox_seen_timestamp_seconds 0"));
    assert_true(tells(state, "# TYPE gatehouse_outbox_seen_timestamp_seconds gauge"));
    metrics_set(METRIC_OUTBOX_SEEN, 1700000000009);
    assert_true(tells(state, "gatehouse_outbox_seen_timestamp_seconds 1700000000.009"));
    assert_true(tells(state, "gatehouse_build_info{version=\"" PACKAGE_VERSION "\"} 1"));
    metrics_close();
}

static void a_hint_of_one_process_is_seen_by_the_others(void **state)
{
    const char *path = new_path(state);
    const uint64_t value = UINT64_C(0x123456789abcdef0);
    assert_true(metrics_hinted(value)); /* nobody to ask */
    open_good(path);
    assert_false(metrics_hinted(value));
    metrics_hint(value);
    metrics_close();
    open_good(path);
    assert_true(metrics_hinted(value));
    assert_false(metrics_hinted(value ^ UINT64_C(1) << 40));
    assert_false(metrics_hinted(value ^ 1));
    metrics_hint(value ^ UINT64_C(1) << 40); /* takes its place */
    assert_false(metrics_hinted(value));
    metrics_close();
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_hint_of_one_process_is_seen_by_the_others),
    HARNESS_TEST(without_a_file_a_process_counts_for_itself),
    HARNESS_TEST(the_file_is_the_owners_only_and_of_fixed_size),
    HARNESS_TEST(numbers_outlive_the_process),
    HARNESS_TEST(another_content_is_replaced),
    HARNESS_TEST(links_and_what_is_no_file_are_refused_and_left_alone),
    HARNESS_TEST(processes_that_start_together_share_one_file),
    HARNESS_TEST(processes_that_start_together_on_garbage_share_one_file),
    HARNESS_TEST(a_killed_process_leaves_valid_numbers_and_is_not_counted_as_alive),
    HARNESS_TEST(a_worker_knows_how_many_its_pool_has),
    HARNESS_TEST(the_slot_of_the_dead_is_taken_by_the_next),
    HARNESS_TEST(a_process_follows_a_file_that_was_replaced),
    HARNESS_TEST(the_newest_version_never_goes_back),
    HARNESS_TEST(more_operations_than_rows_are_counted_as_other),
    HARNESS_TEST(durations_fall_into_their_buckets),
    HARNESS_TEST(times_of_day_are_told_as_seconds_once_they_are_known),
};
HARNESS_MODULE(metrics, cases)
