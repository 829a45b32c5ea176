/* SPDX-License-Identifier: MIT */
/* The keeper: forks sniffers, and ends them. It sees no byte of a client, and only one sniffer lives at a time. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/sniff.h"
#include "blob/sniffer/child_int.h"
#include "blob/sniffer/message_int.h"

struct keeper {
    int control;
    char **arguments;
    struct sniffer *sniffer; /* NULL: libmagic's database could not be loaded */
    const char *problem;     /* why */
    struct sandbox_walls walls;
    bool walled;
    pid_t child; /* 0: none */
};

/* Both end with the worker only: a signal to the whole service must not cost an upload that still goes on. */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
}

/* What lists of processes show. The arguments of a process lie one behind the other. */
static void rename_process(char **arguments, const char *name)
{
    (void)prctl(PR_SET_NAME, name);
    if (arguments == NULL || arguments[0] == NULL)
        return;
    char *end = arguments[0] + strlen(arguments[0]);
    for (size_t i = 1; arguments[i] == end + 1; i++)
        end = arguments[i] + strlen(arguments[i]);
    size_t size = (size_t)(end - arguments[0]);
    memset(arguments[0], 0, size);
    memcpy(arguments[0], name, strlen(name) < size ? strlen(name) : size);
}

/* The environment may name secrets. */
static void forget_environment(void)
{
    for (char **one = environ; one != NULL && *one != NULL; one++)
        explicit_bzero(*one, strlen(*one));
    (void)clearenv();
}

static void load(struct keeper *keeper)
{
    struct arena *arena = arena_new();
    struct error *error = sniffer_open(arena, &keeper->sniffer);
    keeper->problem = error == NULL ? NULL : error->detail;
    tzset(); /* libmagic may ask for the local time; without files there is no zone to read */
    forget_environment();
}

/* How the former sniffer ended; -1: there was none. One that still lives is ended. */
static int end_child(struct keeper *keeper)
{
    int status = -1;
    if (keeper->child > 0) {
        (void)kill(keeper->child, SIGKILL);
        if (waitpid(keeper->child, &status, 0) != keeper->child)
            status = -1;
    }
    keeper->child = 0;
    return status;
}

static void begin_child(struct keeper *keeper, int socket)
{
    pid_t parent = getpid();
    keeper->child = fork();
    if (keeper->child != 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    (void)close(keeper->control);
    rename_process(keeper->arguments, SNIFFER_NAME);
    sniff_child_run(socket, keeper->sniffer, keeper->walled ? &keeper->walls : NULL);
}

/* The first message says whether there are to be walls. */
static void raise_walls(struct keeper *keeper)
{
    static const struct sandbox_plan plan = {.calls = SANDBOX_CALLS_KEEPER};
    if (!keeper->walled)
        keeper->walls = sandbox_raise(&plan);
    keeper->walled = true;
}

static bool obey(struct keeper *keeper, const struct message *head, int socket)
{
    struct message_started started;
    memset(&started, 0, sizeof started);
    if (head->kind != MESSAGE_START || socket < 0)
        return false;
    if (head->number != 0)
        raise_walls(keeper);
    started.status = end_child(keeper);
    if (keeper->sniffer != NULL)
        begin_child(keeper, socket);
    (void)close(socket);
    started.pid = keeper->child > 0 ? keeper->child : -1;
    message_text(started.problem, sizeof started.problem,
                 keeper->problem != NULL ? keeper->problem : "no process can be started");
    return message_send(keeper->control, MESSAGE_STARTED, 0, &started, sizeof started, -1);
}

void sniff_keeper_run(int control, char **arguments)
{
    struct keeper keeper = {.control = control, .arguments = arguments};
    struct message head;
    int socket;
    ignore_signals();
    rename_process(arguments, KEEPER_NAME);
    load(&keeper);
    while (message_receive(control, 0, &head, NULL, 0, &socket) == MESSAGE_GOT && obey(&keeper, &head, socket))
        continue;
    (void)end_child(&keeper);
    _exit(EXIT_SUCCESS);
}
