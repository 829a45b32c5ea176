/* SPDX-License-Identifier: MIT */
/*
 * The connection: the only file that calls libmariadb.
 *
 * Deadlines. The library's own timeouts start anew with every byte that arrives, so a server that drips would
 * hold us for ever. Its wait hook (MARIADB_OPT_IO_WAIT) lets us poll against one deadline for the whole
 * exchange instead. The server's max_statement_time ends a slow statement a little earlier, which keeps the
 * connection.
 *
 * Broken connections. An idle connection has nothing to read; if there is something (the end of the stream,
 * or a farewell) the server has gone, and we notice before a statement is sent, when it is still safe to
 * start again.
 */
#include <errmsg.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/database/database_int.h"

/* What the client waits beyond the server's own bound, so that the server is the one to give up first. */
#define GRACE_MICROSECONDS 500000

/*
 * When the exchange at hand must be over (clock_monotonic()); 0: never. The hook takes no argument of ours.
 */
static _Thread_local int64_t deadline;

/* When the exchange at hand began. */
static _Thread_local int64_t begun;

static void deadline_start(unsigned seconds, int64_t grace)
{
    begun = clock_monotonic();
    deadline = clock_within_horizon(seconds == 0 ? 0 : begun + (int64_t)seconds * 1000000 + grace);
}

/* What is left of `seconds` before the horizon, in whole seconds, at least 1. */
static unsigned seconds_left(unsigned seconds)
{
    int64_t horizon = clock_within_horizon(0);
    int64_t left = horizon == 0 ? (int64_t)seconds : (horizon - clock_monotonic() + 999999) / 1000000;
    if (left < 1)
        return 1;
    return left < (int64_t)seconds ? (unsigned)left : seconds;
}

/* A round trip is over, well or not. */
static void count_trip(void)
{
    metrics_observe(METRIC_DATABASE_ROUND_TRIP, clock_monotonic() - begun);
}

/* The library's wait for the socket: 1 when it is ready, 0 (ETIMEDOUT) at the deadline, -1 on failure. */
static int wait_for_socket(my_socket socket, my_bool to_read, int library_timeout)
{
    (void)library_timeout;
    struct pollfd waiting = {.fd = socket, .events = to_read ? POLLIN : POLLOUT};
    for (;;) {
        int milliseconds = -1;
        if (deadline != 0) {
            int64_t left = deadline - clock_monotonic();
            milliseconds = left <= 0 ? 0 : (int)((left + 999) / 1000);
        }
        int ready = poll(&waiting, 1, milliseconds);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            errno = ETIMEDOUT;
        return ready;
    }
}

static void out_of_memory(void)
{
    LOG(FATAL, STORE, "out of memory in the database client");
    abort();
}

/* ---- what failed --------------------------------------------------------------------------------- */

/* A call that failed without a number is one whose answer did not come, or not whole. */
static void note_fault(struct fault *fault, unsigned number, const char *state, const char *message)
{
    if (number == 0)
        number = CR_SERVER_LOST;
    *fault = (struct fault){.failure = failure_of(number, message), .number = number};
    (void)snprintf(fault->state, sizeof fault->state, "%s", state);
    if (fault->failure == FAILURE_DUPLICATE)
        failure_key(message, fault->key);
}

/* What is an outcome to the caller, or is prepared anew and repeated, is no failure worth counting. */
static void count_failure(enum failure failure)
{
    if (failure == FAILURE_LOST)
        metrics_add(METRIC_DATABASE_LOST, 1);
    else if (failure == FAILURE_UNAVAILABLE)
        metrics_add(METRIC_DATABASE_UNAVAILABLE, 1);
    else if (failure == FAILURE_CONFLICT)
        metrics_add(METRIC_DATABASE_CONFLICT, 1);
    else if (failure == FAILURE_FULL)
        metrics_add(METRIC_DATABASE_FULL, 1);
    else if (failure == FAILURE_MISTAKE)
        metrics_add(METRIC_DATABASE_MISTAKE, 1);
}

