/* SPDX-License-Identifier: MIT */
/*
 * The system calls that this process may make from now on, by libseccomp. The lists are those of glibc 2.36 to 2.41 and
 * of musl with the libraries that the service uses; a name that this machine's libseccomp or processor does not know is
 * passed over.
 *
 * What no honest program of this service ever calls ends the process at once. All else that is not in the list of the
 * process is answered with EPERM: a library may try it, and can do without. clone3() is answered with ENOSYS: the C
 * library then starts threads by clone(), whose flags a filter can look at.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sandbox/sandbox_int.h"

#define NAMESPACES                                                                                                     \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define SOCKET_TYPE 0xf /* without SOCK_CLOEXEC and SOCK_NONBLOCK */

/* A message that opens a TCP connection, which Landlock does not look at: it sees connect() alone. */
#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

/* clang-format off */
static const char *const allowed[] = {
    /* files */
    "access", "close", "close_range", "copy_file_range", "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64",
    "fallocate", "fchmod", "fchmodat", "fdatasync", "flock", "fstat", "fstat64", "fstatat64",
    "fstatfs", "fstatfs64", "fsync", "ftruncate", "ftruncate64", "getcwd", "getdents", "getdents64", "link", "linkat",
    "lseek", "_llseek", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat", "openat2", "pread64", "preadv",
    "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv", "rename",
    "renameat", "renameat2", "rmdir", "sendfile", "splice", "stat", "statfs", "statfs64", "statx", "sync_file_range",
    "umask", "unlink", "unlinkat", "utimensat", "utimensat_time64", "write", "writev",
    /* connections */
    "accept", "accept4", "connect", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2",
    "getpeername", "getsockname", "getsockopt", "pipe", "pipe2", "poll", "ppoll", "ppoll_time64", "pselect6",
    "recvfrom", "recvmmsg", "recvmsg", "select", "setsockopt", "shutdown",
    /* memory */
    "brk", "madvise", "membarrier", "mincore", "mlock", "mlock2", "mremap", "msync", "munlock", "munmap",
    /* processes, threads and signals */
    "exit", "exit_group", "futex", "futex_time64", "get_robust_list", "getegid", "geteuid", "getgid", "getgroups",
    "getpgid", "getpgrp", "getpid", "getppid", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid",
    "getuid", "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn",
    "rt_sigsuspend", "rt_sigtimedwait", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_yield",
    "set_robust_list", "set_tid_address", "sigaltstack", "sigreturn", "wait4", "waitid",
    /* time and the rest */
    "alarm", "clock_getres", "clock_gettime", "clock_gettime64", "clock_nanosleep", "clock_nanosleep_time64", "getcpu",
    "getitimer", "getrandom", "gettimeofday", "nanosleep", "setitimer", "sysinfo", "time",
    "timer_create", "timer_delete", "timer_gettime", "timer_settime",
    "timer_settime64", "times", "uname",
};

/* Of the process that computes: memory, messages, its end. */
static const char *const sniffer[] = {
    "brk", "clock_gettime", "clock_gettime64", "exit", "exit_group", "futex", "madvise", "mremap", "munmap", "recvmsg",
    "restart_syscall", "rt_sigreturn",
};

/* Of its parent besides: to start and end it, and what libseccomp and the C library do meanwhile. */
static const char *const keeper[] = {
    "close", "fork", "futex_time64", "getpid", "getppid", "gettid", "getrandom", "prlimit64", "rseq", "rt_sigaction",
    "rt_sigprocmask", "seccomp", "set_robust_list", "set_tid_address", "setrlimit", "wait4",
};

/*
 * What an address or leak sanitizer needs besides, to look through its own process when it ends. It makes no code: that
 * is refused with it as well.
 */
static const char *const allowed_to_sanitizers[] = {
    "kill", "prctl", "process_vm_readv", "ptrace", "clone", "prlimit64", "arch_prctl", "getpid", "gettid",
    "rt_sigprocmask", "sched_yield", "sigaltstack", "write",
};

