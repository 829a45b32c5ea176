/* SPDX-License-Identifier: MIT */
/* Reads language tags subtag by subtag, in the order of the grammar of RFC 5646, section 2.1. */
#include "codec/language_tag.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"

/* Of LANGUAGE_TAG_BYTES: each has a character and a hyphen at least. */
#define SUBTAGS_MAX 18

struct subtag {
    char *at;
    size_t length;
};

struct tag {
    struct subtag subtags[SUBTAGS_MAX];
    size_t count;
    size_t next; /* the first that is not read yet */
};

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_all(const struct subtag *subtag, bool (*is)(char))
{
    for (size_t i = 0; i < subtag->length; i++)
        if (!is(subtag->at[i]))
            return false;
    return true;
}

/* Splits the text, which it changes to small letters. False where a subtag is empty, too long or has another sign. */
static bool split(char *text, struct tag *tag)
{
    *tag = (struct tag){.subtags = {{text, 0}}, .count = 1};
    for (char *c = text; *c != '\0'; c++) {
        struct subtag *last = &tag->subtags[tag->count - 1];
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
        if (*c == '-' && (last->length == 0 || tag->count == SUBTAGS_MAX))
            return false;
        if (*c == '-')
            tag->subtags[tag->count++] = (struct subtag){c + 1, 0};
        else if ((!is_letter(*c) && !is_digit(*c)) || ++last->length > 8)
            return false;
    }
    return tag->subtags[tag->count - 1].length > 0;
}

/* The next subtag where it has so many characters of that kind; NULL: it is something else, or there is none. */
static struct subtag *take(struct tag *tag, size_t length, bool (*is)(char))
{
    struct subtag *subtag = &tag->subtags[tag->next];
    if (tag->next == tag->count || subtag->length != length || !is_all(subtag, is))
        return NULL;
    tag->next++;
    return subtag;
}

static void raise(struct subtag *subtag, size_t count)
{
    for (size_t i = 0; i < count && i < subtag->length; i++)
        if (is_letter(subtag->at[i]))
            subtag->at[i] = (char)(subtag->at[i] - ('a' - 'A'));
}

/* Whether one of the subtags from `first` up to the one before the next is the same. */
static bool is_repeated(const struct tag *tag, size_t first, size_t length)
{
    const struct subtag *subtag = &tag->subtags[tag->next];
    for (size_t i = first; i < tag->next; i++)
        if (tag->subtags[i].length == length && memcmp(tag->subtags[i].at, subtag->at, length) == 0)
            return true;
    return false;
}

/* Five to eight characters, or four of which the first is a digit; none twice. */
static bool take_variants(struct tag *tag)
{
    size_t first = tag->next;
    for (; tag->next < tag->count; tag->next++) {
        const struct subtag *subtag = &tag->subtags[tag->next];
        if (subtag->length < 4 || (subtag->length == 4 && !is_digit(subtag->at[0])))
            return true;
        if (is_repeated(tag, first, subtag->length))
            return false;
    }
    return true;
}

/* A single character other than x, none twice, each with subtags of two to eight characters. */
static bool take_extensions(struct tag *tag)
{
    size_t first = tag->next;
    while (tag->next < tag->count) {
        const struct subtag *singleton = &tag->subtags[tag->next];
        if (singleton->length != 1 || singleton->at[0] == 'x' || is_repeated(tag, first, 1))
            return false;
        size_t after = ++tag->next;
        while (tag->next < tag->count && tag->subtags[tag->next].length > 1)
            tag->next++;
        if (tag->next == after)
            return false;
    }
    return true;
}

const char *language_tag_canonical(struct arena *arena, const char *text)
{
    struct tag tag;
    struct subtag *found;
    if (strlen(text) > LANGUAGE_TAG_BYTES)
        return NULL;
    char *copy = arena_text(arena, text);
    if (!split(copy, &tag) || (take(&tag, 2, is_letter) == NULL && take(&tag, 3, is_letter) == NULL))
        return NULL;
    (void)take(&tag, 3, is_letter); /* a language that belongs to the first: zh-yue */
    if ((found = take(&tag, 4, is_letter)) != NULL)
        raise(found, 1);
    if ((found = take(&tag, 2, is_letter)) != NULL)
        raise(found, 2);
    else
        (void)take(&tag, 3, is_digit);
    return take_variants(&tag) && take_extensions(&tag) ? copy : NULL;
}
