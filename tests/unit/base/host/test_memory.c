/* SPDX-License-Identifier: MIT */
/* The host's shared memory: who makes the file, who may use it, and another layout. */
#include "base/host/memory.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/host/hints.h"
#include "base/host/process.h"
#include "base/metrics.h"
#include "base/support.h"
#include "harness.h"

static void the_file_is_the_owners_only_and_of_fixed_size(void **state)
{
    const char *path = support_new_path(state);
    struct stat first;
    struct stat last;
    mode_t mask = umask(0);
    support_open_host(path);
    (void)umask(mask);
    assert_int_equal(lstat(path, &first), 0);
    assert_int_equal(first.st_mode & 07777, 0600);
    assert_int_equal(first.st_nlink, 1);
    /* All of it is allocated: a full disk cannot end a process that counts. */
    assert_true(first.st_blocks * 512 >= first.st_size);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    for (int i = 0; i < 300; i++) {
        char *name = arena_format(harness_arena(state), "operation%d", i);
        metrics_request(metrics_operation(name), 200, i);
        metrics_add(METRIC_CACHE_HIT, 1);
    }
    assert_int_equal(lstat(path, &last), 0);
    assert_true(last.st_size == first.st_size && last.st_blocks == first.st_blocks);
    host_process_close();
}

static void numbers_outlive_the_process(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    metrics_add(METRIC_UPLOAD_BYTES, 12345);
    host_hints_publish_change_version(7);
    host_process_close();
    support_open_host(path);
    assert_int_equal(metrics_value(METRIC_UPLOAD_BYTES), 12345);
    assert_int_equal(host_hints_change_version(), 7);
    host_process_close();
}

static void assert_replaced(const char *path, const char *what)
{
    const char *problem = NULL;
    if (!host_process_open(path, &problem))
        fail_msg("%s: %s", what, problem);
    if (metrics_value(METRIC_UPLOAD_FILES) != 0)
        fail_msg("%s: the old numbers were kept", what);
    metrics_add(METRIC_UPLOAD_FILES, 1);
    host_process_close();
}

static void another_content_is_replaced(void **state)
{
    const char *path = support_new_path(state);
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    support_open_host(path);
    metrics_add(METRIC_UPLOAD_FILES, 1);
    host_process_close();
    size_t size;
    char *good = harness_read(arena, path, &size);
    struct {
        const char *what;
        size_t length;
        size_t flipped; /* the byte that is changed; beyond the length: none */
    } rows[] = {{"empty", 0, SIZE_MAX},     {"short", size - 1, SIZE_MAX}, {"one byte", 1, SIZE_MAX},
                {"another magic", size, 0}, {"another layout", size, 8},   {"another size within", size, 16},
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
    if (host_process_open(path, &problem) || problem == NULL)
        fail_msg("%s: was opened", what);
    assert_false(host_memory_is_shared());
    metrics_add(METRIC_UPLOAD_FILES, 1);
    host_process_close();
}

static void links_and_what_is_no_file_are_refused_and_left_alone(void **state)
{
    const char *path = support_new_path(state);
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

#define CHILDREN 8
#define ADDITIONS 20000

/* Their user could cut the file while root has it mapped. */
static void root_leaves_the_file_of_another_user_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    const char *path = arena_format(arena, "%s/metrics", folder);
    const char *problem = NULL;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(folder, 65534, 65534), 0);
    assert_false(host_process_open(path, &problem));
    assert_non_null(strstr(problem, "root leaves"));
    host_process_close();
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(chown(folder, 0, 0), 0);
    assert_true(host_process_open(path, &problem));
    host_process_close();
}

static void run_child(const char *path)
{
    const char *problem;
    if (!host_process_open(path, &problem))
        _exit(1);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    unsigned operation = metrics_operation("sharedOperation");
    for (int i = 0; i < ADDITIONS; i++) {
        host_process_busy();
        metrics_add(METRIC_CACHE_HIT, 1);
        metrics_observe(METRIC_PROVIDER_CALL, i);
        metrics_request(operation, 200, i);
    }
    host_process_close();
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
    support_open_host(path);
    assert_int_equal(metrics_value(METRIC_CACHE_HIT), CHILDREN * ADDITIONS);
    assert_int_equal(metrics_value(METRIC_PROCESS_STARTS), CHILDREN);
    assert_int_equal(metrics_value(METRIC_PROCESS_DEATHS), 0);
    assert_true(
        support_metrics_have(state, "gatehouse_requests_total{operation=\"sharedOperation\",status=\"200\"} 160000"));
    assert_true(
        support_metrics_have(state, "gatehouse_request_duration_seconds_count{operation=\"sharedOperation\"} 160000"));
    assert_true(support_metrics_have(state, "gatehouse_provider_call_duration_seconds_count 160000"));
    assert_true(support_metrics_have(state, "gatehouse_provider_call_duration_seconds_sum 1599.920000"));
    host_process_close();
}

static void processes_that_start_together_share_one_file(void **state)
{
    const char *path = support_new_path(state);
    assert_all_agree(state, path);
}

static void processes_that_start_together_on_garbage_share_one_file(void **state)
{
    struct arena *arena = harness_arena(state);
    host_process_close();
    const char *path = harness_write(arena, harness_directory(arena), "metrics", "garbage", 7);
    assert_int_equal(chmod(path, 0600), 0);
    assert_all_agree(state, path);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_file_is_the_owners_only_and_of_fixed_size),
    HARNESS_TEST(numbers_outlive_the_process),
    HARNESS_TEST(another_content_is_replaced),
    HARNESS_TEST(links_and_what_is_no_file_are_refused_and_left_alone),
    HARNESS_TEST(root_leaves_the_file_of_another_user_alone),
    HARNESS_TEST(processes_that_start_together_share_one_file),
    HARNESS_TEST(processes_that_start_together_on_garbage_share_one_file),
};
HARNESS_MODULE(host_memory, cases)
