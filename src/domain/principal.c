/* SPDX-License-Identifier: MIT */
/*
 * The statement that every authorised request waits for: three rows by their primary keys (two without a file), which the
 * server reads while it plans, so that no join is left to execute. The session's row holds what its user may do besides its
 * own state; triggers keep that up to date (sql/011-principal.sql, sql/016-session-state.sql).
 *
 * Measured with 10,000 users of two roles and 50,000 files, one connection over the unix socket, as the smallest of 40
 * interleaved rounds, in microseconds until the result is there (of the server's processor, of the client's):
 *
 *     SELECT 1                                                               14 (8, 7)
 *     one row by its primary key                                             30 (20, 8)
 *     the join over user, organisation, session, user_role, role_permission,
 *     version and file                                                       123 (102, 16)
 *     principal, session, version with the permissions of all roles, file    70 (58, 11)
 *     session, version with the permissions of all roles, file               57 (46, 11)
 *     session, version with their stamp, file                                60 (47, 11)
 *     session, version with their stamp                                      39 (30, 9)
 *
 * Each table costs about 10 us. The stamp saves the server nothing to speak of while the roles are few; it spares the
 * worker reading and parsing the permissions of all roles, and keeps the request the same however many there are.
 */
#include "domain/principal.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/columns_int.h"
#include "domain/permission.h"
#include "domain/principal_book_int.h"

/* The columns of a row that says what its user may do: a session's, or the principal's own. */
#define STATES(row) \
    row ".organisation_id, " row ".user_status, " row ".organisation_status, " row ".permissions, " row ".roles"
#define VERSIONS "v.version, v.roles_stamp"
#define STAMP_COLUMN 6
#define FILE_COLUMN 8

#define PRINCIPAL_COLUMNS STATES("s") ", " VERSIONS ", s.ended_at IS NULL AND s.expires_at > UTC_TIMESTAMP(3)"
#define PRINCIPAL_TABLES " FROM session s LEFT JOIN change_version v ON v.id = 1"
#define PRINCIPAL_ROW " WHERE s.id = ? AND s.user_id = ?"
#define USER_ROW " LEFT JOIN change_version v ON v.id = 1 WHERE p.user_id = ?"

/* A statement and what is asked instead where the roles are not known by their stamp: the same, and the roles behind it. */
struct question {
    const struct statement *by_stamp;
    const struct statement *whole;
};

static const struct statement load = {"SELECT " PRINCIPAL_COLUMNS PRINCIPAL_TABLES PRINCIPAL_ROW};
static const struct statement load_whole = {"SELECT " PRINCIPAL_COLUMNS ", v.roles" PRINCIPAL_TABLES PRINCIPAL_ROW};

static const struct statement load_with_file = {
    "SELECT " PRINCIPAL_COLUMNS ", " FILE_BODY_COLUMNS PRINCIPAL_TABLES
    " LEFT JOIN file f ON f.id = ? AND f.organisation_id = s.organisation_id" PRINCIPAL_ROW};
static const struct statement load_with_file_whole = {
    "SELECT " PRINCIPAL_COLUMNS ", " FILE_BODY_COLUMNS ", v.roles" PRINCIPAL_TABLES
    " LEFT JOIN file f ON f.id = ? AND f.organisation_id = s.organisation_id" PRINCIPAL_ROW};

static const struct statement load_user = {"SELECT " STATES("p") ", " VERSIONS ", FALSE FROM principal p" USER_ROW};
static const struct statement load_user_whole = {"SELECT " STATES("p") ", " VERSIONS ", FALSE, v.roles FROM principal p" USER_ROW};

const struct statement *principal_statement(bool with_file)
{
    return with_file ? &load_with_file : &load;
}

static const struct statement find_book = {"SELECT " PRINCIPAL_BOOK};

/*
 * The user's rows, all of one moment, and the permissions of all roles at that moment. Somebody may have emptied
 * change_version; until it is filled again this costs more.
 */
static struct error *ask(struct database *database, struct arena *arena, struct question question,
                         const struct database_value *values, size_t count, struct rows **rows_out,
                         const struct principal_book **book_out)
{
    struct rows *rows, *found;
    *book_out = NULL;
    TRY(database_query(database, arena, question.by_stamp, values, count, &rows));
    if (rows->count != 0 && !rows_is_null(rows, 0, STAMP_COLUMN))
        *book_out = principal_book_recall(database, rows_integer(rows, 0, STAMP_COLUMN));
    if (rows->count != 0 && *book_out == NULL)
        TRY(database_query(database, arena, question.whole, values, count, &rows));
    *rows_out = rows;
    if (rows->count == 0 || *book_out != NULL)
        return NULL;
    if (!rows_is_null(rows, 0, STAMP_COLUMN)) {
        *book_out = principal_book_learn(database, arena, rows, rows->columns - 1, rows_integer(rows, 0, STAMP_COLUMN));
        return NULL;
    }
    TRY(database_query(database, arena, &find_book, NO_VALUES, &found));
    *book_out = principal_book_read(arena, found, 0);
    return NULL;
}

/* NULL when the result is empty: there is no such user, or no such session of that user. */
static struct principal *read_principal(struct arena *arena, const struct rows *rows, const struct principal_book *book,
                                        struct id user, struct id session)
{
    if (rows->count == 0)
        return NULL;
    struct principal *principal = arena_alloc(arena, sizeof *principal);
    principal->user.id = user;
    principal->user.organisation_id = rows_id(rows, 0, 0);
    principal->user.status = user_status_read(rows_text(rows, 0, 1));
    principal->organisation.id = principal->user.organisation_id;
    principal->organisation.status = organisation_status_read(rows_text(rows, 0, 2));
    principal->user.permissions = permission_words(arena, column_permission(arena, rows, 0, 3));
    principal->change_version = rows_integer(rows, 0, 5);
    principal->session_id = session;
    principal->session_good = rows_boolean(rows, 0, 7);
    principal_book_grants(arena, book, rows, 4, principal);
    return principal;
}

