/* SPDX-License-Identifier: MIT */
/* Locks users' rows while rights change, and finds out who else has a right that must not be lost. */
#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/user.h"
#include "domain/columns_int.h"
#include "domain/permission/permission.h"

static const struct statement hold_user = {"SELECT 1 FROM user WHERE id = ? FOR UPDATE"};
static const struct statement share_user = {"SELECT 1 FROM user WHERE id = ? LOCK IN SHARE MODE"};

struct error *user_hold(struct database *database, struct arena *arena, struct id id, bool shared)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    return database_query(database, arena, shared ? &share_user : &hold_user, VALUES(database_id(id)), &rows);
}

static const struct statement find_other_with_role = {
    "SELECT 1 FROM user u JOIN user_role r ON r.user_id = u.id AND r.role_id = ?"
    " WHERE u.organisation_id = ? AND u.id <> ? AND u.status = 'active' LIMIT 1"};

struct error *user_others_have_role(struct database *database, struct arena *arena, struct id organisation,
                                    struct id but, const char *role, bool *have_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_other_with_role,
                       VALUES(database_text(role), database_id(organisation), database_id(but)), &rows));
    *have_out = rows->count > 0;
    return NULL;
}

/* Only this one pattern covers it: no other has every module, every area and the letter `a`. */
static const struct statement find_other_administrators = {
    "SELECT u.permissions, EXISTS (SELECT 1 FROM user_role r JOIN role_permission p ON p.role_id = r.role_id"
    " WHERE r.user_id = u.id AND p.permission = '" PERMISSION_EVERYTHING "') AS by_role FROM user u"
    " WHERE u.organisation_id = ? AND u.id <> ? AND u.status = 'active'"
    " HAVING by_role OR LOCATE('" PERMISSION_EVERYTHING "', u.permissions) > 0"};

struct error *user_others_hold_everything(struct database *database, struct arena *arena, struct id organisation,
                                          struct id but, bool *hold_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_other_administrators, VALUES(database_id(organisation), database_id(but)),
                       &rows));
    *hold_out = false;
    for (size_t i = 0; i < rows->count && !*hold_out; i++) {
        /* A part of a malformed text is no permission. */
        struct text_list own = permission_words(arena, columns_permission(arena, rows, i, 0));
        *hold_out = rows_boolean(rows, i, 1) || text_list_has(&own, PERMISSION_EVERYTHING);
    }
    return NULL;
}

/* A permission with the letter `a`, alone or among others (docs/permissions.md). */
#define WITH_A " REGEXP '(^| )([a-z][a-z0-9-]*|[*]):([a-z][a-z0-9-]*|[*]):a( |$)'"

static const struct statement find_reaching = {
    "SELECT u.id FROM user u WHERE u.organisation_id <> ? AND u.status <> 'disabled' AND " USER_SEEN
    " AND (u.permissions" WITH_A " OR EXISTS (SELECT 1 FROM user_role r JOIN role_permission p ON p.role_id = r.role_id"
    " WHERE r.user_id = u.id AND p.permission" WITH_A ")) ORDER BY u.id LIMIT ?"};

struct error *user_find_reaching(struct database *database, struct arena *arena, struct id internal, unsigned limit,
                                 struct id **ids_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_reaching, VALUES(database_id(internal), database_integer(limit)), &rows));
    *count_out = rows->count;
    *ids_out = arena_array(arena, rows->count, sizeof **ids_out);
    for (size_t i = 0; i < rows->count; i++)
        (*ids_out)[i] = rows_id(rows, i, 0);
    return NULL;
}
