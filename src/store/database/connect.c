/* SPDX-License-Identifier: MIT */
/*
 * Opens a connection to MariaDB: session, TLS, password, and whether an idle connection still lives.
 *
 * An idle connection has nothing to read. If there is something, be it the end of the stream or a farewell, the server
 * has closed the connection. That is noticed before a statement is sent, when it is still safe to connect again.
 *
 * Of a list of hosts the first that can be used is connected to: one that takes the connection, and that is no Galera
 * node that refuses statements, without its quorum or by order. All processes of all hosts use the same one in that
 * way, so that they seldom meet in conflicts that only the commit finds. A process that is connected to a later host
 * goes back when an earlier one can be used again: between two transactions, with a connection that is open before the
 * other is closed, so that no request fails by it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "codec/random.h"
#include "store/database/database_int.h"

/* What is left until then, in whole seconds; at least 1. */
static unsigned seconds_left(int64_t until)
{
    int64_t left = (until - clock_monotonic() + 999999) / 1000000;
    return left < 1 ? 1 : (unsigned)left;
}

/*
 * READ COMMITTED: the transactions are short, and unique keys and row locks keep the data consistent. Without gap locks
 * far fewer of them deadlock, and each statement sees what others have committed. lc_messages: database_failure_key()
 * reads English. wsrep_sync_wait: on a Galera node a read waits for what other nodes have committed, so that a
 * permission that was taken away is gone everywhere at the next request.
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
                   query_timeout == 0 ? 50U : 1U, query_timeout);
}

static void set_options(MYSQL *mysql, const struct database_options *options, const char *session, unsigned connecting)
{
    static const my_bool yes = 1, no = 0;
    static const unsigned off = 0;
    unsigned protocol = options->socket != NULL ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    unsigned patience = options->query_timeout_seconds == 0 ? 0 : options->query_timeout_seconds + 1;
    (void)mysql_optionsv(mysql, MYSQL_OPT_PROTOCOL, &protocol);
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connecting);
    (void)mysql_optionsv(mysql, MYSQL_OPT_READ_TIMEOUT, &patience);
    (void)mysql_optionsv(mysql, MYSQL_OPT_WRITE_TIMEOUT, &patience);
    (void)mysql_optionsv(mysql, MARIADB_OPT_IO_WAIT, connection_wait);
    (void)mysql_optionsv(mysql, MYSQL_OPT_RECONNECT, &no);
    (void)mysql_optionsv(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
    (void)mysql_optionsv(mysql, MYSQL_REPORT_DATA_TRUNCATION, &no);
    (void)mysql_optionsv(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    (void)mysql_optionsv(mysql, MYSQL_INIT_COMMAND, session);
    if (options->socket != NULL)
        return;
    if (options->tls_ca_file == NULL) {
        /* By default Connector/C 3.4 uses TLS and checks certificates; 3.3 does neither. */
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &no);
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
        /* A false server must not learn the password: only plugins that answer a challenge are allowed. */
        (void)mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, "mysql_native_password,client_ed25519");
    } else {
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_CA, options->tls_ca_file);
        (void)mysql_optionsv(mysql, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
    }
}

static void close_now(MYSQL *mysql)
{
    connection_begin_connecting(clock_monotonic());
    mysql_close(mysql);
}

/* Puts the library's words about what failed into *fault. */
static void tell_failure(MYSQL *mysql, struct fault *fault)
{
    connection_fault(fault, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
    fault->failure = DATABASE_FAILURE_UNAVAILABLE;
    metrics_add(METRIC_DATABASE_NOT_CONNECTED, 1);
    (void)snprintf(fault->text, sizeof fault->text, "%s", mysql_error(mysql));
}

/* A new connection to the host, or by the socket where it is NULL; made before `until`. NULL fills *fault. */
static MYSQL *open_connection(const struct database *database, const struct host *host, int64_t until,
                              struct fault *fault)
{
    const struct database_options *options = &database->options;
    char session[640];
    write_session(session, sizeof session, options->query_timeout_seconds);
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL)
        memory_end("the database client");
    set_options(mysql, options, session, seconds_left(clock_within_horizon(until)));
    connection_begin_connecting(until);
    /* The library prefers a host over the socket when it is given both. */
    if (mysql_real_connect(mysql, host == NULL ? NULL : host->name, options->user, secret_reveal(options->password),
                           options->name, host == NULL ? 0 : host->port, options->socket, CLIENT_FOUND_ROWS) != NULL) {
        metrics_add(METRIC_DATABASE_CONNECTED, 1);
        return mysql;
    }
    tell_failure(mysql, fault);
    mysql_close(mysql);
    return NULL;
}

