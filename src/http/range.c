/* SPDX-License-Identifier: MIT */
/* Reads ranges and conditions and decides what a download answers. */
#include "http/range.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/*
 * Reads 1*DIGIT at *at. A number too large for 64 bits reads as the largest, which lies behind the end of every file.
 */
static bool read_number(const char **at, uint64_t *number_out)
{
    if (!text_is_digit(**at))
        return false;
    uint64_t number = 0;
    for (; text_is_digit(**at); (*at)++) {
        if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(**at - '0'), &number)) {
            *at += strspn(*at, "0123456789");
            number = UINT64_MAX;
            break;
        }
    }
    *number_out = number;
    return true;
}

/* One range-spec as written; `first` is absent in a suffix ("-500"), `last` in an open one ("500-"). */
struct spec {
    bool has_first, has_last;
    uint64_t first, last;
};

static bool read_spec(const char **at, struct spec *spec)
{
    spec->has_first = read_number(at, &spec->first);
    if (**at != '-')
        return false;
    (*at)++;
    spec->has_last = read_number(at, &spec->last);
    if (!spec->has_first)
        return spec->has_last;
    return !spec->has_last || spec->first <= spec->last;
}

/* The only element of a list that may have empty ones (RFC 9110, section 5.6.1). False unless there is exactly one. */
static bool read_only_spec(const char *at, struct spec *spec)
{
    bool found = false;
    for (;;) {
        at += strspn(at, " \t,");
        if (*at == '\0')
            return found;
        if (found || !read_spec(&at, spec))
            return false;
        found = true;
        at = skip_blanks(at);
        if (*at != ',' && *at != '\0')
            return false;
    }
}

static enum range_result apply(const struct spec *spec, uint64_t size, struct range *range_out)
{
    if (!spec->has_first) {
        if (spec->last == 0)
            return RANGE_UNSATISFIABLE;
        if (size == 0)
            return RANGE_NONE; /* satisfiable, but no Content-Range can express it */
        *range_out = (struct range){spec->last >= size ? 0 : size - spec->last, size - 1};
        return RANGE_OK;
    }
    if (spec->first >= size)
        return RANGE_UNSATISFIABLE;
    *range_out = (struct range){spec->first, spec->has_last && spec->last < size ? spec->last : size - 1};
    return RANGE_OK;
}

/* The text behind "bytes=" in any case; NULL where the header has another unit. */
static const char *behind_unit(const char *header)
{
    static const char unit[] = "bytes=";
    for (size_t i = 0; i < sizeof unit - 1; i++)
        if (text_lower(header[i]) != unit[i])
            return NULL;
    return header + sizeof unit - 1;
}

bool range_is_plain(const char *header)
{
    enum { DIGITS_MAX = 18 };
    const char *at = header == NULL ? NULL : behind_unit(header);
    if (at == NULL)
        return false;
    size_t first = strspn(at, "0123456789");
    if (at[first] != '-')
        return false;
    size_t last = strspn(at + first + 1, "0123456789");
    return at[first + 1 + last] == '\0' && first + last > 0 && first <= DIGITS_MAX && last <= DIGITS_MAX;
}

enum range_result range_parse(const char *header, uint64_t size, struct range *range_out)
{
    if (header == NULL)
        return RANGE_NONE;
    header = behind_unit(skip_blanks(header));
    struct spec spec = {0};
    return header != NULL && read_only_spec(header, &spec) ? apply(&spec, size, range_out) : RANGE_NONE;
}

char *range_format(struct arena *arena, const struct range *range, uint64_t size)
{
    if (range == NULL)
        return arena_format(arena, "bytes */%" PRIu64, size);
    return arena_format(arena, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range->first, range->last, size);
}

/* Length of the opaque-tag at `at`, its quotes included (RFC 9110, section 8.8.3); 0 where there is none. */
static size_t opaque_length(const char *at)
{
    if (*at != '"')
        return 0;
    size_t length = 1;
    while ((unsigned char)at[length] > 0x20 && at[length] != 0x7f && at[length] != '"')
        length++;
    return at[length] == '"' ? length + 1 : 0;
}

/* Reads an entity-tag at *at and returns whether it is `etag`; a weak tag matches only in a `weak` comparison. */
static bool read_tag(const char **at, const char *etag, bool weak, bool *matches_out)
{
    bool is_weak = (*at)[0] == 'W' && (*at)[1] == '/';
    const char *opaque = *at + (is_weak ? 2 : 0);
    size_t length = opaque_length(opaque);
    if (length == 0)
        return false;
    *at = opaque + length;
    *matches_out = (weak || !is_weak) && strlen(etag) == length && memcmp(opaque, etag, length) == 0;
    return true;
}

bool range_names(const char *value, const char *etag, bool weak)
{
    const char *at = skip_blanks(value);
    if (*at == '*')
        return *skip_blanks(at + 1) == '\0';
    bool named = false;
    for (;;) {
        at += strspn(at, " \t,");
        if (*at == '\0')
            return named;
        bool matches;
        if (!read_tag(&at, etag, weak, &matches))
            return false;
        named = named || matches;
        at = skip_blanks(at);
        if (*at != ',' && *at != '\0')
            return false;
    }
}

bool range_tags_strong(const char *value)
{
    const char *at = skip_blanks(value);
    if (*at == '*')
        return *skip_blanks(at + 1) == '\0';
    for (bool any = false;; any = true) {
        at += strspn(at, " \t,");
        if (*at == '\0')
            return any;
        size_t length = opaque_length(at);
        at = skip_blanks(at + length);
        if (length == 0 || (*at != ',' && *at != '\0'))
            return false;
    }
}

/* If-Range is one tag, compared strongly, or a date, which never matches without a Last-Modified. */
static bool range_holds(const char *if_range, const char *etag)
{
    if (if_range == NULL)
        return true;
    const char *at = skip_blanks(if_range);
    bool matches;
    return read_tag(&at, etag, false, &matches) && *skip_blanks(at) == '\0' && matches;
}

enum range_answer range_decide(const struct range_conditions *conditions, bool get, const char *etag, uint64_t size,
                               struct range *range_out)
{
    if (conditions->if_match != NULL && !range_names(conditions->if_match, etag, false))
        return RANGE_ANSWER_FAILED;
    if (conditions->if_none_match != NULL && range_names(conditions->if_none_match, etag, true))
        return RANGE_ANSWER_NOT_MODIFIED;
    if (!get || !range_holds(conditions->if_range, etag))
        return RANGE_ANSWER_WHOLE;
    switch (range_parse(conditions->range, size, range_out)) {
    case RANGE_OK:
        return RANGE_ANSWER_PART;
    case RANGE_UNSATISFIABLE:
        return RANGE_ANSWER_UNSATISFIABLE;
    case RANGE_NONE:
        break;
    }
    return RANGE_ANSWER_WHOLE;
}
