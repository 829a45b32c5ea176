/* SPDX-License-Identifier: MIT */
/*
 * Runs statements, and decides which failed one is sent again.
 *
 * A statement that the server has certainly not run is sent again at once. A SELECT outside a transaction is sent once
 * more on a new connection. A statement that met a conflict (deadlock, lock wait) is sent again after a random pause;
 * in a transaction the whole transaction is (transaction.c). Every other failure goes to the caller.
 */
#include "store/database/database.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "base/network.h"
#include "store/database/database_int.h"

/* Passwords and rows must not cross a network in the clear unless the operator has said so. */
static struct error *check_host(struct arena *arena, const struct configuration *configuration)
{
    struct host_list hosts;
    size_t near = 0;
    if (configuration->database.socket != NULL)
        return NULL;
    if (configuration->database.host == NULL)
        return error_message(error_plain(arena, ERROR_INTERNAL), "Set socket or host in [database].");
    TRY(host_list_parse(arena, configuration->database.host, (unsigned)configuration->database.port, &hosts));
    while (near < hosts.count && network_is_loopback(hosts.items[near].name))
        near++;
    if (near == hosts.count || configuration->database.tls_ca_file != NULL ||
        strcmp(configuration->database.tls, "required") != 0)
        return NULL;
    return error_message(
        error_plain(arena, ERROR_INTERNAL),
        "MariaDB at %s is on another machine and [database] has no tls_ca_file, so passwords and data would go"
        " there in the clear. Set tls_ca_file, or tls = off-on-a-trusted-network.",
        hosts.items[near].name);
}

struct error *database_options_load(struct arena *arena, const struct configuration *configuration, bool administrator,
                                    struct database_options *options_out)
{
    const char *user = configuration->database.user;
    const char *password_file = configuration->database.password_file;
    if (administrator) {
        bool same = strcmp(configuration->database.admin_user, user) == 0;
        user = configuration->database.admin_user;
        if (!same || configuration->database.admin_password_file != NULL)
            password_file = configuration->database.admin_password_file;
    }
    TRY(check_host(arena, configuration));
    *options_out = (struct database_options){
        .socket = configuration->database.socket,
        .host = configuration->database.host,
        .port = (unsigned)configuration->database.port,
        .name = configuration->database.name,
        .user = user,
        .tls_ca_file = configuration->database.tls_ca_file,
        .connect_timeout_seconds = (unsigned)configuration->database.connect_timeout_seconds,
        .query_timeout_seconds = administrator ? 0 : (unsigned)configuration->database.query_timeout_seconds,
    };
    options_out->password_file = password_file;
    if (password_file != NULL)
        TRY(secret_read(arena, password_file, &options_out->password));
    return NULL;
}

struct database *database_new(const struct database_options *options)
{
    struct arena *memory = arena_new();
    struct database *database = arena_alloc(memory, sizeof *database);
    database->memory = memory;
    database->id = id_new();
    database->options = *options;
    if (options->connect_timeout_seconds == 0)
        database->options.connect_timeout_seconds = 1;
    database->options.socket = arena_text(memory, options->socket);
    database->options.host = arena_text(memory, options->host);
    /* database_options_load() tells what is wrong with a list; the library tells what is wrong with a single name. */
    if (options->socket == NULL && options->host != NULL &&
        host_list_parse(memory, options->host, options->port, &database->hosts) != NULL)
        database->hosts = (struct host_list){.items = {{database->options.host, options->port}}, .count = 1};
    database->options.name = arena_text(memory, options->name);
    database->options.user = arena_text(memory, options->user);
    database->options.password_file = arena_text(memory, options->password_file);
    database->options.tls_ca_file = arena_text(memory, options->tls_ca_file);
    if (options->password.bytes != NULL)
        database->options.password = secret_copy(memory, options->password.bytes, options->password.length);
    return database;
}

void database_free(struct database **database)
{
    if (*database == NULL)
        return;
    connection_close(*database);
    struct arena *memory = (*database)->memory;
    *database = NULL;
    arena_free(&memory);
}

void database_close(struct database *database)
{
    connection_close(database);
}

void database_renew(struct database *database)
{
    assert(!database_in_transaction(database));
    connect_renew(database);
}

bool database_in_transaction(const struct database *database)
{
    return database->transaction != TRANSACTION_NONE;
}

/* ---- values -------------------------------------------------------------------------------------- */

struct database_value database_null(void)
{
    return (struct database_value){.kind = DATABASE_NULL};
}

struct database_value database_text(const char *text)
{
    if (text == NULL)
        return database_null();
    return (struct database_value){.kind = DATABASE_TEXT, .bytes = text, .length = strlen(text)};
}

struct database_value database_bytes(const void *bytes, size_t length)
{
    if (length == 0)
        bytes = "";
    return (struct database_value){.kind = DATABASE_BYTES, .bytes = bytes, .length = length};
}

struct database_value database_integer(int64_t integer)
{
    return (struct database_value){.kind = DATABASE_INTEGER, .integer = integer};
}

struct database_value database_boolean(bool boolean)
{
    return database_integer(boolean ? 1 : 0);
}

struct database_value database_id(struct id id)
{
    return (struct database_value){.kind = DATABASE_ID, .id = id};
}

struct database_value database_id_or_null(struct id id)
{
    return id_is_none(id) ? database_null() : database_id(id);
}

struct database_value database_time(struct arena *arena, int64_t milliseconds)
{
    char text[CLOCK_TEXT_BYTES];
    clock_format(milliseconds, text);
    text[10] = ' ';
    return database_text(arena_copy(arena, text, strlen(text) - 1));
}

