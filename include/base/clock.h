/* SPDX-License-Identifier: MIT */
/* Time: wall-clock milliseconds for records and tokens, a monotonic clock for deadlines and durations. */
#ifndef GATEHOUSE_BASE_CLOCK_H
#define GATEHOUSE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Room for "2026-11-21T08:52:00.123Z" and its NUL. */
#define CLOCK_TEXT_BYTES 25

/* Milliseconds since 1970-01-01T00:00:00Z. */
int64_t clock_now(void);

/* Microseconds of a clock that never steps; only differences mean anything. */
int64_t clock_monotonic(void);

/* Sleeps for so many microseconds; a signal may end the sleep early. */
void clock_sleep(int64_t microseconds);

/* Writes RFC 3339 in UTC with milliseconds; years 1970 to 9999. */
void clock_format(int64_t milliseconds, char text_out[CLOCK_TEXT_BYTES]);

/*
 * Reads an RFC 3339 time with any offset and up to nine digits of fraction (those beyond milliseconds are dropped).
 * False, and *milliseconds_out untouched, for anything else, impossible dates included.
 */
bool clock_parse(const char *text, int64_t *milliseconds_out);

/*
 * The horizon of this thread: no wait for the database, for a service over HTTP or for another process's entry of the
 * cache goes on beyond `until` (clock_monotonic()), give or take the second that connecting to the database over TCP is
 * rounded up to. It bounds what follows, until it is set anew. 0: there is none, and each wait has its own bound alone.
 */
void clock_set_horizon(int64_t until);

/* The earlier of `until` and the horizon. 0 stands for never, in and out. */
int64_t clock_within_horizon(int64_t until);

#endif
