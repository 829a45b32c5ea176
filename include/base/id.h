/* SPDX-License-Identifier: MIT */
/*
 * Identifiers: UUID version 7 (RFC 9562, section 5.7), 16 bytes in the database, 36 lower-case characters in requests
 * and replies. An id is made before the first side effect, so that an operation whose answer was lost can be looked up.
 */
#ifndef GATEHOUSE_BASE_ID_H
#define GATEHOUSE_BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#define ID_BYTES 16
#define ID_TEXT_BYTES 37 /* with the NUL */
#define ID_HEX_BYTES 33  /* with the NUL */

struct arena;

struct id {
    uint8_t bytes[ID_BYTES];
};

/*
 * A new id: 48 bits of time in milliseconds, 12 bits with the fraction of it, 62 random bits (RFC 9562, section 6.2,
 * method 3). Each id of a process is greater than the one before, also after the clock was set back; for an exception
 * see the next one. It is greater than those that other processes with the same clock made some microseconds before. So
 * rows are listed in the order in which they were made.
 */
struct id id_new(void);

/*
 * From here on the ids of this process have the time of a clock that the hosts share, that of the database's server.
 * It says `shared_now` at this moment (microseconds since 1970). So rows of hosts whose own clocks differ are listed in
 * the order in which they were made.
 *
 * Ids ascend from the first call on as long as all calls tell of one clock; those from before, by the host's own clock,
 * are in no row. A call that says over a second less than the last id tells of another server with another clock. Then
 * ids go back to its time, as do the ids of all other processes, and the times that the server writes into rows.
 */
void id_follow_clock(int64_t shared_now);

/* The canonical text: 8-4-4-4-12 lower-case hexadecimal digits. */
void id_format(struct id id, char text_out[ID_TEXT_BYTES]);
const char *id_text(struct arena *arena, struct id id);

/* 32 lower-case hexadecimal digits without hyphens: the form used in file names. */
void id_hex(struct id id, char text_out[ID_HEX_BYTES]);

/*
 * Reads the canonical lower-case text and nothing else. Any UUID version is accepted. False leaves *id_out untouched.
 */
bool id_parse(const char *text, struct id *id_out);

/*
 * Reads an id that a client or an operator gives, like id_parse(). The nil UUID becomes the max UUID (RFC 9562,
 * sections 5.9 and 5.10), which nobody has either. The service takes the nil UUID for "none was given", and what was
 * given must never mean that: a filter would let everything pass, and a request about one thing would be about all.
 */
bool id_parse_given(const char *text, struct id *id_out);

bool id_equal(struct id a, struct id b);

/* When an id of id_new() was made, in milliseconds since 1970. */
int64_t id_time(struct id id);

/* The least id of a millisecond since 1970; before 1970 the least of all, after the year 10889 the least of its end. */
struct id id_first_at(int64_t milliseconds);

/* The all-zero id, which id_new() never makes: "none". */
static const struct id id_none = {{0}};
bool id_is_none(struct id id);

#endif
