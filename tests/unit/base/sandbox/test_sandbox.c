/* SPDX-License-Identifier: MIT */
/* The sandbox, from inside: what a captured process tries is denied, what the service does still works. */
#include "base/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sandbox/sandbox_int.h"
#include "harness.h"

/* How a child of a test ends. */
enum end { END_DENIED, END_DONE, END_OTHER, END_KILLED };

/* The folders inside and outside, a port of each kind, and the process that raised no walls. */
static struct stand {
    const char *inside;
    const char *outside;
    uint16_t port_inside;
    uint16_t port_outside;
    pid_t parent;
    int landlock_most;
} stand;

static uint16_t listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.sin_port);
}

static void set_up(struct arena *arena)
{
    stand = (struct stand){.inside = harness_directory(arena), .outside = harness_directory(arena)};
    stand.port_inside = listen_somewhere();
    stand.port_outside = listen_somewhere();
    stand.parent = getpid();
    (void)harness_write(arena, stand.inside, "there", "x", 1);
    (void)harness_write(arena, stand.outside, "there", "x", 1);
}

static struct sandbox_walls raise_walls(void)
{
    struct sandbox_plan plan = {.landlock_most = stand.landlock_most};
    sandbox_allow_path(&plan, stand.inside, SANDBOX_WRITE, true);
    sandbox_allow_path(&plan, "/usr/lib", SANDBOX_READ, false);
    sandbox_allow_path(&plan, "/etc/hosts", SANDBOX_READ, false);
    sandbox_allow_port(&plan, stand.port_inside);
    return sandbox_raise(&plan);
}

/* Those of the process that examines files. */
static void raise_all_walls(void)
{
    static const struct sandbox_plan plan = {.calls = SANDBOX_CALLS_KEEPER};
    const char *problem;
    (void)sandbox_raise(&plan);
    sandbox_bound(64 << 20, 60);
    (void)sandbox_narrow(SANDBOX_CALLS_SNIFFER, &problem);
}

/* What a child answers where the walls stand: 0 is success of what was tried, else errno. */
static enum end run(int (*attempt)(void), bool all_walls)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (all_walls)
            raise_all_walls();
        else
            (void)raise_walls();
        errno = 0;
        int number = attempt() == 0 ? 0 : errno;
        _exit(number == 0 ? END_DONE : number == EPERM || number == EACCES ? END_DENIED : END_OTHER);
    }
    int status;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGSYS ? END_KILLED : END_OTHER;
    return (enum end)WEXITSTATUS(status);
}

/* ---- probes: 0 when the attempt succeeded, else -1 with errno ---------------------------------------- */

static char path_bytes[4096];

static const char *in(const char *folder, const char *name)
{
    (void)snprintf(path_bytes, sizeof path_bytes, "%s/%s", folder, name);
    return path_bytes;
}

static int opens(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd < 0 ? -1 : close(fd);
}

