/* SPDX-License-Identifier: MIT */
/*
 * The database: one MariaDB connection a process, prepared statements only, and a bound on every wait.
 *
 * A statement is a static const struct next to the code that uses it. It is prepared once a connection and found by its
 * address, so that each use is one round trip (COM_STMT_EXECUTE). Values are bound, never formatted into SQL.
 *
 *     static const struct statement find_role = {"SELECT id, description FROM role WHERE id = ?"};
 *     struct rows *rows;
 *     TRY(database_query(database, arena, &find_role, VALUES(database_text(id)), &rows));
 *
 * Failures. DATABASE_UNAVAILABLE: the server cannot be reached, does not answer in time, or cannot write at the moment.
 * STORAGE_FULL: its disk is full. INTERNAL: our SQL or our data is wrong. The details in the log hold the server's
 * error number, never a value.
 *
 * The session: utf8mb4, strict, UTC, READ COMMITTED. `affected` counts the rows that a WHERE clause found, whether or
 * not an UPDATE changed them (CLIENT_FOUND_ROWS). Bound text is compared by the column's collation. Do not compare two
 * bound texts with each other: the server would ignore case.
 */
#ifndef GATEHOUSE_STORE_DATABASE_DATABASE_H
#define GATEHOUSE_STORE_DATABASE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"

struct arena;
struct configuration;
struct database;
struct error;

struct database_options {
    const char *socket; /* path of the server's unix socket; NULL: host and port over TCP */
    const char *host;
    unsigned port;
    const char *name; /* NULL: no database is selected (to create one) */
    const char *user;
    struct secret password;           /* none: the server knows the user by the unix socket */
    const char *password_file;        /* read again when the server refuses the password; NULL: never */
    const char *tls_ca_file;          /* over TCP: TLS, with a certificate of this authority for `host` */
    unsigned connect_timeout_seconds; /* for the whole of connecting; at least 1 */
    unsigned query_timeout_seconds;   /* for each answer; 0: no bound, for migrations only */
};

/*
 * Fills the options from [database] and reads password_file. `administrator` takes admin_user and admin_password_file.
 */
struct error *database_options_load(struct arena *arena, const struct configuration *configuration, bool administrator,
                                    struct database_options *options_out);

/*
 * Loads the client library's plugins, by which accounts sign in, for a process that may load nothing later. A server
 * that asks for another one, or for one that is not installed, cannot be connected to; the log says so then.
 */
void database_load_plugins(void);

/*
 * A handle that connects at its first use; everything in `options` is copied. Heap; released with
 * database_free().
 */
struct database *database_new(const struct database_options *options);

/* Closes and releases; an open transaction is rolled back. NULL inside is fine; *database becomes NULL. */
void database_free(struct database **database);

/* Closes the connection, if any; the next use connects again. Not inside a transaction. For tests. */
void database_close(struct database *database);

/*
 * Reads the password file again. Where it holds another password, connects with it and closes the old connection; where
 * that fails, keeps the old one. Not inside a transaction.
 */
void database_renew(struct database *database);

/*
 * Keeps one thing with the connection, from one request to the next, such as which sessions were valid
 * (domain/session_memo_int.h). database_remember() takes over `memory`, in which `thing` lies, and releases what was
 * kept before. Closing the connection releases it too, since the next connection may lead to other data: a restored
 * copy, or a server that has lost its last changes. NULL: nothing is kept.
 */
void database_remember(struct database *database, struct arena **memory, void *thing);
void *database_remembered(const struct database *database);

/* Asks the server for a sign of life, in one round trip; connects when there is no connection. */
struct error *database_ping(struct database *database, struct arena *arena);

/* How many hosts the handle may connect to; 0: it uses a socket. */
size_t database_host_count(const struct database *database);

/* What one of them says of itself. */
struct database_host_state {
    const char *name;          /* "HOST:PORT" */
    const char *words;         /* "Synced, one of 3 nodes", "no node of a cluster" */
    int64_t ahead;             /* by how many milliseconds its clock is ahead of this machine's, about */
    int64_t lock_wait_seconds; /* innodb_lock_wait_timeout of a node for whoever sets none of its own; the threads that
                                  apply changes took it when they started. 0: it is no node, or does not say */
};

/*
 * Asks over a connection of its own. DATABASE_UNAVAILABLE with a sentence for the operator where the host cannot be
 * used; then state_out->name is filled all the same, and both numbers are 0.
 */
struct error *database_host_state(const struct database *database, struct arena *arena, size_t host,
                                  struct database_host_state *state_out);

/* ---- statements and their values ----------------------------------------------------------------- */

/* Must be static: its address identifies it as long as the process lives. At most LIMIT_STATEMENTS a process. */
struct statement {
    const char *sql;
};

enum database_kind { DATABASE_NULL, DATABASE_TEXT, DATABASE_BYTES, DATABASE_INTEGER, DATABASE_ID };

/* A value for a `?`. What it points to must live until the call returns. */
struct database_value {
    enum database_kind kind;
    const void *bytes;
    size_t length;
    int64_t integer;
    struct id id;
};

