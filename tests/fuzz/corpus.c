/* SPDX-License-Identifier: MIT */
/* Reads and writes corpora: text files with one escaped input a line. */
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "codec/encoding.h"

#define CORPUS_INPUTS_MAX 4096

static _Noreturn void give_up(const char *path, size_t line, const char *why)
{
    fprintf(stderr, "%s:%zu: %s\n", path, line, why);
    exit(2);
}

/* Decodes one escape behind its backslash; the number of characters that it takes, 0 when it is none. */
static size_t read_escape(struct arena *arena, const char *text, uint8_t *byte_out)
{
    static const char names[] = "nrt\\";
    static const uint8_t values[] = {'\n', '\r', '\t', '\\'};
    const char *name = *text == '\0' ? NULL : strchr(names, *text);
    if (name != NULL) {
        *byte_out = values[name - names];
        return 1;
    }
    unsigned char *bytes;
    size_t length;
    if (*text != 'x' || strnlen(text + 1, 2) != 2 || !hex_decode(arena, text + 1, 2, &bytes, &length))
        return 0;
    *byte_out = bytes[0];
    return 3;
}

static bool read_line(struct arena *arena, const char *line, struct corpus_input *input)
{
    input->bytes = arena_alloc(arena, strlen(line));
    if (strcmp(line, "\\e") == 0)
        return true;
    for (const char *at = line; *at != '\0';) {
        size_t taken = *at == '\\' ? read_escape(arena, at + 1, &input->bytes[input->size]) : 0;
        if (*at == '\\' && taken == 0)
            return false;
        if (*at != '\\')
            input->bytes[input->size] = (uint8_t)*at;
        input->size++;
        at += 1 + taken;
    }
    return true;
}

struct corpus corpus_read(struct arena *arena, const char *target)
{
    const char *path = arena_format(arena, "%s/tests/fuzz/corpus/%s.txt", GATEHOUSE_TOP_SRCDIR, target);
    struct corpus corpus = {.inputs = arena_array(arena, CORPUS_INPUTS_MAX, sizeof *corpus.inputs)};
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    size_t number = 0;
    if (file == NULL)
        give_up(path, 0, "cannot be opened");
    for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (*line == '\0' || *line == '#')
            continue;
        if (corpus.count == CORPUS_INPUTS_MAX)
            give_up(path, number, "too many inputs");
        corpus.inputs[corpus.count].line = number;
        if (!read_line(arena, line, &corpus.inputs[corpus.count++]))
            give_up(path, number, "a broken escape");
    }
    free(line);
    fclose(file);
    return corpus;
}

void corpus_write_line(FILE *file, const uint8_t *bytes, size_t size)
{
    if (size == 0)
        fputs("\\e", file);
    for (size_t i = 0; i < size; i++) {
        bool starts_comment = i == 0 && bytes[i] == '#';
        if (bytes[i] == '\n')
            fputs("\\n", file);
        else if (bytes[i] == '\r')
            fputs("\\r", file);
        else if (bytes[i] == '\\')
            fputs("\\\\", file);
        else if (bytes[i] < ' ' || bytes[i] > '~' || starts_comment)
            fprintf(file, "\\x%02x", bytes[i]);
        else
            fputc(bytes[i], file);
    }
    fputc('\n', file);
}
