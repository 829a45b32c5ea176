/* SPDX-License-Identifier: MIT */
/*
 * Creates the database, the workers' account and its rights. These statements take no bound values: names and passwords
 * are quoted here. The server's messages about a failure may repeat them, so they are not passed on.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "store/database/database_int.h"
#include "store/database/migrate.h"

/* MariaDB's longest names (information_schema: 64 for databases, 80 for users, 255 for hosts). */
#define NAME_BYTES 64
#define USER_BYTES 80
#define HOST_BYTES 255

/*
 * For the views of rights: the connected account (its user name may hold an @, its host does not), and the rights that
 * change rows or change or empty tables. Rights to read are not counted.
 */
#define ACCOUNT_NAME "LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(" ACCOUNT_HOST ") - 1)"
#define ACCOUNT_HOST "SUBSTRING_INDEX(CURRENT_USER(), '@', -1)"
#define GRANTEE "CONCAT('''', " ACCOUNT_NAME ", '''@''', " ACCOUNT_HOST ", '''')"
#define CHANGES                                                                                                        \
    "privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'ALTER', 'INDEX', 'TRIGGER', 'CREATE "         \
    "ROUTINE',"                                                                                                        \
    " 'ALTER ROUTINE', 'EVENT', 'DELETE HISTORY', 'SUPER', 'FILE', 'CREATE USER', 'SET USER')"

static struct error *administer(struct database *database, struct arena *arena, const struct buffer *sql,
                                const char *what)
{
    struct fault fault;
    if (connect_ready(database, &fault) && connection_command(database, sql->bytes, sql->length, &fault))
        return NULL;
    if (fault.failure == DATABASE_FAILURE_MISTAKE)
        fault.text[0] = '\0';
    return database_failure_error(arena, &fault, what);
}

/* In GRANT the name of a database is a pattern: _ and % stand for others unless they are escaped. */
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

/* Literals in the session's character set. The session has no NO_BACKSLASH_ESCAPES, since connect.c leaves it out. */
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

struct error *migrate_account(struct database *database, struct arena *arena, const char *user, const char *host,
                              struct secret password)
{
    if (!name_fits(user, USER_BYTES) || !name_fits(host, HOST_BYTES))
        return error_new(arena, ERROR_INTERNAL, "no user or host can have this name");
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
    return NULL;
}

/* ---- rights -------------------------------------------------------------------------------------- */

#define GRANT(table, rights) {table, rights},
const struct grant migrate_worker_grants[] = {
#include "store/database/grants.def"
};
#undef GRANT
const size_t migrate_worker_grant_count = sizeof migrate_worker_grants / sizeof *migrate_worker_grants;

/* An account and a database. */
struct place {
    const char *name;
    const char *user;
    const char *host;
    bool unescaped; /* the name as people type it: as a pattern, in which _ stands for any character */
};

/* "GRANT <rights> ON <database>.<table> TO <account>", or REVOKE … FROM; without a table on the whole database. */
static void add_rights(struct buffer *sql, const struct place *place, bool give, const char *rights, const char *table)
{
    buffer_add_text(sql, give ? "GRANT " : "REVOKE ");
    buffer_add_text(sql, rights);
    buffer_add_text(sql, " ON ");
    add_name(sql, place->name, table == NULL && !place->unescaped);
    buffer_add_char(sql, '.');
    if (table == NULL)
        buffer_add_char(sql, '*');
    else
        add_name(sql, table, false);
    buffer_add_text(sql, give ? " TO " : " FROM ");
    add_account(sql, place->user, place->host);
}

/* There is nothing to revoke: the account never had the right, on the database or on the table. */
static bool never_given(const struct fault *fault)
{
    return fault->failure == DATABASE_FAILURE_MISTAKE && (fault->number == 1141 || fault->number == 1147);
}

/*
 * Revokes rights; it is no error when the account never had them. Nor is it one, unless denied_out is NULL, when the
 * administrator may not revoke one of them; then all of them stay, and *denied_out is true.
 */
static struct error *revoke(struct database *database, struct arena *arena, const struct place *place,
                            const char *rights, const char *table, bool *denied_out)
{
    struct buffer sql;
    struct fault fault;
    start(&sql, arena, "");
    add_rights(&sql, place, false, rights, table);
    bool connected = connect_ready(database, &fault);
    if ((connected && connection_command(database, sql.bytes, sql.length, &fault)) || never_given(&fault))
        return NULL;
    if (connected && denied_out != NULL && fault.number == 1044) {
        *denied_out = true;
        return NULL;
    }
    if (fault.failure == DATABASE_FAILURE_MISTAKE)
        fault.text[0] = '\0';
    return database_failure_error(arena, &fault, "taking rights from its user");
}

static struct error *take_away(struct database *database, struct arena *arena, const struct place *place,
                               const char *rights, const char *table)
{
    return revoke(database, arena, place, rights, table, NULL);
}

/* Whether `rights` gives this right on the whole table; with a list of columns behind it, it does not. */
static bool gives(const char *rights, const char *right)
{
    const char *at = strstr(rights, right);
    return at != NULL && strncmp(at + strlen(right), " (", 2) != 0;
}

