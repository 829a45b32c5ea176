/* SPDX-License-Identifier: MIT */
/* Makes ids (UUID version 7), and writes and reads them as text. */
#include "base/id.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/clock.h"

static const char digits[] = "0123456789abcdef";

/* The time and the counter of the last id. */
struct moment {
    uint64_t milliseconds;
    unsigned counter;
};

static struct moment latest;

struct id id_new(void)
{
    struct id id;
    /* Once the kernel's pool is ready, 16 bytes come whole and uninterrupted (getrandom(2)). */
    if (getrandom(id.bytes, sizeof id.bytes, 0) != (ssize_t)sizeof id.bytes)
        abort();
    uint64_t now = (uint64_t)clock_now();
    if (now > latest.milliseconds)
        latest = (struct moment){now, (unsigned)(id.bytes[6] << 8 | id.bytes[7]) & 0x7ffu};
    else if (++latest.counter > 0xfff)
        latest = (struct moment){latest.milliseconds + 1, 0};
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(latest.milliseconds >> (40 - 8 * i));
    id.bytes[6] = (uint8_t)(0x70 | latest.counter >> 8);
    id.bytes[7] = (uint8_t)latest.counter;
    id.bytes[8] = (uint8_t)(0x80 | (id.bytes[8] & 0x3f));
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

bool id_equal(struct id a, struct id b)
{
    return memcmp(a.bytes, b.bytes, ID_BYTES) == 0;
}

bool id_is_none(struct id id)
{
    static const struct id none;
    return id_equal(id, none);
}
