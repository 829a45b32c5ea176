/* SPDX-License-Identifier: MIT */
/*
 * The gate in front of a provider's calls. After FAILURES_MAX failures in a row it stays closed for a while, for all
 * processes of the host (a mark in the service cache): who calls meanwhile is told at once. The first call after that is
 * the probe: one more failure closes it again. And only so many processes of the host may be waiting for the provider at
 * the same time (locks on bytes of a file, which go with their process), so that a slow one cannot take every worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "identity/outside_int.h"
#include "store/cache.h"

#define FAILURES_MAX 5

static const char *mark_of(struct outside *outside, struct arena *arena)
{
    return arena_format(arena, "closed:%s", outside->wire->name);
}

static bool is_closed(struct outside *outside, struct arena *arena)
{
    void *bytes;
    size_t length;
    return clock_monotonic() < outside->closed_until ||
           cache_find(outside->options.cache, arena, mark_of(outside, arena), &bytes, &length);
}

static void note_success(struct outside *outside)
{
    outside->failures = 0;
}

static void note_failure(struct outside *outside, struct arena *arena)
{
    if (++outside->failures < FAILURES_MAX)
        return;
    int64_t seconds = outside->options.rest_seconds;
    LOG(WARN, IDENTITY, "the identity provider is not called for a while", LOG_TEXT("provider", outside->wire->name),
        LOG_INTEGER("seconds", seconds));
    /* One more failure, of the probe, is enough then. */
    outside->failures = FAILURES_MAX - 1;
    outside->closed_until = clock_monotonic() + seconds * 1000000;
    cache_store(outside->options.cache, mark_of(outside, arena), "1", 1, (unsigned)seconds);
}

/* ---- places ---------------------------------------------------------------------------------------- */

static bool lock_byte(int file, int64_t at, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/* The number of the place taken; -1: all are taken. Where the file cannot be had there is no bound. */
static int64_t take_place(struct outside *outside)
{
    if (outside->places < 0 && outside->options.places_file != NULL) {
        outside->places = open(outside->options.places_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (outside->places < 0)
            LOG(WARN, IDENTITY, "calls to the provider are not counted", LOG_TEXT("detail", strerror(errno)));
    }
    if (outside->places < 0)
        return 0;
    for (int64_t place = 0; place < outside->options.calls_max; place++)
        if (lock_byte(outside->places, place, F_WRLCK))
            return place;
    return -1;
}

static void give_place(struct outside *outside, int64_t place)
{
    if (outside->places >= 0)
        (void)lock_byte(outside->places, place, F_UNLCK);
}

void outside_gate_free(struct outside *outside)
{
    if (outside->places >= 0)
        (void)close(outside->places);
    outside->places = -1;
}

enum web_outcome outside_call(struct outside *outside, struct arena *arena, const struct web_call *call,
                              struct web_answer *answer_out, const char **reason_out)
{
    if (is_closed(outside, arena)) {
        *reason_out = "it failed several times and is given time to recover";
        return WEB_UNREACHABLE;
    }
    int64_t place = take_place(outside);
    if (place < 0) {
        *reason_out = "too many calls to it are waiting already";
        return WEB_UNREACHABLE;
    }
    enum web_outcome outcome = web_call(outside->web, arena, call, answer_out, reason_out);
    give_place(outside, place);
    if (outcome == WEB_ANSWERED && answer_out->status < 500)
        note_success(outside);
    else
        note_failure(outside, arena);
    return outcome;
}
