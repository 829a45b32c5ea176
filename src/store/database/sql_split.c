/* SPDX-License-Identifier: MIT */
/*
 * Cuts SQL into statements. It knows just enough of MariaDB's lexical rules to find the semicolons that end one: quotes
 * ('…', "…" with backslash escapes, `…`), and the three kinds of comment. Executable comments, which begin with ! or
 * M!, are code.
 */
#include "store/database/sql_split_int.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

struct scanner {
    const char *text;
    size_t length;
    size_t at;
};

static bool starts(const struct scanner *scanner, const char *with)
{
    size_t length = strlen(with);
    return scanner->length - scanner->at >= length && memcmp(scanner->text + scanner->at, with, length) == 0;
}

static bool blank(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

/* "-- " needs the blank: 5--1 is arithmetic. */
static bool line_comment(const struct scanner *scanner)
{
    if (starts(scanner, "#"))
        return true;
    return starts(scanner, "--") && (scanner->length - scanner->at == 2 || blank(scanner->text[scanner->at + 2]));
}

static bool block_comment(const struct scanner *scanner)
{
    return starts(scanner, "/*") && !starts(scanner, "/*!") && !starts(scanner, "/*M!");
}

/* Steps over a comment or quote that begins here. False when it does not end. */
static bool skip_to(struct scanner *scanner, size_t opening, const char *closing)
{
    scanner->at += opening;
    while (scanner->at < scanner->length && !starts(scanner, closing))
        scanner->at++;
    if (scanner->at == scanner->length)
        return false;
    scanner->at += strlen(closing);
    return true;
}

/* A doubled quote ends one quoted text and begins the next; the result is the same. */
static bool skip_quoted(struct scanner *scanner)
{
    char quote = scanner->text[scanner->at++];
    while (scanner->at < scanner->length && scanner->text[scanner->at] != quote) {
        bool escape = quote != '`' && scanner->text[scanner->at] == '\\';
        scanner->at += escape && scanner->at + 1 < scanner->length ? 2 : 1;
    }
    if (scanner->at >= scanner->length)
        return false;
    scanner->at++;
    return true;
}

/* Steps over what begins here: a comment, a quoted text, or one character. */
static bool skip_one(struct scanner *scanner)
{
    char character = scanner->text[scanner->at];
    if (line_comment(scanner)) {
        if (!skip_to(scanner, 1, "\n"))
            scanner->at = scanner->length;
        return true;
    }
    if (starts(scanner, "/*"))
        return skip_to(scanner, 2, "*/");
    if (character == '\'' || character == '"' || character == '`')
        return skip_quoted(scanner);
    scanner->at++;
    return true;
}

static unsigned line_at(const char *text, size_t offset)
{
    unsigned line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

/* The next statement; its length is 0 at the end. */
static bool next_piece(struct scanner *scanner, struct sql_piece *piece)
{
    while (scanner->at < scanner->length && (blank(scanner->text[scanner->at]) || scanner->text[scanner->at] == ';' ||
                                             line_comment(scanner) || block_comment(scanner)))
        if (!skip_one(scanner))
            return false;
    size_t start = scanner->at;
    while (scanner->at < scanner->length && scanner->text[scanner->at] != ';')
        if (!skip_one(scanner))
            return false;
    size_t end = scanner->at;
    while (end > start && blank(scanner->text[end - 1]))
        end--;
    *piece = (struct sql_piece){.text = scanner->text + start, .length = end - start};
    piece->line = line_at(scanner->text, start);
    return true;
}

struct error *sql_split(struct arena *arena, const char *text, size_t length, struct sql_piece **pieces_out,
                        size_t *count_out)
{
    size_t most = 1;
    for (size_t i = 0; i < length; i++)
        most += text[i] == ';';
    struct sql_piece *pieces = arena_array(arena, most, sizeof *pieces);
    struct scanner scanner = {.text = text, .length = length};
    *count_out = 0;
    for (;;) {
        size_t before = scanner.at;
        struct sql_piece piece;
        if (!next_piece(&scanner, &piece))
            return error_new(arena, ERROR_INTERNAL, "a quote or comment after line %u does not end",
                             line_at(text, before));
        if (piece.length == 0)
            break;
        pieces[(*count_out)++] = piece;
    }
    *pieces_out = pieces;
    return NULL;
}
