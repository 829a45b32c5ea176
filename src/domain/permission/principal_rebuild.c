/* SPDX-License-Identifier: MIT */
/*
 * Compares the rows that triggers keep (sql/011-principal.sql) with the tables that they are derived from, and writes
 * them again.
 */
#include "base/error.h"
#include "domain/columns_int.h"
#include "domain/permission/principal.h"

static const struct statement compare = {
    "SELECT (SELECT COUNT(*) FROM user u JOIN organisation o ON o.id = u.organisation_id"
    " LEFT JOIN principal q ON q.user_id = u.id AND q.organisation_id = u.organisation_id AND q.user_status = u.status"
    " AND q.organisation_status = o.status AND q.permissions = u.permissions AND q.roles = " PRINCIPAL_ROLES
    " WHERE q.user_id IS NULL)"
    " + (SELECT COUNT(*) FROM principal q LEFT JOIN user u ON u.id = q.user_id WHERE u.id IS NULL)"
    " + (SELECT COUNT(*) = 0 FROM change_version v WHERE v.id = 1 AND v.roles = " PRINCIPAL_ROLE_PERMISSIONS ")"
    " + (SELECT COUNT(*) FROM organisation o LEFT JOIN organisation_people n ON n.organisation_id = o.id"
    " WHERE COALESCE(n.people, 0) <> " ORGANISATION_PEOPLE ")"};

struct error *principal_compare(struct database *database, struct arena *arena, int64_t *different_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &compare, NO_VALUES, &rows));
    *different_out = rows_integer(rows, 0, 0);
    return NULL;
}

/* These locks make every other change of these rows wait until this transaction has ended. */
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

static const struct statement count_people = {"INSERT INTO organisation_people (organisation_id, people)"
                                              " SELECT o.id, " ORGANISATION_PEOPLE
                                              " FROM organisation o ON DUPLICATE KEY UPDATE people = VALUES(people)"};

/* Where the row is missing, its trigger puts the roles into the new one. */
static const struct statement write_role_permissions = {
    "INSERT INTO change_version (id, version) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000))"
    " ON DUPLICATE KEY UPDATE roles = " PRINCIPAL_ROLE_PERMISSIONS};

static struct error *rebuild(struct database *database, struct arena *arena, void *context)
{
    int64_t *changed_out = context;
    struct rows *rows;
    TRY(database_query(database, arena, &hold_organisations, NO_VALUES, &rows));
    TRY(database_query(database, arena, &hold_users, NO_VALUES, &rows));
    TRY(database_query(database, arena, &hold_roles, NO_VALUES, &rows));
    TRY(database_query(database, arena, &hold_permissions, NO_VALUES, &rows));
    TRY(principal_compare(database, arena, changed_out));
    if (*changed_out == 0)
        return NULL;
    TRY(database_change(database, arena, &empty, NO_VALUES, NULL));
    TRY(database_change(database, arena, &fill, NO_VALUES, NULL));
    TRY(database_change(database, arena, &count_people, NO_VALUES, NULL));
    TRY(database_change(database, arena, &write_role_permissions, NO_VALUES, NULL));
    return NULL;
}

struct error *principal_rebuild(struct database *database, struct arena *arena, int64_t *changed_out)
{
    *changed_out = 0;
    TRY(principal_compare(database, arena, changed_out));
    if (*changed_out == 0)
        return NULL;
    return database_transaction(database, arena, rebuild, changed_out, NULL);
}

/* Its triggers do the work, with the rights of the account that made them. */
static const struct statement ask_for_repair = {"INSERT INTO principal_repair (id) VALUES (NULL)"};
static const struct statement make_version = {
    "INSERT INTO change_version (id, version) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000))"
    " ON DUPLICATE KEY UPDATE version = version"};

static struct error *repair(struct database *database, struct arena *arena, void *context)
{
    int64_t left = 0;
    (void)context;
    TRY(database_change(database, arena, &make_version, NO_VALUES, NULL));
    TRY(database_change(database, arena, &ask_for_repair, NO_VALUES, NULL));
    TRY(principal_compare(database, arena, &left));
    if (left == 0)
        return NULL;
    return error_message(error_new(arena, ERROR_INTERNAL, "the triggers of principal_repair have not done their work"),
                         "What is kept of users or roles is not what they are. Run gatehousectl migrate.");
}

struct error *principal_repair(struct database *database, struct arena *arena, int64_t *changed_out)
{
    *changed_out = 0;
    TRY(principal_compare(database, arena, changed_out));
    if (*changed_out == 0)
        return NULL;
    return database_transaction(database, arena, repair, NULL, NULL);
}
