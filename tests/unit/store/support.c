/* SPDX-License-Identifier: MIT */
/* What the tests of the store floor share. */
#include "store/support.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "harness.h"
#include "support_database.h"

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS sample (id BINARY(16) NOT NULL PRIMARY KEY, name VARCHAR(200) NULL,"
    " word VARCHAR(64) NULL, bytes BLOB NULL, amount BIGINT NULL, big BIGINT UNSIGNED NULL,"
    " flag BOOLEAN NULL, at DATETIME(3) NULL, UNIQUE KEY sample_word (word))"
    " DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    "CREATE TABLE IF NOT EXISTS numbered (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,"
    " word VARCHAR(64) NOT NULL)",
    "CREATE TABLE IF NOT EXISTS child (id BINARY(16) NOT NULL PRIMARY KEY, sample_id BINARY(16) NOT NULL,"
    " CONSTRAINT child_sample FOREIGN KEY (sample_id) REFERENCES sample (id))",
    "DELETE FROM child",
    "DELETE FROM sample",
    "DELETE FROM numbered",
};

void help_none(const struct error *error)
{
    if (error != NULL)
        fail_msg("unexpected error %s: %s\n%s", error_code_text(error->code),
                 error->detail != NULL ? error->detail : error->message, error->stack);
}

void help_error(const struct error *error, enum error_code code)
{
    assert_non_null(error);
    assert_string_equal(error_code_text(error->code), error_code_text(code));
}

static void close_database(void *argument)
{
    struct database *database = argument;
    database_free(&database);
}

struct database *help_open(struct arena *arena, const struct database_options *options)
{
    struct database *database = database_new(options);
    arena_defer(arena, close_database, database);
    return database;
}

void help_execute(struct database *database, struct arena *arena, const char *sql)
{
    help_none(database_execute(database, arena, sql, strlen(sql)));
}

struct database_options help_options(void)
{
    static struct database_options options;
    if (options.name == NULL)
        options = support_database_empty("samples");
    return options;
}

struct database *help_database(struct arena *arena)
{
    struct database_options options = help_options();
    struct database *database = help_open(arena, &options);
    options.query_timeout_seconds = 0; /* the disk may be busy, and the row of a case before be locked for a while */
    struct database *preparing = help_open(arena, &options);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        help_execute(preparing, arena, tables[i]);
    database_close(preparing);
    return database;
}

static const struct statement insert_word = {"INSERT INTO sample (id, word) VALUES (?, ?)"};

void help_insert(struct database *database, struct arena *arena, struct id id, const char *word)
{
    const struct database_value key = database_id(id);
    help_none(database_change(database, arena, &insert_word, VALUES(key, database_text(word)), NULL));
}

struct error *help_insert_new(struct database *database, struct arena *arena, const char *word, struct change *change)
{
    return database_change(database, arena, &insert_word, VALUES(database_id(id_new()), database_text(word)), change);
}

static const struct statement count_rows = {"SELECT COUNT(*) FROM sample"};

int64_t help_count(struct arena *arena)
{
    struct database_options options = help_options();
    struct database *database = help_open(arena, &options);
    struct rows *rows;
    help_none(database_query(database, arena, &count_rows, NO_VALUES, &rows));
    return rows_integer(rows, 0, 0);
}

static const struct statement own_connection = {"SELECT CONNECTION_ID()"};

int64_t help_connection(struct database *database, struct arena *arena)
{
    struct rows *rows;
    help_none(database_query(database, arena, &own_connection, NO_VALUES, &rows));
    return rows_integer(rows, 0, 0);
}

static const struct statement find_connection = {"SELECT id FROM information_schema.processlist WHERE id = ?"};

void help_kill(struct arena *arena, int64_t connection)
{
    struct database_options options = help_options();
    struct database *killer = help_open(arena, &options);
    help_execute(killer, arena, arena_format(arena, "KILL CONNECTION %lld", (long long)connection));
    for (struct rows *rows = NULL; rows == NULL || rows->count > 0; (void)usleep(10000))
        help_none(database_query(killer, arena, &find_connection, VALUES(database_integer(connection)), &rows));
}

/* mysql_stmt_close() frees the handle too; a bare COM_STMT_CLOSE takes the client's own command function. */
void help_drop_on_server(MYSQL_STMT *handle)
{
    unsigned char id[4] = {(unsigned char)handle->stmt_id, (unsigned char)(handle->stmt_id >> 8),
                           (unsigned char)(handle->stmt_id >> 16), (unsigned char)(handle->stmt_id >> 24)};
    const char *bytes = (const char *)id;
    MYSQL *mysql = handle->mysql;
    assert_int_equal(mysql->methods->db_command(mysql, COM_STMT_CLOSE, bytes, sizeof id, 1, NULL), 0);
}
