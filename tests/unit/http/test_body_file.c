/* SPDX-License-Identifier: MIT */
/* Spooled bodies: only the web server's own plain files below the one folder, whatever the path says. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "http/body_file.h"

static const char *make(struct arena *arena, const char *directory, const char *name, const char *content)
{
    const char *path = arena_format(arena, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    assert_int_equal(close(fd), 0);
    return path;
}

static void assert_refused(const struct body_file_rules *rules, const char *path, int64_t size)
{
    const char *problem;
    int fd = body_file_open(rules, path, size, &problem);
    if (fd >= 0)
        fail_msg("%s was opened", path);
    assert_non_null(problem);
}

static void a_plain_file_below_the_folder_is_opened(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = make(arena, directory, "0000000001", "hello");
    assert_int_equal(mkdir(arena_format(arena, "%s/1", directory), 0700), 0);
    const char *deeper = make(arena, directory, "1/0000000002", "hello");
    static const char *const ends[] = {"", "/", "//"};
    for (size_t i = 0; i < 3; i++) {
        const struct body_file_rules rules = {.directory = arena_format(arena, "%s%s", directory, ends[i])};
        const char *const paths[] = {path, deeper, arena_format(arena, "%s//0000000001", directory)};
        for (size_t k = 0; k < 3; k++) {
            const char *problem;
            char bytes[8];
            int fd = body_file_open(&rules, paths[k], 5, &problem);
            assert_true(fd >= 0);
            assert_null(problem);
            assert_int_equal(read(fd, bytes, sizeof bytes), 5);
            assert_int_equal(close(fd), 0);
        }
    }
}

/*
 * What RestrictSUIDSGID= of systemd does to the calls of our services, as far as it concerns files that are only read.
 */
static bool restrict_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void the_sandbox_of_the_service_lets_a_file_be_opened(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = make(arena, directory, "0000000001", "hello");
    const struct body_file_rules rules = {.directory = directory};
    const char *problem;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(!restrict_calls() ? 2 : body_file_open(&rules, path, 5, &problem) < 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Gives up what root may do beyond the modes of files. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &head, none) == 0;
}

/* 0 when a process with no more rights than the modes give may open the body, 1 when not. */
static int open_by_mode(const struct body_file_rules *rules, const char *path)
{
    const char *problem;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(!drop_capabilities() ? 2 : body_file_open(rules, path, 5, &problem) < 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void folders_need_to_be_searched_and_not_listed(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *inner = arena_format(arena, "%s/1", directory);
    const struct body_file_rules rules = {.directory = directory};
    assert_int_equal(mkdir(inner, 0700), 0);
    const char *path = make(arena, directory, "1/0000000001", "hello");
    assert_int_equal(chmod(inner, 0300), 0);
    assert_int_equal(chmod(directory, 0300), 0);
    assert_int_equal(open_by_mode(&rules, path), 0);
    assert_int_equal(chmod(inner, 0600), 0);
    assert_int_equal(open_by_mode(&rules, path), 1);
    assert_int_equal(chmod(inner, 0300), 0);
    assert_int_equal(chmod(directory, 0600), 0);
    assert_int_equal(open_by_mode(&rules, path), 1);
    assert_int_equal(chmod(directory, 0700), 0);
    assert_int_equal(chmod(inner, 0700), 0);
}

static void what_lies_elsewhere_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *outside = make(arena, harness_directory(arena), "secret", "hello");
    (void)make(arena, directory, "body", "hello");
    const struct body_file_rules rules = {.directory = directory};
    const char *const paths[] = {
        outside,
        "/etc/passwd",
        "body",
        "",
        "/",
        directory,
        arena_format(arena, "%s/", directory),
        arena_format(arena, "%s/..", directory),
        arena_format(arena, "%sx/body", directory),
        arena_format(arena, "%s/../%s", directory, outside + 1),
        arena_format(arena, "%s/./../%s/body", directory, strrchr(directory, '/') + 1),
        arena_format(arena, "%s/nothing", directory),
        arena_format(arena, "%s/nothing/body", directory),
        arena_format(arena, "%s/body/body", directory),
        arena_format(arena, "%s/%0*d", directory, 300, 1),
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_refused(&rules, paths[i], 5);
    const struct body_file_rules none = {.directory = NULL};
    assert_refused(&none, arena_format(arena, "%s/body", directory), 5);
    const struct body_file_rules missing = {.directory = "/nonexistent"};
    assert_refused(&missing, "/nonexistent/body", 5);
}

static void links_pipes_folders_and_second_names_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const struct body_file_rules rules = {.directory = directory};
    const char *path = make(arena, directory, "body", "hello");
    const char *soft = arena_format(arena, "%s/soft", directory);
    const char *way = arena_format(arena, "%s/way", directory);
    const char *pipe_path = arena_format(arena, "%s/pipe", directory);
    const char *folder = arena_format(arena, "%s/folder", directory);
    assert_int_equal(symlink(path, soft), 0);
    assert_int_equal(symlink(directory, way), 0);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_refused(&rules, soft, 5);
    assert_refused(&rules, arena_format(arena, "%s/way/body", directory), 5);
    assert_refused(&rules, pipe_path, 0);
    assert_refused(&rules, folder, 4096);
    assert_int_equal(link(path, arena_format(arena, "%s/second", directory)), 0);
    assert_refused(&rules, path, 5);
}

static void size_owner_and_rights_have_to_be_right(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = make(arena, directory, "body", "hello");
    struct body_file_rules rules = {.directory = directory};
    assert_refused(&rules, path, 4);
    assert_refused(&rules, path, 6);
    assert_refused(&rules, path, -1);
    assert_int_equal(chmod(path, 0620), 0);
    assert_refused(&rules, path, 5);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(chmod(directory, 0707), 0);
    assert_refused(&rules, path, 5);
    assert_int_equal(chmod(directory, 0700), 0);
    if (geteuid() == 0) {
        static const uid_t owner = 4711;
        const char *problem;
        assert_int_equal(chown(path, owner, (gid_t)-1), 0);
        assert_refused(&rules, path, 5);
        rules.owners = &owner;
        rules.owner_count = 1;
        int fd = body_file_open(&rules, path, 5, &problem);
        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
    }
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(a_plain_file_below_the_folder_is_opened),
    HARNESS_TEST(the_sandbox_of_the_service_lets_a_file_be_opened),
    HARNESS_TEST(folders_need_to_be_searched_and_not_listed),
    HARNESS_TEST(what_lies_elsewhere_is_refused),
    HARNESS_TEST(links_pipes_folders_and_second_names_are_refused),
    HARNESS_TEST(size_owner_and_rights_have_to_be_right),
};
HARNESS_MODULE(body_file, tests)
