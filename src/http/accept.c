/* SPDX-License-Identifier: MIT */
/* Reads the header Accept: media ranges with qualities, separated by commas. */
#include "http/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define BLANKS " \t"

/* One element of the header: a media range, and its quality in thousandths. */
struct range {
    const char *text;
    size_t length;
    int quality;
};

/* How exactly a range names a type. */
enum fit { FIT_NOT, FIT_ANY, FIT_FAMILY, FIT_EXACT };

struct rating {
    enum fit fit;
    int quality;
};

/* The end of the part that begins at `at`: one of `ends` outside of quotes, or the end of the text. */
static const char *part_end(const char *at, const char *ends)
{
    bool quoted = false;
    for (; *at != '\0'; at++) {
        if (quoted && *at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && strchr(ends, *at) != NULL)
            break;
    }
    return at;
}

/* A quality in thousandths (RFC 9110, section 12.4.2); -1: it has another form. */
static int read_quality(const char *at, size_t length)
{
    if (length == 0 || length > 5 || (at[0] != '0' && at[0] != '1') || (length > 1 && at[1] != '.'))
        return -1;
    int thousandths = (at[0] - '0') * 1000;
    int unit = 100;
    for (size_t i = 2; i < length; i++, unit /= 10) {
        if (!text_is_digit(at[i]))
            return -1;
        thousandths += (at[i] - '0') * unit;
    }
    return thousandths <= 1000 ? thousandths : -1;
}

static size_t trimmed(const char *text, const char *end)
{
    while (end > text && strchr(BLANKS, end[-1]) != NULL)
        end--;
    return (size_t)(end - text);
}

/* Reads an element up to `end`. False: it has no quality that can be read. */
static bool read_range(const char *at, const char *end, struct range *range_out)
{
    const char *stop = part_end(at, ";,");
    *range_out = (struct range){.text = at, .length = trimmed(at, stop), .quality = 1000};
    while (stop < end) {
        at = stop + 1;
        at += strspn(at, BLANKS);
        stop = part_end(at, ";,");
        if (strncasecmp(at, "q=", 2) == 0)
            range_out->quality = read_quality(at + 2, trimmed(at + 2, stop));
    }
    return range_out->quality >= 0;
}

static enum fit fit_of(const struct range *range, const char *type)
{
    size_t family = (size_t)(strchr(type, '/') - type) + 1;
    if (range->length == 3 && memcmp(range->text, "*/*", 3) == 0)
        return FIT_ANY;
    if (range->length == family + 1 && strncasecmp(range->text, type, family) == 0 && range->text[family] == '*')
        return FIT_FAMILY;
    return range->length == strlen(type) && strncasecmp(range->text, type, range->length) == 0 ? FIT_EXACT : FIT_NOT;
}

static struct rating rate(const char *header, const char *type)
{
    struct rating rating = {FIT_NOT, 0};
    const char *end;
    for (const char *at = header; *at != '\0'; at = *end == '\0' ? end : end + 1) {
        struct range range;
        at += strspn(at, BLANKS);
        end = part_end(at, ",");
        if (!read_range(at, end, &range))
            continue;
        enum fit fit = fit_of(&range, type);
        if (fit > rating.fit || (fit != FIT_NOT && fit == rating.fit && range.quality > rating.quality))
            rating = (struct rating){fit, range.quality};
    }
    return rating;
}

size_t accept_choose(const char *header, const char *const *types, size_t count)
{
    size_t best = 0;
    struct rating best_rating = {FIT_NOT, 0};
    for (size_t i = 0; header != NULL && i < count; i++) {
        struct rating rating = rate(header, types[i]);
        if (rating.quality > best_rating.quality ||
            (rating.quality > 0 && rating.quality == best_rating.quality && rating.fit > best_rating.fit)) {
            best = i;
            best_rating = rating;
        }
    }
    return best;
}
