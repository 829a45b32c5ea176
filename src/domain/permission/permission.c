/* SPDX-License-Identifier: MIT */
/*
 * Permission patterns. One reader splits a pattern into slices; everything else compares slices. The header has the
 * grammar.
 *
 * Why covering needs no union of patterns: there are infinitely many names, so no finite set of patterns with concrete
 * modules covers every module (and likewise for areas), and the three levels include one another. So a set covers a
 * candidate exactly when a single pattern of the set covers it.
 */
#include "domain/permission/permission.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"

static bool is_name_start(char character)
{
    return character >= 'a' && character <= 'z';
}

static bool is_name_character(char character)
{
    return is_name_start(character) || (character >= '0' && character <= '9') || character == '-';
}

/* Reads a name or `*` that a colon ends; the place after the colon, NULL when there is none. */
static const char *read_name(const char *at, const char **name_out, size_t *length_out)
{
    if (at[0] == '*' && at[1] == ':') {
        *name_out = NULL;
        *length_out = 0;
        return at + 2;
    }
    if (!is_name_start(*at))
        return NULL;
    const char *start = at;
    while (is_name_character(*at))
        at++;
    if (*at != ':')
        return NULL;
    *name_out = start;
    *length_out = (size_t)(at - start);
    return at + 1;
}

static enum permission_level level_of(char letter)
{
    switch (letter) {
    case 'a':
        return PERMISSION_ADMIN;
    case 'w':
        return PERMISSION_WRITE;
    case 'r':
        return PERMISSION_READ;
    default:
        return PERMISSION_NOTHING;
    }
}

/* The form `rwx:*`, in a text with something before its first colon: distinct letters, so at most three. */
static bool parse_two_part(const char *text, struct permission *permission_out)
{
    enum permission_level level = PERMISSION_NOTHING;
    size_t length = 0;
    for (; text[length] != ':'; length++) {
        char letter = text[length];
        if (letter != 'r' && letter != 'w' && letter != 'x')
            return false;
        if (memchr(text, letter, length) != NULL)
            return false;
        if (level_of(letter) > level)
            level = level_of(letter);
    }
    if (strcmp(text + length, ":*") != 0)
        return false;
    *permission_out = (struct permission){.level = level};
    return true;
}

bool permission_parse(const char *text, struct permission *permission_out)
{
    struct permission permission;
    const char *at = read_name(text, &permission.module, &permission.module_length);
    if (at == NULL)
        return false;
    at = read_name(at, &permission.area, &permission.area_length);
    if (at == NULL)
        return parse_two_part(text, permission_out);
    permission.level = level_of(at[0]);
    if (permission.level == PERMISSION_NOTHING || at[1] != '\0')
        return false;
    *permission_out = permission;
    return true;
}

bool permission_parse_concrete(const char *text, struct permission *permission_out)
{
    struct permission permission;
    if (!permission_parse(text, &permission) || permission.module == NULL || permission.area == NULL)
        return false;
    *permission_out = permission;
    return true;
}

bool permission_valid(const char *text)
{
    struct permission permission;
    return strnlen(text, LIMIT_PERMISSION_BYTES + 1) <= LIMIT_PERMISSION_BYTES && permission_parse(text, &permission);
}

/* Whether the pattern's name (NULL: every name) includes the other's (NULL: every name). */
static bool name_includes(const char *pattern, size_t pattern_length, const char *name, size_t length)
{
    if (pattern == NULL)
        return true;
    return name != NULL && pattern_length == length && memcmp(pattern, name, length) == 0;
}

/* Whether everything `narrow` grants is granted by `wide`. */
static bool includes(const struct permission *wide, const struct permission *narrow)
{
    return wide->level >= narrow->level &&
           name_includes(wide->module, wide->module_length, narrow->module, narrow->module_length) &&
           name_includes(wide->area, wide->area_length, narrow->area, narrow->area_length);
}

bool permission_matches(const struct permission *held, const struct permission *required)
{
    return includes(held, required);
}

bool permission_grants(const char *held, const char *required)
{
    struct permission wide;
    struct permission narrow;
    return permission_parse_concrete(required, &narrow) && permission_parse(held, &wide) && includes(&wide, &narrow);
}

bool permission_covers(const struct text_list *held, const char *candidate)
{
    struct permission narrow;
    if (!permission_parse(candidate, &narrow))
        return false;
    if (narrow.level == PERMISSION_NOTHING)
        return true;
    for (size_t i = 0; i < held->count; i++) {
        struct permission wide;
        if (permission_parse(held->items[i], &wide) && includes(&wide, &narrow))
            return true;
    }
    return false;
}

struct text_list permission_words(struct arena *arena, const char *field)
{
    struct text_list words = {NULL, 0};
    if (field == NULL || field[0] == '\0')
        return words;
    size_t count = 1;
    for (const char *at = field; *at != '\0'; at++)
        count += *at == ' ';
    words.items = arena_array(arena, count, sizeof *words.items);

    const char *start = field;
    for (const char *at = field;; at++) {
        /* A separator has a character that is no blank on either side. */
        bool separator = *at == ' ' && at > start && at[-1] != ' ' && at[1] != ' ' && at[1] != '\0';
        if (*at != '\0' && !separator)
            continue;
        words.items[words.count++] = arena_copy(arena, start, (size_t)(at - start));
        if (*at == '\0')
            return words;
        start = at + 1;
    }
}
