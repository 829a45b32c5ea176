/* SPDX-License-Identifier: MIT */
/*
 * The gate in front of a provider's calls. After FAILURES_MAX failures in a row, or where as many in WINDOW_SECONDS are
 * more than half of the calls, it stays closed for a while: who calls meanwhile is told at once. Then one call is the
 * probe, the others being told as before until it is back: an answer opens the gate, a failure closes it again.
 *
 * And only so many processes may be waiting for the provider at the same time, each at its place, so that a slow one
 * cannot take every worker: calls_max of a host, and never the last worker of a pool that has other work as well. Such
 * a pool's processes take the first places, of which there are fewer than workers; the others begin with the last ones.
 * Who comes when all are taken waits a moment if the provider seems to be well, and is told at once if it does not.
 *
 * All processes of a host share one file. A place is a lock on one of its first bytes, which goes with its process; the
 * gate's state lies at CIRCUIT_BREAKER_AT and is read and written under a lock of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/host_process.h"
#include "base/log.h"
#include "codec/document.h"
#include "identity/remote_int.h"

#define FAILURES_MAX 5
#define WINDOW_SECONDS 10
#define SECOND INT64_C(1000000)
/*
 * The pool of what goes to the provider all the time (gatehouse(8), "Two pools"): nothing else waits for its workers.
 */
#define SIGN_IN_POOL "login"
/* So long after somebody took a place another may be expected to be given back. */
#define CALL_MICROSECONDS (2 * SECOND)
#define SLOT_PAUSE_NANOSECONDS 10000000
#define LOCK_TRIES 50
#define LOCK_PAUSE_NANOSECONDS 1000000
/* After so long a probe that was never heard of again is not waited for. */
#define PROBE_MICROSECONDS ((REMOTE_ADMIN_MILLISECONDS + 1000) * INT64_C(1000))

/* ---- the state -------------------------------------------------------------------------------------- */

static void open_file(struct remote *remote)
{
    if (remote->slots_fd >= 0 || remote->options.slots_file == NULL)
        return;
    remote->slots_fd = open(remote->options.slots_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (remote->slots_fd < 0)
        LOG(WARN, IDENTITY, "calls to the provider are not counted", LOG_TEXT("detail", strerror(errno)));
}

static bool lock_byte(int file, int64_t at, short kind, int command)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(file, command, &lock) == 0;
}

enum event { EVENT_LOOK, EVENT_SLOT, EVENT_CALL, EVENT_ANSWER, EVENT_FAILURE };

/* What became of an event. */
enum verdict { VERDICT_PASS, VERDICT_CLOSED, VERDICT_HAS_CLOSED, VERDICT_HAS_OPENED };

static enum verdict note_answer(struct circuit_breaker *breaker)
{
    bool opens = breaker->closed_until != 0;
    breaker->failures = 0;
    breaker->window_calls++;
    if (opens)
        *breaker = (struct circuit_breaker){0};
    return opens ? VERDICT_HAS_OPENED : VERDICT_PASS;
}

static enum verdict note_failure(struct circuit_breaker *breaker, int64_t now, int64_t rest)
{
    breaker->failures++;
    breaker->window_calls++;
    breaker->window_failures++;
    bool mostly = breaker->window_failures >= FAILURES_MAX && breaker->window_failures * 2 > breaker->window_calls;
    if (breaker->closed_until == 0 && breaker->failures < FAILURES_MAX && !mostly)
        return VERDICT_PASS;
    /* Calls that were under way when it closed lengthen nothing. */
    if (now < breaker->closed_until)
        return VERDICT_CLOSED;
    breaker->closed_until = now + rest;
    breaker->probe_until = 0;
    return VERDICT_HAS_CLOSED;
}

static enum verdict change(struct circuit_breaker *breaker, enum event event, int64_t now, int64_t rest)
{
    /* The clock began anew since, with the machine. */
    if (breaker->closed_until > now + rest || breaker->window_at > now || breaker->taken_at > now)
        *breaker = (struct circuit_breaker){0};
    if (now - breaker->window_at > WINDOW_SECONDS * SECOND) {
        breaker->window_at = now;
        breaker->window_calls = breaker->window_failures = 0;
    }
    if (event == EVENT_LOOK)
        return VERDICT_PASS;
    if (event == EVENT_SLOT) {
        breaker->taken_at = now;
        return VERDICT_PASS;
    }
    if (event == EVENT_ANSWER)
        return note_answer(breaker);
    if (event == EVENT_FAILURE)
        return note_failure(breaker, now, rest);
    if (breaker->closed_until == 0)
        return VERDICT_PASS;
    if (now < breaker->closed_until || now < breaker->probe_until)
        return VERDICT_CLOSED;
    breaker->probe_until = now + PROBE_MICROSECONDS;
    return VERDICT_PASS;
}