struct database_value database_null(void);
struct database_value database_text(const char *text); /* NULL becomes SQL's NULL */
struct database_value database_bytes(const void *bytes, size_t length);
struct database_value database_integer(int64_t integer);
struct database_value database_boolean(bool boolean);
struct database_value database_id(struct id id);
struct database_value database_id_or_null(struct id id); /* the none id becomes NULL */

/* Milliseconds since 1970, for a DATETIME(3) column. */
struct database_value database_time(struct arena *arena, int64_t milliseconds);

/* An array of values and its length: two arguments of the calls below. NO_VALUES for none. */
#define VALUES(...)                                                                                                    \
    ((const struct database_value[]){__VA_ARGS__}),                                                                    \
        (sizeof((const struct database_value[]){__VA_ARGS__}) / sizeof(struct database_value))
#define NO_VALUES NULL, 0

/* ---- reading ------------------------------------------------------------------------------------- */

struct cell;

/* A whole result in its arena. */
struct rows {
    size_t count;
    size_t columns;
    struct arena *arena;
    const struct cell *cells;
};

/*
 * Runs a SELECT, never a change: outside a transaction it is repeated once on a new connection when the old one is
 * broken. In a transaction a broken connection ends the transaction.
 */
struct error *database_query(struct database *database, struct arena *arena, const struct statement *statement,
                             const struct database_value *values, size_t count, struct rows **rows_out);

/*
 * The cells of a result. A row or column beyond the result, or a column of another type, is a mistake in our code and
 * ends the process. NULL reads as NULL, 0, false or the none id. Text ends at its first NUL byte. Integers read as text
 * are decimal; unsigned integers beyond INT64_MAX read as INT64_MAX.
 */
bool rows_is_null(const struct rows *rows, size_t row, size_t column);
const char *rows_text(const struct rows *rows, size_t row, size_t column);
const void *rows_bytes(const struct rows *rows, size_t row, size_t column, size_t *length_out);
int64_t rows_integer(const struct rows *rows, size_t row, size_t column);
bool rows_boolean(const struct rows *rows, size_t row, size_t column);
struct id rows_id(const struct rows *rows, size_t row, size_t column); /* a BINARY(16) column */

/* A DATETIME(3) column, selected without a conversion, in RFC 3339: "2026-11-21T08:52:00.123Z". */
const char *rows_time(const struct rows *rows, size_t row, size_t column);

/* The same in milliseconds since 1970; 0 for NULL. */
int64_t rows_time_milliseconds(const struct rows *rows, size_t row, size_t column);

/* ---- writing ------------------------------------------------------------------------------------- */

struct change {
    uint64_t affected;         /* rows found by WHERE, or inserted */
    uint64_t generated;        /* the AUTO_INCREMENT value, 0 when there is none */
    bool duplicate;            /* a unique key exists already; nothing was changed */
    const char *duplicate_key; /* that key's name ("PRIMARY" for the primary key), in the arena; else NULL */
    bool missing_reference;    /* a foreign key is violated; nothing was changed */
    bool unknown;              /* with DATABASE_UNAVAILABLE, outside a transaction: done or not */
};

/*
 * Runs an INSERT, UPDATE or DELETE. A violated unique or foreign key is an outcome when `change_out` is given (the
 * error is NULL then, and a surrounding transaction goes on), and INTERNAL when it is NULL.
 *
 * Outside a transaction the statement commits by itself; after a deadlock or a lock wait it is repeated up to three
 * times. It is never repeated once it may have reached the server: when `unknown` is set, look the row up by its id,
 * which you made before.
 */
struct error *database_change(struct database *database, struct arena *arena, const struct statement *statement,
                              const struct database_value *values, size_t count, struct change *change_out);

/* ---- transactions -------------------------------------------------------------------------------- */

/*
 * Runs body(database, arena, context) between BEGIN and COMMIT. An error from the body rolls back and is returned.
 * After a deadlock or a lock wait, also at COMMIT, everything is rolled back and the body runs again, up to three more
 * times with random pauses. So a body must set its outputs again each time and do nothing outside the database. A
 * statement that lost the connection or met a deadlock dooms the transaction, whatever the body returns.
 *
 * Inside another transaction the body joins that one.
 *
 * *unknown_out (may be NULL) says, with DATABASE_UNAVAILABLE, that COMMIT was sent and its answer was lost: the changes
 * may or may not be there. Look a row up by its id before you answer.
 */
struct error *database_transaction(struct database *database, struct arena *arena,
                                   struct error *(*body)(struct database *database, struct arena *arena, void *context),
                                   void *context, bool *unknown_out);

/* Whether a transaction is open; functions that need one assert it. */
bool database_in_transaction(const struct database *database);

/* ---- administration ------------------------------------------------------------------------------ */

/*
 * Runs one SQL text that is not prepared: for migrations and for commands of the operator, whose texts come from our
 * own files. It must never hold a byte of a request. The error's detail holds the server's message.
 */
struct error *database_execute(struct database *database, struct arena *arena, const char *sql, size_t length);

#endif
