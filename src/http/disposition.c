/* SPDX-License-Identifier: MIT */
/* Cleans file names and writes the Content-Disposition of downloads. */
#include "http/disposition.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "codec/encoding.h"

/* Controls, line separators, and invisible characters that change the order of the text (Unicode Bidi_Control). */
static bool is_unwanted(uint32_t code_point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c}, {0x200e, 0x200f},
        {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code_point >= ranges[i].first && code_point <= ranges[i].last)
            return true;
    return false;
}

static const char *behind_path(const char *text)
{
    const char *name = text;
    for (; *text != '\0'; text++)
        if (*text == '/' || *text == '\\')
            name = text + 1;
    return name;
}

char *disposition_clean_name(struct arena *arena, const char *raw)
{
    if (raw == NULL || !utf8_valid(raw, strlen(raw)))
        return NULL;
    const unsigned char *from = (const unsigned char *)behind_path(raw);
    size_t left = strlen((const char *)from);
    struct buffer cleaned;
    buffer_init(&cleaned, arena);
    while (left > 0) {
        uint32_t code_point = 0;
        size_t step = utf8_next(from, left, &code_point);
        if (!is_unwanted(code_point))
            buffer_add(&cleaned, from, step);
        from += step;
        left -= step;
    }
    char *name = cleaned.bytes + strspn(cleaned.bytes, " ");
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == ' ')
        name[--length] = '\0';
    return strspn(name, ".") == length ? NULL : name;
}

/*
 * The name that clients show which know `filename` only: RFC 6266, appendix D. It holds no byte that ends the quotes.
 */
static void add_stand_in(struct buffer *value, const char *name)
{
    for (; *name != '\0'; name++) {
        unsigned char byte = (unsigned char)*name;
        if (byte >= 0x80 && byte < 0xc0)
            continue; /* one '_' a character, for its first byte */
        bool plain = byte >= 0x20 && byte < 0x7f && strchr("\"\\%/", byte) == NULL;
        buffer_add_char(value, plain ? (char)byte : '_');
    }
}

char *disposition_format(struct arena *arena, bool show_inline, const char *name)
{
    struct buffer value;
    buffer_init(&value, arena);
    buffer_add_text(&value, show_inline ? "inline" : "attachment");
    if (name == NULL)
        return value.bytes;
    buffer_add_text(&value, "; filename=\"");
    add_stand_in(&value, name);
    buffer_add_text(&value, "\"; filename*=UTF-8''");
    buffer_add_text(&value, percent_encode(arena, name, strlen(name)));
    return value.bytes;
}
