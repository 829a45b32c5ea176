/* SPDX-License-Identifier: MIT */
/*
 * What is repeated and what is not. A statement that the server has surely not run is sent again at once; a
 * SELECT outside a transaction once on a new connection; a conflict (deadlock, lock wait) after a random
 * pause, as a statement by itself or as the whole transaction. Everything else goes up to the caller.
 */
#include "store/database/database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "base/network.h"
#include "codec/random.h"
#include "store/database/database_int.h"

/*
 * How often a conflict is tried again, and how long the pauses before are at most. Measured with 50 writers
 * that take the same two rows in opposite orders without a break: of 2,000 transactions 60 to 80 failed with
 * pauses of 20, 40 and 80 ms, at most one with these.
 */
#define RETRIES 3
static const uint32_t pause_milliseconds[RETRIES] = {100, 300, 900};

/* Passwords and rows must not cross a network in the clear unless the operator has said so. */
static struct error *check_tls(struct arena *arena, const struct configuration *configuration)
{
    if (configuration->database.socket != NULL || configuration->database.tls_ca_file != NULL ||
        network_is_loopback(configuration->database.host) || strcmp(configuration->database.tls, "required") != 0)
        return NULL;
    return error_message(error_plain(arena, ERROR_INTERNAL),
                         "MariaDB at %s is on another machine and [database] has no tls_ca_file, so passwords and data would go"
                         " there in the clear. Set tls_ca_file, or tls = off-on-a-trusted-network.",
                         configuration->database.host);
}

