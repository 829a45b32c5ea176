/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the store floor share: a database of their own with a few tables, and short assertions.
 */
#ifndef GATEHOUSE_TESTS_STORE_SUPPORT_H
#define GATEHOUSE_TESTS_STORE_SUPPORT_H

#include <mysql.h>

#include "base/error.h"
#include "store/database/database.h"

struct arena;

/* A handle on the database "samples" with its tables empty; closed with the arena. */
struct database *help_database(struct arena *arena);

/* The options of that handle. */
struct database_options help_options(void);

/* A handle that is closed with the arena. */
struct database *help_open(struct arena *arena, const struct database_options *options);

/* Fails the test with the error's words unless there is none. */
void help_none(const struct error *error);

/* Fails the test unless the error has this code. */
void help_error(const struct error *error, enum error_code code);

/* Runs a text that must succeed. */
void help_execute(struct database *database, struct arena *arena, const char *sql);

/* Inserts into sample a row with this id and word. */
void help_insert(struct database *database, struct arena *arena, struct id id, const char *word);

/* The same with a new id, as database_change() answers it. */
struct error *help_insert_new(struct database *database, struct arena *arena, const char *word, struct change *change);

/* How many rows sample has, as another connection sees it. */
int64_t help_count(struct arena *arena);

/* The connection's number on the server. */
int64_t help_connection(struct database *database, struct arena *arena);

/* Ends a connection from another one, as an administrator would; it and its locks are gone on return. */
void help_kill(struct arena *arena, int64_t connection);

/* Lets the server forget a prepared statement that the client still holds. */
void help_drop_on_server(MYSQL_STMT *handle);

#endif
