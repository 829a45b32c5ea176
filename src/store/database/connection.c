/* SPDX-License-Identifier: MIT */
/*
 * One exchange with the server over an open connection: its deadline, its metrics, and what a failure means.
 *
 * Deadlines. The timeouts of libmariadb start anew with every byte that arrives, so a server that sends slowly would
 * block this process for ever. Its wait hook (MARIADB_OPT_IO_WAIT) waits until one deadline for the whole exchange
 * instead. The server's max_statement_time ends a slow statement a little earlier, and so the connection survives.
 */
#include <errmsg.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/database/database_int.h"

/* The client waits so much longer than the server, so that the server gives up first. */
#define GRACE_MICROSECONDS 500000

/*
 * When the current exchange must be over (clock_monotonic()); 0: never. A variable, since the hook has no parameter for
 * it.
 */
static _Thread_local int64_t deadline;

/* How a Galera node without its quorum refuses what waits for the others; see NODE_REFUSES. */
#define NODE_LOCK_WAIT 1205

/* When the current exchange began. */
static _Thread_local int64_t begun;

void connection_begin_connecting(int64_t until)
{
    begun = clock_monotonic();
    deadline = clock_within_horizon(until);
}

void connection_begin(const struct database *database)
{
    unsigned seconds = database->options.query_timeout_seconds;
    begun = clock_monotonic();
    deadline = clock_within_horizon(seconds == 0 ? 0 : begun + (int64_t)seconds * 1000000 + GRACE_MICROSECONDS);
}

void connection_end(void)
{
    metrics_observe(METRIC_DATABASE_ROUND_TRIP, clock_monotonic() - begun);
}

int connection_wait(my_socket socket, my_bool to_read, int library_timeout)
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

/* ---- what failed --------------------------------------------------------------------------------- */

void connection_fault(struct fault *fault, unsigned number, const char *state, const char *message)
{
    /* A call that fails without a number got no answer, or only a part. */
    if (number == 0)
        number = CR_SERVER_LOST;
    *fault = (struct fault){.failure = database_failure_of(number, message), .number = number};
    (void)snprintf(fault->state, sizeof fault->state, "%s", state);
    if (fault->failure == DATABASE_FAILURE_DUPLICATE)
        database_failure_key(message, fault->key);
}

/* Outcomes that the caller handles, and statements that are prepared and sent again, are not counted. */
static void count_failure(enum database_failure failure)
{
    if (failure == DATABASE_FAILURE_LOST)
        metrics_add(METRIC_DATABASE_LOST, 1);
    else if (failure == DATABASE_FAILURE_UNAVAILABLE)
        metrics_add(METRIC_DATABASE_UNAVAILABLE, 1);
    else if (failure == DATABASE_FAILURE_CONFLICT)
        metrics_add(METRIC_DATABASE_CONFLICT, 1);
    else if (failure == DATABASE_FAILURE_FULL)
        metrics_add(METRIC_DATABASE_FULL, 1);
    else if (failure == DATABASE_FAILURE_MISTAKE)
        metrics_add(METRIC_DATABASE_MISTAKE, 1);
}

/*
 * A node without its quorum refuses a read that waits for the others with the number of a lock wait. Asking it what it
 * is tells the two apart.
 */
static bool has_left(struct database *database)
{
    struct node_state node;
    if (database->hosts.count < 2)
        return false;
    connection_begin(database);
    bool answered = node_ask(database->mysql, &node);
    connection_end();
    return !answered || !node.ready;
}

/* 2006 is raised while sending, so the server has not received the whole statement. The others are refusals. */
static bool is_not_done(unsigned number)
{
    return number == 2006 || number == NODE_REFUSES || number == NODE_LOCK_WAIT;
}

void connection_failed(struct database *database, struct fault *fault, unsigned number, const char *state,
                       const char *message)
{
    connection_fault(fault, number, state, message);
    if (number == NODE_LOCK_WAIT && has_left(database))
        fault->failure = DATABASE_FAILURE_LOST;
    count_failure(fault->failure);
    if (fault->failure != DATABASE_FAILURE_LOST)
        return;
    fault->maybe_done = !is_not_done(number);
    LOG(WARN, STORE, "the database connection broke", LOG_INTEGER("errorNumber", number));
    connection_close(database);
}

/* ---- closing ------------------------------------------------------------------------------------- */

/* mysql_close() comes first: then the statements know that there is no server to inform. */
void connection_close(struct database *database)
{
    if (database->mysql == NULL)
        return;
    /* mysql_close() sends a farewell. It must not wait for a server that does not read. */
    deadline = clock_monotonic();
    mysql_close(database->mysql);
    database->mysql = NULL;
    database_forget(database);
    statement_memory_clear(database);
}

/* ---- exchanges ----------------------------------------------------------------------------------- */

bool connection_command(struct database *database, const char *sql, size_t length, struct fault *fault)
{
    MYSQL *mysql = database->mysql;
    connection_begin(database);
    bool sent = mysql_real_query(mysql, sql, length) == 0;
    MYSQL_RES *result = sent ? mysql_store_result(mysql) : NULL;
    connection_end();
    if (sent) {
        if (result != NULL || mysql_errno(mysql) == 0) {
            mysql_free_result(result);
            return true;
        }
    }
    char text[sizeof fault->text];
    (void)snprintf(text, sizeof text, "%s", mysql_error(mysql));
    connection_failed(database, fault, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
    memcpy(fault->text, text, sizeof text);
    return false;
}

/*
 * Drops a result. `cut`: rows of it are still to come, and the connection is shut down so that nobody waits for them.
 */
static void drop_result(MYSQL *mysql, MYSQL_RES *result, bool cut)
{
    if (cut)
        (void)shutdown(mysql_get_socket(mysql), SHUT_RDWR);
    if (result != NULL)
        mysql_free_result(result);
}

/* Every row has a deadline of its own: `row` may use other connections, whose deadlines replace this one. */
static bool stream_rows(struct database *database, MYSQL_RES *result,
                        bool (*row)(void *context, const struct stream_row *row), void *context)
{
    struct stream_row found = {.fields = mysql_fetch_fields(result), .count = mysql_num_fields(result)};
    for (;;) {
        connection_begin(database);
        found.cells = mysql_fetch_row(result);
        if (found.cells == NULL)
            return true;
        found.lengths = mysql_fetch_lengths(result);
        if (!row(context, &found))
            return false;
    }
}

bool connection_stream(struct database *database, const char *sql, size_t length,
                       bool (*row)(void *context, const struct stream_row *row), void *context, struct fault *fault)
{
    MYSQL *mysql = database->mysql;
    connection_begin(database);
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
        *fault = (struct fault){.failure = DATABASE_FAILURE_LOST, .number = 2013, .state = "08S01"};
        connection_close(database);
        return false;
    }
    connection_failed(database, fault, number, state, message);
    return false;
}

bool connection_ping(struct database *database, struct fault *fault)
{
    connection_begin(database);
    bool answered = mysql_ping(database->mysql) == 0;
    connection_end();
    if (answered)
        return true;
    connection_failed(database, fault, mysql_errno(database->mysql), mysql_sqlstate(database->mysql),
                      mysql_error(database->mysql));
    return false;
}
