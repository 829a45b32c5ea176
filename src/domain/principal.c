/* SPDX-License-Identifier: MIT */
/*
 * The statement that every authorised request waits for.
 *
 * Its shape was measured with 10,000 users of two roles (three permissions) and 100,000 files against the
 * bare join of user, user_role and role_permission = 1: a join that repeats the user's columns in each
 * row 1.25 (that is what stands here); the permissions as GROUP_CONCAT in a subselect 1.4, with GROUP BY 1.4,
 * as a UNION ALL 1.4; ordering the rows in the server adds 0.15, so the few rows are ordered here. With the
 * file: joined 1.4, with its tags collected by a subselect 1.7 (hence file.tags), by a second round trip 2.6.
 */
#include "domain/principal.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/columns_int.h"
#include "domain/permission.h"

/*
 * What follows the columns of user and organisation: the session, the version of the last change (one row by its
 * constant primary key, which the server reads once), then the grants.
 */
#define SESSION_COLUMN (USER_COLUMN_COUNT + ORGANISATION_COLUMN_COUNT)
#define VERSION_COLUMN (SESSION_COLUMN + 1)
#define ROLE_COLUMN (VERSION_COLUMN + 1)
#define FILE_COLUMN (ROLE_COLUMN + 3)

#define PRINCIPAL_COLUMNS \
    USER_COLUMNS ", " ORGANISATION_COLUMNS ", s.id IS NOT NULL, v.version, ur.role_id, ur.position, p.permission"
#define PRINCIPAL_TABLES                                                           \
    " FROM organisation o JOIN user u ON u.organisation_id = o.id AND u.id = ?"    \
    " LEFT JOIN session s ON s.id = ? AND s.user_id = u.id AND s.ended_at IS NULL" \
    " AND s.expires_at > UTC_TIMESTAMP(3) LEFT JOIN change_version v ON v.id = 1"
#define PRINCIPAL_GRANTS " LEFT JOIN user_role ur ON ur.user_id = u.id LEFT JOIN role_permission p ON p.role_id = ur.role_id"

static const struct statement load = {"SELECT " PRINCIPAL_COLUMNS PRINCIPAL_TABLES PRINCIPAL_GRANTS};

static const struct statement load_with_file = {
    "SELECT " PRINCIPAL_COLUMNS ", " FILE_COLUMNS PRINCIPAL_TABLES
    " LEFT JOIN file f ON f.id = ? AND f.organisation_id = u.organisation_id" PRINCIPAL_GRANTS};

const struct statement *principal_statement(bool with_file)
{
    return with_file ? &load_with_file : &load;
}

/* One row's part of the grants, to be ordered. */
struct grant_row {
    int64_t position;
    const char *role;
    const char *permission; /* NULL: the role has none */
};

static int compare_grants(const void *a, const void *b)
{
    const struct grant_row *one = a;
    const struct grant_row *other = b;
    if (one->position != other->position)
        return one->position < other->position ? -1 : 1;
    int order = strcmp(one->role, other->role);
    if (order == 0 && one->permission != NULL && other->permission != NULL)
        order = strcmp(one->permission, other->permission);
    return order;
}

static void read_grants(struct arena *arena, const struct rows *rows, struct principal *principal)
{
    struct grant_row *grants = arena_array(arena, rows->count, sizeof *grants);
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (!rows_is_null(rows, i, ROLE_COLUMN))
            grants[count++] = (struct grant_row){rows_integer(rows, i, ROLE_COLUMN + 1),
                                                 rows_text(rows, i, ROLE_COLUMN),
                                                 column_permission(arena, rows, i, ROLE_COLUMN + 2)};
    qsort(grants, count, sizeof *grants, compare_grants);

    principal->grants = arena_array(arena, count, sizeof *principal->grants);
    principal->user.roles.items = arena_array(arena, count, sizeof *principal->user.roles.items);
    const char **permissions = arena_array(arena, count, sizeof *permissions);
    struct role_grant *grant = NULL;
    for (size_t i = 0; i < count; i++) {
        if (grant == NULL || strcmp(grant->role, grants[i].role) != 0) {
            grant = &principal->grants[principal->grant_count++];
            *grant = (struct role_grant){grants[i].role, {permissions + i, 0}};
            principal->user.roles.items[principal->user.roles.count++] = grants[i].role;
        }
        if (grants[i].permission != NULL)
            grant->permissions.items[grant->permissions.count++] = grants[i].permission;
    }
}

/* NULL when the result is empty: there is no such user. */
static struct principal *read_principal(struct arena *arena, const struct rows *rows, struct id session)
{
    if (rows->count == 0)
        return NULL;
    struct principal *principal = arena_alloc(arena, sizeof *principal);
    user_read(arena, rows, 0, 0, &principal->user);
    organisation_read(arena, rows, 0, USER_COLUMN_COUNT, &principal->organisation);
    principal->session_id = session;
    principal->session_good = rows_boolean(rows, 0, SESSION_COLUMN);
    principal->change_version = rows_integer(rows, 0, VERSION_COLUMN);
    read_grants(arena, rows, principal);
    return principal;
}

struct error *principal_load(struct database *database, struct arena *arena, struct id user,
                             struct id session, struct principal **principal_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &load, VALUES(database_id(user), database_id(session)), &rows));
    *principal_out = read_principal(arena, rows, session);
    return NULL;
}

struct error *principal_load_with_file(struct database *database, struct arena *arena, struct id user,
                                       struct id session, struct id file, struct principal **principal_out,
                                       struct file_record **file_out)
{
    struct rows *rows;
    *file_out = NULL;
    TRY(database_query(database, arena, &load_with_file,
                       VALUES(database_id(user), database_id(session), database_id(file)), &rows));
    *principal_out = read_principal(arena, rows, session);
    if (*principal_out != NULL && !rows_is_null(rows, 0, FILE_COLUMN)) {
        *file_out = arena_alloc(arena, sizeof **file_out);
        file_read(arena, rows, 0, FILE_COLUMN, *file_out);
    }
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
