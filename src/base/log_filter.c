/* SPDX-License-Identifier: MIT */
/* Reads the filter of the log (docs/api.md) in one pass from left to right, without patterns. */
#include "base/log.h"

#include <string.h>

#include "base/limits.h"

/* Longer than the name of any module or level. */
#define WORD_BYTES 16

static bool is_blank(char character)
{
    return character == ' ' || character == '\t';
}

/* The bytes between `start` and `end` without blanks around them, cut when too long; false when nothing is left. */
static bool read_word(const char *start, const char *end, char word[WORD_BYTES])
{
    while (start < end && is_blank(*start))
        start++;
    while (end > start && is_blank(end[-1]))
        end--;
    size_t length = (size_t)(end - start);
    if (length == 0)
        return false;
    /* A word that was cut is still longer than any known one, and so unknown. */
    length = length < WORD_BYTES ? length : WORD_BYTES - 1;
    memcpy(word, start, length);
    word[length] = '\0';
    return true;
}

static enum log_filter_result read_entry(const char *start, const char *end, struct log_levels *levels)
{
    char name[WORD_BYTES];
    char text[WORD_BYTES];
    enum log_module module = LOG_MODULE_COUNT;
    enum log_level level;
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (equals == NULL || !read_word(start, equals, name) || !read_word(equals + 1, end, text))
        return LOG_FILTER_SYNTAX;
    bool all = strcmp(name, "*") == 0;
    if (!all && !log_module_parse(name, &module))
        return LOG_FILTER_MODULE;
    if (!log_level_parse(text, &level))
        return LOG_FILTER_LEVEL;
    for (int i = 0; i < LOG_MODULE_COUNT; i++)
        if (all || i == (int)module)
            levels->of[i] = level;
    return LOG_FILTER_GOOD;
}

enum log_filter_result log_levels_read(enum log_level level, const char *filter, struct log_levels *levels_out)
{
    struct log_levels levels;
    for (int i = 0; i < LOG_MODULE_COUNT; i++)
        levels.of[i] = level;
    if (strlen(filter) > LIMIT_LOG_FILTER_BYTES)
        return LOG_FILTER_TOO_LONG;
    const char *at = filter + strspn(filter, " \t");
    for (bool more = *at != '\0'; more;) {
        const char *end = at + strcspn(at, ",");
        enum log_filter_result result = read_entry(at, end, &levels);
        if (result != LOG_FILTER_GOOD)
            return result;
        more = *end == ',';
        at = end + more;
    }
    *levels_out = levels;
    return LOG_FILTER_GOOD;
}

const char *log_filter_sentence(enum log_filter_result result)
{
    switch (result) {
    case LOG_FILTER_GOOD:
        break;
    case LOG_FILTER_TOO_LONG:
        return "is too long";
    case LOG_FILTER_SYNTAX:
        return "must be a list such as *=warn,files=debug";
    case LOG_FILTER_MODULE:
        return "names a module that there is not";
    case LOG_FILTER_LEVEL:
        return "names a level that there is not";
    }
    return NULL;
}
