/* SPDX-License-Identifier: MIT */
/* The sandbox, from inside: what a captured process tries is denied. */
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
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sandbox/sandbox_int.h"
#include "base/sandbox/support_walls.h"
#include "harness.h"

/* ---- probes ---- */

/* Bytes that a process has written become code in one of these ways, or in none. */

#define PAGE 4096

static int maps(int protection, int fd)
{
    int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
    return mmap(NULL, PAGE, protection, flags, fd, 0) == MAP_FAILED ? -1 : 0;
}

static int maps_a_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -1 : maps(PROT_READ | PROT_EXEC, fd);
}

static int maps_what_it_wrote(void)
{
    int fd = open(walls_path(stand.inside, "code"), O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    return fd < 0 || ftruncate(fd, PAGE) != 0 ? -1 : maps(PROT_READ | PROT_EXEC, fd);
}

/* Written first, run later; by mprotect(), or with a key of protection. */
static int turns_into_code(long number)
{
    void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    return syscall(number, memory, (size_t)PAGE, (long)(PROT_READ | PROT_EXEC), -1L) < 0 ? -1 : 0;
}

/* Landlock looks at connect() on a socket of TCP. These reach a port in other ways. */

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

static int connects_by_mptcp(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(stand.port_outside)};
    int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
    return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address);
}

enum sender { SENDER_SENDTO, SENDER_SENDMSG, SENDER_SENDMMSG };

/* The first bytes open the connection. Where the kernel has no cookie of the peer it is opened all the same. */
static int sends_fast(enum sender sender)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(stand.port_outside)};
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {&address, sizeof address, &part, 1, NULL, 0, 0}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    switch (sender) {
    case SENDER_SENDTO:
        return sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address) == 1 ? 0 : -1;
    case SENDER_SENDMSG:
        return sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN) == 1 ? 0 : -1;
    case SENDER_SENDMMSG:
        return sendmmsg(fd, &message, 1, MSG_FASTOPEN) == 1 ? 0 : -1;
    }
    return -1;
}

static int takes_a_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

static int calls(long number)
{
    return syscall(number, 0L, 0L, 0L, 0L, 0L, 0L) < 0 ? -1 : 0;
}

static char *const no_arguments[] = {NULL};

