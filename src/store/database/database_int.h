/* SPDX-License-Identifier: MIT */
/*
 * What the files behind store/database/database.h share. From the lowest to the highest:
 *
 *     database_failure.c   what the error numbers mean
 *     statement_memory.c   what lasts as long as a connection
 *     host_list.c, node.c  the hosts, and whether one of them can be used
 *     connection.c         exchanges over an open connection
 *     connect.c            opens a connection
 *     prepared.c           prepares and executes statements
 *     rows.c               copies results
 *     retry.c              when a conflict is tried again
 *     database.c, transaction.c   what is repeated, and what is not
 */
#ifndef GATEHOUSE_STORE_DATABASE_DATABASE_INT_H
#define GATEHOUSE_STORE_DATABASE_DATABASE_INT_H

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "store/database/database.h"
#include "store/database/host_list.h"

/* What a failed call means for its caller. */
enum database_failure {
    DATABASE_FAILURE_NONE,
    DATABASE_FAILURE_LOST,        /* the connection is gone, and closed on our side */
    DATABASE_FAILURE_UNAVAILABLE, /* refused, not in time, or read-only; nothing was done */
    DATABASE_FAILURE_CONFLICT,    /* deadlock, lock wait, certification: rolled back, worth another try */
    DATABASE_FAILURE_DUPLICATE,   /* a unique key */
    DATABASE_FAILURE_REFERENCE,   /* a foreign key */
    DATABASE_FAILURE_FORGOTTEN,   /* the server no longer takes the prepared statement; it was not run */
    DATABASE_FAILURE_FULL,        /* no space left under the database */
    DATABASE_FAILURE_MISTAKE      /* our SQL, our schema or our rights are wrong */
};

struct fault {
    enum database_failure failure;
    unsigned number; /* the server's or the client library's error number */
    char state[6];   /* SQLSTATE */
    char key[65];    /* with DATABASE_FAILURE_DUPLICATE: the key's name */
    char text[512];  /* the server's words; only where they hold no value (connecting, migrations) */
    bool maybe_done; /* with DATABASE_FAILURE_LOST: the server may have run the statement */
};

/* A prepared statement of this connection. `slots` hold one fetched row. */
struct prepared {
    const char *sql; /* its address is the key */
    MYSQL_STMT *handle;
    size_t parameters;
    size_t columns;
    MYSQL_BIND *bound;
    MYSQL_BIND *fetched;
    struct slot *slots;
};

/* As much of a column's text as is fetched together with the row; what is longer is fetched afterwards. */
#define SLOT_BYTES 128

struct slot {
    int64_t integer;
    MYSQL_TIME time;
    char bytes[SLOT_BYTES];
    unsigned long length;
    my_bool is_null;
    bool is_integer;
    bool is_unsigned;
    bool is_time;
};

#define PREPARED_SLOTS ((size_t)LIMIT_STATEMENTS * 2)

enum transaction { TRANSACTION_NONE, TRANSACTION_OPEN, TRANSACTION_DOOMED };

struct database {
    struct database_options options; /* the texts live in `memory` */
    struct arena *memory;
    struct id id;           /* of this handle, as the holder of locks (row_lock.c) */
    unsigned locks;         /* how many it holds */
    struct host_list hosts; /* over TCP; else there is none */
    size_t host;            /* the one that it is connected to */
    int64_t look_at;        /* clock_monotonic(): when it looks next whether an earlier host is back */
    size_t avoided;         /* a host that another one is preferred to, SIZE_MAX: none, */
    int64_t avoided_until;  /* until then; clock_monotonic() */
    MYSQL *mysql;           /* NULL: not connected */
    enum transaction transaction;
    struct fault doom; /* what doomed the transaction */
    struct prepared *prepared[PREPARED_SLOTS];
    size_t prepared_count;
    struct arena *remembered_memory; /* NULL: nothing is remembered */
    void *remembered;
};

/* ---- statement_memory.c ---------------------------------------------------------------------------- */

/* The prepared form of an SQL text on this connection; NULL when there is none. */
struct prepared *statement_memory_find(const struct database *database, const char *sql);

/* Remembers a statement, of which there must be fewer than LIMIT_STATEMENTS. */
void statement_memory_add(struct database *database, struct prepared *prepared);

/* Closes and frees one statement, or all. */
void statement_memory_remove(struct database *database, struct prepared *prepared);
void statement_memory_clear(struct database *database);

/* Frees what database_remember() keeps. */
void database_forget(struct database *database);

/* ---- node.c ------------------------------------------------------------------------------------------ */

/* Whether the host takes a TCP connection before `until` (clock_monotonic()). False fills *fault. */
bool node_reachable(const struct host *host, int64_t until, struct fault *fault);

/* The error with which a Galera node refuses a statement: it has no quorum, or was told to (wsrep_reject_queries). */
#define NODE_REFUSES 1047

/* What a server says of itself as a node of a Galera cluster. */
struct node_state {
    bool is_node;
    bool ready;      /* it takes statements; also where it is no node */
    char state[64];  /* wsrep_local_state_comment, such as "Synced" */
    char status[32]; /* wsrep_cluster_status, such as "Primary"; "refuses statements" where it was told to */
    char size[16];   /* wsrep_cluster_size */
};

