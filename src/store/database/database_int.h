/* SPDX-License-Identifier: MIT */
/*
 * What the files behind store/database/database.h share: connection.c speaks to libmariadb (connect, prepare, execute,
 * the deadline, what each failure means), rows.c copies results out, database.c decides what to repeat.
 */
#ifndef GATEHOUSE_STORE_DATABASE_DATABASE_INT_H
#define GATEHOUSE_STORE_DATABASE_DATABASE_INT_H

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "store/database/database.h"

/* What a failed call means for its caller. */
enum failure {
    FAILURE_NONE,
    FAILURE_LOST,        /* the connection is gone, and closed on our side */
    FAILURE_UNAVAILABLE, /* refused, not in time, or read-only; nothing was done */
    FAILURE_CONFLICT,    /* deadlock, lock wait, certification: rolled back, worth another try */
    FAILURE_DUPLICATE,   /* a unique key */
    FAILURE_REFERENCE,   /* a foreign key */
    FAILURE_FORGOTTEN,   /* the server no longer takes the prepared statement; it was not run */
    FAILURE_FULL,        /* no space left under the database */
    FAILURE_MISTAKE      /* our SQL, our schema or our rights are wrong */
};

struct fault {
    enum failure failure;
    unsigned number;     /* the server's or the client library's error number */
    char state[6];       /* SQLSTATE */
    char key[65];        /* with FAILURE_DUPLICATE: the key's name */
    char text[512];      /* the server's words; only where they hold no value (connecting, migrations) */
    bool maybe_done;     /* with FAILURE_LOST: the server may have run the statement */
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
    MYSQL *mysql; /* NULL: not connected */
    enum transaction transaction;
    struct fault doom; /* what doomed the transaction */
    struct prepared *prepared[PREPARED_SLOTS];
    size_t prepared_count;
    struct arena *remembered_memory; /* NULL: nothing is remembered */
    void *remembered;
};

/*
 * Makes sure that there is a connection that is not known to be broken. In a transaction it does not connect
 * anew: a broken connection is FAILURE_LOST then. False fills *fault, as with all below.
 */
bool connection_ready(struct database *database, struct fault *fault);

/*
 * Reads the password file again and, where it holds another password, connects with it before the old connection is let go;
 * one that opens nothing is not taken.
 */
void connection_renew(struct database *database);

/* What database_remember() keeps is gone. */
void database_forget(struct database *database);

/* Closes without a word to the server; the prepared statements are forgotten. */
void connection_close(struct database *database);

/* The prepared form of a statement, prepared now if this connection does not know it; NULL on failure. */
struct prepared *connection_prepare(struct database *database, const struct statement *statement,
                                    struct fault *fault);

/* Forgets one statement, so that the next connection_prepare() prepares it again. */
void connection_forget(struct database *database, struct prepared *prepared);

/* Binds, executes, and reads the whole result into the client library's buffer. */
bool connection_execute(struct database *database, struct prepared *prepared,
                        const struct database_value *values, size_t count, struct fault *fault);

/* Runs a text that is not prepared and drops its results. */
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
                       bool (*row)(void *context, const struct stream_row *row), void *context,
                       struct fault *fault);

bool connection_ping(struct database *database, struct fault *fault);

/* What an error number of the server or of libmariadb means. */
enum failure failure_of(unsigned number, const char *message);

/* The key's name in the server's words about a duplicate; "" when they are not understood. */
void failure_key(const char *message, char key_out[65]);

/* Turns a fault into the error that the caller's caller sees. */
struct error *fault_error(struct arena *arena, const struct fault *fault, const char *what);

/* Copies the buffered result of an executed statement into the arena. */
bool rows_fetch(struct prepared *prepared, struct arena *arena, struct rows **rows_out);

#endif
