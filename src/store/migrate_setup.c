/* SPDX-License-Identifier: MIT */
/*
 * The statements about databases and users, which take no bound values: names and passwords are quoted here,
 * and the server's words about a failure, which may repeat them, go nowhere.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "store/database_int.h"
#include "store/migrate.h"

/* MariaDB's longest names (information_schema: 64 for databases, 80 for users, 255 for hosts). */
#define NAME_BYTES 64
#define USER_BYTES 80
#define HOST_BYTES 255

static struct error *administer(struct database *database, struct arena *arena, const struct buffer *sql,
                                const char *what)
{
    struct fault fault;
    if (connection_ready(database, &fault) && connection_command(database, sql->bytes, sql->length, &fault))
        return NULL;
    if (fault.failure == FAILURE_MISTAKE)
        fault.text[0] = '\0';
    return fault_error(arena, &fault, what);
}

/* In GRANT a database's name is a pattern, where _ and % stand for others unless escaped. */
static void add_name(struct buffer *sql, const char *name, bool pattern)
{
    buffer_add_char(sql, '`');
    for (; *name != '\0'; name++) {
        if (*name == '`')
            buffer_add_char(sql, '`');
        if (pattern && (*name == '_' || *name == '%' || *name == '\\'))
            buffer_add_char(sql, '\\');
        buffer_add_char(sql, *name);
    }
    buffer_add_char(sql, '`');
}

static void add_literal(struct buffer *sql, const char *bytes, size_t length)
{
    buffer_add_char(sql, '\'');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\'' || bytes[i] == '\\')
            buffer_add_char(sql, '\\');
        buffer_add_char(sql, bytes[i]);
    }
    buffer_add_char(sql, '\'');
}

static void add_account(struct buffer *sql, const char *user, const char *host)
{
    add_literal(sql, user, strlen(user));
    buffer_add_char(sql, '@');
    add_literal(sql, host, strlen(host));
}

static bool name_fits(const char *name, size_t most)
{
    size_t length = strlen(name);
    return length > 0 && length <= most && utf8_valid(name, length);
}

/*
 * Literals in the session's character set: without the mode NO_BACKSLASH_ESCAPES, which connection.c leaves
 * out.
 */
static void start(struct buffer *sql, struct arena *arena, const char *words)
{
    buffer_init(sql, arena);
    buffer_add_text(sql, words);
}

struct error *migrate_create_database(struct database *database, struct arena *arena, const char *name)
{
    if (!name_fits(name, NAME_BYTES))
        return error_new(arena, ERROR_INTERNAL, "no database can have this name");
    struct buffer sql;
    start(&sql, arena, "CREATE DATABASE IF NOT EXISTS ");
    add_name(&sql, name, false);
    buffer_add_text(&sql, " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin");
    TRY(administer(database, arena, &sql, "creating the database"));
    return NULL;
}

struct error *migrate_grant(struct database *database, struct arena *arena, const char *name,
                            const char *user, const char *host, struct secret password)
{
    if (!name_fits(name, NAME_BYTES) || !name_fits(user, USER_BYTES) || !name_fits(host, HOST_BYTES))
        return error_new(arena, ERROR_INTERNAL, "no database, user or host can have this name");
    struct buffer sql;
    static const char *const verbs[] = {"CREATE USER IF NOT EXISTS ", "ALTER USER "};
    size_t count = password.bytes == NULL ? 1 : 2;
    for (size_t i = 0; i < count; i++) {
        start(&sql, arena, verbs[i]);
        add_account(&sql, user, host);
        buffer_add_text(&sql, password.bytes == NULL ? " IDENTIFIED VIA unix_socket" : " IDENTIFIED BY ");
        if (password.bytes != NULL)
            add_literal(&sql, secret_reveal(password), password.length);
        TRY(administer(database, arena, &sql, "setting up its user"));
    }
    start(&sql, arena, "GRANT SELECT, INSERT, UPDATE, DELETE ON ");
    add_name(&sql, name, true);
    buffer_add_text(&sql, ".* TO ");
    add_account(&sql, user, host);
    TRY(administer(database, arena, &sql, "granting rights to its user"));
    return NULL;
}
