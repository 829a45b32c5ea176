/* SPDX-License-Identifier: MIT */
/*
 * Loads the principal, by the statement that every authorised request waits for: three rows by their primary keys (two
 * without a file). The server reads them while it plans, so that no join is left to execute. Triggers keep the rows up
 * to date (sql/011-principal.sql). The session's own row, which is authoritative, is read as well, unless this process
 * has found the session valid and the session stamp of the user shows that no session of the user was ended or changed
 * since (sql/016-session-mark.sql).
 *
 * Measured with 10,000 users of two roles and 50,000 files, one connection over the unix socket, as the smallest of 40
 * interleaved rounds, in microseconds until the result is there (of the server's processor, of the client's):
 *
 *     ping                                                                   11 (7, 5)
 *     one row by its primary key                                             24 (17, 7)
 *     the join over user, organisation, session, user_role, role_permission,
 *     version and file, 40 columns                                           124 (90, 22)
 *     the same with 16 columns                                               86 (73, 13)
 *     principal, session, version, file                                      53 (42, 11)
 *     principal with something of the session in it, version, file           47 (31, 9)
 *     user and organisation by their own rows, that is two tables more       82
 *
 * Each table costs about 8 us, each column up to 1. A row a session that holds everything would save the same table.
 * But then every change of a user, an organisation or a role would have to find all its sessions, and a user may have
 * thousands.
 */
#include "domain/permission/principal.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/columns_int.h"
#include "domain/permission/permission.h"
#include "domain/principal_int.h"
#include "domain/session_memo_int.h"

/* Where a permission comes from; a role's id follows. */
#define USER_SOURCE "user"
#define ROLE_SOURCE "role:"

#define STAMP_COLUMN 7
#define FILE_COLUMN PRINCIPAL_COLUMN_COUNT

#define PRINCIPAL_TABLES " FROM principal p LEFT JOIN change_version v ON v.id = 1"
#define PRINCIPAL_ROW " WHERE p.user_id = ?"

/* How many milliseconds the session still lasts, the last column; 0 or NULL: it is not valid. */
#define LASTING_COLUMN                                                                                                 \
    "IF(s.user_id = p.user_id AND s.ended_at IS NULL AND s.expires_at > UTC_TIMESTAMP(3),"                             \
    " CEILING(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), s.expires_at) / 1000), 0)"
#define SESSION_TABLE " LEFT JOIN session s ON s.id = ?"

/* For a session that was valid with a known stamp, and for any session. */
static const struct statement load_known = {"SELECT " PRINCIPAL_COLUMNS PRINCIPAL_TABLES PRINCIPAL_ROW};
static const struct statement load_any = {"SELECT " PRINCIPAL_COLUMNS
                                          ", " LASTING_COLUMN PRINCIPAL_TABLES SESSION_TABLE PRINCIPAL_ROW};

/*
 * STRCMP() hides the equation of organisations from the server. With an equation it takes 2 to 5 of 37 us more to plan,
 * since it also considers the keys that begin with the organisation.
 */
static const struct statement load_known_with_file = {
    "SELECT " PRINCIPAL_COLUMNS ", " FILE_BODY_COLUMNS PRINCIPAL_TABLES
    " LEFT JOIN file f ON f.id = ? AND NOT STRCMP(f.organisation_id, p.organisation_id)" PRINCIPAL_ROW};
static const struct statement load_any_with_file = {
    "SELECT " PRINCIPAL_COLUMNS ", " FILE_BODY_COLUMNS ", " LASTING_COLUMN PRINCIPAL_TABLES
    " LEFT JOIN file f ON f.id = ? AND NOT STRCMP(f.organisation_id, p.organisation_id)" SESSION_TABLE PRINCIPAL_ROW};

const struct statement *principal_statement(bool with_file)
{
    return with_file ? &load_known_with_file : &load_known;
}

/* ---- roles and what they grant ------------------------------------------------------------------- */

/* The rest of a text LENGTH:TEXT LENGTH:TEXT ... */
struct items {
    const char *at;
    const char *end;
};

/* A longer length than any column can hold is refused. */
#define ITEM_BYTES_MAX 1000000

struct item {
    const char *bytes;
    size_t length;
};

/* False at the end, and where the text breaks off: what follows then grants nothing. */
static bool next_item(struct items *items, struct item *item_out)
{
    size_t length = 0;
    const char *at = items->at;
    while (at < items->end && *at >= '0' && *at <= '9' && length < ITEM_BYTES_MAX)
        length = length * 10 + (size_t)(*at++ - '0');
    if (at == items->at || at == items->end || *at != ':' || (size_t)(items->end - at) - 1 < length)
        return false;
    *item_out = (struct item){at + 1, length};
    items->at = at + 1 + length;
    return true;
}

static size_t count_items(struct items items)
{
    size_t count = 0;
    struct item item;
    while (next_item(&items, &item))
        count++;
    return count;
}

static struct items items_of(const struct rows *rows, size_t column)
{
    size_t length = 0;
    const char *bytes = rows_bytes(rows, 0, column, &length);
    if (bytes == NULL)
        bytes = "";
    return (struct items){bytes, bytes + length};
}

