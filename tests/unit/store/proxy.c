/* SPDX-License-Identifier: MIT */
/* A proxy between a client and the database server, which fails once in a chosen way. */
#include "proxy.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "harness.h"

struct proxy {
    int listener;
    const char *target;
    const char *trigger;
    enum proxy_fault fault;
    bool done; /* the fault has happened */
    bool dripping;
};

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        _exit(1);
    return fd;
}

static void pass_on(struct proxy *proxy, int to, const char *bytes, ssize_t length)
{
    for (ssize_t at = 0; at < length;) {
        ssize_t chunk = proxy->dripping ? 1 : length - at;
        if (proxy->dripping)
            (void)usleep(100000);
        ssize_t sent = send(to, bytes + at, (size_t)chunk, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += sent;
    }
}

/* The trigger passed by. False cuts the connection. */
static bool strike(struct proxy *proxy, int server, const char *bytes, ssize_t length)
{
    char answer[4096];
    proxy->done = true;
    switch (proxy->fault) {
    case PROXY_LOSE_ANSWER:
        pass_on(proxy, server, bytes, length);
        (void)recv(server, answer, sizeof answer, 0);
        return false;
    case PROXY_LOSE_REQUEST:
        return false;
    case PROXY_DRIP:
        proxy->dripping = true;
        pass_on(proxy, server, bytes, length);
        return true;
    case PROXY_SWALLOW:
        (void)pause();
        return false;
    }
    return false;
}

static void serve(struct proxy *proxy, int client)
{
    int server = connect_to(proxy->target);
    char bytes[65536];
    struct pollfd fds[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool open = *proxy->trigger != '\0' || proxy->done || strike(proxy, server, "", 0);
    while (open && poll(fds, 2, -1) > 0) {
        for (int i = 0; open && i < 2; i++) {
            if (fds[i].revents == 0)
                continue;
            ssize_t length = recv(fds[i].fd, bytes, sizeof bytes, 0);
            open = length > 0;
            if (!open)
                break;
            bool seen =
                i == 0 && !proxy->done && memmem(bytes, (size_t)length, proxy->trigger, strlen(proxy->trigger)) != NULL;
            if (seen)
                open = strike(proxy, server, bytes, length);
            else
                pass_on(proxy, fds[1 - i].fd, bytes, length);
        }
    }
    (void)close(server);
    (void)close(client);
}

static void stop(void *argument)
{
    const pid_t *child = argument;
    (void)kill(*child, SIGKILL);
    (void)waitpid(*child, NULL, 0);
}

const char *proxy_start(struct arena *arena, const char *directory, const char *target, const char *trigger,
                        enum proxy_fault fault)
{
    struct proxy proxy = {.target = target, .trigger = trigger, .fault = fault};
    const char *path = arena_format(arena, "%s/p%zu", directory, arena_used(arena));
    struct sockaddr_un address = address_of(path);
    proxy.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(proxy.listener >= 0);
    assert_int_equal(bind(proxy.listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(proxy.listener, 8), 0);
    pid_t *child = arena_alloc(arena, sizeof *child);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int client; (client = accept(proxy.listener, NULL, NULL)) >= 0;)
            serve(&proxy, client);
        _exit(0);
    }
    (void)close(proxy.listener);
    arena_defer(arena, stop, child);
    return path;
}
