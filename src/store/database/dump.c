/* SPDX-License-Identifier: MIT */
/* Writes all rows of the database as SQL text, and keeps the mark of an unfinished restore. */
#include "store/database/dump.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "store/database/database_int.h"

#define STATEMENT_BYTES (DUMP_LINE_BYTES / 64)
#define BINARY_CHARSET 63

static const char head[] =
    "-- Gatehouse rows 1\nSET foreign_key_checks = 0;\nSET time_zone = '+00:00';\nSET NAMES utf8mb4;\n";

static const struct statement list_tables = {
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
    " ORDER BY table_name = 'schema_migration', table_name"};
static const struct statement list_columns = {
    "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?"
    " AND is_generated = 'NEVER' ORDER BY ordinal_position"};
static const struct statement isolation = {"SELECT @@SESSION.tx_isolation"};

static struct error *execute(struct database *database, struct arena *arena, const char *sql)
{
    return database_execute(database, arena, sql, strlen(sql));
}

/* A name as the server sent it, between backticks. */
static const char *quoted_name(struct arena *arena, const char *name)
{
    struct buffer quoted;
    buffer_init(&quoted, arena);
    buffer_add_char(&quoted, '`');
    for (; *name != '\0'; name++) {
        if (*name == '`')
            buffer_add_char(&quoted, '`');
        buffer_add_char(&quoted, *name);
    }
    buffer_add_char(&quoted, '`');
    return quoted.bytes;
}

struct error *dump_tables(struct database *database, struct arena *arena, const char ***names_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_tables, NO_VALUES, &rows));
    *count_out = rows->count;
    *names_out = arena_array(arena, rows->count + 1, sizeof **names_out);
    for (size_t i = 0; i < rows->count; i++)
        (*names_out)[i] = rows_text(rows, i, 0);
    return NULL;
}

struct error *dump_drop(struct database *database, struct arena *arena, const char *name)
{
    TRY(execute(database, arena, "SET SESSION foreign_key_checks = 0"));
    TRY(execute(database, arena, arena_format(arena, "DROP TABLE %s", quoted_name(arena, name))));
    return execute(database, arena, "SET SESSION foreign_key_checks = 1");
}

struct error *dump_mark(struct database *database, struct arena *arena, const char *name, const char *comment)
{
    return execute(
        database, arena,
        arena_format(arena, "CREATE TABLE %s (unfinished INT) COMMENT = '%s'", quoted_name(arena, name), comment));
}

struct error *dump_unmark(struct database *database, struct arena *arena, const char *name)
{
    const char *sql = arena_format(arena, "DROP TABLE IF EXISTS %s", quoted_name(arena, name));
    /* A lost answer does not tell whether the table is gone. A second DROP does no harm. */
    return execute(database, arena, sql) == NULL ? NULL : execute(database, arena, sql);
}

static const struct statement find_comment = {
    "SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"};

struct error *dump_find_mark(struct database *database, struct arena *arena, const char *name, const char **comment_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_comment, VALUES(database_text(name)), &rows));
    *comment_out = rows->count == 0 ? NULL : rows_text(rows, 0, 0);
    return NULL;
}

/* ---- writing ------------------------------------------------------------------------------------- */

struct table {
    const struct dump_writer *writer;
    const char *insert; /* INSERT INTO `name` (`column`, …) VALUES */
    struct arena *scratch;
    struct buffer text; /* the current statement, in `scratch` */
    uint64_t rows;
    struct error *error;
};

static bool is_of_characters(enum enum_field_types type)
{
    switch (type) {
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
        return true;
    default:
        return false;
    }
}

static void add_hexadecimal(struct buffer *text, const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    buffer_add_text(text, "x'");
    for (size_t i = 0; i < length; i++) {
        const char pair[2] = {digits[(unsigned char)bytes[i] >> 4], digits[(unsigned char)bytes[i] & 15]};
        buffer_add(text, pair, 2);
    }
    buffer_add_char(text, '\'');
}

static void add_quoted(struct buffer *text, const char *bytes, size_t length)
{
    static const char plain[] = "\\'\n\r\x1a";
    static const char escaped[] = "\\'nrZ0";
    buffer_add_char(text, '\'');
    for (size_t i = 0; i < length; i++) {
        const char *found = memchr(plain, bytes[i], sizeof plain); /* its NUL included */
        if (found != NULL)
            buffer_add_char(text, '\\');
        buffer_add_char(text, found != NULL ? escaped[found - plain] : bytes[i]);
    }
    buffer_add_char(text, '\'');
}

/* Writes a value: a number as it is, bytes as hexadecimal digits, all else quoted and on one line. */
static void add_cell(struct buffer *text, const MYSQL_FIELD *field, const char *bytes, size_t length)
{
    if (bytes == NULL)
        buffer_add_text(text, "NULL");
    else if (IS_NUM(field->type) && field->type != MYSQL_TYPE_TIMESTAMP)
        buffer_add(text, bytes, length);
    else if (is_of_characters(field->type) && field->charsetnr == BINARY_CHARSET)
        add_hexadecimal(text, bytes, length);
    else
        add_quoted(text, bytes, length);
}

