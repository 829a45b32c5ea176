/* SPDX-License-Identifier: MIT */
/*
 * Prepares statements, binds their parameters and columns, and executes them.
 *
 * A statement is prepared at its first use on a connection, and remembered (statement_memory.c) until the connection
 * closes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/database/database_int.h"

static bool integral(enum enum_field_types type)
{
    return type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_INT24 || type == MYSQL_TYPE_LONG ||
           type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR;
}

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL)
        memory_end("the database client");
    return memory;
}

/* Tells the library where to put the column's value. */
static void bind_column(const MYSQL_FIELD *field, struct slot *slot, MYSQL_BIND *bind)
{
    slot->is_integer = integral(field->type);
    slot->is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
    slot->is_time = field->type == MYSQL_TYPE_DATETIME || field->type == MYSQL_TYPE_TIMESTAMP;
    *bind = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = slot->bytes, .buffer_length = SLOT_BYTES};
    if (slot->is_integer)
        *bind = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &slot->integer};
    else if (slot->is_time)
        *bind =
            (MYSQL_BIND){.buffer_type = MYSQL_TYPE_DATETIME, .buffer = &slot->time, .buffer_length = sizeof slot->time};
    bind->is_unsigned = slot->is_unsigned;
    bind->is_null = &slot->is_null;
    bind->length = &slot->length;
}

/*
 * Columns are bound once. Integers, times and short texts are fetched into their slot. Of a long text only the length
 * is fetched with the row; rows.c then fetches its bytes straight into the arena.
 */
static void bind_columns(struct prepared *prepared)
{
    MYSQL_FIELD *fields = mariadb_stmt_fetch_fields(prepared->handle);
    prepared->columns = mysql_stmt_field_count(prepared->handle);
    prepared->slots = zeroed(prepared->columns, sizeof *prepared->slots);
    prepared->fetched = zeroed(prepared->columns, sizeof *prepared->fetched);
    for (size_t i = 0; i < prepared->columns; i++)
        bind_column(&fields[i], &prepared->slots[i], &prepared->fetched[i]);
    if (prepared->columns != 0)
        (void)mysql_stmt_bind_result(prepared->handle, prepared->fetched);
}

static struct prepared *prepare_now(struct database *database, const char *sql, struct fault *fault)
{
    MYSQL_STMT *handle = mysql_stmt_init(database->mysql);
    if (handle == NULL)
        memory_end("the database client");
    connection_begin(database);
    LOG(DEBUG, STORE, "preparing a statement", LOG_TEXT("sql", sql));
    bool failed = mysql_stmt_prepare(handle, sql, strlen(sql)) != 0;
    connection_end();
    if (failed) {
        unsigned number = mysql_stmt_errno(handle);
        char state[6], message[MYSQL_ERRMSG_SIZE];
        (void)snprintf(state, sizeof state, "%s", mysql_stmt_sqlstate(handle));
        (void)snprintf(message, sizeof message, "%s", mysql_stmt_error(handle));
        (void)mysql_stmt_close(handle);
        connection_failed(database, fault, number, state, message);
        fault->maybe_done = false;
        return NULL;
    }
    struct prepared *prepared = zeroed(1, sizeof *prepared);
    prepared->sql = sql;
    prepared->handle = handle;
    prepared->parameters = mysql_stmt_param_count(handle);
    prepared->bound = zeroed(prepared->parameters, sizeof *prepared->bound);
    bind_columns(prepared);
    return prepared;
}

struct prepared *prepared_get(struct database *database, const struct statement *statement, struct fault *fault)
{
    struct prepared *prepared = statement_memory_find(database, statement->sql);
    if (prepared != NULL)
        return prepared;
    if (database->prepared_count == LIMIT_STATEMENTS) {
        *fault = (struct fault){.failure = DATABASE_FAILURE_MISTAKE, .state = "HY000"};
        (void)snprintf(fault->text, sizeof fault->text, "more than %d statements", LIMIT_STATEMENTS);
        return NULL;
    }
    prepared = prepare_now(database, statement->sql, fault);
    if (prepared != NULL)
        statement_memory_add(database, prepared);
    return prepared;
}

void prepared_forget(struct database *database, struct prepared *prepared)
{
    connection_begin(database);
    statement_memory_remove(database, prepared);
}

/* ---- executing ----------------------------------------------------------------------------------- */

static void bind_value(MYSQL_BIND *bind, const struct database_value *value)
{
    *bind = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_NULL};
    switch (value->kind) {
    case DATABASE_NULL:
        break;
    case DATABASE_TEXT:
    case DATABASE_BYTES:
        bind->buffer_type = value->kind == DATABASE_TEXT ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
        bind->buffer = (void *)value->bytes;
        bind->buffer_length = value->length;
        break;
    case DATABASE_INTEGER:
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = (void *)&value->integer;
        break;
    case DATABASE_ID:
        bind->buffer_type = MYSQL_TYPE_BLOB;
        bind->buffer = (void *)value->id.bytes;
        bind->buffer_length = ID_BYTES;
        break;
    }
}

/*
 * A statement that was prepared has no fault of syntax. MariaDB tells this one of the table's triggers: a thread of the
 * server that was stopped while it read them, as Galera does with who is in another's way, leaves the table with
 * triggers that cannot be read, until the server opens it anew. It takes the table that was used last, again and again
 * (seen with 10.11: for 0.2 s, and for longer than a statement may take). Nothing has been done, and other nodes of a
 * cluster have a table of their own.
 */
#define TRIGGERS_UNREADABLE 1064

static void leave_triggers(struct database *database, struct fault *fault)
{
    fault->failure = DATABASE_FAILURE_CONFLICT;
    fault->maybe_done = false;
    if (connection_leave_host(database))
        fault->failure = DATABASE_FAILURE_LOST;
}

bool prepared_execute(struct database *database, struct prepared *prepared, const struct database_value *values,
                      size_t count, struct fault *fault)
{
    MYSQL_STMT *handle = prepared->handle;
    if (count != prepared->parameters) {
        *fault = (struct fault){.failure = DATABASE_FAILURE_MISTAKE, .number = 2034, .state = "HY000"};
        return false;
    }
    for (size_t i = 0; i < count; i++)
        bind_value(&prepared->bound[i], &values[i]);
    connection_begin(database);
    bool done = (count == 0 || mysql_stmt_bind_param(handle, prepared->bound) == 0) &&
                mysql_stmt_execute(handle) == 0 && mysql_stmt_store_result(handle) == 0;
    connection_end();
    if (done)
        return true;
    connection_failed(database, fault, mysql_stmt_errno(handle), mysql_stmt_sqlstate(handle), mysql_stmt_error(handle));
    if (fault->number == TRIGGERS_UNREADABLE)
        leave_triggers(database, fault);
    return false;
}