/* A connection that gave no answer: fills *fault, and closes it. Returns NULL. */
static MYSQL *give_up(MYSQL *mysql, struct fault *fault)
{
    tell_failure(mysql, fault);
    close_now(mysql);
    return NULL;
}

/* The same, and ids have the time of the server from here on, unless it has the clock of this machine. */
static MYSQL *open_single(const struct database *database, const struct host *host, int64_t until, struct fault *fault)
{
    MYSQL *mysql = open_connection(database, host, until, fault);
    if (mysql == NULL || host == NULL || node_follow_clock(mysql))
        return mysql;
    return give_up(mysql, fault);
}

/*
 * The password is wrong (1045), or the last way in which the account may sign in takes none, such as unix_socket
 * (1698): one before it may take the password.
 */
static bool is_refused(const struct fault *fault)
{
    return fault->number == 1045 || fault->number == 1698;
}

/* ---- the list ------------------------------------------------------------------------------------ */

/*
 * When a worker looks whether an earlier host is back: at random within so long, so that not all look at once. And how
 * long a look may take, since a request waits for it.
 */
#define LOOK_MICROSECONDS INT64_C(20000000)
#define LOOK_TAKES_MICROSECONDS INT64_C(300000)

static void look_later(struct database *database)
{
    uint32_t random;
    random_bytes(&random, sizeof random);
    database->look_at = clock_monotonic() + LOOK_MICROSECONDS + (int64_t)(random % LOOK_MICROSECONDS);
}

/*
 * How long a walk rests that met a node that refuses statements and none that takes them. After a death the nodes need
 * a moment to agree on who is left, and one that was told to refuse ends and comes back; a request that is told so at
 * once could as well have been answered.
 */
#define REST_MICROSECONDS INT64_C(200000)

/* Rests, if there is time for it and for another walk before `until`. */
static bool rests(int64_t until)
{
    static const struct timespec rest = {.tv_nsec = REST_MICROSECONDS * 1000};
    if (clock_monotonic() + 2 * REST_MICROSECONDS >= clock_within_horizon(until))
        return false;
    (void)nanosleep(&rest, NULL);
    return true;
}

/* A connection to one host of the list. For a node that takes no statements, fault->number is NODE_REFUSES. */
static MYSQL *open_host(const struct database *database, size_t at, int64_t until, struct fault *fault)
{
    const struct host *host = &database->hosts.items[at];
    struct node_state node;
    /* The library counts whole seconds for the first step of connecting: too long for one host of several. */
    if (!node_reachable(host, clock_within_horizon(until), fault))
        return NULL;
    MYSQL *mysql = open_connection(database, host, until, fault);
    if (mysql == NULL)
        return NULL;
    bool answered = node_ask(mysql, &node);
    if (answered && node.ready && node_follow_clock(mysql))
        return mysql;
    (void)give_up(mysql, fault);
    if (answered && !node.ready) {
        fault->number = NODE_REFUSES;
        (void)snprintf(fault->text, sizeof fault->text, "the node is not ready: %s, %s", node.state, node.status);
    }
    return NULL;
}

/* How long a host is passed over that was left because it cannot do a statement, so that its neighbour is used. */
#define AVOIDED_MICROSECONDS INT64_C(60000000)

