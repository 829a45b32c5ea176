/* SPDX-License-Identifier: MIT */
/*
 * How long a worker takes from exec() to its first accept(): a client has connected and hung up before, so that the
 * first thing a worker can accept is this, and to close it is all that it can do. That moment is what the client waits
 * for. start COUNT SOCKET WORKER ARGUMENT... prints one line of JSON a start: {"microseconds": ..., "busy": the
 * processor's}, where `busy` is all that the worker has worked until it was told to end, its end included.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define PATIENCE_MILLISECONDS 20000

static _Noreturn void end(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static int new_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        end("socket");
    return fd;
}

static int64_t microseconds(const struct rusage *used)
{
    return (int64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 + used->ru_utime.tv_usec +
           used->ru_stime.tv_usec;
}

static void start_once(const struct sockaddr_un *address, char **command)
{
    int listener = new_socket(), client = new_socket();
    (void)unlink(address->sun_path);
    if (bind(listener, (const struct sockaddr *)address, sizeof *address) != 0 || listen(listener, 16) != 0 ||
        connect(client, (const struct sockaddr *)address, sizeof *address) != 0 || shutdown(client, SHUT_WR) != 0)
        end(address->sun_path);
    int64_t started = clock_monotonic();
    pid_t worker = fork();
    if (worker == 0) {
        if (dup2(listener, STDIN_FILENO) == STDIN_FILENO)
            (void)execv(command[0], command);
        end(command[0]);
    }
    struct pollfd wait_for = {.fd = client, .events = POLLIN};
    if (worker < 0 || poll(&wait_for, 1, PATIENCE_MILLISECONDS) != 1)
        end("the worker accepts nothing");
    int64_t taken = clock_monotonic() - started;
    struct rusage used;
    if (kill(worker, SIGTERM) != 0 || wait4(worker, NULL, 0, &used) != worker)
        end("the worker has died");
    (void)printf("{\"microseconds\":%" PRId64 ",\"busy\":%" PRId64 "}\n", taken, microseconds(&used));
    (void)close(listener);
    (void)close(client);
}

int main(int argc, char **argv)
{
    int64_t count;
    if (argc < 4 || !text_to_integer(argv[1], 1, 10000, &count) || strlen(argv[2]) >= sizeof(struct sockaddr_un) - 8) {
        (void)fprintf(stderr, "usage: start COUNT SOCKET WORKER ARGUMENT...\n");
        return 2;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[2]);
    for (int64_t i = 0; i < count; i++)
        start_once(&address, argv + 3);
    (void)unlink(address.sun_path);
    return EXIT_SUCCESS;
}