static const char *const deadly[] = {
    /* other programs, and other processes */
    "execve", "execveat", "kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
    /* the tree of files, and files past it */
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mknod", "mknodat", "mount", "mount_setattr", "move_mount",
    "name_to_handle_at", "open_by_handle_at", "open_tree", "pivot_root", "quotactl", "swapoff", "swapon", "umount",
    "umount2",
    /* the kernel and the machine */
    "acct", "bpf", "clock_settime", "delete_module", "finit_module", "init_module", "ioperm", "iopl", "kexec_file_load",
    "kexec_load", "perf_event_open", "reboot", "sethostname", "setdomainname", "settimeofday", "syslog", "vhangup",
    /* much kernel behind one call */
    "add_key", "io_uring_enter", "io_uring_register", "io_uring_setup", "keyctl", "request_key", "userfaultfd",
    /* who this process is, and where */
    "setgid", "setgroups", "setns", "setregid", "setresgid", "setresuid", "setreuid", "setuid", "unshare",
    "capset", "personality", "memfd_create", "memfd_secret",
};
/* clang-format on */

/* One condition on an argument of a call: that its bits under `mask` are `value`. */
struct condition {
    const char *call;
    unsigned argument;
    uint64_t mask;
    uint64_t value;
};

#define WHOLE UINT32_MAX

/* Not who gets a signal when there is something to read, and which one: F_SETOWN, F_SETSIG, F_SETOWN_EX. */
#define FCNTL(call)                                                                                                    \
    {call, 1, WHOLE - 7, F_DUPFD}, {call, 1, WHOLE, F_DUPFD_CLOEXEC}, /* F_DUPFD to F_SETLKW */                        \
        {call, 1, WHOLE - 1, 12}, {call, 1, WHOLE, 14},               /* F_GETLK64 to F_SETLKW64 of 32 bits */         \
    {                                                                                                                  \
        call, 1, WHOLE - 1, F_OFD_GETLK /* and F_OFD_SETLK */                                                          \
    }

/* Each row allows its call by itself. */
static const struct condition conditions[] = {
    {"clone", 0, NAMESPACES, 0},
    FCNTL("fcntl"),
    FCNTL("fcntl64"),
    {"ioctl", 1, WHOLE, FIONREAD},
    {"ioctl", 1, WHOLE, FIONBIO},
    {"ioctl", 1, WHOLE, TCGETS},
    {"kill", 1, WHOLE, 0},     /* whether a process lives */
    {"mmap", 2, PROT_EXEC, 0}, /* nothing becomes code: all libraries are loaded */
    {"mmap2", 2, PROT_EXEC, 0},
    {"mprotect", 2, PROT_EXEC, 0},
    {"prctl", 0, WHOLE, PR_SET_NAME},
    {"prctl", 0, WHOLE, PR_GET_NAME},
    {"prctl", 0, WHOLE, PR_GET_DUMPABLE},
    {"prctl", 0, WHOLE, 0x53564d41}, /* PR_SET_VMA: the name of a piece of memory */
    {"prlimit64", 2, UINT64_MAX, 0}, /* asks, and sets nothing */
    {"sendmmsg", 3, MSG_FASTOPEN, 0},
    {"sendmsg", 2, MSG_FASTOPEN, 0},
    {"sendto", 3, MSG_FASTOPEN, 0},
    {"socketpair", 0, WHOLE, AF_UNIX},
};

static const struct condition conditions_of_sniffer[] = {
    {"mmap", 2, PROT_EXEC, 0},
    {"mmap2", 2, PROT_EXEC, 0},
    {"sendmsg", 2, MSG_FASTOPEN, 0},
};

static const struct condition conditions_of_sanitizers[] = {
    {"mprotect", 2, PROT_EXEC, 0},
};

static const struct condition conditions_of_keeper[] = {
    {"clone", 0, NAMESPACES, 0},
    {"kill", 1, WHOLE, SIGKILL},
    {"mprotect", 2, PROT_EXEC, 0},
    {"prctl", 0, WHOLE, PR_SET_NAME},
    {"prctl", 0, WHOLE, PR_SET_NO_NEW_PRIVS},
    {"prctl", 0, WHOLE, PR_SET_PDEATHSIG},
    {"prctl", 0, WHOLE, PR_SET_SECCOMP}, /* more walls */
    {"prctl", 0, WHOLE, PR_GET_SECCOMP},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static bool add(scmp_filter_ctx filter, uint32_t action, const char *call, unsigned count,
                const struct scmp_arg_cmp *arguments)
{
    int number = seccomp_syscall_resolve_name(call);
    if (number < 0)
        return true; /* unknown to this machine */
    int failure = seccomp_rule_add_array(filter, action, number, count, arguments);
    return failure == 0 || failure == -EEXIST;
}

static bool add_all(scmp_filter_ctx filter, uint32_t action, const char *const *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!add(filter, action, calls[i], 0, NULL))
            return false;
    return true;
}

