/* SPDX-License-Identifier: MIT */
/* Decides which characters of a text can be seen. */
#include "codec/visible.h"

#include <stddef.h>
#include <string.h>
#include <unictype.h>

#include "base/arena.h"
#include "base/text.h"

/* Looks like nothing, though Unicode calls these three symbols or letters. */
#define BRAILLE_BLANK 0x2800
#define NULL_NOTEHEAD 0x1d159
#define OBJECT_REPLACEMENT 0xfffc

bool visible_code_point(uint32_t code_point)
{
    if (code_point < 0x80)
        return code_point > ' ' && code_point < 0x7f;
    if (code_point == BRAILLE_BLANK || code_point == NULL_NOTEHEAD || code_point == OBJECT_REPLACEMENT)
        return false;
    return !uc_is_general_category_withtable(code_point, UC_CATEGORY_MASK_C | UC_CATEGORY_MASK_Z) &&
           !uc_is_property_default_ignorable_code_point(code_point);
}

bool visible_text(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t left = strlen(text), step; left > 0; left -= step, bytes += step) {
        uint32_t code_point = 0;
        step = utf8_next(bytes, left, &code_point);
        if (step > 0 && visible_code_point(code_point))
            return true;
        step = step > 0 ? step : 1;
    }
    return false;
}

const char *visible_copy(struct arena *arena, const char *text, size_t characters)
{
    const unsigned char *bytes = (const unsigned char *)text;
    struct buffer copy;
    size_t seen = 0;
    buffer_init(&copy, arena);
    for (size_t left = strlen(text), step; left > 0 && seen < characters; left -= step, bytes += step) {
        uint32_t code_point = 0;
        step = utf8_next(bytes, left, &code_point);
        bool kept = step > 0 && (visible_code_point(code_point) || (code_point == ' ' && seen > 0));
        if (kept)
            buffer_add(&copy, bytes, step);
        seen += kept ? 1 : 0;
        step = step > 0 ? step : 1;
    }
    while (copy.length > 0 && copy.bytes[copy.length - 1] == ' ')
        copy.bytes[--copy.length] = '\0';
    return copy.length > 0 ? copy.bytes : NULL;
}