static bool same_item(struct item one, struct item other)
{
    return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

/* In the arena. A NUL would end the text early, and the rest could read as a permission: see columns_permission(). */
static const char *item_text(struct arena *arena, struct item item)
{
    char *text = arena_copy(arena, item.bytes, item.length);
    for (size_t i = 0; i < item.length; i++)
        if (text[i] == '\0')
            text[i] = '\x01';
    return text;
}

/* The permissions of one role, out of those of all roles. */
static struct text_list permissions_of(struct arena *arena, struct items role_permissions, struct item role,
                                       const char **buffer)
{
    struct text_list list = {buffer, 0};
    struct item name, permission;
    while (next_item(&role_permissions, &name) && next_item(&role_permissions, &permission))
        if (same_item(name, role))
            list.items[list.count++] = item_text(arena, permission);
    return list;
}

static void read_grants(struct arena *arena, struct items roles, struct items role_permissions,
                        struct principal *principal)
{
    size_t count = count_items(roles);
    struct item role;
    /* A role is held once, so all held roles together have no more permissions than all roles. */
    const char **buffer = arena_array(arena, count_items(role_permissions) / 2 + 1, sizeof *buffer);
    principal->grants = arena_array(arena, count, sizeof *principal->grants);
    principal->user.roles.items = arena_array(arena, count, sizeof *principal->user.roles.items);
    while (next_item(&roles, &role)) {
        struct role_grant *grant = &principal->grants[principal->grant_count++];
        grant->role = item_text(arena, role);
        grant->permissions = permissions_of(arena, role_permissions, role, buffer);
        buffer += grant->permissions.count;
        principal->user.roles.items[principal->user.roles.count++] = grant->role;
    }
}

/* ---- loading ------------------------------------------------------------------------------------- */

static const struct statement find_role_permissions = {"SELECT " PRINCIPAL_ROLE_PERMISSIONS};

/*
 * The permissions of all roles. If change_version was emptied by hand, this takes a second round trip until it is
 * filled.
 */
static struct error *read_role_permissions(struct database *database, struct arena *arena, const struct rows *rows,
                                           struct items *role_permissions_out)
{
    struct rows *found;
    *role_permissions_out = items_of(rows, 6);
    if (!rows_is_null(rows, 0, 6))
        return NULL;
    TRY(database_query(database, arena, &find_role_permissions, NO_VALUES, &found));
    *role_permissions_out = items_of(found, 0);
    return NULL;
}

/* Who asks, and for which of the organisation's files; `file` is NULL for none. */
struct question {
    struct id user;
    struct id session;
    const struct id *file;
};

/* The parameters in the order of the statements: the file, the session where it is read, the user. */
static struct error *ask(struct database *database, struct arena *arena, const struct question *question, bool known,
                         struct rows **rows_out)
{
    struct database_value values[3];
    size_t count = 0;
    if (question->file != NULL)
        values[count++] = database_id(*question->file);
    if (!known)
        values[count++] = database_id(question->session);
    values[count++] = database_id(question->user);
    const struct statement *statement = question->file != NULL ? known ? &load_known_with_file : &load_any_with_file
                                        : known                ? &load_known
                                                               : &load_any;
    return database_query(database, arena, statement, values, count, rows_out);
}

/* Reads the user's rows (none where there is no such user) and whether the session is valid at that moment. */
static struct error *look(struct database *database, struct arena *arena, const struct question *question,
                          struct rows **rows_out, bool *good_out)
{
    int64_t now = clock_monotonic() / 1000;
    *good_out = true;
    if (session_memo_stamp(database, question->user, question->session, now) != NULL) {
        TRY(ask(database, arena, question, true, rows_out));
        if ((*rows_out)->count == 0)
            return NULL;
        /* Asked again: the connection may have broken meanwhile, and what it remembered would be gone. */
        const struct id *stamp = session_memo_stamp(database, question->user, question->session, now);
        if (stamp != NULL && id_equal(rows_id(*rows_out, 0, STAMP_COLUMN), *stamp))
            return NULL;
    }
    TRY(ask(database, arena, question, false, rows_out));
    if ((*rows_out)->count == 0)
        return NULL;
    int64_t lasting = rows_integer(*rows_out, 0, (*rows_out)->columns - 1);
    *good_out = lasting > 0;
    session_memo_learn(database, question->user, question->session, rows_id(*rows_out, 0, STAMP_COLUMN), now, lasting);
    return NULL;
}

struct error *principal_read(struct database *database, struct arena *arena, const struct rows *rows, struct id user,
                             struct principal **principal_out)
{
    struct items role_permissions;
    struct principal *principal = arena_alloc(arena, sizeof *principal);
    principal->user.id = user;
    principal->user.organisation_id = rows_id(rows, 0, 0);
    principal->user.status = user_status_read(rows_text(rows, 0, 1));
    principal->organisation.id = principal->user.organisation_id;
    principal->organisation.status = organisation_status_read(rows_text(rows, 0, 2));
    principal->user.permissions = permission_words(arena, columns_permission(arena, rows, 0, 3));
    principal->change_version = rows_integer(rows, 0, PRINCIPAL_VERSION_COLUMN);
    TRY(read_role_permissions(database, arena, rows, &role_permissions));
    read_grants(arena, items_of(rows, 4), role_permissions, principal);
    *principal_out = principal;
    return NULL;
}

/* NULL when there is no such user. */
static struct error *load(struct database *database, struct arena *arena, const struct question *question,
                          struct rows **rows_out, struct principal **principal_out)
{
    bool good;
    *principal_out = NULL;
    TRY(look(database, arena, question, rows_out, &good));
    if ((*rows_out)->count == 0)
        return NULL;
    TRY(principal_read(database, arena, *rows_out, question->user, principal_out));
    (*principal_out)->session_id = question->session;
    (*principal_out)->session_good = good;
    return NULL;
}

struct error *principal_load(struct database *database, struct arena *arena, struct id user, struct id session,
                             struct principal **principal_out)
{
    struct rows *rows;
    struct question question = {user, session, NULL};
    return load(database, arena, &question, &rows, principal_out);
}

struct error *principal_load_with_file(struct database *database, struct arena *arena, struct id user,
                                       struct id session, struct id file, struct principal **principal_out,
                                       struct file_record **file_out)
{
    struct rows *rows;
    struct question question = {user, session, &file};
    *file_out = NULL;
    TRY(load(database, arena, &question, &rows, principal_out));
    if (*principal_out != NULL && !rows_is_null(rows, 0, FILE_COLUMN)) {
        *file_out = arena_alloc(arena, sizeof **file_out);
        file_read_body(arena, rows, 0, FILE_COLUMN, file, (*principal_out)->user.organisation_id, *file_out);
    }
    return NULL;
}

static const struct statement load_details = {
    "SELECT " USER_COLUMNS ", " USER_WAITS ", " ORGANISATION_COLUMNS ", " ORGANISATION_USE_COLUMNS
    " FROM user u JOIN organisation o ON o.id = u.organisation_id" ORGANISATION_USE_TABLES " WHERE u.id = ?"};

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
    user_read_waits(rows, 0, USER_COLUMN_COUNT, user);
    organisation_read(arena, rows, 0, USER_COLUMN_COUNT + USER_WAIT_COUNT, organisation);
    organisation_read_use(rows, 0, USER_COLUMN_COUNT + USER_WAIT_COUNT + ORGANISATION_COLUMN_COUNT, organisation);
    *user_out = user;
    if (organisation_out != NULL)
        *organisation_out = organisation;
    return NULL;
}

