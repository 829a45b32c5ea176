/* SPDX-License-Identifier: MIT */
/*
 * Writes all rows of the database as SQL text, and loads such a text.
 *
 * The `mariadb` client can load the text too: comments, CREATE TABLE and INSERT INTO, each on a line of its own. Text
 * is quoted, bytes are hexadecimal, and generated columns are left to the server. The last line is a comment with the
 * number of rows, so that a cut text is recognised. Rows are written as they arrive, and never gathered.
 */
#ifndef GATEHOUSE_STORE_DATABASE_DUMP_H
#define GATEHOUSE_STORE_DATABASE_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct database;
struct error;

/* The longest line that is loaded. Written lines stay under DUMP_LINE_BYTES / 16, except for a single longer row. */
#define DUMP_LINE_BYTES ((size_t)16 * 1024 * 1024)

struct dump_writer {
    /* Takes the next bytes of the text. */
    struct error *(*write)(void *context, const char *bytes, size_t length);
    void *context;
};

/*
 * From now on the transactions of this handle see one snapshot only (REPEATABLE READ). Call it outside a transaction.
 * dump_write() fails where the connection was replaced since.
 */
struct error *dump_prepare(struct database *database, struct arena *arena);

/*
 * Writes the tables of the selected database. Part of a transaction, whose snapshot is that of its first read. Tables
 * in `without_rows` (ended by NULL) are written without their rows. schema_migration comes last.
 */
struct error *dump_write(struct database *database, struct arena *arena, const char *const *without_rows,
                         const struct dump_writer *writer, uint64_t *rows_out);

/*
 * Loads such a text into the selected database, which has none of its tables. Lines of any other kind are refused. It
 * commits as it goes: where it fails, drop the tables and begin again.
 */
struct error *dump_load(struct database *database, struct arena *arena, FILE *text, uint64_t *rows_out);

/* The names of all tables, ended by NULL; *count_out does not count the NULL. */
struct error *dump_tables(struct database *database, struct arena *arena, const char ***names_out, size_t *count_out);

/* Drops a table of that name. */
struct error *dump_drop(struct database *database, struct arena *arena, const char *name);

/*
 * Makes an empty table with that name, as a sign for whoever looks at the database. `comment` must hold no quotes or
 * backslashes.
 */
struct error *dump_mark(struct database *database, struct arena *arena, const char *name, const char *comment);

/* Drops that table, if it is there. Where this fails, it is unknown whether the table is gone. */
struct error *dump_unmark(struct database *database, struct arena *arena, const char *name);

/* The comment of the table of that name; *comment_out is NULL when there is no such table. */
struct error *dump_find_mark(struct database *database, struct arena *arena, const char *name,
                             const char **comment_out);

#endif
