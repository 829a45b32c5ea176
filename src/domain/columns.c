/* SPDX-License-Identifier: MIT */
/* Reads columns that several kinds of rows share from a result. */
#include "domain/columns_int.h"

#include <string.h>

#include "base/arena.h"

const char *columns_permission(struct arena *arena, const struct rows *rows, size_t row, size_t column)
{
    size_t length = 0;
    if (rows_is_null(rows, row, column))
        return NULL;
    const char *bytes = rows_bytes(rows, row, column, &length);
    if (memchr(bytes, '\0', length) == NULL)
        return rows_text(rows, row, column);
    char *text = arena_copy(arena, bytes, length);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = '\x01';
    return text;
}

int columns_word_index(const char *const *words, const char *word)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}
