/* SPDX-License-Identifier: MIT */
/* The sandbox, from inside: what the service does still works, an old kernel is told, a replaced folder is noticed. */
#include "base/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sandbox/support_walls.h"
#include "harness.h"

/* ---- what the service does ----------------------------------------------------------------------- */

/* A file without a name gets one, where the file system has such files. */
static bool names_a_file(int folder)
{
    char from[64];
    int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    return fd < 0 || linkat(AT_FDCWD, from, folder, "a/unnamed", AT_SYMLINK_FOLLOW) == 0;
}

static bool maps_and_locks(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(fd, F_SETLK, &lock) == 0 && mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

/* Files are made, moved between folders, cut and removed, as the store of files does it. */
static int handles_files(void)
{
    int folder = open(stand.inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mkdirat(folder, "a", 0700) != 0 || mkdirat(folder, "b", 0700) != 0 || !names_a_file(folder))
        return -1;
    int fd = openat(folder, "a/file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "bytes", 5) != 5 || ftruncate(fd, 2) != 0 || fsync(fd) != 0 || !maps_and_locks(fd))
        return -1;
    bool moved = linkat(folder, "a/file", folder, "b/linked", 0) == 0 &&
                 renameat(folder, "a/file", folder, "b/file") == 0 && fsync(folder) == 0;
    return moved && unlinkat(folder, "b/file", 0) == 0 && unlinkat(folder, "b/linked", 0) == 0 ? 0 : -1;
}

PROBE(connects_to_its_port, walls_connect(stand.port_inside))
PROBE(reads_what_it_may, walls_open("/etc/hosts", O_RDONLY))

/* As libcurl, the client of the database and resolvers make them. */
static int opens_sockets(void)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (walls_socket(families[i], SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP) != 0 ||
            walls_socket(families[i], SOCK_STREAM, 0) != 0 ||
            walls_socket(families[i], SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP) != 0 ||
            walls_socket(families[i], SOCK_DGRAM, 0) != 0)
            return -1;
    return walls_socket(AF_UNIX, SOCK_STREAM, 0) == 0 ? walls_socket(AF_UNIX, SOCK_DGRAM, 0) : -1;
}

static int sends_bytes(void)
{
    int ends[2];
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && send(ends[0], &byte, 1, MSG_NOSIGNAL) == 1 &&
                   sendmsg(ends[0], &message.msg_hdr, MSG_NOSIGNAL) == 1 &&
                   sendmmsg(ends[0], &message, 1, MSG_NOSIGNAL) == 1
               ? 0
               : -1;
}

static int looks_up_a_name(void)
{
    struct addrinfo *found;
    if (getaddrinfo("localhost", "80", NULL, &found) != 0)
        return -1;
    freeaddrinfo(found);
    return 0;
}

static void *thread_body(void *context)
{
    *(bool *)context = true;
    return NULL;
}

static int starts_a_thread(void)
{
    pthread_t thread;
    bool ran = false;
    errno = pthread_create(&thread, NULL, thread_body, &ran);
    return errno == 0 && pthread_join(thread, NULL) == 0 && ran ? 0 : -1;
}

static volatile sig_atomic_t noted;

/* What a child waits for may never come; its parent may signal nobody. */
static int has_a_child_that_ends_in_time(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
        const struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
        timer_t watch;
        if (timer_create(CLOCK_MONOTONIC, &event, &watch) != 0 || timer_settime(watch, 0, &soon, NULL) != 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -1;
}

static int learns_that_another_lives(void)
{
    return kill(stand.parent, 0) == 0 || errno == EPERM ? 0 : -1;
}

static void note(int number)
{
    noted = number;
}

/* As the worker that was told to end does it. */
static int signals_itself(void)
{
    const struct sigaction action = {.sa_handler = note};
    return sigaction(SIGTERM, &action, NULL) == 0 && raise(SIGTERM) == 0 && noted == SIGTERM ? 0 : -1;
}

static int locks_and_copies_descriptors(void)
{
    static const int commands[] = {F_SETLK, F_OFD_SETLK, F_OFD_GETLK};
    int fd = open(walls_path(stand.inside, "there"), O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
        if (fcntl(fd, commands[i], &lock) != 0)
            return -1;
    }
    bool set = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
    return set && fcntl(fd, F_DUPFD_CLOEXEC, 0) >= 0 ? 0 : -1;
}

static int (*const duties[])(void) = {
    handles_files,
    connects_to_its_port,
    reads_what_it_may,
    opens_sockets,
    sends_bytes,
    looks_up_a_name,
    starts_a_thread,
    has_a_child_that_ends_in_time,
    learns_that_another_lives,
    signals_itself,
    locks_and_copies_descriptors,
};

static void the_service_does_what_it_must_with_every_version(void **state)
{
    const int newest = sandbox_offered().landlock;
    for (int version = 1; version <= (newest == 0 ? 1 : newest); version++)
        for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
            walls_set_up(harness_arena(state));
            stand.landlock_most = version;
            enum end end = walls_run(duties[i], false);
            if (end != END_DONE)
                fail_msg("duty %zu with Landlock %d: end %d", i, version, (int)end);
        }
}

/* ---- versions and words -------------------------------------------------------------------------- */

static void ask_version_1(void *context)
{
    (void)context;
    stand.landlock_most = 1;
    const struct sandbox_walls walls = walls_raise();
    _exit(walls.landlock == 0 && !walls.ports && !walls.signals && walls.problem != NULL &&
                  strstr(walls.problem, "Landlock") != NULL && walls_open("/etc/passwd", O_RDONLY) == 0
              ? 0
              : 1);
}

static void ask_version_3(void *context)
{
    (void)context;
    stand.landlock_most = 3;
    const struct sandbox_walls walls = walls_raise();
    _exit(walls.landlock == 3 && !walls.ports && strstr(walls.problem, "connections") != NULL &&
                  walls_connect(stand.port_outside) == 0 && walls_open("/etc/passwd", O_RDONLY) != 0
              ? 0
              : 1);
}

static void an_old_kernel_is_told_in_words(void **state)
{
    walls_set_up(harness_arena(state));
    if (sandbox_offered().landlock < 3)
        skip();
    assert_int_equal(harness_fork(ask_version_1, NULL), 0);
    assert_int_equal(harness_fork(ask_version_3, NULL), 0);
}

/* ---- replaced folders ---------------------------------------------------------------------------- */

static void replace_the_folder(void *context)
{
    (void)context;
    char aside[4096], parent[4096];
    (void)snprintf(aside, sizeof aside, "%s-aside", stand.inside);
    (void)snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(stand.inside, '/') - stand.inside), stand.inside);
    struct sandbox_plan plan = {.path_count = 0};
    sandbox_allow_path(&plan, stand.inside, SANDBOX_WRITE, true);
    sandbox_allow_path(&plan, parent, SANDBOX_WRITE, false);
    if (sandbox_raise(&plan).landlock == 0)
        _exit(0);
    bool before = sandbox_is_outdated(2000000);
    bool moved = rename(stand.inside, aside) == 0;
    bool missing = sandbox_is_outdated(4000000);
    bool made = mkdir(stand.inside, 0700) == 0;
    bool soon = sandbox_is_outdated(4500000);
    bool later = sandbox_is_outdated(6000000);
    (void)rmdir(stand.inside);
    bool back = rename(aside, stand.inside) == 0;
    _exit(!before && moved && !missing && made && !soon && later && back ? 0 : 1);
}

