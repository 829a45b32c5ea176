/* SPDX-License-Identifier: MIT */
/* Runs the test's own keeper, and fails calls. */
#include "blob/sniffer/support_sniffer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "blob/sniffer/child_int.h"

static void (*own_keeper)(int control);
struct support_sniffer_faults support_sniffer_faults;

void support_sniffer_keeper(void (*keeper)(int control))
{
    own_keeper = keeper;
}

void support_sniffer_clear(void)
{
    support_sniffer_faults = (struct support_sniffer_faults){0};
}

void __real_sniff_keeper_run(int control, char **arguments) __attribute__((noreturn));
void __wrap_sniff_keeper_run(int control, char **arguments) __attribute__((noreturn));

void __wrap_sniff_keeper_run(int control, char **arguments)
{
    if (own_keeper == NULL)
        __real_sniff_keeper_run(control, arguments);
    own_keeper(control);
    _exit(EXIT_SUCCESS);
}

int __real_socketpair(int family, int type, int protocol, int ends[2]);
int __wrap_socketpair(int family, int type, int protocol, int ends[2]);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_clock_gettime(clockid_t clock, struct timespec *time_out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time_out);
int __real_poll(struct pollfd *list, nfds_t count, int milliseconds);
int __wrap_poll(struct pollfd *list, nfds_t count, int milliseconds);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

static bool fails(unsigned *times, int number)
{
    if (*times == 0)
        return false;
    --*times;
    errno = number;
    return true;
}

int __wrap_socketpair(int family, int type, int protocol, int ends[2])
{
    return fails(&support_sniffer_faults.socketpair, EMFILE) ? -1 : __real_socketpair(family, type, protocol, ends);
}

pid_t __wrap_fork(void)
{
    return fails(&support_sniffer_faults.fork, EAGAIN) ? -1 : __real_fork();
}

long __wrap_syscall(long number, ...)
{
    va_list list;
    long values[6];
    va_start(list, number);
    for (size_t i = 0; i < 6; i++)
        values[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_close_range && fails(&support_sniffer_faults.close_range, ENOSYS))
        return -1;
    return __real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time_out)
{
    if (clock != CLOCK_PROCESS_CPUTIME_ID || !support_sniffer_faults.spent)
        return __real_clock_gettime(clock, time_out);
    *time_out = (struct timespec){.tv_sec = LIMIT_SNIFFER_SECONDS / 2};
    return 0;
}

int __wrap_poll(struct pollfd *list, nfds_t count, int milliseconds)
{
    if (fails(&support_sniffer_faults.poll_interrupted, EINTR) || fails(&support_sniffer_faults.poll_broken, ENOMEM))
        return -1;
    return __real_poll(list, count, milliseconds);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    return fails(&support_sniffer_faults.receive_interrupted, EINTR) ? -1 : __real_recvmsg(fd, message, flags);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails(&support_sniffer_faults.send_interrupted, EINTR) ? -1 : __real_sendmsg(fd, message, flags);
}