bool connection_leave_host(struct database *database)
{
    if (database->hosts.count < 2 || clock_monotonic() < database->avoided_until)
        return false;
    const struct host *host = &database->hosts.items[database->host];
    LOG(WARN, STORE, "a database host is left for another one", LOG_TEXT("host", host->name),
        LOG_INTEGER("port", host->port));
    database->avoided = database->host;
    database->avoided_until = clock_monotonic() + AVOIDED_MICROSECONDS;
    connection_close(database);
    return true;
}

static bool is_avoided(const struct database *database, size_t host)
{
    return host == database->avoided && clock_monotonic() < database->avoided_until;
}

/* Nobody else can be used: then the host that is passed over is. False when none is. */
static bool avoids_no_more(struct database *database)
{
    if (database->avoided == SIZE_MAX || clock_monotonic() >= database->avoided_until)
        return false;
    database->avoided = SIZE_MAX;
    return true;
}

/*
 * Goes through the first `count` hosts until one can be used. Each has its share of what is left until then, so that
 * one that does not answer leaves time for the others. *regroups_out: one of them refuses statements, for now.
 */
static MYSQL *walk(struct database *database, size_t count, int64_t until, struct fault *fault, bool *regroups_out)
{
    *regroups_out = false;
    for (size_t at = 0; at < count; at++) {
        if (is_avoided(database, at))
            continue;
        int64_t now = clock_monotonic();
        MYSQL *mysql = open_host(database, at, now + (until - now) / (int64_t)(count - at), fault);
        if (mysql != NULL) {
            database->host = at;
            return mysql;
        }
        if (is_refused(fault))
            return NULL;
        *regroups_out = *regroups_out || fault->number == NODE_REFUSES;
        LOG(INFO, STORE, "a database host cannot be used", LOG_TEXT("host", database->hosts.items[at].name),
            LOG_INTEGER("port", database->hosts.items[at].port), LOG_TEXT("reason", fault->text));
    }
    return NULL;
}

/* A new connection to the only server, or to the first host of the list that can be used. */
static MYSQL *open_any(struct database *database, struct fault *fault)
{
    const struct host_list *hosts = &database->hosts;
    int64_t until = clock_monotonic() + (int64_t)database->options.connect_timeout_seconds * 1000000;
    if (hosts->count < 2)
        return open_single(database, hosts->count == 0 ? NULL : &hosts->items[0], until, fault);
    MYSQL *mysql;
    bool regroups;
    do {
        look_later(database);
        mysql = walk(database, hosts->count, until, fault, &regroups);
        if (mysql == NULL && avoids_no_more(database))
            regroups = true;
    } while (mysql == NULL && regroups && !is_refused(fault) && rests(until));
    return mysql;
}

/* An earlier host that is back is used again. Else the connection stays, and nothing has happened. */
static void look_back(struct database *database)
{
    struct fault fault;
    bool regroups;
    if (database->host == 0 || database->locks > 0 || clock_monotonic() < database->look_at)
        return;
    look_later(database);
    MYSQL *mysql = walk(database, database->host, clock_monotonic() + LOOK_TAKES_MICROSECONDS, &fault, &regroups);
    if (mysql == NULL)
        return;
    connection_close(database);
    database->mysql = mysql;
    LOG(INFO, STORE, "an earlier database host is used again",
        LOG_TEXT("host", database->hosts.items[database->host].name));
}

/* What one host of the list says of itself, over a connection of its own. */
static bool ask(const struct database *database, size_t host, struct node_state *state_out, int64_t *clock_out,
                int64_t *lock_wait_out, struct fault *fault)
{
    int64_t until = clock_monotonic() + (int64_t)database->options.connect_timeout_seconds * 1000000;
    if (!node_reachable(&database->hosts.items[host], until, fault))
        return false;
    MYSQL *mysql = open_connection(database, &database->hosts.items[host], until, fault);
    if (mysql == NULL)
        return false;
    bool answered = node_ask(mysql, state_out) && node_clock(mysql, clock_out) && node_lock_wait(mysql, lock_wait_out);
    if (!answered)
        tell_failure(mysql, fault);
    else if (*clock_out == 0)
        *clock_out = clock_now_microseconds();
    close_now(mysql);
    return answered;
}

