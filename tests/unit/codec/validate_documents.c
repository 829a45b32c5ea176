/* SPDX-License-Identifier: MIT */
/*
 * Reads texts, one a line as hexadecimal digits, and answers each with a line: "good" or the code of the
 * first fault. compare-documents feeds it and compares with a reader of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/document.h"
#include "codec/encoding.h"

int main(void)
{
    struct arena *arena = arena_new();
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        unsigned char *bytes;
        size_t count;
        if (line[length - 1] == '\n')
            length--;
        if (!hex_decode(arena, line, (size_t)length, &bytes, &count))
            return 2;
        struct document *document = NULL;
        struct error *error = document_parse(arena, (const char *)bytes, count, &document);
        (void)puts(error == NULL ? "good" : error->entries->code);
        arena_reset(arena);
    }
    free(line);
    arena_free(&arena);
    return 0;
}
