/* SPDX-License-Identifier: MIT */
/*
 * Tests whether the triggers of sql/011-principal.sql, sql/016-session-mark.sql and sql/027-organisations.sql exist and
 * work. It makes and changes
 * users, organisations, sessions and roles of its own, checks after each step what the triggers have done, and rolls
 * all of it back. Nobody else ever sees it. For its few milliseconds, changes of roles and of the change log wait.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "domain/columns_int.h"
#include "domain/permission/principal.h"

/*
 * The values of a step, one letter each: u the user, a and b its organisations, s its session, n a name unlike any
 * other.
 */
struct step {
    const char *trigger; /* the trigger that it tests; NULL: only a preparation */
    struct statement statement;
    const char *values;
};

/* Clears the stamp, so that a step can be seen to renew it. */
#define CLEAR_STAMP "UPDATE principal SET session_mark = '' WHERE user_id = ?"
#define RENAME "UPDATE principal SET user_id = ? WHERE user_id = ?"

static const struct step steps[] = {
    {NULL, {"INSERT INTO organisation (id, name, status) VALUES (?, ?, 'provisioning')"}, "an"},
    {NULL, {"INSERT INTO organisation (id, name, status) VALUES (?, ?, 'active')"}, "bn"},
    {"principal_user_insert",
     {"INSERT INTO user (id, organisation_id, email, first_name, last_name, status) VALUES (?, ?, ?, '', '', "
      "'provisioning')"},
     "uan"},
    {"session_mark_begin", {"DELETE FROM session WHERE id = ?"}, "s"},
    {NULL, {CLEAR_STAMP}, "u"},
    {NULL, {"INSERT INTO session (id, user_id, expires_at) VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR)"}, "su"},
    {"session_mark_update", {"UPDATE session SET expires_at = expires_at - INTERVAL 1 SECOND WHERE id = ?"}, "s"},
    {NULL, {CLEAR_STAMP}, "u"},
    {"session_mark_update", {"UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = ?"}, "s"},
    {NULL, {"UPDATE session SET ended_at = NULL WHERE id = ?"}, "s"},
    {NULL, {CLEAR_STAMP}, "u"},
    {"session_mark_delete", {"DELETE FROM session WHERE id = ?"}, "s"},
    {NULL, {CLEAR_STAMP}, "u"},
    {NULL, {RENAME}, "au"},
    {"session_mark_move", {RENAME}, "ua"},
    {"principal_user_update", {"UPDATE user SET permissions = 'a:b:r' WHERE id = ?"}, "u"},
    {"people_join", {"UPDATE user SET status = 'disabled' WHERE id = ?"}, "u"},
    {"people_leave", {"UPDATE user SET status = 'erased' WHERE id = ?"}, "u"},
    {NULL, {"UPDATE user SET status = 'disabled' WHERE id = ?"}, "u"},
    {"principal_user_move", {"UPDATE user SET organisation_id = ? WHERE id = ?"}, "bu"},
    {"principal_organisation_update", {"UPDATE organisation SET status = 'disabled' WHERE id = ?"}, "b"},
    {"principal_role_insert", {"INSERT INTO user_role (user_id, role_id) VALUES (?, ?)"}, "un"},
    {"principal_role_update", {"UPDATE user_role SET role_id = REVERSE(role_id) WHERE user_id = ?"}, "u"},
    {"principal_role_delete", {"DELETE FROM user_role WHERE user_id = ?"}, "u"},
    {NULL, {"UPDATE user SET status = 'erased' WHERE id = ?"}, "u"},
    {"principal_user_delete", {"DELETE FROM user WHERE id = ?"}, "u"},
    {"people_insert",
     {"INSERT INTO user (id, organisation_id, email, first_name, last_name, status) VALUES (?, ?, ?, '', '', "
      "'active')"},
     "uan"},
    {"people_delete", {"DELETE FROM user WHERE id = ?"}, "u"},
    {NULL, {"INSERT INTO role (id, description) VALUES (?, '')"}, "n"},
    {"principal_permission_insert", {"INSERT INTO role_permission (role_id, permission) VALUES (?, 'a:b:r')"}, "n"},
    {"principal_permission_update", {"UPDATE role_permission SET permission = 'a:b:w' WHERE role_id = ?"}, "n"},
    {"principal_permission_delete", {"DELETE FROM role_permission WHERE role_id = ?"}, "n"},
    {NULL, {"DELETE FROM change_version"}, ""},
    {"principal_permission_restore", {"INSERT INTO change_version (id, version) VALUES (1, 1)"}, ""},
};