PROBE(open_the_password_file, walls_open("/etc/passwd", O_RDONLY))
PROBE(open_memory_of_another, walls_open("/proc/1/mem", O_RDWR))
PROBE(open_its_own_memory, walls_open("/proc/self/mem", O_RDWR))
PROBE(open_a_disk, walls_open("/dev/sda", O_RDONLY | O_CREAT))
PROBE(list_a_folder_outside, walls_open("/home", O_RDONLY | O_DIRECTORY))
PROBE(read_outside, walls_open(walls_path(stand.outside, "there"), O_RDONLY))
PROBE(write_outside, walls_open(walls_path(stand.outside, "new"), O_WRONLY | O_CREAT))
PROBE(remove_outside, unlink(walls_path(stand.outside, "there")))
PROBE(write_what_is_read, walls_open("/etc/hosts", O_WRONLY))
PROBE(climb_out, walls_open(walls_path(stand.inside, "../../../../../../etc/passwd"), O_RDONLY))
PROBE(connect_elsewhere, walls_connect(stand.port_outside))
PROBE(connect_elsewhere_by_mptcp, connects_by_mptcp())
PROBE(open_a_socket_of_mptcp_6, walls_socket(AF_INET6, SOCK_STREAM, IPPROTO_MPTCP))
PROBE(open_a_socket_of_sctp, walls_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP))
PROBE(send_elsewhere_fast, sends_fast(SENDER_SENDTO))
PROBE(send_a_message_elsewhere_fast, sends_fast(SENDER_SENDMSG))
PROBE(send_messages_elsewhere_fast, sends_fast(SENDER_SENDMMSG))
PROBE(open_a_raw_socket, walls_socket(AF_INET, SOCK_RAW, IPPROTO_TCP))
PROBE(open_a_packet_socket, walls_socket(AF_PACKET, SOCK_DGRAM, 0))
PROBE(open_a_netlink_socket, walls_socket(AF_NETLINK, SOCK_DGRAM, 0))
PROBE(listen_for_others, listen(socket(AF_INET, SOCK_STREAM, 0), 1))
PROBE(take_a_port, takes_a_port())
PROBE(end_the_parent, kill(stand.parent, SIGTERM))
PROBE(kill_the_parent, kill(stand.parent, SIGKILL))
PROBE(end_the_parent_by_its_thread, syscall(SYS_tgkill, stand.parent, stand.parent, SIGTERM) < 0 ? -1 : 0)
PROBE(kill_the_parent_by_its_thread, syscall(SYS_tgkill, stand.parent, stand.parent, SIGKILL) < 0 ? -1 : 0)
PROBE(have_the_parent_signalled, fcntl(STDIN_FILENO, F_SETOWN, stand.parent))
PROBE(choose_the_signal, fcntl(STDIN_FILENO, F_SETSIG, SIGKILL))
PROBE(map_memory_to_write_and_run, maps(PROT_WRITE | PROT_EXEC, -1))
PROBE(map_memory_to_read_and_run, maps(PROT_READ | PROT_EXEC, -1))
PROBE(map_memory_to_run_alone, maps(PROT_EXEC, -1))
PROBE(map_a_file_to_run, maps_a_file("/usr/lib/os-release"))
PROBE(map_a_file_that_it_wrote_to_run, maps_what_it_wrote())
PROBE(turn_memory_into_code, turns_into_code(SYS_mprotect))
PROBE(turn_memory_into_code_with_a_key, turns_into_code(SYS_pkey_mprotect))
PROBE(share_memory_that_can_be_run, shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700) < 0 ? -1 : 0)
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
    ROW(open_its_own_memory, END_DENIED, 2),
    ROW(open_a_disk, END_DENIED, 2),
    ROW(list_a_folder_outside, END_DENIED, 2),
    ROW(read_outside, END_DENIED, 2),
    ROW(write_outside, END_DENIED, 2),
    ROW(remove_outside, END_DENIED, 2),
    ROW(write_what_is_read, END_DENIED, 2),
    ROW(climb_out, END_DENIED, 2),
    ROW(connect_elsewhere, END_DENIED, 4),
    ROW(connect_elsewhere_by_mptcp, END_DENIED, 0),
    ROW(open_a_socket_of_mptcp_6, END_DENIED, 0),
    ROW(open_a_socket_of_sctp, END_DENIED, 0),
    ROW(send_elsewhere_fast, END_DENIED, 0),
    ROW(send_a_message_elsewhere_fast, END_DENIED, 0),
    ROW(send_messages_elsewhere_fast, END_DENIED, 0),
    ROW(open_a_raw_socket, END_DENIED, 0),
    ROW(open_a_packet_socket, END_DENIED, 0),
    ROW(open_a_netlink_socket, END_DENIED, 0),
    ROW(listen_for_others, END_DENIED, 0),
    ROW(take_a_port, END_DENIED, 0),
    ROW(end_the_parent, SANDBOX_SANITIZED ? END_OTHER : END_DENIED, 0),
    ROW(kill_the_parent, END_DENIED, SANDBOX_SANITIZED ? 6 : 0),
    ROW(end_the_parent_by_its_thread, END_DENIED, 0),
    ROW(kill_the_parent_by_its_thread, END_DENIED, 0),
    ROW(have_the_parent_signalled, END_DENIED, 0),
    ROW(choose_the_signal, END_DENIED, 0),
    ROW(map_memory_to_write_and_run, END_DENIED, 0),
    ROW(map_memory_to_read_and_run, END_DENIED, 0),
    ROW(map_memory_to_run_alone, END_DENIED, 0),
    ROW(map_a_file_to_run, END_DENIED, 0),
    ROW(map_a_file_that_it_wrote_to_run, END_DENIED, 0),
    ROW(turn_memory_into_code, END_DENIED, 0),
    ROW(turn_memory_into_code_with_a_key, END_DENIED, 0),
    ROW(share_memory_that_can_be_run, END_DENIED, 0),
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
    walls_set_up(harness_arena(state));
    const struct sandbox_walls walls = sandbox_offered();
    size_t tried = 0;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (!can_be_tried(&probes[i], &walls))
            continue;
        /* What seccomp is to deny it denies without Landlock. */
        stand.landlock_most = probes[i].landlock == 0 ? 1 : 0;
        enum end end = walls_run(probes[i].attempt, false);
        if (end != probes[i].end)
            fail_msg("%s: end %d instead of %d", probes[i].name, (int)end, (int)probes[i].end);
        tried++;
    }
    if (tried == 0)
        skip();
}

PROBE(open_a_file_that_workers_read, walls_open("/etc/hosts", O_RDONLY))
PROBE(open_a_file_that_workers_write, walls_open(walls_path(stand.inside, "new"), O_WRONLY | O_CREAT))
PROBE(look_at_a_file, access("/etc/hosts", F_OK))
PROBE(remove_a_file, unlink(walls_path(stand.inside, "there")))
PROBE(connect_where_workers_may, walls_connect(stand.port_inside))
PROBE(open_a_socket, walls_socket(AF_INET, SOCK_STREAM, 0))
PROBE(open_a_local_socket, walls_socket(AF_UNIX, SOCK_STREAM, 0))
PROBE(copy_a_descriptor, dup(STDIN_FILENO) < 0 ? -1 : 0)
PROBE(read_a_descriptor, read(STDIN_FILENO, (char[1]){0}, 0) < 0 ? -1 : 0)
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
    enum end end = walls_run(attempt, true);
    if (end != END_DENIED && end != END_KILLED)
        fail_msg("%s %zu: end %d", name, number, (int)end);
}

static void the_process_that_examines_files_can_do_none_of_it(void **state)
{
    walls_set_up(harness_arena(state));
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

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(every_probe_is_denied),
    HARNESS_TEST(the_process_that_examines_files_can_do_none_of_it),
};
HARNESS_MODULE(sandbox, cases)
