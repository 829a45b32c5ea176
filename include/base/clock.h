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

/* Microseconds since then. */
int64_t clock_now_microseconds(void);

/* Microseconds of a clock that never jumps. Only differences between two readings have a meaning. */
int64_t clock_monotonic(void);

/* Sleeps for so many microseconds; a signal may end the sleep early. */
void clock_sleep(int64_t microseconds);

/* Writes RFC 3339 in UTC with milliseconds; years 1970 to 9999. */
void clock_format(int64_t milliseconds, char text_out[CLOCK_TEXT_BYTES]);

/*
 * Reads an RFC 3339 time with any offset and up to nine digits of fraction; digits beyond milliseconds are dropped.
 * False for anything else, impossible dates included; *milliseconds_out is then untouched.
 */
bool clock_parse(const char *text, int64_t *milliseconds_out);

/*
 * Sets the horizon of this thread: no wait for the database, for a service over HTTP or for a cache entry that another
 * process loads goes on beyond `until` (clock_monotonic()). Connecting to the database over TCP rounds up to whole
 * seconds and may take one second longer. The horizon holds until it is set again. 0: there is none, and each wait has
 * only its own bound.
 */
void clock_set_horizon(int64_t until);

/* The earlier of `until` and the horizon. 0 means never, in the argument and in the result. */
int64_t clock_within_horizon(int64_t until);

#endif
