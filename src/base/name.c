/* SPDX-License-Identifier: MIT */
/* Checks names of people and organisations, and makes copies of them that are safe to mail. */
#include "base/name.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

static bool may_stand(uint32_t code_point)
{
    if (code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0))
        return false;
    if ((code_point >= 0x2028 && code_point <= 0x202e) || (code_point >= 0x2066 && code_point <= 0x2069))
        return false;
    return code_point >= 0x80 || strchr(":/\\<>@", (char)code_point) == NULL;
}

/* The character at `text`: its length (at least 1), and whether a name may hold it. */
static size_t next(const char *text, size_t left, bool *good_out)
{
    uint32_t code_point = 0;
    size_t step = utf8_next((const unsigned char *)text, left, &code_point);
    *good_out = step > 0 && may_stand(code_point);
    return step > 0 ? step : 1;
}

bool name_is_good(const char *text)
{
    bool good = true;
    for (size_t left = strlen(text), step; good && left > 0; left -= step, text += step)
        step = next(text, left, &good);
    return good;
}

static bool may_begin_domain(char byte)
{
    return text_is_alpha(byte) || text_is_digit(byte) || (unsigned char)byte >= 0x80;
}

/* Whether there is a dot with two letters behind it, as in names of hosts, and not as in "J.R.R.". */
static bool joins_labels(const char *text)
{
    return text[0] == '.' && may_begin_domain(text[1]) && may_begin_domain(text[2]);
}

const char *name_for_mail(struct arena *arena, const char *text)
{
    struct buffer copy;
    bool good = true;
    buffer_init(&copy, arena);
    buffer_add_text(&copy, "");
    for (size_t left = strlen(text), step; left > 0; left -= step, text += step) {
        step = next(text, left, &good);
        if (good)
            buffer_add(&copy, text, step);
        if (!good || joins_labels(text))
            buffer_add_char(&copy, ' ');
    }
    return copy.bytes;
}
