/* SPDX-License-Identifier: MIT */
/* Finds the language that a person reads among those that there are. */
#include "base/language.h"

#include <string.h>

#define TAG_BYTES 16
#define WEIGHT_FULL 1000

bool language_valid(const char *text)
{
    size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    if (letters < 2 || letters > 3)
        return false;
    if (text[letters] == '\0')
        return true;
    const char *rest = text + letters + 1;
    size_t length = strlen(rest);
    size_t digits = strspn(rest, "0123456789");
    bool region = length == 3 && digits == 3;
    for (size_t i = 0; i < length && !region; i++)
        if (!text_is_alpha(rest[i]))
            return false;
    return text[letters] == '-' && (region || length == 2 || length == 4);
}

/* One element of the header: a tag and its weight in thousandths. */
struct range {
    char tag[TAG_BYTES];
    int weight;
};

/* "0", "0.5", "1.000" in thousandths; anything else is 0, so that the element counts for nothing. */
static int read_weight(const char *text, size_t length)
{
    int weight = 0;
    if (length == 0 || (*text != '0' && *text != '1') || (length > 1 && text[1] != '.') || length > 5)
        return 0;
    weight = (*text - '0') * WEIGHT_FULL;
    int unit = 100;
    for (size_t i = 2; i < length; i++, unit /= 10) {
        if (!text_is_digit(text[i]))
            return 0;
        weight += (text[i] - '0') * unit;
    }
    return weight > WEIGHT_FULL ? 0 : weight;
}

/* Reads the element at `text` and returns where the next one begins; NULL: there is none. */
static const char *next_range(const char *text, struct range *range_out)
{
    text += strspn(text, " \t,");
    if (*text == '\0')
        return NULL;
    size_t element = strcspn(text, ",");
    size_t length = strcspn(text, "; \t,");
    const char *parameter = memchr(text, ';', element);
    *range_out = (struct range){.weight = WEIGHT_FULL};
    if (length < TAG_BYTES)
        for (size_t i = 0; i < length; i++)
            range_out->tag[i] = text_lower(text[i]);
    if (parameter != NULL) {
        const char *value = parameter + 1 + strspn(parameter + 1, " \t");
        bool weighs = strncmp(value, "q=", 2) == 0;
        range_out->weight = weighs ? read_weight(value + 2, strcspn(value + 2, " \t,;")) : 0;
    }
    return text + element;
}

/* How well `available` serves the tag: 3 exactly, 2 as its language, 1 as another form of it, 0 not at all. */
static int fit(const char *available, const char *tag)
{
    size_t language = strcspn(tag, "-");
    size_t own = strcspn(available, "-");
    if (text_equal_ignoring_case(available, tag))
        return 3;
    if (own != language || strncmp(available, tag, language) != 0)
        return 0;
    return available[own] == '\0' ? 2 : 1;
}

const char *language_pick(const struct text_list *available, const char *wanted)
{
    struct range range;
    const char *found = NULL;
    int weight = 0;
    while (wanted != NULL && (wanted = next_range(wanted, &range)) != NULL) {
        int best = 0;
        const char *item = NULL;
        for (size_t i = 0; i < available->count; i++) {
            int how = fit(available->items[i], range.tag);
            item = how > best ? available->items[i] : item;
            best = how > best ? how : best;
        }
        if (item == NULL || range.weight <= weight)
            continue;
        found = item;
        weight = range.weight;
    }
    return found;
}
