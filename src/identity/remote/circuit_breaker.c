/* SPDX-License-Identifier: MIT */
/*
 * The gate in front of a provider's calls. After FAILURES_MAX failures in a row, or where as many in WINDOW_SECONDS are more
 * than half of the calls, it stays closed for a while: who calls meanwhile is told at once. Then one call is the probe, the
 * others being told as before until it is back: an answer opens the gate, a failure closes it again.
 *
 * And only so many processes may be waiting for the provider at the same time, each at its place, so that a slow one cannot
 * take every worker: calls_max of a host, and never the last worker of a pool that has other work as well. Such a pool's
 * processes take the first places, of which there are fewer than workers; the others begin with the last ones. Who comes when
 * all are taken waits a moment if the provider seems to be well, and is told at once if it does not.
 *
 * All processes of a host share one file. A place is a lock on one of its first bytes, which goes with its process; the
 * gate's state lies at OUTSIDE_GATE_AT and is read and written under a lock of its own.
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
/* The pool of what goes to the provider all the time (gatehouse(8), "Two pools"): nothing else waits for its workers. */
#define SIGN_IN_POOL "login"
/* So long after somebody took a place another may be expected to be given back. */
#define CALL_MICROSECONDS (2 * SECOND)
#define PLACE_PAUSE_NANOSECONDS 10000000
#define LOCK_TRIES 50
#define LOCK_PAUSE_NANOSECONDS 1000000
/* After so long a probe that was never heard of again is not waited for. */
#define PROBE_MICROSECONDS ((OUTSIDE_ADMIN_MILLISECONDS + 1000) * INT64_C(1000))

/* ---- the state -------------------------------------------------------------------------------------- */

static void open_file(struct outside *outside)
{
    if (outside->places >= 0 || outside->options.places_file == NULL)
        return;
    outside->places = open(outside->options.places_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (outside->places < 0)
        LOG(WARN, IDENTITY, "calls to the provider are not counted", LOG_TEXT("detail", strerror(errno)));
}

static bool lock_byte(int file, int64_t at, short kind, int command)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(file, command, &lock) == 0;
}

enum event { EVENT_LOOK, EVENT_PLACE, EVENT_CALL, EVENT_ANSWER, EVENT_FAILURE };

/* What became of an event. */
enum verdict { VERDICT_PASS, VERDICT_CLOSED, VERDICT_HAS_CLOSED, VERDICT_HAS_OPENED };

static enum verdict note_answer(struct outside_gate *gate)
{
    bool opens = gate->closed_until != 0;
    gate->failures = 0;
    gate->window_calls++;
    if (opens)
        *gate = (struct outside_gate){0};
    return opens ? VERDICT_HAS_OPENED : VERDICT_PASS;
}

static enum verdict note_failure(struct outside_gate *gate, int64_t now, int64_t rest)
{
    gate->failures++;
    gate->window_calls++;
    gate->window_failures++;
    bool mostly = gate->window_failures >= FAILURES_MAX && gate->window_failures * 2 > gate->window_calls;
    if (gate->closed_until == 0 && gate->failures < FAILURES_MAX && !mostly)
        return VERDICT_PASS;
    /* Calls that were under way when it closed lengthen nothing. */
    if (now < gate->closed_until)
        return VERDICT_CLOSED;
    gate->closed_until = now + rest;
    gate->probe_until = 0;
    return VERDICT_HAS_CLOSED;
}

static enum verdict change(struct outside_gate *gate, enum event event, int64_t now, int64_t rest)
{
    /* The clock began anew since, with the machine. */
    if (gate->closed_until > now + rest || gate->window_at > now || gate->taken_at > now)
        *gate = (struct outside_gate){0};
    if (now - gate->window_at > WINDOW_SECONDS * SECOND) {
        gate->window_at = now;
        gate->window_calls = gate->window_failures = 0;
    }
    if (event == EVENT_LOOK)
        return VERDICT_PASS;
    if (event == EVENT_PLACE) {
        gate->taken_at = now;
        return VERDICT_PASS;
    }
    if (event == EVENT_ANSWER)
        return note_answer(gate);
    if (event == EVENT_FAILURE)
        return note_failure(gate, now, rest);
    if (gate->closed_until == 0)
        return VERDICT_PASS;
    if (now < gate->closed_until || now < gate->probe_until)
        return VERDICT_CLOSED;
    gate->probe_until = now + PROBE_MICROSECONDS;
    return VERDICT_PASS;
}