/* ---- running statements -------------------------------------------------------------------------- */

/*
 * The server rolls a transaction back when the connection is lost or a conflict is met. The statements that follow in
 * it must not run by themselves, so the transaction is doomed.
 */
static void doom(struct database *database, const struct fault *fault)
{
    if (database->transaction == TRANSACTION_OPEN &&
        (fault->failure == DATABASE_FAILURE_LOST || fault->failure == DATABASE_FAILURE_CONFLICT)) {
        database->transaction = TRANSACTION_DOOMED;
        database->doom = *fault;
    }
}

/* One try. A statement that the server has forgotten is prepared again. NULL fills *fault. */
static struct prepared *run_once(struct database *database, const struct statement *statement,
                                 const struct database_value *values, size_t count, struct fault *fault)
{
    for (bool again = false;; again = true) {
        if (!connect_ready(database, fault))
            return NULL;
        struct prepared *prepared = prepared_get(database, statement, fault);
        if (prepared == NULL)
            return NULL;
        if (prepared_execute(database, prepared, values, count, fault))
            return prepared;
        if (fault->failure != DATABASE_FAILURE_FORGOTTEN)
            return NULL;
        prepared_forget(database, prepared);
        if (again)
            return NULL;
    }
}

/*
 * Runs a statement. When the connection breaks, the statement is repeated on a new one if it has certainly not run, or
 * if it is `harmless` to run it twice. A statement that took as long as its timeout is not repeated.
 */
static struct prepared *run(struct database *database, const struct statement *statement,
                            const struct database_value *values, size_t count, bool harmless, struct fault *fault)
{
    if (database->transaction == TRANSACTION_DOOMED) {
        *fault = database->doom;
        return NULL;
    }
    int64_t start = clock_monotonic();
    struct prepared *prepared = run_once(database, statement, values, count, fault);
    if (prepared == NULL && fault->failure == DATABASE_FAILURE_LOST && database->transaction == TRANSACTION_NONE &&
        (harmless || !fault->maybe_done) && retry_in_time(database, start))
        prepared = run_once(database, statement, values, count, fault);
    if (prepared == NULL)
        doom(database, fault);
    return prepared;
}

static struct error *statement_error(struct arena *arena, const struct fault *fault, const struct statement *statement)
{
    LOG(DEBUG, STORE, "a statement failed", LOG_INTEGER("errorNumber", fault->number),
        LOG_TEXT("sqlState", fault->state), LOG_TEXT("sql", statement->sql));
    return database_failure_error(arena, fault, "running a statement");
}

struct error *database_query(struct database *database, struct arena *arena, const struct statement *statement,
                             const struct database_value *values, size_t count, struct rows **rows_out)
{
    struct fault fault;
    struct prepared *prepared = run(database, statement, values, count, true, &fault);
    if (prepared == NULL)
        return statement_error(arena, &fault, statement);
    if (!rows_fetch(prepared, arena, rows_out))
        return error_new(arena, ERROR_INTERNAL, "a result could not be read");
    return NULL;
}

/* Runs a change. Outside a transaction it commits by itself, and it is repeated after a conflict. */
static struct prepared *run_change(struct database *database, const struct statement *statement,
                                   const struct database_value *values, size_t count, struct fault *fault)
{
    int64_t start = clock_monotonic();
    for (unsigned attempt = 0;; attempt++) {
        struct prepared *prepared = run(database, statement, values, count, false, fault);
        if (prepared != NULL || fault->failure != DATABASE_FAILURE_CONFLICT || database_in_transaction(database) ||
            !retry_allowed(database, attempt, start))
            return prepared;
        retry_pause(attempt);
    }
}

struct error *database_change(struct database *database, struct arena *arena, const struct statement *statement,
                              const struct database_value *values, size_t count, struct change *change_out)
{
    struct change change = {0};
    struct fault fault;
    struct prepared *prepared = run_change(database, statement, values, count, &fault);
    bool outcome = prepared != NULL;
    if (prepared != NULL) {
        change.affected = mysql_stmt_affected_rows(prepared->handle);
        change.generated = mysql_stmt_insert_id(prepared->handle);
    } else {
        change.duplicate = fault.failure == DATABASE_FAILURE_DUPLICATE;
        change.duplicate_key = change.duplicate ? arena_text(arena, fault.key) : NULL;
        change.missing_reference = fault.failure == DATABASE_FAILURE_REFERENCE;
        change.unknown =
            fault.failure == DATABASE_FAILURE_LOST && fault.maybe_done && database->transaction == TRANSACTION_NONE;
        outcome = change_out != NULL && (change.duplicate || change.missing_reference);
    }
    if (change_out != NULL)
        *change_out = change;
    return outcome ? NULL : statement_error(arena, &fault, statement);
}

struct error *database_execute(struct database *database, struct arena *arena, const char *sql, size_t length)
{
    struct fault fault;
    if (database->transaction == TRANSACTION_DOOMED)
        return database_failure_error(arena, &database->doom, "in a transaction");
    if (connect_ready(database, &fault) && connection_command(database, sql, length, &fault))
        return NULL;
    doom(database, &fault);
    return database_failure_error(arena, &fault, "running a text");
}

struct error *database_ping(struct database *database, struct arena *arena)
{
    struct fault fault;
    if (connect_ready(database, &fault) && connection_ping(database, &fault))
        return NULL;
    doom(database, &fault);
    return database_failure_error(arena, &fault, "answering a ping");
}
