/* SPDX-License-Identifier: MIT */
/* Whether the triggers' answer (sql/011-principal.sql, sql/016-session-state.sql) is what it stands for, and making it so. */
#include "base/error.h"
#include "domain/columns_int.h"
#include "domain/principal.h"

static const struct statement compare = {
    "SELECT (SELECT COUNT(*) FROM user u JOIN organisation o ON o.id = u.organisation_id"
    " LEFT JOIN principal q ON q.user_id = u.id AND q.organisation_id = u.organisation_id AND q.user_status = u.status"
    " AND q.organisation_status = o.status AND q.permissions = u.permissions AND q.roles = " PRINCIPAL_ROLES
    " WHERE q.user_id IS NULL)"
    " + (SELECT COUNT(*) FROM principal q LEFT JOIN user u ON u.id = q.user_id WHERE u.id IS NULL)"
    " + (SELECT COUNT(*) = 0 FROM change_version v WHERE v.id = 1 AND v.roles = " PRINCIPAL_BOOK ")"};

static struct error *compare_users(struct database *database, struct arena *arena, int64_t *different_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &compare, NO_VALUES, &rows));
    *different_out = rows_integer(rows, 0, 0);
    return NULL;
}

/* ---- sessions -------------------------------------------------------------------------------------- */

/*
 * In portions, so that no statement runs into its time-out, however many there are. Each compares what was committed at one
 * moment, when row and copy are the same.
 */
#define PORTION "5000"
#define PORTION_ROWS 5000

static const struct statement compare_portion = {
    "SELECT COUNT(*), COALESCE(SUM(" PRINCIPAL_COPY_DIFFERS "), 0), MAX(s.id)"
    " FROM (SELECT * FROM session WHERE id > ? ORDER BY id LIMIT " PORTION ") s"
    " LEFT JOIN principal q ON q.user_id = s.user_id"};

/* Against the order of locks (sql/016-session-state.sql), hence repeated where it loses. */
static const struct statement mend_portion = {
    "UPDATE session s SET"
    " organisation_id = COALESCE((SELECT q.organisation_id FROM principal q WHERE q.user_id = s.user_id LOCK IN SHARE MODE), ''),"
    " user_status = COALESCE((SELECT q.user_status FROM principal q WHERE q.user_id = s.user_id LOCK IN SHARE MODE), ''),"
    " organisation_status ="
    " COALESCE((SELECT q.organisation_status FROM principal q WHERE q.user_id = s.user_id LOCK IN SHARE MODE), ''),"
    " permissions = COALESCE((SELECT q.permissions FROM principal q WHERE q.user_id = s.user_id LOCK IN SHARE MODE), ''),"
    " roles = COALESCE((SELECT q.roles FROM principal q WHERE q.user_id = s.user_id LOCK IN SHARE MODE), '')"
    " WHERE s.id > ? AND s.id <= ?"};

/* Over all sessions; *different_out counts those that differ, or differed where they are mended. */
static struct error *each_portion(struct database *database, struct arena *arena, bool mend, int64_t *different_out)
{
    struct id after = {{0}};
    struct rows *rows;
    *different_out = 0;
    do {
        TRY(database_query(database, arena, &compare_portion, VALUES(database_id(after)), &rows));
        int64_t different = rows_integer(rows, 0, 1);
        struct id last = rows_id(rows, 0, 2);
        if (mend && different != 0)
            TRY(database_change(database, arena, &mend_portion, VALUES(database_id(after), database_id(last)), NULL));
        *different_out += different;
        after = last;
    } while (rows_integer(rows, 0, 0) == PORTION_ROWS);
    return NULL;
}

struct error *principal_compare(struct database *database, struct arena *arena, int64_t *different_out)
{
    int64_t sessions;
    TRY(compare_users(database, arena, different_out));
    TRY(each_portion(database, arena, false, &sessions));
    *different_out += sessions;
    return NULL;
}

/* ---- making it anew -------------------------------------------------------------------------------- */

/* Whoever changes any of it waits until we are done, and then changes what we have written. */
static const struct statement hold_organisations = {"SELECT COUNT(*) FROM (SELECT id FROM organisation FOR UPDATE) x"};
static const struct statement hold_users = {"SELECT COUNT(*) FROM (SELECT id FROM user FOR UPDATE) x"};
static const struct statement hold_roles = {"SELECT COUNT(*) FROM (SELECT user_id FROM user_role FOR UPDATE) x"};
static const struct statement hold_permissions = {
    "SELECT COUNT(*) FROM (SELECT role_id FROM role_permission FOR UPDATE) x"};

static const struct statement empty = {
    "DELETE q FROM principal q LEFT JOIN user u ON u.id = q.user_id WHERE u.id IS NULL"};

static const struct statement fill = {
    "INSERT INTO principal (user_id, organisation_id, user_status, organisation_status, permissions, roles)"
    " SELECT u.id, u.organisation_id, u.status, o.status, u.permissions, " PRINCIPAL_ROLES
    " FROM user u JOIN organisation o ON o.id = u.organisation_id"
    " ON DUPLICATE KEY UPDATE organisation_id = VALUES(organisation_id), user_status = VALUES(user_status),"
    " organisation_status = VALUES(organisation_status), permissions = VALUES(permissions), roles = VALUES(roles)"};

/* Where the row is not there, its trigger puts the roles into the new one. */
static const struct statement write_book = {
    "INSERT INTO change_version (id, version) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000))"
    " ON DUPLICATE KEY UPDATE roles = " PRINCIPAL_BOOK};

static struct error *rebuild(struct database *database, struct arena *arena, void *context)
{
    int64_t *changed_out = context;
    struct rows *rows;
    TRY(database_query(database, arena, &hold_organisations, NO_VALUES, &rows));
    TRY(database_query(database, arena, &hold_users, NO_VALUES, &rows));
    TRY(database_query(database, arena, &hold_roles, NO_VALUES, &rows));
    TRY(database_query(database, arena, &hold_permissions, NO_VALUES, &rows));
    TRY(compare_users(database, arena, changed_out));
    if (*changed_out == 0)
        return NULL;
    TRY(database_change(database, arena, &empty, NO_VALUES, NULL));
    TRY(database_change(database, arena, &fill, NO_VALUES, NULL));
    TRY(database_change(database, arena, &write_book, NO_VALUES, NULL));
    return NULL;
}

struct error *principal_rebuild(struct database *database, struct arena *arena, int64_t *changed_out)
{
    int64_t sessions;
    *changed_out = 0;
    TRY(compare_users(database, arena, changed_out));
    if (*changed_out != 0)
        TRY(database_transaction(database, arena, rebuild, changed_out, NULL));
    TRY(each_portion(database, arena, true, &sessions));
    *changed_out += sessions;
    return NULL;
}