static const char *const all_rights[] = {"SELECT", "INSERT", "UPDATE", "DELETE"};
#define ROW_RIGHTS "SELECT, INSERT, UPDATE, DELETE"
#define TABLE_RIGHTS "CREATE, DROP, ALTER, INDEX, TRIGGER, DELETE HISTORY"
#define ALL_RIGHTS (sizeof all_rights / sizeof *all_rights)

static const struct statement find_right = {
    "SELECT 1 FROM information_schema.table_privileges"
    " WHERE grantee = ? AND table_schema = ? AND table_name = ? AND privilege_type = ?"};

/*
 * Whether this right must be revoked from the whole table. REVOKE also takes the right on single columns. So when the
 * account has only those, nothing is revoked: otherwise running workers would be refused until the GRANT that follows.
 */
static struct error *is_excess(struct database *database, struct arena *arena, const struct place *place,
                               const char *right, const struct grant *grant, bool *excess_out)
{
    struct rows *rows;
    *excess_out = !gives(grant->rights, right);
    if (!*excess_out || strstr(grant->rights, right) == NULL)
        return NULL;
    const char *grantee = arena_format(arena, "'%s'@'%s'", place->user, place->host);
    TRY(database_query(
        database, arena, &find_right,
        VALUES(database_text(grantee), database_text(place->name), database_text(grant->table), database_text(right)),
        &rows));
    *excess_out = rows->count > 0;
    return NULL;
}

/* Rights beyond `grants` are revoked first, since REVOKE on a table also takes the rights on its columns. */
static struct error *set_rights(struct database *database, struct arena *arena, const struct place *place,
                                const struct grant *grant)
{
    struct buffer sql;
    for (size_t i = 0; i < ALL_RIGHTS; i++) {
        bool excess;
        TRY(is_excess(database, arena, place, all_rights[i], grant, &excess));
        if (excess)
            TRY(take_away(database, arena, place, all_rights[i], grant->table));
    }
    TRY(take_away(database, arena, place, TABLE_RIGHTS, grant->table));
    start(&sql, arena, "");
    add_rights(&sql, place, true, grant->rights, grant->table);
    return administer(database, arena, &sql, "granting rights to its user");
}

static struct error *check_names(struct arena *arena, const struct place *place)
{
    if (name_fits(place->name, NAME_BYTES) && name_fits(place->user, USER_BYTES) && name_fits(place->host, HOST_BYTES))
        return NULL;
    return error_new(arena, ERROR_INTERNAL, "no database, user or host can have this name");
}

/*
 * Revokes all rights on the whole database, first those that the administrator has as well. A right that the
 * administrator may not revoke stays, and migrate_excess() reports it. An account that may drop a table can empty it;
 * one that may grant can give back what was revoked.
 */
static struct error *take_database(struct database *database, struct arena *arena, const struct place *place)
{
    static const char *const rests[] = {TABLE_RIGHTS, "ALL PRIVILEGES", "GRANT OPTION"};
    bool denied = false;
    TRY(take_away(database, arena, place, ROW_RIGHTS, NULL));
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        TRY(revoke(database, arena, place, rests[i], NULL, &denied));
    return NULL;
}

/* The rights on the whole database are revoked last, so that running workers go on. */
struct error *migrate_grant(struct database *database, struct arena *arena, const char *name, const char *user,
                            const char *host, const struct grant *grants, size_t count)
{
    const struct place place = {.name = name, .user = user, .host = host};
    TRY(check_names(arena, &place));
    for (size_t i = 0; i < count; i++)
        TRY(set_rights(database, arena, &place, &grants[i]));
    const struct place typed = {.name = name, .user = user, .host = host, .unescaped = true};
    TRY(take_database(database, arena, &typed));
    return take_database(database, arena, &place);
}

struct error *migrate_grant_text(struct arena *arena, const char *name, const char *user, const char *host,
                                 const struct grant *grants, size_t count, const char **text_out)
{
    const struct place place = {.name = name, .user = user, .host = host};
    struct buffer sql;
    TRY(check_names(arena, &place));
    start(&sql, arena, "");
    for (size_t i = 0; i < count; i++) {
        add_rights(&sql, &place, true, grants[i].rights, grants[i].table);
        buffer_add_text(&sql, ";\n");
    }
    *text_out = sql.bytes;
    return NULL;
}

/* The views of the server show an account its own rights. The name of a database is a pattern there. */
static const struct statement list_rights = {
    "SELECT privilege_type, '' FROM information_schema.user_privileges WHERE grantee = " GRANTEE " AND " CHANGES
    " UNION ALL SELECT privilege_type, '' FROM information_schema.schema_privileges WHERE grantee = " GRANTEE
    " AND " CHANGES " AND DATABASE() LIKE table_schema"
    " UNION ALL SELECT privilege_type, table_name FROM information_schema.table_privileges WHERE grantee = " GRANTEE
    " AND " CHANGES " AND table_schema = DATABASE()"};

struct error *migrate_excess(struct database *database, struct arena *arena, const struct grant *grants, size_t count,
                             size_t *excess_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_rights, NO_VALUES, &rows));
    *excess_out = rows->count;
    for (size_t row = 0; row < rows->count; row++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(grants[i].table, rows_text(rows, row, 1)) == 0 &&
                gives(grants[i].rights, rows_text(rows, row, 0)))
                (*excess_out)--;
    return NULL;
}