/* Asks for it, within the deadline of the exchange under way. False when there was no answer. */
bool node_ask(MYSQL *mysql, struct node_state *state_out);

/*
 * The server's time now, as microseconds since 1970; 0: the server refuses to tell it. Within the same deadline. False
 * when there was no answer: then the connection is of no use any more. Where nothing tells it apart from this machine's
 * time it is exactly that.
 */
bool node_clock(MYSQL *mysql, int64_t *now_out);

/* The server's innodb_lock_wait_timeout for whoever sets none of its own, in seconds; 0 and false as node_clock(). */
bool node_lock_wait(MYSQL *mysql, int64_t *seconds_out);

/* Has ids follow the server's clock. Where the server refuses they go on as before. False as node_clock(). */
bool node_follow_clock(MYSQL *mysql);

/* ---- connection.c: exchanges over an open connection ------------------------------------------------- */

/* An exchange begins: sets its deadline, by query_timeout_seconds or, when connecting, to `until`. */
void connection_begin(const struct database *database);
void connection_begin_connecting(int64_t until);

/* An exchange is over, whether it failed or not: counts its round trip. */
void connection_end(void);

/* The wait hook of libmariadb: 1 when the socket is ready, 0 (ETIMEDOUT) at the deadline, -1 on failure. */
int connection_wait(my_socket socket, my_bool to_read, int library_timeout);

/* Fills *fault with an error of the server or the library. */
void connection_fault(struct fault *fault, unsigned number, const char *state, const char *message);

/* The same for an exchange over the open connection, and counts it; a lost connection is closed. */
void connection_failed(struct database *database, struct fault *fault, unsigned number, const char *state,
                       const char *message);

/*
 * Closes, and passes over the host for a minute unless no other can be used. False, and nothing has happened, when
 * there is no other, or another one is passed over already.
 */
bool connection_leave_host(struct database *database);

/* Closes without waiting for the server. The prepared statements and what database_remember() keeps are freed. */
void connection_close(struct database *database);

/* Asks the server for a sign of life. False fills *fault, as with all below. */
bool connection_ping(struct database *database, struct fault *fault);

/* Runs an SQL text that is not prepared and drops its results. */
bool connection_command(struct database *database, const char *sql, size_t length, struct fault *fault);

/* A row as the server sends it: texts with their lengths, NULL for SQL's NULL. */
struct stream_row {
    char *const *cells;
    const unsigned long *lengths;
    const MYSQL_FIELD *fields;
    size_t count;
};

/*
 * Runs a text that is not prepared and gives its rows to `row` one after the other, without gathering them.
 * Where `row` answers false the connection is closed and this false, too.
 */
bool connection_stream(struct database *database, const char *sql, size_t length,
                       bool (*row)(void *context, const struct stream_row *row), void *context, struct fault *fault);

/* ---- connect.c --------------------------------------------------------------------------------------- */

/*
 * Makes sure that there is a connection that is not known to be broken. In a transaction it does not connect again: a
 * broken connection is DATABASE_FAILURE_LOST then. False fills *fault.
 */
bool connect_ready(struct database *database, struct fault *fault);

/*
 * Reads the password file again. Where it holds another password, connects with it, and then closes the old connection.
 * A password that opens no connection is not taken.
 */
void connect_renew(struct database *database);

/* ---- prepared.c -------------------------------------------------------------------------------------- */

/* The prepared form of a statement; prepares it if this connection does not know it. NULL fills *fault. */
struct prepared *prepared_get(struct database *database, const struct statement *statement, struct fault *fault);

/* Forgets one statement, so that prepared_get() prepares it again. */
void prepared_forget(struct database *database, struct prepared *prepared);

/* Binds the values, executes, and reads the whole result into the client library's buffer. False fills *fault. */
bool prepared_execute(struct database *database, struct prepared *prepared, const struct database_value *values,
                      size_t count, struct fault *fault);

/* ---- retry.c ----------------------------------------------------------------------------------------- */

/*
 * Whether something that began at `start` (clock_monotonic()) may go on: it must not take longer than one statement's
 * timeout.
 */
bool retry_in_time(const struct database *database, int64_t start);

/* Whether there may be another try after try `attempt` (from 0) met a conflict. */
bool retry_allowed(const struct database *database, unsigned attempt, int64_t start);

/* Sleeps for a random time after try `attempt`, so that the processes that collided do not collide again. */
void retry_pause(unsigned attempt);

/* ---- database_failure.c ------------------------------------------------------------------------------ */

/* What an error number of the server or of libmariadb means. */
enum database_failure database_failure_of(unsigned number, const char *message);

/* The key's name in the server's words about a duplicate; "" when they are not understood. */
void database_failure_key(const char *message, char key_out[65]);

/* Turns a fault into the error that the caller's caller sees. */
struct error *database_failure_error(struct arena *arena, const struct fault *fault, const char *what);

/* ---- rows.c ------------------------------------------------------------------------------------------ */

/* Copies the buffered result of an executed statement into the arena. */
bool rows_fetch(struct prepared *prepared, struct arena *arena, struct rows **rows_out);

#endif
