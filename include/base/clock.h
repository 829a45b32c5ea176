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

/* Writes RFC 3339 in UTC with milliseconds; years 1970 to 9999. */
void clock_format(int64_t milliseconds, char text_out[CLOCK_TEXT_BYTES]);

/*
 * Reads an RFC 3339 time with any offset and up to nine digits of fraction (those beyond milliseconds are dropped).
 * False, and *milliseconds_out untouched, for anything else, impossible dates included.
 */
bool clock_parse(const char *text, int64_t *milliseconds_out);

#endif
