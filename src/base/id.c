/* SPDX-License-Identifier: MIT */
/* Makes ids (UUID version 7), and writes and reads them as text. */
#include "base/id.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/clock.h"

#define TIME_BYTES 6
/* The time of an id counts in parts of a millisecond. */
#define FRACTION_BITS 12
/* How exactly two answers of one server tell its time. What is further back is the time of another server. */
#define SAME_CLOCK_MICROSECONDS 1000000
#define TIME_LAST ((INT64_C(1) << 8 * TIME_BYTES) - 1)

static const char digits[] = "0123456789abcdef";

/* The time of the last id: milliseconds, and in the last FRACTION_BITS bits the fraction. */
static uint64_t latest;

/* What the clock that the hosts share said, and when (clock_monotonic()); `at` is 0: the host's own clock counts. */
static struct {
    int64_t time;
    int64_t at;
} shared_clock;

static uint64_t with_fraction(int64_t microseconds)
{
    uint64_t part = (uint64_t)(microseconds % 1000) << FRACTION_BITS;
    return (uint64_t)(microseconds / 1000) << FRACTION_BITS | part / 1000;
}

void id_follow_clock(int64_t shared_now)
{
    if (shared_clock.at == 0 || latest > with_fraction(shared_now + SAME_CLOCK_MICROSECONDS))
        latest = 0;
    shared_clock.time = shared_now;
    shared_clock.at = clock_monotonic();
}

/* Nobody sets the monotonic clock, so a host whose clock is put right meanwhile does not go wrong here. */
static int64_t time_of_ids(void)
{
    return shared_clock.at == 0 ? clock_now_microseconds() : shared_clock.time + clock_monotonic() - shared_clock.at;
}

/* The first 48 bits, the most significant first. */
static void put_time(struct id *id, uint64_t milliseconds)
{
    for (int i = 0; i < TIME_BYTES; i++)
        id->bytes[i] = (uint8_t)(milliseconds >> (8 * (TIME_BYTES - 1 - i)));
}

struct id id_new(void)
{
    struct id id;
    /* Once the kernel's pool is ready, 16 bytes come whole and uninterrupted (getrandom(2)). */
    if (getrandom(id.bytes, sizeof id.bytes, 0) != (ssize_t)sizeof id.bytes)
        abort();
    uint64_t now = with_fraction(time_of_ids());
    latest = now > latest ? now : latest + 1;
    put_time(&id, latest >> FRACTION_BITS);
    id.bytes[6] = (uint8_t)(0x70 | (latest >> 8 & 0xf));
    id.bytes[7] = (uint8_t)latest;
    id.bytes[8] = (uint8_t)(0x80 | (id.bytes[8] & 0x3f));
    return id;
}

int64_t id_time(struct id id)
{
    int64_t milliseconds = 0;
    for (int i = 0; i < TIME_BYTES; i++)
        milliseconds = milliseconds << 8 | id.bytes[i];
    return milliseconds;
}

struct id id_first_at(int64_t milliseconds)
{
    struct id id = {{0}};
    put_time(&id, (uint64_t)(milliseconds < 0 ? 0 : milliseconds > TIME_LAST ? TIME_LAST : milliseconds));
    return id;
}

void id_hex(struct id id, char text_out[ID_HEX_BYTES])
{
    for (int i = 0; i < ID_BYTES; i++) {
        text_out[2 * i] = digits[id.bytes[i] >> 4];
        text_out[2 * i + 1] = digits[id.bytes[i] & 15];
    }
    text_out[2 * ID_BYTES] = '\0';
}

static bool hyphen_before(int byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void id_format(struct id id, char text_out[ID_TEXT_BYTES])
{
    char *at = text_out;
    for (int i = 0; i < ID_BYTES; i++) {
        if (hyphen_before(i))
            *at++ = '-';
        *at++ = digits[id.bytes[i] >> 4];
        *at++ = digits[id.bytes[i] & 15];
    }
    *at = '\0';
}

const char *id_text(struct arena *arena, struct id id)
{
    char *text = arena_alloc(arena, ID_TEXT_BYTES);
    id_format(id, text);
    return text;
}

static int digit_value(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    return -1;
}

bool id_parse(const char *text, struct id *id_out)
{
    struct id id;
    const char *at = text;
    for (int i = 0; i < ID_BYTES; i++) {
        if (hyphen_before(i) && *at++ != '-')
            return false;
        int high = digit_value(at[0]);
        if (high < 0)
            return false;
        int low = digit_value(at[1]);
        if (low < 0)
            return false;
        id.bytes[i] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    if (*at != '\0')
        return false;
    *id_out = id;
    return true;
}

bool id_parse_given(const char *text, struct id *id_out)
{
    if (!id_parse(text, id_out))
        return false;
    if (id_is_none(*id_out))
        memset(id_out->bytes, 0xff, ID_BYTES);
    return true;
}

bool id_equal(struct id a, struct id b)
{
    return memcmp(a.bytes, b.bytes, ID_BYTES) == 0;
}

bool id_is_none(struct id id)
{
    static const struct id none;
    return id_equal(id, none);
}