/* Two calls of the kernel are made under the lock; who was stopped between them is not waited for. */
static bool lock_state(const struct remote *remote)
{
    static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NANOSECONDS};
    for (int i = 0; remote->slots_fd >= 0 && i < LOCK_TRIES; i++) {
        if (lock_byte(remote->slots_fd, CIRCUIT_BREAKER_AT, F_WRLCK, F_OFD_SETLK))
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* Where the file or its lock cannot be had each process judges by what it has seen itself. */
static enum verdict happens(struct remote *remote, enum event event)
{
    struct circuit_breaker *breaker = &remote->breaker;
    int64_t rest = remote->options.rest_seconds * SECOND;
    bool shared = lock_state(remote);
    if (shared && pread(remote->slots_fd, breaker, sizeof *breaker, CIRCUIT_BREAKER_AT) != sizeof *breaker)
        *breaker = (struct circuit_breaker){0};
    struct circuit_breaker before = *breaker;
    enum verdict verdict = change(breaker, event, clock_monotonic(), rest);
    if (shared && memcmp(&before, breaker, sizeof *breaker) != 0 &&
        pwrite(remote->slots_fd, breaker, sizeof *breaker, CIRCUIT_BREAKER_AT) != sizeof *breaker)
        LOG(WARN, IDENTITY, "failures of the provider are not counted", LOG_TEXT("detail", strerror(errno)));
    if (shared)
        (void)lock_byte(remote->slots_fd, CIRCUIT_BREAKER_AT, F_UNLCK, F_OFD_SETLK);
    if (verdict == VERDICT_HAS_CLOSED)
        LOG(WARN, IDENTITY, "the identity provider is not called for a while",
            LOG_TEXT("provider", remote->driver->name), LOG_INTEGER("seconds", remote->options.rest_seconds));
    if (verdict == VERDICT_HAS_OPENED)
        LOG(INFO, IDENTITY, "the identity provider is called again", LOG_TEXT("provider", remote->driver->name));
    return verdict;
}

/* ---- places ---------------------------------------------------------------------------------------- */

/* How many of the places this process may take, and whether it begins with the first of them. */
static int64_t slots_of(const struct remote *remote, bool *first_out)
{
    int64_t most = remote->options.calls_max;
    int64_t workers = host_process_in_pool(SIGN_IN_POOL) ? 0 : (int64_t)host_process_pool_workers();
    *first_out = workers != 0;
    if (workers == 0 || most < workers)
        return most;
    return workers > 1 ? workers - 1 : 1;
}

/* Where the file cannot be had there is no bound. */
static bool take_slot(struct remote *remote)
{
    bool first;
    if (remote->slots_fd < 0)
        return true;
    int64_t most = slots_of(remote, &first);
    for (int64_t i = 0; i < most; i++) {
        int64_t slot = first ? i : most - 1 - i;
        if (lock_byte(remote->slots_fd, slot, F_WRLCK, F_OFD_SETLK)) {
            remote->slot = slot;
            (void)happens(remote, EVENT_SLOT);
            return true;
        }
    }
    return false;
}

/* Whether those who are at the places may be expected to leave them soon. */
static bool slots_free_up(struct remote *remote)
{
    (void)happens(remote, EVENT_LOOK);
    return remote->breaker.failures == 0 && clock_monotonic() - remote->breaker.taken_at < CALL_MICROSECONDS;
}

bool remote_slot_take(struct remote *remote)
{
    static const struct timespec pause = {.tv_nsec = SLOT_PAUSE_NANOSECONDS};
    int64_t patience = clock_monotonic() + CALL_MICROSECONDS;
    if (remote->slot_depth++ != 0)
        return true;
    open_file(remote);
    while (!take_slot(remote)) {
        if (clock_monotonic() >= patience || remote_milliseconds_left(remote) <= 0 || !slots_free_up(remote)) {
            remote->slot_depth = 0;
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

void remote_slot_leave(struct remote *remote)
{
    if (--remote->slot_depth == 0 && remote->slots_fd >= 0)
        (void)lock_byte(remote->slots_fd, remote->slot, F_UNLCK, F_OFD_SETLK);
}

void circuit_breaker_close(struct remote *remote)
{
    if (remote->slots_fd >= 0)
        (void)close(remote->slots_fd);
    remote->slots_fd = -1;
}

/* ---- calling ---------------------------------------------------------------------------------------- */

void remote_start(struct remote *remote, int64_t milliseconds)
{
    remote->deadline = clock_monotonic() + milliseconds * 1000;
    remote->is_unknown = false;
}

int64_t remote_milliseconds_left(const struct remote *remote)
{
    return (remote->deadline - clock_monotonic()) / 1000;
}

/* Whether the provider itself said it: no redirect, no page of something in between, no half of an answer. */
static bool is_its_own(const struct remote_answer *answer)
{
    long status = answer->web.status;
    return ((status >= 200 && status < 300) || (status >= 400 && status < 500)) &&
           (answer->web.length == 0 || answer->document != NULL);
}

enum http_client_outcome remote_call(struct remote *remote, struct arena *arena, const struct http_client_call *call,
                             struct remote_answer *answer_out, const char **reason_out)
{
    struct http_client_call timed = *call;
    bool sets_password = remote->sets_password;
    remote->sets_password = false;
    *answer_out = (struct remote_answer){0};
    timed.milliseconds = remote_milliseconds_left(remote);
    if (timed.milliseconds <= 0) {
        *reason_out = "no time is left for it";
        return HTTP_CLIENT_UNREACHABLE;
    }
    if (!remote_slot_take(remote)) {
        *reason_out = REMOTE_NO_SLOT;
        return HTTP_CLIENT_UNREACHABLE;
    }
    if (happens(remote, EVENT_CALL) == VERDICT_CLOSED) {
        remote_slot_leave(remote);
        *reason_out = "it failed several times and is given time to recover";
        return HTTP_CLIENT_UNREACHABLE;
    }
    enum http_client_outcome outcome = http_client_call(remote->web, arena, &timed, &answer_out->web, reason_out);
    remote_slot_leave(remote);
    if (outcome == HTTP_CLIENT_ANSWERED && answer_out->web.length != 0 &&
        document_parse(arena, answer_out->web.body, answer_out->web.length, &answer_out->document) != NULL)
        answer_out->document = NULL;
    bool answered = outcome == HTTP_CLIENT_ANSWERED && is_its_own(answer_out);
    remote->is_unknown = remote->is_unknown || (sets_password && !answered && outcome != HTTP_CLIENT_UNREACHABLE);
    (void)happens(remote, answered ? EVENT_ANSWER : EVENT_FAILURE);
    return outcome;
}