bool principal_is_active(const struct principal *principal)
{
    return principal != NULL && principal->user.status == USER_ACTIVE &&
           principal->organisation.status == ORGANISATION_ACTIVE;
}

bool principal_stands(const struct principal *principal)
{
    return principal_is_active(principal) && principal->session_good;
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

/* How many patterns the principal holds, duplicate and malformed ones included. */
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

static const char *role_source(struct arena *arena, const struct role_grant *grant)
{
    return arena_format(arena, ROLE_SOURCE "%s", grant->role);
}

static struct text_list sources_of(struct arena *arena, const struct principal *principal, const char *permission)
{
    struct text_list sources = {arena_array(arena, principal->grant_count + 1, sizeof *sources.items), 0};
    if (text_list_has(&principal->user.permissions, permission))
        sources.items[sources.count++] = USER_SOURCE;
    for (size_t i = 0; i < principal->grant_count; i++)
        if (text_list_has(&principal->grants[i].permissions, permission))
            sources.items[sources.count++] = role_source(arena, &principal->grants[i]);
    return sources;
}

size_t principal_held(struct arena *arena, const struct principal *principal, struct principal_held **held_out)
{
    struct text_list permissions = principal_permissions(arena, principal);
    *held_out = arena_array(arena, permissions.count, sizeof **held_out);
    for (size_t i = 0; i < permissions.count; i++)
        (*held_out)[i] =
            (struct principal_held){permissions.items[i], sources_of(arena, principal, permissions.items[i])};
    return permissions.count;
}

size_t principal_sources(struct arena *arena, const struct principal *principal, const char *required,
                         struct principal_source **sources_out)
{
    struct principal_source *sources = arena_array(arena, count_held(principal), sizeof *sources);
    size_t count = 0;
    for (size_t i = 0; i < principal->user.permissions.count; i++)
        if (permission_grants(principal->user.permissions.items[i], required))
            sources[count++] = (struct principal_source){USER_SOURCE, principal->user.permissions.items[i]};
    for (size_t g = 0; g < principal->grant_count; g++) {
        const struct role_grant *grant = &principal->grants[g];
        for (size_t i = 0; i < grant->permissions.count; i++)
            if (permission_grants(grant->permissions.items[i], required))
                sources[count++] = (struct principal_source){role_source(arena, grant), grant->permissions.items[i]};
    }
    *sources_out = sources;
    return count;
}