static void a_replaced_folder_is_noticed(void **state)
{
    walls_set_up(harness_arena(state));
    assert_int_equal(harness_fork(replace_the_folder, NULL), 0);
    /* Without walls nothing can be outdated. */
    sandbox_outdate();
    assert_false(sandbox_is_outdated(1000000));
}

static void a_plan_holds_each_thing_once(void **state)
{
    (void)state;
    static struct sandbox_plan plan;
    sandbox_allow_path(&plan, NULL, SANDBOX_READ, true);
    sandbox_allow_path(&plan, "/a", SANDBOX_READ, true);
    sandbox_allow_path(&plan, "/a", SANDBOX_READ, true);
    sandbox_allow_path(&plan, "/a", SANDBOX_WRITE, true);
    assert_int_equal(plan.path_count, 2);
    /* Who wants it watched gets that, also where somebody else did not. */
    sandbox_allow_path(&plan, "/b", SANDBOX_READ, false);
    assert_false(plan.paths[2].watched);
    sandbox_allow_path(&plan, "/b", SANDBOX_READ, true);
    sandbox_allow_path(&plan, "/b", SANDBOX_READ, false);
    assert_int_equal(plan.path_count, 3);
    assert_true(plan.paths[2].watched);
    sandbox_allow_port(&plan, 0);
    sandbox_allow_port(&plan, -1);
    sandbox_allow_port(&plan, 65536);
    sandbox_allow_port(&plan, 53);
    sandbox_allow_port(&plan, 53);
    assert_int_equal(plan.port_count, 1);
    for (int i = 0; i < SANDBOX_PORTS_MAX + 5; i++)
        sandbox_allow_port(&plan, 1000 + i);
    assert_int_equal(plan.port_count, SANDBOX_PORTS_MAX);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_service_does_what_it_must_with_every_version),
    HARNESS_TEST(an_old_kernel_is_told_in_words),
    HARNESS_TEST(a_replaced_folder_is_noticed),
    HARNESS_TEST(a_plan_holds_each_thing_once),
};
HARNESS_MODULE(sandbox_duties, cases)