struct error *database_options_load(struct arena *arena, const struct configuration *configuration,
                                    bool administrator, struct database_options *options_out)
{
    const char *user = configuration->database.user;
    const char *password_file = configuration->database.password_file;
    if (administrator) {
        bool same = strcmp(configuration->database.admin_user, user) == 0;
        user = configuration->database.admin_user;
        if (!same || configuration->database.admin_password_file != NULL)
            password_file = configuration->database.admin_password_file;
    }
    if (configuration->database.socket == NULL && configuration->database.host == NULL)
        return error_message(error_plain(arena, ERROR_INTERNAL), "Set socket or host in [database].");
    TRY(check_tls(arena, configuration));
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
    database->options = *options;
    if (options->connect_timeout_seconds == 0)
        database->options.connect_timeout_seconds = 1;
    database->options.socket = arena_text(memory, options->socket);
    database->options.host = arena_text(memory, options->host);
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

void database_forget(struct database *database)
{
    arena_free(&database->remembered_memory);
    database->remembered = NULL;
}

void database_remember(struct database *database, struct arena **memory, void *thing)
{
    database_forget(database);
    database->remembered_memory = *memory;
    database->remembered = thing;
    *memory = NULL;
}

void *database_remembered(const struct database *database)
{
    return database->remembered;
}

void database_close(struct database *database)
{
    connection_close(database);
}

void database_renew(struct database *database)
{
    assert(!database_in_transaction(database));
    connection_renew(database);
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
 * A lost connection or a conflict leaves nothing of an open transaction; what follows in it must not run
 * alone.
 */
static void doom(struct database *database, const struct fault *fault)
{
    if (database->transaction == TRANSACTION_OPEN &&
        (fault->failure == FAILURE_LOST || fault->failure == FAILURE_CONFLICT)) {
        database->transaction = TRANSACTION_DOOMED;
        database->doom = *fault;
    }
}

/* Whether something that began at `start` may go on: nothing takes longer than one statement's time. */
static bool in_time(const struct database *database, int64_t start)
{
    int64_t patience = (int64_t)database->options.query_timeout_seconds * 1000000;
    return patience == 0 || clock_monotonic() - start < patience;
}

/* One try; a statement that the server forgot is prepared anew. NULL fills *fault. */
static struct prepared *run_once(struct database *database, const struct statement *statement,
                                 const struct database_value *values, size_t count, struct fault *fault)
{
    for (bool again = false;; again = true) {
        if (!connection_ready(database, fault))
            return NULL;
        struct prepared *prepared = connection_prepare(database, statement, fault);
        if (prepared == NULL)
            return NULL;
        if (connection_execute(database, prepared, values, count, fault))
            return prepared;
        if (fault->failure != FAILURE_FORGOTTEN)
            return NULL;
        connection_forget(database, prepared);
        if (again)
            return NULL;
    }
}

/*
 * Runs a statement, on a new connection when the old one breaks and the statement may be repeated: always
 * when it has surely not run, else only if it is `harmless`. What took as long as a timeout is not repeated.
 */
static struct prepared *run(struct database *database, const struct statement *statement,
                            const struct database_value *values, size_t count, bool harmless,
                            struct fault *fault)
{
    if (database->transaction == TRANSACTION_DOOMED) {
        *fault = database->doom;
        return NULL;
    }
    int64_t start = clock_monotonic();
    struct prepared *prepared = run_once(database, statement, values, count, fault);
    if (prepared == NULL && fault->failure == FAILURE_LOST && database->transaction == TRANSACTION_NONE &&
        (harmless || !fault->maybe_done) && in_time(database, start))
        prepared = run_once(database, statement, values, count, fault);
    if (prepared == NULL)
        doom(database, fault);
    return prepared;
}

static struct error *statement_error(struct arena *arena, const struct fault *fault,
                                     const struct statement *statement)
{
    LOG(DEBUG, STORE, "a statement failed", LOG_INTEGER("errorNumber", fault->number),
        LOG_TEXT("sqlState", fault->state), LOG_TEXT("sql", statement->sql));
    return fault_error(arena, fault, "running a statement");
}

struct error *database_query(struct database *database, struct arena *arena,
                             const struct statement *statement, const struct database_value *values,
                             size_t count, struct rows **rows_out)
{
    struct fault fault;
    struct prepared *prepared = run(database, statement, values, count, true, &fault);
    if (prepared == NULL)
        return statement_error(arena, &fault, statement);
    if (!rows_fetch(prepared, arena, rows_out))
        return error_new(arena, ERROR_INTERNAL, "a result could not be read");
    return NULL;
}

/* A random pause after the given try (from 0), so that those who collided do not meet again. */
static void pause_after(unsigned attempt)
{
    uint32_t random;
    random_bytes(&random, sizeof random);
    uint32_t microseconds = random % (pause_milliseconds[attempt] * 1000);
    struct timespec pause = {.tv_nsec = (long)microseconds * 1000};
    (void)nanosleep(&pause, NULL);
}

/*
 * Runs a statement that commits by itself, again after a conflict; in a transaction the whole is tried again.
 */
static struct prepared *run_change(struct database *database, const struct statement *statement,
                                   const struct database_value *values, size_t count, struct fault *fault)
{
    int64_t start = clock_monotonic();
    for (unsigned attempt = 0;; attempt++) {
        struct prepared *prepared = run(database, statement, values, count, false, fault);
        if (prepared != NULL || fault->failure != FAILURE_CONFLICT || database_in_transaction(database) ||
            attempt == RETRIES || !in_time(database, start))
            return prepared;
        pause_after(attempt);
    }
}

struct error *database_change(struct database *database, struct arena *arena,
                              const struct statement *statement, const struct database_value *values,
                              size_t count, struct change *change_out)
{
    struct change change = {0};
    struct fault fault;
    struct prepared *prepared = run_change(database, statement, values, count, &fault);
    bool outcome = prepared != NULL;
    if (prepared != NULL) {
        change.affected = mysql_stmt_affected_rows(prepared->handle);
        change.generated = mysql_stmt_insert_id(prepared->handle);
    } else {
        change.duplicate = fault.failure == FAILURE_DUPLICATE;
        change.duplicate_key = change.duplicate ? arena_text(arena, fault.key) : NULL;
        change.missing_reference = fault.failure == FAILURE_REFERENCE;
        change.unknown = fault.failure == FAILURE_LOST && fault.maybe_done &&
                         database->transaction == TRANSACTION_NONE;
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
        return fault_error(arena, &database->doom, "in a transaction");
    if (connection_ready(database, &fault) && connection_command(database, sql, length, &fault))
        return NULL;
    doom(database, &fault);
    return fault_error(arena, &fault, "running a text");
}

struct error *database_ping(struct database *database, struct arena *arena)
{
    struct fault fault;
    if (connection_ready(database, &fault) && connection_ping(database, &fault))
        return NULL;
    doom(database, &fault);
    return fault_error(arena, &fault, "answering a ping");
}

/* ---- transactions -------------------------------------------------------------------------------- */

static bool command(struct database *database, const char *sql, struct fault *fault)
{
    return connection_ready(database, fault) && connection_command(database, sql, strlen(sql), fault);
}

/* Nothing has been done yet, so a broken connection is replaced. */
static struct error *begin(struct database *database, struct arena *arena)
{
    struct fault fault;
    int64_t start = clock_monotonic();
    if (!command(database, "START TRANSACTION", &fault) &&
        (fault.failure != FAILURE_LOST || !in_time(database, start) ||
         !command(database, "START TRANSACTION", &fault)))
        return fault_error(arena, &fault, "beginning a transaction");
    database->transaction = TRANSACTION_OPEN;
    return NULL;
}

/* Where the server cannot be told, closing the connection rolls back as well. */
static void roll_back(struct database *database)
{
    struct fault fault;
    if (!command(database, "ROLLBACK", &fault))
        connection_close(database);
}

static struct error *commit(struct database *database, struct arena *arena, bool *unknown_out,
                            bool *conflict_out)
{
    struct fault fault;
    if (command(database, "COMMIT", &fault))
        return NULL;
    *conflict_out = fault.failure == FAILURE_CONFLICT;
    /* Interrupted or out of time while it committed (1317, 1969): nobody knows either. */
    bool lost = fault.failure == FAILURE_LOST && fault.maybe_done;
    bool unknown = lost || fault.number == 1317 || fault.number == 1969;
    if (unknown_out != NULL)
        *unknown_out = unknown;
    roll_back(database);
    LOG(WARN, STORE, unknown ? "the answer to a COMMIT was lost" : "a COMMIT failed",
        LOG_INTEGER("errorNumber", fault.number));
    return fault_error(arena, &fault, "committing");
}

struct body {
    struct error *(*run)(struct database *database, struct arena *arena, void *context);
    void *context;
};

/*
 * One try of the whole; *conflict_out tells whether another one may help. The transaction counts as open
 * until it is over on the server: while it is, no broken connection is replaced, so that COMMIT cannot go to
 * a new one.
 */
static struct error *transaction_once(struct database *database, struct arena *arena, const struct body *body,
                                      bool *unknown_out, bool *conflict_out)
{
    *conflict_out = false;
    TRY(begin(database, arena));
    struct error *error = body->run(database, arena, body->context);
    if (database->transaction == TRANSACTION_DOOMED) {
        *conflict_out = database->doom.failure == FAILURE_CONFLICT;
        if (error == NULL)
            error = fault_error(arena, &database->doom, "in a transaction");
    }
    if (error != NULL)
        roll_back(database);
    else
        error = commit(database, arena, unknown_out, conflict_out);
    database->transaction = TRANSACTION_NONE;
    return error;
}

struct error *database_transaction(struct database *database, struct arena *arena,
                                   struct error *(*body)(struct database *database, struct arena *arena,
                                                         void *context),
                                   void *context, bool *unknown_out)
{
    const struct body what = {.run = body, .context = context};
    if (unknown_out != NULL)
        *unknown_out = false;
    if (database->transaction != TRANSACTION_NONE) {
        TRY(body(database, arena, context));
        return NULL;
    }
    int64_t start = clock_monotonic();
    for (unsigned attempt = 0;; attempt++) {
        bool conflict;
        struct error *error = transaction_once(database, arena, &what, unknown_out, &conflict);
        if (!conflict || attempt == RETRIES || !in_time(database, start))
            return error == NULL ? NULL : error_trace(error, __func__, __FILE__, __LINE__);
        LOG(DEBUG, STORE, "a transaction met a conflict, trying again", LOG_INTEGER("attempt", attempt + 1));
        pause_after(attempt);
    }
}