static bool add_conditions(scmp_filter_ctx filter, const struct condition *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct condition *one = &rows[i];
        const struct scmp_arg_cmp argument = {one->argument, SCMP_CMP_MASKED_EQ, one->mask, one->value};
        if (!add(filter, SCMP_ACT_ALLOW, one->call, 1, &argument))
            return false;
    }
    return true;
}

/*
 * Streams and datagrams of Unix, TCP and UDP: nothing raw, no netlink, no other family. No other protocol either:
 * Landlock bounds TCP alone, and MPTCP and SCTP reach the same ports.
 */
static const struct {
    uint64_t family;
    uint64_t type;
    uint64_t protocol;
} sockets[] = {
    {AF_UNIX, SOCK_STREAM, 0},  {AF_UNIX, SOCK_DGRAM, 0},
    {AF_INET, SOCK_STREAM, 0},  {AF_INET, SOCK_STREAM, IPPROTO_TCP},
    {AF_INET, SOCK_DGRAM, 0},   {AF_INET, SOCK_DGRAM, IPPROTO_UDP},
    {AF_INET6, SOCK_STREAM, 0}, {AF_INET6, SOCK_STREAM, IPPROTO_TCP},
    {AF_INET6, SOCK_DGRAM, 0},  {AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
};

static bool add_sockets(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < LENGTH(sockets); i++) {
        const struct scmp_arg_cmp arguments[] = {{0, SCMP_CMP_MASKED_EQ, WHOLE, sockets[i].family},
                                                 {1, SCMP_CMP_MASKED_EQ, SOCKET_TYPE, sockets[i].type},
                                                 {2, SCMP_CMP_MASKED_EQ, WHOLE, sockets[i].protocol}};
        if (!add(filter, SCMP_ACT_ALLOW, "socket", 3, arguments))
            return false;
    }
    return true;
}

/* abort() and raise() of the C library: a signal to a thread of this process. */
static bool add_own_signals(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp own = {0, SCMP_CMP_MASKED_EQ, WHOLE, (uint64_t)getpid()};
    return add(filter, SCMP_ACT_ALLOW, "tgkill", 1, &own);
}

/* A sanitizer's own calls come first: what is allowed already cannot be made deadly. */
static bool add_deadly(scmp_filter_ctx filter)
{
    if (!SANDBOX_SANITIZED)
        return add_all(filter, SCMP_ACT_KILL_PROCESS, deadly, LENGTH(deadly));
    return add_all(filter, SCMP_ACT_ALLOW, allowed_to_sanitizers, LENGTH(allowed_to_sanitizers)) &&
           add_conditions(filter, conditions_of_sanitizers, LENGTH(conditions_of_sanitizers));
}

static bool add_sniffer(scmp_filter_ctx filter)
{
    return add_all(filter, SCMP_ACT_ALLOW, sniffer, LENGTH(sniffer)) &&
           add_conditions(filter, conditions_of_sniffer, LENGTH(conditions_of_sniffer));
}

static bool add_list(scmp_filter_ctx filter, enum sandbox_calls calls)
{
    switch (calls) {
    case SANDBOX_CALLS_SERVICE:
        return add_all(filter, SCMP_ACT_ALLOW, allowed, LENGTH(allowed)) &&
               add_conditions(filter, conditions, LENGTH(conditions)) && add_sockets(filter) && add_own_signals(filter);
    case SANDBOX_CALLS_KEEPER:
        return add_sniffer(filter) && add_all(filter, SCMP_ACT_ALLOW, keeper, LENGTH(keeper)) &&
               add_conditions(filter, conditions_of_keeper, LENGTH(conditions_of_keeper));
    case SANDBOX_CALLS_SNIFFER:
        break;
    }
    return add_sniffer(filter);
}

static bool fill(scmp_filter_ctx filter, enum sandbox_calls calls)
{
    /* No code of a client runs here, so the guard against guesses of the processor would only cost time. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    return add_list(filter, calls) && add_deadly(filter) && add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
}

bool sandbox_calls_offered(const char **problem_out)
{
    if (seccomp_api_get() >= 3)
        return true;
    *problem_out = "this kernel has no filters of system calls (seccomp), or a container forbids them";
    return false;
}

bool sandbox_calls_raise(enum sandbox_calls calls, const char **problem_out)
{
    if (!sandbox_calls_offered(problem_out))
        return false;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool good = filter != NULL && fill(filter, calls) && seccomp_load(filter) == 0;
    if (filter != NULL)
        seccomp_release(filter);
    if (!good)
        *problem_out = "the kernel refused the filter of system calls";
    return good;
}
