/* SPDX-License-Identifier: MIT */
/* Shuts a connection down by a timer when its deadline has passed. */
#include "http/fastcgi_deadline_int.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>

static volatile sig_atomic_t guarded = -1;
static volatile sig_atomic_t direction;
static volatile sig_atomic_t reached;
static bool running;

static void on_deadline(int signal_number)
{
    int failure = errno;
    (void)signal_number;
    if (guarded >= 0) {
        reached = 1;
        (void)shutdown(guarded, direction);
    }
    errno = failure;
}

void fastcgi_deadline_open(void)
{
    struct sigaction action = {.sa_handler = on_deadline, .sa_flags = SA_RESTART};
    (void)sigaction(SIGALRM, &action, NULL);
}

static void set_timer(int64_t microseconds)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(microseconds / 1000000), .tv_usec = (suseconds_t)(microseconds % 1000000)}};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void fastcgi_deadline_start(int fd, int how, int64_t microseconds)
{
    guarded = -1;
    reached = 0;
    direction = how;
    running = true;
    set_timer(microseconds > 0 ? microseconds : 1);
    guarded = fd;
}

bool fastcgi_deadline_end(void)
{
    guarded = -1;
    if (!running)
        return false;
    running = false;
    set_timer(0);
    return reached != 0;
}