/* How many of the rows that the triggers keep of this user and of all roles are wrong. */
static const struct statement compare = {
    "SELECT (SELECT COUNT(*) FROM user u JOIN organisation o ON o.id = u.organisation_id"
    " LEFT JOIN principal q ON q.user_id = u.id AND q.organisation_id = u.organisation_id AND q.user_status = u.status"
    " AND q.organisation_status = o.status AND q.permissions = u.permissions AND q.roles = " PRINCIPAL_ROLES
    " WHERE u.id = ? AND q.user_id IS NULL)"
    " + (SELECT COUNT(*) FROM principal q LEFT JOIN user u ON u.id = q.user_id WHERE q.user_id = ? AND u.id IS NULL)"
    " + (SELECT COUNT(*) FROM change_version v WHERE v.id = 1 AND v.roles <> " PRINCIPAL_ROLE_PERMISSIONS ")"
    " + (SELECT COUNT(*) FROM organisation o LEFT JOIN organisation_people n ON n.organisation_id = o.id"
    " WHERE o.id IN (?, ?) AND COALESCE(n.people, 0) <> " ORGANISATION_PEOPLE "),"
    " (SELECT COUNT(*) FROM principal WHERE user_id = ? AND session_mark <> REPEAT(CHAR(0), 16))"};

struct selftest {
    struct id user, first, second, session;
    const char *name;
    const char *trigger; /* the trigger that does not work */
    bool done;
};

static struct error *take(struct database *database, struct arena *arena, const struct selftest *selftest,
                          const struct step *step)
{
    struct database_value values[4];
    size_t count = strlen(step->values);
    for (size_t i = 0; i < count; i++) {
        char letter = step->values[i];
        const struct id *id = letter == 'u'   ? &selftest->user
                              : letter == 's' ? &selftest->session
                              : letter == 'a' ? &selftest->first
                                              : &selftest->second;
        values[i] = letter == 'n' ? database_text(selftest->name) : database_id(*id);
    }
    return database_change(database, arena, &step->statement, values, count, NULL);
}

/* Whether the user must have a stamp after the step. */
static bool is_of_stamps(const struct step *step)
{
    return strncmp(step->trigger, "session_mark", strlen("session_mark")) == 0;
}

/* Always an error, so that everything is rolled back. */
static struct error *try_all(struct database *database, struct arena *arena, void *context)
{
    struct selftest *selftest = context;
    struct rows *rows;
    selftest->trigger = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        TRY(take(database, arena, selftest, &steps[i]));
        if (steps[i].trigger == NULL)
            continue;
        struct database_value user = database_id(selftest->user);
        TRY(database_query(database, arena, &compare,
                           VALUES(user, user, database_id(selftest->first), database_id(selftest->second), user),
                           &rows));
        if (rows_integer(rows, 0, 0) != 0 || (is_of_stamps(&steps[i]) && rows_integer(rows, 0, 1) != 1)) {
            selftest->trigger = steps[i].trigger;
            break;
        }
    }
    selftest->done = true;
    return error_new(arena, ERROR_INTERNAL, "tried, and rolled back");
}

/*
 * The triggers of sql/018-worker-rights.sql go over all users, which is too much for a test. Their names are looked up
 * instead, which an account that may make triggers can do.
 */
static struct error *find_repairs(struct database *database, struct arena *arena, struct selftest *selftest)
{
    static const char *const names[] = {"principal_repair_remove", "principal_repair_fill", "principal_repair_roles",
                                        "principal_repair_people", "audit_scrub_addresses"};
    static const struct statement count_trigger = {"SELECT COUNT(*) FROM information_schema.triggers"
                                                   " WHERE trigger_schema = DATABASE() AND trigger_name = ?"};
    for (size_t i = 0; selftest->trigger == NULL && i < sizeof names / sizeof *names; i++) {
        struct rows *rows;
        TRY(database_query(database, arena, &count_trigger, VALUES(database_text(names[i])), &rows));
        if (rows_integer(rows, 0, 0) == 0)
            selftest->trigger = names[i];
    }
    return NULL;
}

struct error *principal_selftest(struct database *database, struct arena *arena, const char **trigger_out)
{
    struct selftest selftest = {.user = id_new(), .first = id_new(), .second = id_new(), .session = id_new()};
    selftest.name = arena_format(arena, "gatehousectl-check-%s", id_text(arena, selftest.user));
    struct error *error = database_transaction(database, arena, try_all, &selftest, NULL);
    if (!selftest.done)
        return error;
    TRY(find_repairs(database, arena, &selftest));
    *trigger_out = selftest.trigger;
    return NULL;
}