/* A statement or a command failed on the connection. */
static void note_failure(struct database *database, struct fault *fault, unsigned number, const char *state,
                         const char *message)
{
    note_fault(fault, number, state, message);
    count_failure(fault->failure);
    if (fault->failure != FAILURE_LOST)
        return;
    /* 2006 is raised while sending: the server has not got the whole of it. */
    fault->maybe_done = number != 2006;
    LOG(WARN, STORE, "the database connection broke", LOG_INTEGER("errorNumber", number));
    connection_close(database);
}

/* ---- connecting ---------------------------------------------------------------------------------- */

/*
 * READ COMMITTED: our transactions are short and hold what must hold by unique keys and row locks; without
 * gap locks far fewer of them deadlock, and each statement sees what others have committed. lc_messages:
 * failure_key() reads English. wsrep_sync_wait: on a Galera node a read waits for what other nodes have
 * committed, so that a permission taken away is gone everywhere with the next request.
 */
static void write_session(char *sql, size_t size, unsigned query_timeout)
{
    (void)snprintf(sql, size,
                   "SET SESSION sql_mode = 'STRICT_ALL_TABLES,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,"
                   "NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO', "
                   "time_zone = '+00:00', tx_isolation = 'READ-COMMITTED', autocommit = 1, "
                   "collation_connection = 'utf8mb4_nopad_bin', group_concat_max_len = 65536, "
                   "lc_messages = 'en_US', wsrep_sync_wait = 1, innodb_lock_wait_timeout = %u, "
                   "max_statement_time = %u",
                   query_timeout == 0 ? 50 : 1, query_timeout);
}

static void set_options(MYSQL *mysql, const struct database_options *options, const char *session)
{
    static const my_bool yes = 1, no = 0;
    static const unsigned off = 0;
    unsigned protocol = options->socket != NULL ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    unsigned connecting = seconds_left(options->connect_timeout_seconds);
    unsigned patience = options->query_timeout_seconds == 0 ? 0 : options->query_timeout_seconds + 1;
    (void)mysql_optionsv(mysql, MYSQL_OPT_PROTOCOL, &protocol);
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connecting);
    (void)mysql_optionsv(mysql, MYSQL_OPT_READ_TIMEOUT, &patience);
    (void)mysql_optionsv(mysql, MYSQL_OPT_WRITE_TIMEOUT, &patience);
    (void)mysql_optionsv(mysql, MARIADB_OPT_IO_WAIT, wait_for_socket);
    (void)mysql_optionsv(mysql, MYSQL_OPT_RECONNECT, &no);
    (void)mysql_optionsv(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
    (void)mysql_optionsv(mysql, MYSQL_REPORT_DATA_TRUNCATION, &no);
    (void)mysql_optionsv(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    (void)mysql_optionsv(mysql, MYSQL_INIT_COMMAND, session);
    if (options->socket != NULL)
        return;
    if (options->tls_ca_file == NULL) {
        /* Connector/C 3.4 would use TLS, and check certificates, unasked; 3.3 would not. */
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &no);
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
        /* Whoever poses as the server must not be told the password: only answers to a challenge go out. */
        (void)mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, "mysql_native_password,client_ed25519");
    } else {
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_CA, options->tls_ca_file);
        (void)mysql_optionsv(mysql, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
    }
}

