/* SPDX-License-Identifier: MIT */
/* Walls around a child, for attempts and duties behind them. */
#include "base/sandbox/support_walls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "harness.h"

struct walls_stand stand;

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

void walls_set_up(struct arena *arena)
{
    stand = (struct walls_stand){.inside = harness_directory(arena), .outside = harness_directory(arena)};
    stand.port_inside = listen_somewhere();
    stand.port_outside = listen_somewhere();
    stand.parent = getpid();
    (void)harness_write(arena, stand.inside, "there", "x", 1);
    (void)harness_write(arena, stand.outside, "there", "x", 1);
}

struct sandbox_walls walls_raise(void)
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
    if (!sandbox_bound(64 << 20, 60))
        _exit(END_OTHER);
    (void)sandbox_narrow(SANDBOX_CALLS_SNIFFER, &problem);
}

/* What a child answers where the walls stand: 0 is success of what was tried, else errno. */
enum end walls_run(int (*attempt)(void), bool all_walls)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (all_walls)
            raise_all_walls();
        else
            (void)walls_raise();
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

static char path_bytes[4096];

const char *walls_path(const char *folder, const char *name)
{
    (void)snprintf(path_bytes, sizeof path_bytes, "%s/%s", folder, name);
    return path_bytes;
}

int walls_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd < 0 ? -1 : close(fd);
}

int walls_connect(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

int walls_socket(int family, int type, int protocol)
{
    return socket(family, type, protocol) < 0 ? -1 : 0;
}
