/* SPDX-License-Identifier: MIT */
/* Reads the value of a Cookie header. */
#include "http/cookie.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"

struct span {
    const char *bytes;
    size_t length;
};

static bool is_blank(char character)
{
    return character == ' ' || character == '\t';
}

static struct span trim(struct span span)
{
    while (span.length > 0 && is_blank(*span.bytes)) {
        span.bytes++;
        span.length--;
    }
    while (span.length > 0 && is_blank(span.bytes[span.length - 1]))
        span.length--;
    return span;
}

/* Whether the pair is the cookie of that name; *value_out is then its value. */
static bool has_name(struct span pair, const char *name, struct span *value_out)
{
    const char *equals = memchr(pair.bytes, '=', pair.length);
    if (equals == NULL)
        return false;
    size_t before = (size_t)(equals - pair.bytes);
    struct span found = trim((struct span){pair.bytes, before});
    *value_out = trim((struct span){equals + 1, pair.length - before - 1});
    return found.length == strlen(name) && memcmp(found.bytes, name, found.length) == 0;
}

enum cookie_result cookie_find(struct arena *arena, const char *header, const char *name, const char **value_out)
{
    enum cookie_result result = COOKIE_NONE;
    struct span value;
    while (header != NULL && *header != '\0') {
        size_t length = strcspn(header, ";");
        if (has_name((struct span){header, length}, name, &value)) {
            if (result != COOKIE_NONE)
                return COOKIE_MANY;
            result = COOKIE_ONE;
            *value_out = arena_copy(arena, value.bytes, value.length);
        }
        header += length + (header[length] == ';');
    }
    return result;
}