struct error *principal_load(struct database *database, struct arena *arena, struct id user,
                             struct id session, struct principal **principal_out)
{
    const struct question question =
        id_is_none(session) ? (struct question){&load_user, &load_user_whole} : (struct question){&load, &load_whole};
    const struct database_value values[] = {database_id(session), database_id(user)};
    size_t skipped = id_is_none(session) ? 1 : 0;
    const struct principal_book *book;
    struct rows *rows;
    TRY(ask(database, arena, question, values + skipped, 2 - skipped, &rows, &book));
    *principal_out = read_principal(arena, rows, book, user, session);
    return NULL;
}

struct error *principal_load_with_file(struct database *database, struct arena *arena, struct id user,
                                       struct id session, struct id file, struct principal **principal_out,
                                       struct file_record **file_out)
{
    const struct question question = {&load_with_file, &load_with_file_whole};
    const struct principal_book *book;
    struct rows *rows;
    *file_out = NULL;
    TRY(ask(database, arena, question, VALUES(database_id(file), database_id(session), database_id(user)), &rows, &book));
    *principal_out = read_principal(arena, rows, book, user, session);
    if (*principal_out != NULL && !rows_is_null(rows, 0, FILE_COLUMN)) {
        *file_out = arena_alloc(arena, sizeof **file_out);
        file_read_body(arena, rows, 0, FILE_COLUMN, file, (*principal_out)->user.organisation_id, *file_out);
    }
    return NULL;
}

static const struct statement load_details = {
    "SELECT " USER_COLUMNS ", " ORGANISATION_COLUMNS
    " FROM user u JOIN organisation o ON o.id = u.organisation_id WHERE u.id = ?"};

struct error *principal_details(struct database *database, struct arena *arena, const struct principal *principal,
                                struct user **user_out, struct organisation **organisation_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &load_details, VALUES(database_id(principal->user.id)), &rows));
    if (rows->count == 0)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the user is gone");
    struct user *user = arena_alloc(arena, sizeof *user);
    struct organisation *organisation = arena_alloc(arena, sizeof *organisation);
    user_read(arena, rows, 0, 0, user);
    user->roles = principal->user.roles;
    organisation_read(arena, rows, 0, USER_COLUMN_COUNT, organisation);
    *user_out = user;
    if (organisation_out != NULL)
        *organisation_out = organisation;
    return NULL;
}

bool principal_stands(const struct principal *principal)
{
    return principal != NULL && principal->session_good && principal->user.status == USER_ACTIVE &&
           principal->organisation.status == ORGANISATION_ACTIVE;
}

static bool list_matches(const struct text_list *held, const struct permission *required)
{
    for (size_t i = 0; i < held->count; i++) {
        struct permission permission;
        if (permission_parse(held->items[i], &permission) && permission_matches(&permission, required))
            return true;
    }
    return false;
}

static bool holds(const struct principal *principal, const struct permission *required)
{
    if (list_matches(&principal->user.permissions, required))
        return true;
    for (size_t i = 0; i < principal->grant_count; i++)
        if (list_matches(&principal->grants[i].permissions, required))
            return true;
    return false;
}

bool principal_holds(const struct principal *principal, const char *required)
{
    struct permission permission;
    return permission_parse_concrete(required, &permission) && holds(principal, &permission);
}

bool principal_administers(const struct principal *principal, const char *required)
{
    struct permission permission;
    if (!permission_parse_concrete(required, &permission))
        return false;
    permission.level = PERMISSION_ADMIN;
    return holds(principal, &permission);
}

static void add_well_formed(struct text_list *list, const struct text_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        struct permission permission;
        if (permission_parse(more->items[i], &permission) && !text_list_has(list, more->items[i]))
            list->items[list->count++] = more->items[i];
    }
}

/* How many patterns the principal holds, double and malformed ones included. */
static size_t count_held(const struct principal *principal)
{
    size_t count = principal->user.permissions.count;
    for (size_t i = 0; i < principal->grant_count; i++)
        count += principal->grants[i].permissions.count;
    return count;
}

struct text_list principal_permissions(struct arena *arena, const struct principal *principal)
{
    struct text_list list = {arena_array(arena, count_held(principal), sizeof *list.items), 0};
    add_well_formed(&list, &principal->user.permissions);
    for (size_t i = 0; i < principal->grant_count; i++)
        add_well_formed(&list, &principal->grants[i].permissions);
    return list;
}

size_t principal_sources(struct arena *arena, const struct principal *principal, const char *required,
                         struct principal_source **sources_out)
{
    struct principal_source *sources = arena_array(arena, count_held(principal), sizeof *sources);
    size_t count = 0;
    for (size_t i = 0; i < principal->user.permissions.count; i++)
        if (permission_grants(principal->user.permissions.items[i], required))
            sources[count++] = (struct principal_source){"user", principal->user.permissions.items[i]};
    for (size_t g = 0; g < principal->grant_count; g++) {
        const struct role_grant *grant = &principal->grants[g];
        for (size_t i = 0; i < grant->permissions.count; i++)
            if (permission_grants(grant->permissions.items[i], required))
                sources[count++] = (struct principal_source){arena_format(arena, "role:%s", grant->role),
                                                             grant->permissions.items[i]};
    }
    *sources_out = sources;
    return count;
}
