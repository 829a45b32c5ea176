/* SPDX-License-Identifier: MIT */
#include "api/handler/file_cursor_int.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "domain/file/file.h"

static const char *const words[] = {
    [FILE_NEWEST] = "newest", [FILE_OLDEST] = "oldest", [FILE_BY_NAME] = "name", [FILE_LARGEST] = "largest"};

/* The usual order needs no key but the id. */
static bool is_plain(const struct file_filter *filter)
{
    return filter->sort == FILE_NEWEST && !filter->period;
}

static const char *key_of(struct arena *arena, const struct file_filter *filter, const struct file_record *last)
{
    int64_t number = last->size;
    if (filter->sort == FILE_BY_NAME)
        return last->name;
    if (filter->sort != FILE_LARGEST)
        (void)clock_parse(last->created_at, &number);
    return arena_format(arena, "%lld", (long long)number);
}

const char *file_cursor_format(struct arena *arena, const struct file_filter *filter, const struct file_record *last)
{
    const char *id = id_text(arena, last->id);
    if (is_plain(filter))
        return id;
    const char *text = arena_format(arena, "%s %s %s", words[filter->sort], id, key_of(arena, filter, last));
    return base64url_encode(arena, text, strlen(text));
}

/* The word before the next blank, in the arena; *at_out is what follows the blank. NULL: there is no blank. */
static const char *next_word(struct arena *arena, const char *text, const char **at_out)
{
    const char *blank = strchr(text, ' ');
    if (blank == NULL)
        return NULL;
    *at_out = blank + 1;
    return arena_copy(arena, text, (size_t)(blank - text));
}

static bool parse_number(const char *text, int64_t *number_out)
{
    char *end;
    errno = 0;
    *number_out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

bool file_cursor_parse(struct arena *arena, const char *text, struct file_filter *filter)
{
    unsigned char *bytes;
    size_t length;
    if (is_plain(filter))
        return id_parse(text, &filter->before) && !id_is_none(filter->before);
    if (!base64url_decode(arena, text, strlen(text), &bytes, &length) || strlen((char *)bytes) != length ||
        !utf8_valid((char *)bytes, length))
        return false;
    const char *at = (char *)bytes;
    const char *word = next_word(arena, at, &at);
    const char *id = word == NULL ? NULL : next_word(arena, at, &at);
    if (id == NULL || strcmp(word, words[filter->sort]) != 0 || !id_parse(id, &filter->before) ||
        id_is_none(filter->before))
        return false;
    filter->before_name = at;
    return filter->sort == FILE_BY_NAME || parse_number(at, &filter->before_number);
}