static struct error *flush(struct table *table)
{
    if (table->text.length == 0)
        return NULL;
    buffer_add_text(&table->text, ";\n");
    struct error *error = table->writer->write(table->writer->context, table->text.bytes, table->text.length);
    arena_reset(table->scratch);
    buffer_init(&table->text, table->scratch);
    return error;
}

static bool add_row(void *context, const struct stream_row *row)
{
    struct table *table = context;
    struct buffer *text = &table->text;
    buffer_add_text(text, text->length == 0 ? table->insert : ",(");
    for (size_t i = 0; i < row->count; i++) {
        if (i > 0)
            buffer_add_char(text, ',');
        add_cell(text, &row->fields[i], row->cells[i], row->lengths[i]);
    }
    buffer_add_char(text, ')');
    table->rows++;
    if (text->length >= STATEMENT_BYTES)
        table->error = flush(table);
    return table->error == NULL;
}

/* `a`,`b`: the columns that are not generated. */
static struct error *column_names(struct database *database, struct arena *arena, const char *name,
                                  const char **names_out)
{
    struct rows *rows;
    struct buffer names;
    TRY(database_query(database, arena, &list_columns, VALUES(database_text(name)), &rows));
    buffer_init(&names, arena);
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0)
            buffer_add_char(&names, ',');
        buffer_add_text(&names, quoted_name(arena, rows_text(rows, i, 0)));
    }
    *names_out = names.bytes;
    return NULL;
}

struct error_text {
    struct arena *arena;
    char *text;
};

static bool keep_second(void *context, const struct stream_row *row)
{
    struct error_text *kept = context;
    kept->text = arena_copy(kept->arena, row->cells[1], row->lengths[1]);
    return true;
}

/* In a definition the server breaks lines only between its parts. */
static struct error *write_definition(struct database *database, struct arena *arena, const char *name,
                                      const struct dump_writer *writer)
{
    struct fault fault;
    struct error_text kept = {.arena = arena};
    const char *sql = arena_format(arena, "SHOW CREATE TABLE %s", quoted_name(arena, name));
    if (!connect_ready(database, &fault) || !connection_stream(database, sql, strlen(sql), keep_second, &kept, &fault))
        return database_failure_error(arena, &fault, "reading a table's definition");
    for (char *at = kept.text; *at != '\0'; at++)
        *at = *at == '\n' ? ' ' : *at;
    const char *line = arena_format(arena, "%s;\n", kept.text);
    return writer->write(writer->context, line, strlen(line));
}

static struct error *write_rows(struct database *database, struct arena *arena, const char *name,
                                const struct dump_writer *writer, uint64_t *rows)
{
    const char *columns = "";
    struct fault fault;
    TRY(column_names(database, arena, name, &columns));
    struct table table = {.writer = writer, .scratch = arena_new()};
    table.insert = arena_format(arena, "INSERT INTO %s (%s) VALUES (", quoted_name(arena, name), columns);
    buffer_init(&table.text, table.scratch);
    const char *sql = arena_format(arena, "SELECT %s FROM %s", columns, quoted_name(arena, name));
    struct error *error = NULL;
    if (!connect_ready(database, &fault) || !connection_stream(database, sql, strlen(sql), add_row, &table, &fault))
        error = table.error != NULL ? table.error : database_failure_error(arena, &fault, "reading a table");
    if (error == NULL)
        error = flush(&table);
    *rows += table.rows;
    arena_free(&table.scratch);
    return error;
}

static bool is_named(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

struct error *dump_prepare(struct database *database, struct arena *arena)
{
    return execute(database, arena,
                   "SET SESSION tx_isolation = 'REPEATABLE-READ', net_write_timeout = 3600, wait_timeout = 86400");
}

static struct error *check_isolation(struct database *database, struct arena *arena)
{
    struct rows *rows;
    TRY(database_query(database, arena, &isolation, NO_VALUES, &rows));
    if (strcmp(rows_text(rows, 0, 0), "REPEATABLE-READ") == 0)
        return NULL;
    return error_new(arena, ERROR_DATABASE_UNAVAILABLE, "the connection was replaced before the rows were read");
}

struct error *dump_write(struct database *database, struct arena *arena, const char *const *without_rows,
                         const struct dump_writer *writer, uint64_t *rows_out)
{
    const char **names;
    size_t count;
    assert(database_in_transaction(database));
    *rows_out = 0;
    TRY(check_isolation(database, arena));
    TRY(dump_tables(database, arena, &names, &count));
    TRY(writer->write(writer->context, head, sizeof head - 1));
    for (size_t i = 0; i < count; i++) {
        TRY(write_definition(database, arena, names[i], writer));
        if (!is_named(without_rows, names[i]))
            TRY(write_rows(database, arena, names[i], writer, rows_out));
    }
    const char *end = arena_format(arena, "-- end: %" PRIu64 " rows\n", *rows_out);
    return writer->write(writer->context, end, strlen(end));
}