/* A connection of these options; NULL fills *fault. */
static MYSQL *open_connection(const struct database *database, struct fault *fault)
{
    const struct database_options *options = &database->options;
    char session[640];
    write_session(session, sizeof session, options->query_timeout_seconds);
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL)
        out_of_memory();
    set_options(mysql, options, session);
    deadline_start(options->connect_timeout_seconds, 0);
    /* The library prefers a host over the socket when it is given both. */
    const char *host = options->socket == NULL ? options->host : NULL;
    if (mysql_real_connect(mysql, host, options->user, secret_reveal(options->password),
                           options->name, options->port, options->socket, CLIENT_FOUND_ROWS) != NULL) {
        metrics_add(METRIC_DATABASE_CONNECTED, 1);
        LOG(DEBUG, STORE, "connected to the database");
        return mysql;
    }
    note_fault(fault, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
    fault->failure = FAILURE_UNAVAILABLE;
    metrics_add(METRIC_DATABASE_NOT_CONNECTED, 1);
    (void)snprintf(fault->text, sizeof fault->text, "%s", mysql_error(mysql));
    mysql_close(mysql);
    return NULL;
}

/* Wrong password, or one where none is wanted (1045, 1698). */
static bool is_refused(const struct fault *fault)
{
    return fault->number == 1045 || fault->number == 1698;
}

/* Takes what the password file holds now; false when it cannot be read or holds what is known already. */
static bool reread_password(struct database *database)
{
    const char *path = database->options.password_file;
    struct secret found;
    if (path == NULL)
        return false;
    struct arena *arena = arena_new();
    struct error *error = secret_read(arena, path, &found);
    if (error != NULL)
        LOG(ERROR, STORE, "the database password cannot be read again", LOG_TEXT("detail", error->detail));
    bool changed = error == NULL && !secret_equal(found, database->options.password);
    if (changed)
        database->options.password = secret_copy(database->memory, found.bytes, found.length);
    arena_free(&arena);
    return changed;
}

/* A password that is refused may have been changed: the file is read again, once. */
static bool connect_now(struct database *database, struct fault *fault)
{
    database->mysql = open_connection(database, fault);
    if (database->mysql == NULL && is_refused(fault) && reread_password(database))
        database->mysql = open_connection(database, fault);
    if (database->mysql == NULL)
        LOG(ERROR, STORE, "cannot connect to the database", LOG_INTEGER("errorNumber", fault->number),
            LOG_TEXT("reason", fault->text));
    return database->mysql != NULL;
}

void connection_renew(struct database *database)
{
    struct secret before = database->options.password;
    struct fault fault;
    if (!reread_password(database))
        return;
    MYSQL *mysql = open_connection(database, &fault);
    if (mysql == NULL) {
        LOG(ERROR, STORE, "the new database password does not open a connection; going on with the one before",
            LOG_INTEGER("errorNumber", fault.number), LOG_TEXT("reason", fault.text));
        database->options.password = before;
        return;
    }
    connection_close(database);
    database->mysql = mysql;
    LOG(INFO, STORE, "connected to the database with the new password");
}