size_t database_host_count(const struct database *database)
{
    return database->hosts.count;
}

struct error *database_host_state(const struct database *database, struct arena *arena, size_t host,
                                  struct database_host_state *state_out)
{
    struct node_state node;
    int64_t clock, lock_wait;
    struct fault fault;
    const struct host *place = &database->hosts.items[host];
    const char *name =
        arena_format(arena, strchr(place->name, ':') == NULL ? "%s:%u" : "[%s]:%u", place->name, place->port);
    *state_out = (struct database_host_state){.name = name, .words = "no node of a cluster"};
    if (!ask(database, host, &node, &clock, &lock_wait, &fault))
        return error_message(database_failure_error(arena, &fault, "asking a host"),
                             "The database host %s cannot be used: %s.", name, fault.text);
    if (!node.ready)
        return error_message(error_plain(arena, ERROR_DATABASE_UNAVAILABLE),
                             "The database node %s is not ready: %s, %s.", name, node.state, node.status);
    state_out->ahead = (clock - clock_now_microseconds()) / 1000;
    if (!node.is_node)
        return NULL;
    state_out->words = arena_format(arena, "%s, one of %s nodes", node.state, node.size);
    state_out->lock_wait_seconds = lock_wait;
    return NULL;
}

/* ---- connecting ---------------------------------------------------------------------------------- */

/* Takes the password that the file holds now. False when the file cannot be read or holds the known password. */
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

/* A password that is refused may have been changed, so the file is read again, once. */
static bool connect_now(struct database *database, struct fault *fault)
{
    database->mysql = open_any(database, fault);
    if (database->mysql == NULL && is_refused(fault) && reread_password(database))
        database->mysql = open_any(database, fault);
    if (database->mysql == NULL)
        LOG(ERROR, STORE, "cannot connect to the database", LOG_INTEGER("errorNumber", fault->number),
            LOG_TEXT("reason", fault->text));
    else
        LOG(DEBUG, STORE, "connected to the database");
    return database->mysql != NULL;
}

void connect_renew(struct database *database)
{
    struct secret before = database->options.password;
    struct fault fault;
    if (!reread_password(database))
        return;
    MYSQL *mysql = open_any(database, &fault);
    if (mysql == NULL) {
        LOG(ERROR, STORE, "the new database password opens no connection; the service goes on with the old one",
            LOG_INTEGER("errorNumber", fault.number), LOG_TEXT("reason", fault.text));
        database->options.password = before;
        return;
    }
    connection_close(database);
    database->mysql = mysql;
    LOG(INFO, STORE, "connected to the database with the new password");
}

/* Whether an idle connection has something to read: then the server has ended it. */
static bool broken(MYSQL *mysql)
{
    char byte;
    ssize_t got = recv(mysql_get_socket(mysql), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool connect_ready(struct database *database, struct fault *fault)
{
    int64_t horizon = clock_within_horizon(0);
    /* The time is over. A wait would end at once, but an answer that is there already would still be taken. */
    if (horizon != 0 && clock_monotonic() >= horizon) {
        *fault = (struct fault){.failure = DATABASE_FAILURE_UNAVAILABLE, .number = 2013, .state = "08S01"};
        return false;
    }
    if (database->mysql != NULL && broken(database->mysql)) {
        LOG(INFO, STORE, "the database has ended the connection");
        connection_close(database);
    }
    if (database->mysql != NULL && database->transaction == TRANSACTION_NONE)
        look_back(database);
    if (database->mysql != NULL)
        return true;
    if (database->transaction == TRANSACTION_NONE)
        return connect_now(database, fault);
    *fault = (struct fault){.failure = DATABASE_FAILURE_LOST, .number = 2006, .state = "08S01"};
    return false;
}
