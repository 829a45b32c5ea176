/* SPDX-License-Identifier: MIT */
/*
 * All rows of the database as SQL text, and back.
 *
 * The text is what the `mariadb` client loads as well: comments, CREATE TABLE and INSERT INTO, each a line of its own.
 * Text is quoted, bytes are hexadecimal, generated columns are left to the server. The last line is a comment that says
 * how much there is, so that a cut text is not taken for a whole one. Rows are written as they come, never gathered.
 */
#ifndef GATEHOUSE_STORE_DATABASE_DUMP_H
#define GATEHOUSE_STORE_DATABASE_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct database;
struct error;

/* A line that is read back; those written stay under DUMP_LINE_BYTES / 16 but for a single row that is longer. */
#define DUMP_LINE_BYTES ((size_t)16 * 1024 * 1024)

struct dump_writer {
    /* Takes the next bytes of the text. */
    struct error *(*write)(void *context, const char *bytes, size_t length);
    void *context;
};

/*
 * Makes the handle's transactions from now on see one moment only (REPEATABLE READ). Call it outside one; dump_write()
 * fails where the connection was replaced since.
 */
struct error *dump_prepare(struct database *database, struct arena *arena);

/*
 * Writes the tables of the selected database; part of a transaction, whose one moment is that of its first read.
 * Tables named in `without_rows` (ended by NULL) are written without their rows. schema_migration is the last one.
 */
struct error *dump_write(struct database *database, struct arena *arena, const char *const *without_rows,
                         const struct dump_writer *writer, uint64_t *rows_out);

/*
 * Loads such a text into the selected database, which has none of its tables. Lines of any other kind are refused. It
 * commits as it goes: where it fails, drop the tables and begin again.
 */
struct error *dump_load(struct database *database, struct arena *arena, FILE *text, uint64_t *rows_out);

/* Names of the tables there are, ended by NULL; *count_out without that. */
struct error *dump_tables(struct database *database, struct arena *arena, const char ***names_out, size_t *count_out);

/* Drops a table of that name. */
struct error *dump_drop(struct database *database, struct arena *arena, const char *name);

/* Makes an empty table of that name, a mark for whoever looks at the database. `comment` must hold no quotes or backslashes. */
struct error *dump_mark(struct database *database, struct arena *arena, const char *name, const char *comment);

/* The comment of the table of that name; *comment_out is NULL when there is no such table. */
struct error *dump_find_mark(struct database *database, struct arena *arena, const char *name,
                             const char **comment_out);

#endif