static int connects(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

static int makes_socket(int family, int type)
{
    return socket(family, type, 0) < 0 ? -1 : 0;
}

static int calls(long number)
{
    return syscall(number, 0L, 0L, 0L, 0L, 0L, 0L) < 0 ? -1 : 0;
}

#define PROBE(name, expression)                                                                                        \
    static int name(void)                                                                                              \
    {                                                                                                                  \
        return (expression);                                                                                           \
    }

static char *const no_arguments[] = {NULL};

PROBE(open_the_password_file, opens("/etc/passwd", O_RDONLY))
PROBE(open_memory_of_another, opens("/proc/1/mem", O_RDWR))
PROBE(open_a_disk, opens("/dev/sda", O_RDONLY | O_CREAT))
PROBE(list_a_folder_outside, opens("/home", O_RDONLY | O_DIRECTORY))
PROBE(read_outside, opens(in(stand.outside, "there"), O_RDONLY))
PROBE(write_outside, opens(in(stand.outside, "new"), O_WRONLY | O_CREAT))
PROBE(remove_outside, unlink(in(stand.outside, "there")))
PROBE(write_what_is_read, opens("/etc/hosts", O_WRONLY))
PROBE(climb_out, opens(in(stand.inside, "../../../../../../etc/passwd"), O_RDONLY))
PROBE(connect_elsewhere, connects(stand.port_outside))
PROBE(open_a_raw_socket, makes_socket(AF_INET, SOCK_RAW))
PROBE(open_a_packet_socket, makes_socket(AF_PACKET, SOCK_DGRAM))
PROBE(open_a_netlink_socket, makes_socket(AF_NETLINK, SOCK_DGRAM))
PROBE(listen_for_others, listen(socket(AF_INET, SOCK_STREAM, 0), 1))
PROBE(end_the_parent, kill(stand.parent, SIGTERM))
PROBE(kill_the_parent, kill(stand.parent, SIGKILL))
PROBE(map_memory_to_write_and_run,
      mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0)
PROBE(enter_a_namespace, syscall(SYS_clone, (long)(CLONE_NEWUSER | SIGCHLD), 0L, 0L, 0L, 0L) < 0 ? -1 : 0)
PROBE(run_a_program, execve("/bin/true", no_arguments, no_arguments))
PROBE(trace_a_process, ptrace(PTRACE_ATTACH, stand.parent, NULL, NULL) < 0 ? -1 : 0)
PROBE(read_memory_of_another, calls(SYS_process_vm_readv))
PROBE(write_memory_of_another, calls(SYS_process_vm_writev))
PROBE(mount_something, mount("none", stand.inside, "tmpfs", 0, NULL))
PROBE(change_the_root, chroot(stand.inside))
PROBE(leave_namespaces, unshare(CLONE_NEWNS))
PROBE(enter_namespaces, calls(SYS_setns))
PROBE(use_the_key_ring, calls(SYS_keyctl))
PROBE(use_io_uring, calls(SYS_io_uring_setup))
PROBE(load_a_filter, calls(SYS_bpf))
PROBE(load_a_module, calls(SYS_init_module))
PROBE(watch_the_processor, calls(SYS_perf_event_open))
PROBE(open_by_handle, calls(SYS_open_by_handle_at))
PROBE(become_another, setuid(12345))
PROBE(make_a_file_in_memory, calls(SYS_memfd_create))
PROBE(stop_the_machine, calls(SYS_reboot))

struct probe {
    const char *name;
    int (*attempt)(void);
    enum end end;
    int landlock; /* the version that it takes; 0: seccomp denies it */
};

#define ROW(name, end, landlock) {#name, name, end, landlock}

static const struct probe probes[] = {
    ROW(open_the_password_file, END_DENIED, 2),
    ROW(open_memory_of_another, END_DENIED, 2),
    ROW(open_a_disk, END_DENIED, 2),
    ROW(list_a_folder_outside, END_DENIED, 2),
    ROW(read_outside, END_DENIED, 2),
    ROW(write_outside, END_DENIED, 2),
    ROW(remove_outside, END_DENIED, 2),
    ROW(write_what_is_read, END_DENIED, 2),
    ROW(climb_out, END_DENIED, 2),
    ROW(connect_elsewhere, END_DENIED, 4),
    ROW(open_a_raw_socket, END_DENIED, 0),
    ROW(open_a_packet_socket, END_DENIED, 0),
    ROW(open_a_netlink_socket, END_DENIED, 0),
    ROW(listen_for_others, END_DENIED, 0),
    ROW(end_the_parent, SANDBOX_SANITIZED ? END_OTHER : END_DENIED, 0),
    ROW(kill_the_parent, END_DENIED, 6),
    ROW(map_memory_to_write_and_run, END_DENIED, 0),
    ROW(enter_a_namespace, SANDBOX_SANITIZED ? END_OTHER : END_DENIED, 0),
    ROW(run_a_program, END_KILLED, 0),
    ROW(trace_a_process, END_KILLED, 0),
    ROW(read_memory_of_another, END_KILLED, 0),
    ROW(write_memory_of_another, END_KILLED, 0),
    ROW(mount_something, END_KILLED, 0),
    ROW(change_the_root, END_KILLED, 0),
    ROW(leave_namespaces, END_KILLED, 0),
    ROW(enter_namespaces, END_KILLED, 0),
    ROW(use_the_key_ring, END_KILLED, 0),
    ROW(use_io_uring, END_KILLED, 0),
    ROW(load_a_filter, END_KILLED, 0),
    ROW(load_a_module, END_KILLED, 0),
    ROW(watch_the_processor, END_KILLED, 0),
    ROW(open_by_handle, END_KILLED, 0),
    ROW(become_another, END_KILLED, 0),
    ROW(make_a_file_in_memory, END_KILLED, 0),
    ROW(stop_the_machine, END_KILLED, 0),
};

/* In a build with sanitizers nothing is deadly, since a sanitizer may use it when the process ends. */
static bool can_be_tried(const struct probe *probe, const struct sandbox_walls *walls)
{
    if (probe->landlock > walls->landlock || (probe->landlock == 0 && !walls->calls))
        return false;
    return !SANDBOX_SANITIZED || probe->landlock > 0 || probe->end == END_DENIED;
}

static void every_probe_is_denied(void **state)
{
    set_up(harness_arena(state));
    const struct sandbox_walls walls = sandbox_offered();
    size_t tried = 0;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (!can_be_tried(&probes[i], &walls))
            continue;
        enum end end = run(probes[i].attempt, false);
        if (end != probes[i].end)
            fail_msg("%s: end %d instead of %d", probes[i].name, (int)end, (int)probes[i].end);
        tried++;
    }
    if (tried == 0)
        skip();
}