/* Two calls of the kernel are made under the lock; who was stopped between them is not waited for. */
static bool lock_state(const struct outside *outside)
{
    static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NANOSECONDS};
    for (int i = 0; outside->places >= 0 && i < LOCK_TRIES; i++) {
        if (lock_byte(outside->places, OUTSIDE_GATE_AT, F_WRLCK, F_OFD_SETLK))
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* Where the file or its lock cannot be had each process judges by what it has seen itself. */
static enum verdict happens(struct outside *outside, enum event event)
{
    struct outside_gate *gate = &outside->gate;
    int64_t rest = outside->options.rest_seconds * SECOND;
    bool shared = lock_state(outside);
    if (shared && pread(outside->places, gate, sizeof *gate, OUTSIDE_GATE_AT) != sizeof *gate)
        *gate = (struct outside_gate){0};
    struct outside_gate before = *gate;
    enum verdict verdict = change(gate, event, clock_monotonic(), rest);
    if (shared && memcmp(&before, gate, sizeof *gate) != 0 &&
        pwrite(outside->places, gate, sizeof *gate, OUTSIDE_GATE_AT) != sizeof *gate)
        LOG(WARN, IDENTITY, "failures of the provider are not counted", LOG_TEXT("detail", strerror(errno)));
    if (shared)
        (void)lock_byte(outside->places, OUTSIDE_GATE_AT, F_UNLCK, F_OFD_SETLK);
    if (verdict == VERDICT_HAS_CLOSED)
        LOG(WARN, IDENTITY, "the identity provider is not called for a while",
            LOG_TEXT("provider", outside->wire->name), LOG_INTEGER("seconds", outside->options.rest_seconds));
    if (verdict == VERDICT_HAS_OPENED)
        LOG(INFO, IDENTITY, "the identity provider is called again", LOG_TEXT("provider", outside->wire->name));
    return verdict;
}

/* ---- places ---------------------------------------------------------------------------------------- */

/* How many of the places this process may take, and whether it begins with the first of them. */
static int64_t places_of(const struct outside *outside, bool *first_out)
{
    int64_t most = outside->options.calls_max;
    int64_t workers = host_process_in_pool(SIGN_IN_POOL) ? 0 : (int64_t)host_process_pool_workers();
    *first_out = workers != 0;
    if (workers == 0 || most < workers)
        return most;
    return workers > 1 ? workers - 1 : 1;
}

/* Where the file cannot be had there is no bound. */
static bool take_place(struct outside *outside)
{
    bool first;
    if (outside->places < 0)
        return true;
    int64_t most = places_of(outside, &first);
    for (int64_t i = 0; i < most; i++) {
        int64_t place = first ? i : most - 1 - i;
        if (lock_byte(outside->places, place, F_WRLCK, F_OFD_SETLK)) {
            outside->place = place;
            (void)happens(outside, EVENT_PLACE);
            return true;
        }
    }
    return false;
}

/* Whether those who are at the places may be expected to leave them soon. */
static bool is_lively(struct outside *outside)
{
    (void)happens(outside, EVENT_LOOK);
    return outside->gate.failures == 0 && clock_monotonic() - outside->gate.taken_at < CALL_MICROSECONDS;
}

bool outside_enter(struct outside *outside)
{
    static const struct timespec pause = {.tv_nsec = PLACE_PAUSE_NANOSECONDS};
    int64_t patience = clock_monotonic() + CALL_MICROSECONDS;
    if (outside->inside++ != 0)
        return true;
    open_file(outside);
    while (!take_place(outside)) {
        if (clock_monotonic() >= patience || outside_left(outside) <= 0 || !is_lively(outside)) {
            outside->inside = 0;
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

void outside_leave(struct outside *outside)
{
    if (--outside->inside == 0 && outside->places >= 0)
        (void)lock_byte(outside->places, outside->place, F_UNLCK, F_OFD_SETLK);
}

void outside_gate_free(struct outside *outside)
{
    if (outside->places >= 0)
        (void)close(outside->places);
    outside->places = -1;
}

/* ---- calling ---------------------------------------------------------------------------------------- */

void outside_start(struct outside *outside, int64_t milliseconds)
{
    outside->deadline = clock_monotonic() + milliseconds * 1000;
    outside->is_unknown = false;
}

int64_t outside_left(const struct outside *outside)
{
    return (outside->deadline - clock_monotonic()) / 1000;
}

/* Whether the provider itself said it: no redirect, no page of something in between, no half of an answer. */
static bool is_its_own(const struct outside_answer *answer)
{
    long status = answer->web.status;
    return ((status >= 200 && status < 300) || (status >= 400 && status < 500)) &&
           (answer->web.length == 0 || answer->document != NULL);
}

enum web_outcome outside_call(struct outside *outside, struct arena *arena, const struct web_call *call,
                              struct outside_answer *answer_out, const char **reason_out)
{
    struct web_call timed = *call;
    bool sets_password = outside->sets_password;
    outside->sets_password = false;
    *answer_out = (struct outside_answer){0};
    timed.milliseconds = outside_left(outside);
    if (timed.milliseconds <= 0) {
        *reason_out = "no time is left for it";
        return WEB_UNREACHABLE;
    }
    if (!outside_enter(outside)) {
        *reason_out = OUTSIDE_NO_PLACE;
        return WEB_UNREACHABLE;
    }
    if (happens(outside, EVENT_CALL) == VERDICT_CLOSED) {
        outside_leave(outside);
        *reason_out = "it failed several times and is given time to recover";
        return WEB_UNREACHABLE;
    }
    enum web_outcome outcome = web_call(outside->web, arena, &timed, &answer_out->web, reason_out);
    outside_leave(outside);
    if (outcome == WEB_ANSWERED && answer_out->web.length != 0 &&
        document_parse(arena, answer_out->web.body, answer_out->web.length, &answer_out->document) != NULL)
        answer_out->document = NULL;
    bool answered = outcome == WEB_ANSWERED && is_its_own(answer_out);
    outside->is_unknown = outside->is_unknown || (sets_password && !answered && outcome != WEB_UNREACHABLE);
    (void)happens(outside, answered ? EVENT_ANSWER : EVENT_FAILURE);
    return outcome;
}
