/* SPDX-License-Identifier: MIT */
/*
 * The circuit breaker in front of a provider's calls.
 *
 * Closed: calls are made. After FAILURES_MAX failures in a row, or where as many in WINDOW_SECONDS are more than half
 * of the calls, it opens. Open: no call is made for rest_seconds; each is refused at once. Then one call is made as a
 * probe, and the others are refused until it returns. An answer to the probe closes the circuit breaker; a failure
 * opens it again.
 *
 * All processes of a host share one file (slots_file). The state lies at CIRCUIT_BREAKER_AT; it is read and written
 * under a lock of its own. The first bytes of the file are the slots (slots.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/remote/circuit_breaker_int.h"

#define FAILURES_MAX 5
#define WINDOW_SECONDS 10
#define SECOND INT64_C(1000000)
#define LOCK_TRIES 50
#define LOCK_PAUSE_NANOSECONDS 1000000
/*
 * After so long a probe without an answer counts as lost, and another call may be the probe. No operation may take
 * longer: provider_admin_seconds is at most 8.
 */
#define PROBE_MICROSECONDS (9 * SECOND)

/* ---- the file ------------------------------------------------------------------------------------- */

void circuit_breaker_open_file(struct remote *remote)
{
    if (remote->slots_fd >= 0 || remote->options.slots_file == NULL)
        return;
    remote->slots_fd = open(remote->options.slots_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (remote->slots_fd < 0)
        LOG(WARN, IDENTITY, "calls to the provider are not counted", LOG_TEXT("detail", strerror(errno)));
}

void circuit_breaker_close_file(struct remote *remote)
{
    if (remote->slots_fd >= 0)
        (void)close(remote->slots_fd);
    remote->slots_fd = -1;
}

bool circuit_breaker_lock_byte(const struct remote *remote, int64_t at, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(remote->slots_fd, F_OFD_SETLK, &lock) == 0;
}

/* ---- the state ------------------------------------------------------------------------------------ */

/* What an event leads to. */
enum verdict { VERDICT_PASS, VERDICT_REFUSE, VERDICT_HAS_OPENED, VERDICT_HAS_CLOSED };

static enum verdict note_answer(struct circuit_breaker *breaker)
{
    bool closes = breaker->open_until != 0;
    breaker->failures = 0;
    breaker->window_calls++;
    if (closes)
        *breaker = (struct circuit_breaker){0};
    return closes ? VERDICT_HAS_CLOSED : VERDICT_PASS;
}

static enum verdict note_failure(struct circuit_breaker *breaker, int64_t now, int64_t rest)
{
    breaker->failures++;
    breaker->window_calls++;
    breaker->window_failures++;
    bool mostly = breaker->window_failures >= FAILURES_MAX && breaker->window_failures * 2 > breaker->window_calls;
    if (breaker->open_until == 0 && breaker->failures < FAILURES_MAX && !mostly)
        return VERDICT_PASS;
    /* A call that was under way when the circuit breaker opened does not keep it open any longer. */
    if (now < breaker->open_until)
        return VERDICT_REFUSE;
    breaker->open_until = now + rest;
    breaker->probe_until = 0;
    return VERDICT_HAS_OPENED;
}

static enum verdict ask_for_call(struct circuit_breaker *breaker, int64_t now)
{
    if (breaker->open_until == 0)
        return VERDICT_PASS;
    if (now < breaker->open_until || now < breaker->probe_until)
        return VERDICT_REFUSE;
    breaker->probe_until = now + PROBE_MICROSECONDS;
    return VERDICT_PASS;
}

static enum verdict change(struct circuit_breaker *breaker, enum circuit_breaker_event event, int64_t now, int64_t rest)
{
    /* The machine was started since, and its clock with it. */
    if (breaker->open_until > now + rest || breaker->window_at > now || breaker->slot_taken_at > now)
        *breaker = (struct circuit_breaker){0};
    if (now - breaker->window_at > WINDOW_SECONDS * SECOND) {
        breaker->window_at = now;
        breaker->window_calls = breaker->window_failures = 0;
    }
    switch (event) {
    case CIRCUIT_BREAKER_CALL:
        return ask_for_call(breaker, now);
    case CIRCUIT_BREAKER_ANSWER:
        return note_answer(breaker);
    case CIRCUIT_BREAKER_FAILURE:
        return note_failure(breaker, now, rest);
    case CIRCUIT_BREAKER_SLOT:
        breaker->slot_taken_at = now;
        return VERDICT_PASS;
    case CIRCUIT_BREAKER_LOOK:
        break;
    }
    return VERDICT_PASS;
}

/* ---- the state of the host ------------------------------------------------------------------------ */

/* The holder makes only two system calls under the lock. A process that was stopped between them is not waited for. */
static bool lock_state(const struct remote *remote)
{
    static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NANOSECONDS};
    for (int i = 0; remote->slots_fd >= 0 && i < LOCK_TRIES; i++) {
        if (circuit_breaker_lock_byte(remote, CIRCUIT_BREAKER_AT, F_WRLCK))
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static void tell(const struct remote *remote, enum verdict verdict)
{
    if (verdict == VERDICT_HAS_OPENED)
        LOG(WARN, IDENTITY, "the identity provider is not called for a while",
            LOG_TEXT("provider", remote->driver->name), LOG_INTEGER("seconds", remote->options.rest_seconds));
    if (verdict == VERDICT_HAS_CLOSED)
        LOG(INFO, IDENTITY, "the identity provider is called again", LOG_TEXT("provider", remote->driver->name));
}

/* Without the file or its lock each process goes by what it has seen itself. */
bool circuit_breaker_note(struct remote *remote, enum circuit_breaker_event event)
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
        (void)circuit_breaker_lock_byte(remote, CIRCUIT_BREAKER_AT, F_UNLCK);
    tell(remote, verdict);
    return verdict != VERDICT_REFUSE;
}