PROBE(open_a_file_that_workers_read, opens("/etc/hosts", O_RDONLY))
PROBE(open_a_file_that_workers_write, opens(in(stand.inside, "new"), O_WRONLY | O_CREAT))
PROBE(look_at_a_file, access("/etc/hosts", F_OK))
PROBE(remove_a_file, unlink(in(stand.inside, "there")))
PROBE(connect_where_workers_may, connects(stand.port_inside))
PROBE(open_a_socket, makes_socket(AF_INET, SOCK_STREAM))
PROBE(open_a_local_socket, makes_socket(AF_UNIX, SOCK_STREAM))
PROBE(copy_a_descriptor, dup(STDIN_FILENO) < 0 ? -1 : 0)
PROBE(read_a_descriptor, read(STDIN_FILENO, path_bytes, 0) < 0 ? -1 : 0)
PROBE(write_to_a_descriptor, write(STDERR_FILENO, "", 0) < 0 ? -1 : 0)
PROBE(start_a_process, syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L) < 0 ? -1 : 0)
PROBE(lift_its_bounds, calls(SYS_prlimit64))
PROBE(lift_its_walls, calls(SYS_prctl))

static int (*const more[])(void) = {
    open_a_file_that_workers_read,
    open_a_file_that_workers_write,
    look_at_a_file,
    remove_a_file,
    connect_where_workers_may,
    open_a_socket,
    open_a_local_socket,
    copy_a_descriptor,
    read_a_descriptor,
};

/* A sanitizer needs these. */
static int (*const most[])(void) = {write_to_a_descriptor, start_a_process, lift_its_bounds, lift_its_walls};

static void expect_denied(int (*attempt)(void), const char *name, size_t number)
{
    enum end end = run(attempt, true);
    if (end != END_DENIED && end != END_KILLED)
        fail_msg("%s %zu: end %d", name, number, (int)end);
}

static void the_process_that_examines_files_can_do_none_of_it(void **state)
{
    set_up(harness_arena(state));
    if (!sandbox_offered().calls)
        skip();
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        expect_denied(more[i], "more", i);
    for (size_t i = 0; i < sizeof most / sizeof *most && !SANDBOX_SANITIZED; i++)
        expect_denied(most[i], "most", i);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (!SANDBOX_SANITIZED || probes[i].end == END_DENIED)
            expect_denied(probes[i].attempt, probes[i].name, i);
}

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

PROBE(connects_to_its_port, connects(stand.port_inside))
PROBE(reads_what_it_may, opens("/etc/hosts", O_RDONLY))

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

static int ends_a_child(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            (void)pause();
    return pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 0 : -1;
}

static int (*const duties[])(void) = {handles_files,   connects_to_its_port, reads_what_it_may,
                                      looks_up_a_name, starts_a_thread,      ends_a_child};

static void the_service_does_what_it_must_with_every_version(void **state)
{
    const int newest = sandbox_offered().landlock;
    for (int version = 1; version <= (newest == 0 ? 1 : newest); version++)
        for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
            set_up(harness_arena(state));
            stand.landlock_most = version;
            enum end end = run(duties[i], false);
            if (end != END_DONE)
                fail_msg("duty %zu with Landlock %d: end %d", i, version, (int)end);
        }
}

/* ---- versions and words -------------------------------------------------------------------------- */

static void ask_version_1(void *context)
{
    (void)context;
    stand.landlock_most = 1;
    const struct sandbox_walls walls = raise_walls();
    _exit(walls.landlock == 0 && !walls.ports && !walls.signals && walls.problem != NULL &&
                  strstr(walls.problem, "Landlock") != NULL && opens("/etc/passwd", O_RDONLY) == 0
              ? 0
              : 1);
}

static void ask_version_3(void *context)
{
    (void)context;
    stand.landlock_most = 3;
    const struct sandbox_walls walls = raise_walls();
    _exit(walls.landlock == 3 && !walls.ports && strstr(walls.problem, "connections") != NULL &&
                  connects(stand.port_outside) == 0 && opens("/etc/passwd", O_RDONLY) != 0
              ? 0
              : 1);
}

static void an_old_kernel_is_told_in_words(void **state)
{
    set_up(harness_arena(state));
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
    set_up(harness_arena(state));
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
    HARNESS_TEST(every_probe_is_denied),
    HARNESS_TEST(the_process_that_examines_files_can_do_none_of_it),
    HARNESS_TEST(the_service_does_what_it_must_with_every_version),
    HARNESS_TEST(an_old_kernel_is_told_in_words),
    HARNESS_TEST(a_replaced_folder_is_noticed),
    HARNESS_TEST(a_plan_holds_each_thing_once),
};
HARNESS_MODULE(sandbox, cases)