/* Whether an idle connection has something to read, which means that the server has ended it. */
static bool broken(MYSQL *mysql)
{
    char byte;
    ssize_t got = recv(mysql_get_socket(mysql), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool connection_ready(struct database *database, struct fault *fault)
{
    int64_t horizon = clock_within_horizon(0);
    /* A wait would end at once, but a server that has answered already is not waited for. */
    if (horizon != 0 && clock_monotonic() >= horizon) {
        *fault = (struct fault){.failure = FAILURE_UNAVAILABLE, .number = 2013, .state = "08S01"};
        return false;
    }
    if (database->mysql != NULL && broken(database->mysql)) {
        LOG(INFO, STORE, "the database has ended the connection");
        connection_close(database);
    }
    if (database->mysql != NULL)
        return true;
    if (database->transaction == TRANSACTION_NONE)
        return connect_now(database, fault);
    *fault = (struct fault){.failure = FAILURE_LOST, .number = 2006, .state = "08S01"};
    return false;
}

static void prepared_free(struct prepared *prepared)
{
    (void)mysql_stmt_close(prepared->handle);
    free(prepared->bound);
    free(prepared->fetched);
    free(prepared->slots);
    free(prepared);
}

/* mysql_close() first: the statements then know that there is nobody to tell. */
void connection_close(struct database *database)
{
    if (database->mysql == NULL)
        return;
    /* The farewell must not wait for a server that does not read. */
    deadline = clock_monotonic();
    mysql_close(database->mysql);
    database->mysql = NULL;
    database_forget(database);
    for (size_t i = 0; i < PREPARED_SLOTS; i++) {
        if (database->prepared[i] != NULL)
            prepared_free(database->prepared[i]);
        database->prepared[i] = NULL;
    }
    database->prepared_count = 0;
}

/* ---- prepared statements ------------------------------------------------------------------------- */

/* The place of `sql` in the table (open addressing), or the empty place where it belongs. */
static size_t place_of(const struct database *database, const char *sql)
{
    size_t place = (size_t)(((uintptr_t)sql * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % PREPARED_SLOTS;
    while (database->prepared[place] != NULL && database->prepared[place]->sql != sql)
        place = (place + 1) % PREPARED_SLOTS;
    return place;
}

static bool integral(enum enum_field_types type)
{
    return type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_INT24 ||
           type == MYSQL_TYPE_LONG || type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR;
}

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

/* Where the column's value goes. */
static void bind_column(const MYSQL_FIELD *field, struct slot *slot, MYSQL_BIND *bind)
{
    slot->is_integer = integral(field->type);
    slot->is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
    slot->is_time = field->type == MYSQL_TYPE_DATETIME || field->type == MYSQL_TYPE_TIMESTAMP;
    *bind = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = slot->bytes, .buffer_length = SLOT_BYTES};
    if (slot->is_integer)
        *bind = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &slot->integer};
    else if (slot->is_time)
        *bind = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_DATETIME, .buffer = &slot->time, .buffer_length = sizeof slot->time};
    bind->is_unsigned = slot->is_unsigned;
    bind->is_null = &slot->is_null;
    bind->length = &slot->length;
}

/*
 * Columns are bound once. Integers, times and short texts are fetched into their slot; of a long text the length is
 * fetched with the row, and the bytes go straight into the arena afterwards (rows.c).
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
        out_of_memory();
    deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
    LOG(DEBUG, STORE, "preparing a statement", LOG_TEXT("sql", sql));
    bool failed = mysql_stmt_prepare(handle, sql, strlen(sql)) != 0;
    count_trip();
    if (failed) {
        unsigned number = mysql_stmt_errno(handle);
        char state[6], message[MYSQL_ERRMSG_SIZE];
        (void)snprintf(state, sizeof state, "%s", mysql_stmt_sqlstate(handle));
        (void)snprintf(message, sizeof message, "%s", mysql_stmt_error(handle));
        (void)mysql_stmt_close(handle);
        note_failure(database, fault, number, state, message);
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

struct prepared *connection_prepare(struct database *database, const struct statement *statement,
                                    struct fault *fault)
{
    size_t place = place_of(database, statement->sql);
    if (database->prepared[place] != NULL)
        return database->prepared[place];
    if (database->prepared_count == LIMIT_STATEMENTS) {
        *fault = (struct fault){.failure = FAILURE_MISTAKE, .state = "HY000"};
        (void)snprintf(fault->text, sizeof fault->text, "more than %d statements", LIMIT_STATEMENTS);
        return NULL;
    }
    struct prepared *prepared = prepare_now(database, statement->sql, fault);
    if (prepared != NULL) {
        database->prepared[place] = prepared;
        database->prepared_count++;
    }
    return prepared;
}

/* An emptied place would cut the search for those that stand behind it, so they are put in anew. */
void connection_forget(struct database *database, struct prepared *prepared)
{
    size_t place = place_of(database, prepared->sql);
    database->prepared[place] = NULL;
    database->prepared_count--;
    deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
    prepared_free(prepared);
    for (;;) {
        place = (place + 1) % PREPARED_SLOTS;
        struct prepared *moved = database->prepared[place];
        if (moved == NULL)
            return;
        database->prepared[place] = NULL;
        database->prepared[place_of(database, moved->sql)] = moved;
    }
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

bool connection_execute(struct database *database, struct prepared *prepared,
                        const struct database_value *values, size_t count, struct fault *fault)
{
    MYSQL_STMT *handle = prepared->handle;
    if (count != prepared->parameters) {
        *fault = (struct fault){.failure = FAILURE_MISTAKE, .number = 2034, .state = "HY000"};
        return false;
    }
    for (size_t i = 0; i < count; i++)
        bind_value(&prepared->bound[i], &values[i]);
    deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
    bool done = (count == 0 || mysql_stmt_bind_param(handle, prepared->bound) == 0) &&
                mysql_stmt_execute(handle) == 0 && mysql_stmt_store_result(handle) == 0;
    count_trip();
    if (done)
        return true;
    note_failure(database, fault, mysql_stmt_errno(handle), mysql_stmt_sqlstate(handle),
                 mysql_stmt_error(handle));
    return false;
}

bool connection_command(struct database *database, const char *sql, size_t length, struct fault *fault)
{
    MYSQL *mysql = database->mysql;
    deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
    bool sent = mysql_real_query(mysql, sql, length) == 0;
    MYSQL_RES *result = sent ? mysql_store_result(mysql) : NULL;
    count_trip();
    if (sent) {
        if (result != NULL || mysql_errno(mysql) == 0) {
            mysql_free_result(result);
            return true;
        }
    }
    char text[sizeof fault->text];
    (void)snprintf(text, sizeof text, "%s", mysql_error(mysql));
    note_failure(database, fault, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
    memcpy(fault->text, text, sizeof text);
    return false;
}

/* What is left of a result that nobody wants: the server is not waited for. */
static void drop_result(MYSQL *mysql, MYSQL_RES *result, bool cut)
{
    if (cut)
        (void)shutdown(mysql_get_socket(mysql), SHUT_RDWR);
    if (result != NULL)
        mysql_free_result(result);
}

/* The deadline is set for each row, since between two of them other connections may have been used. */
static bool stream_rows(struct database *database, MYSQL_RES *result,
                        bool (*row)(void *context, const struct stream_row *row), void *context)
{
    struct stream_row found = {.fields = mysql_fetch_fields(result), .count = mysql_num_fields(result)};
    for (;;) {
        deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
        found.cells = mysql_fetch_row(result);
        if (found.cells == NULL)
            return true;
        found.lengths = mysql_fetch_lengths(result);
        if (!row(context, &found))
            return false;
    }
}

bool connection_stream(struct database *database, const char *sql, size_t length,
                       bool (*row)(void *context, const struct stream_row *row), void *context,
                       struct fault *fault)
{
    MYSQL *mysql = database->mysql;
    deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
    MYSQL_RES *result = mysql_real_query(mysql, sql, length) == 0 ? mysql_use_result(mysql) : NULL;
    bool stopped = result != NULL && !stream_rows(database, result, row, context);
    unsigned number = stopped ? 0 : mysql_errno(mysql);
    char state[6], message[MYSQL_ERRMSG_SIZE];
    (void)snprintf(state, sizeof state, "%s", mysql_sqlstate(mysql));
    (void)snprintf(message, sizeof message, "%s", mysql_error(mysql));
    drop_result(mysql, result, stopped);
    if (!stopped && number == 0)
        return true;
    if (stopped) {
        *fault = (struct fault){.failure = FAILURE_LOST, .number = 2013, .state = "08S01"};
        connection_close(database);
        return false;
    }
    note_failure(database, fault, number, state, message);
    return false;
}

bool connection_ping(struct database *database, struct fault *fault)
{
    deadline_start(database->options.query_timeout_seconds, GRACE_MICROSECONDS);
    bool answered = mysql_ping(database->mysql) == 0;
    count_trip();
    if (answered)
        return true;
    note_failure(database, fault, mysql_errno(database->mysql), mysql_sqlstate(database->mysql),
                 mysql_error(database->mysql));
    return false;
}
