/* SPDX-License-Identifier: MIT */
/*
 * Asks questions in a child process, which may hang without harm. A process that touches a hanging disk, such as a
 * network mount whose server is gone, cannot be called back by any deadline. So a child touches it. The child writes
 * one answer a question into a pipe. The parent reads until its time is over; then a timer of the child kills it, since
 * the sandbox lets the parent signal nobody. A child that a disk holds may end later. While it has not ended, no other
 * is started: children do not pile up behind a disk.
 */
#include "service/system/health_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/runtime/service.h"

#define DESCRIPTORS 1024
#define END_TRIES 20
#define END_NANOSECONDS 5000000

/* Small enough that a pipe passes it whole. */
struct answer {
    int code; /* enum error_code; -1: all is well */
    char detail[HEALTH_DETAIL_BYTES];
};

/* The child that has not ended yet; 0: none. */
static pid_t left_behind;

static bool has_ended(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) != 0;
}

/*
 * The child closes sockets: a peer must not wait for a connection that the child keeps open, and the child must not
 * write to the database's.
 */
static void close_sockets(int except)
{
    struct stat status;
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (fd != except && fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
            (void)close(fd);
}

/* Kills this process, the child, at `until`, whatever it waits for then. */
static bool end_in_time(int64_t until)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    const struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(until / 1000000), .tv_nsec = (long)(until % 1000000) * 1000}};
    timer_t watch;
    return timer_create(CLOCK_MONOTONIC, &event, &watch) == 0 && timer_settime(watch, TIMER_ABSTIME, &at, NULL) == 0;
}

static void answer_all(struct service *service, const struct health_question *questions, size_t count, int fd)
{
    struct arena *arena = arena_new();
    for (size_t i = 0; i < count; i++) {
        struct answer answer = {.code = -1};
        const struct error *error = questions[i].check(service, arena);
        if (error != NULL) {
            answer.code = (int)error->code;
            (void)snprintf(answer.detail, sizeof answer.detail, "%s",
                           error->detail != NULL ? error->detail : error->message);
        }
        if (write(fd, &answer, sizeof answer) != sizeof answer)
            return;
    }
}

void health_apart_begin(struct service *service, const struct health_question *questions, size_t count, int64_t until,
                        struct health_look *look_out)
{
    int ends[2];
    *look_out = (struct health_look){.pid = 0, .fd = -1, .until = until};
    if (left_behind != 0 && !has_ended(left_behind))
        return;
    left_behind = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        if (!end_in_time(until))
            _exit(1);
        close_sockets(ends[1]);
        answer_all(service, questions, count, ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return;
    }
    look_out->pid = pid;
    look_out->fd = ends[0];
}

/* False: the time is over, or the child has ended. */
static bool read_answer(int fd, int64_t until, struct answer *answer_out)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int got;
    do {
        int64_t left = (until - clock_monotonic() + 999) / 1000;
        got = poll(&wait, 1, left < 0 ? 0 : (int)left);
    } while (got < 0 && errno == EINTR);
    return got > 0 && read(fd, answer_out, sizeof *answer_out) == sizeof *answer_out;
}

static void await_end(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = END_NANOSECONDS};
    for (int i = 0; i < END_TRIES; i++) {
        if (has_ended(pid))
            return;
        (void)nanosleep(&pause, NULL);
    }
    left_behind = pid;
}

size_t health_apart_end(struct arena *arena, struct health_look *look, size_t count, struct error **errors_out)
{
    size_t answered = 0;
    struct answer answer;
    if (look->pid == 0)
        return 0;
    for (; answered < count && read_answer(look->fd, look->until, &answer); answered++)
        errors_out[answered] =
            answer.code < 0 ? NULL : error_new(arena, (enum error_code)answer.code, "%s", answer.detail);
    (void)close(look->fd);
    await_end(look->pid);
    return answered;
}
