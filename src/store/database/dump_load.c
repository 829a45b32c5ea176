/* SPDX-License-Identifier: MIT */
/* Loads what dump.c has written: line by line, each one statement of one of two kinds. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "store/database/database_int.h"
#include "store/database/dump.h"

struct load {
    struct database *database;
    struct arena *arena;
    uint64_t line;
    uint64_t rows;
    bool ended; /* the last line was read */
    uint64_t promised;
};

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static struct error *refuse(struct load *load, const char *why)
{
    struct error *error = error_new(load->arena, ERROR_INTERNAL, "rows, line %" PRIu64 ": %s", load->line, why);
    return error_message(error, "The rows cannot be loaded: line %" PRIu64 " %s.", load->line, why);
}

/* -- end: 123 rows */
static void read_end(struct load *load, const char *line)
{
    static const char mark[] = "-- end: ";
    if (!begins(line, mark))
        return;
    char *rest;
    load->promised = strtoull(line + sizeof mark - 1, &rest, 10);
    load->ended = strcmp(rest, " rows") == 0;
}

static struct error *run_line(struct load *load, char *line, size_t length)
{
    struct fault fault;
    struct database *database = load->database;
    load->line++;
    if (load->ended)
        return refuse(load, "stands behind the end");
    if (begins(line, "-- ") || begins(line, "SET ")) {
        read_end(load, line);
        return NULL;
    }
    if ((!begins(line, "CREATE TABLE `") && !begins(line, "INSERT INTO `")) || line[length - 1] != ';')
        return refuse(load, "is none that Gatehouse writes");
    if (!connect_ready(database, &fault) || !connection_command(database, line, length - 1, &fault)) {
        fault.text[0] = '\0'; /* the server's message may repeat values */
        return database_failure_error(load->arena, &fault,
                                      arena_format(load->arena, "loading line %" PRIu64, load->line));
    }
    if (line[0] == 'I')
        load->rows += mysql_affected_rows(database->mysql);
    return NULL;
}

static struct error *run_lines(struct load *load, FILE *text, char **line, size_t *capacity)
{
    ssize_t got;
    while ((got = getline(line, capacity, text)) > 0) {
        size_t length = (size_t)got;
        if (length > DUMP_LINE_BYTES || (*line)[length - 1] != '\n' || memchr(*line, '\0', length) != NULL)
            return refuse(load, "is cut, too long or no text");
        (*line)[--length] = '\0';
        if (length > 0)
            TRY(run_line(load, *line, length));
    }
    if (ferror(text) != 0)
        return refuse(load, strerror(errno));
    if (!load->ended || load->promised != load->rows)
        return refuse(load, "is the last, and rows are missing");
    return NULL;
}

struct error *dump_load(struct database *database, struct arena *arena, FILE *text, uint64_t *rows_out)
{
    static const char loose[] = "SET SESSION foreign_key_checks = 0";
    static const char strict[] = "SET SESSION foreign_key_checks = 1";
    struct load load = {.database = database, .arena = arena};
    char *line = NULL;
    size_t capacity = 0;
    TRY(database_execute(database, arena, loose, sizeof loose - 1));
    struct error *error = run_lines(&load, text, &line, &capacity);
    free(line);
    *rows_out = load.rows;
    TRY(error);
    return database_execute(database, arena, strict, sizeof strict - 1);
}
