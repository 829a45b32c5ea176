/* SPDX-License-Identifier: MIT */
/*
 * Whether the triggers of sql/011-principal.sql and sql/016-session-state.sql are there and do their work, for an account
 * that may not see them: users, organisations, sessions and roles of our own are made and changed, what the triggers should have done is looked at after each step,
 * and all of it is rolled back. Nobody else ever sees it; for its few milliseconds, whoever changes a role or appends to the
 * change log waits.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "domain/columns_int.h"
#include "domain/principal.h"

/* The values of a step, one letter each: u the user, a and b its organisations, s the session, n a name unlike any other. */
struct step {
    const char *trigger; /* what it is about; NULL: only a step on the way */
    const char *copying; /* the trigger that brings it to the session; NULL: none does */
    struct statement statement;
    const char *values;
};

#define INSERT_USER \
    "INSERT INTO user (id, organisation_id, email, first_name, last_name, status) VALUES (?, ?, ?, '', '', 'provisioning')"
#define INSERT_SESSION "INSERT INTO session (id, user_id, expires_at) VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR)"

/* A stamp of roles that nobody may set. */
#define STAMP_BY_HAND "1"

static const struct step steps[] = {
    {NULL, NULL, {"INSERT INTO organisation (id, name, status) VALUES (?, ?, 'provisioning')"}, "an"},
    {NULL, NULL, {"INSERT INTO organisation (id, name, status) VALUES (?, ?, 'active')"}, "bn"},
    {NULL, NULL, {INSERT_SESSION}, "su"},
    {"principal_user_insert", "session_principal_insert", {INSERT_USER}, "uan"},
    {NULL, NULL, {"DELETE FROM session WHERE id = ?"}, "s"},
    {NULL, "principal_session_insert", {INSERT_SESSION}, "su"},
    {"principal_user_update", "session_principal_update",
     {"UPDATE user SET permissions = 'a:b:r', status = 'disabled' WHERE id = ?"}, "u"},
    {NULL, "principal_session_update", {"UPDATE session SET user_id = ? WHERE id = ?"}, "as"},
    {NULL, "principal_session_update", {"UPDATE session SET user_id = ? WHERE id = ?"}, "us"},
    {"principal_user_move", "session_principal_update", {"UPDATE user SET organisation_id = ? WHERE id = ?"}, "bu"},
    {"principal_organisation_update", "session_principal_update",
     {"UPDATE organisation SET status = 'disabled' WHERE id = ?"}, "b"},
    {"principal_role_insert", "session_principal_update", {"INSERT INTO user_role (user_id, role_id) VALUES (?, ?)"}, "un"},
    {"principal_role_update", "session_principal_update",
     {"UPDATE user_role SET role_id = REVERSE(role_id) WHERE user_id = ?"}, "u"},
    {"principal_role_delete", "session_principal_update", {"DELETE FROM user_role WHERE user_id = ?"}, "u"},
    {NULL, "session_principal_rename", {"UPDATE principal SET user_id = ? WHERE user_id = ?"}, "au"},
    {NULL, "session_principal_update", {"UPDATE principal SET user_id = ? WHERE user_id = ?"}, "ua"},
    {"principal_user_delete", "session_principal_delete", {"DELETE FROM user WHERE id = ?"}, "u"},
    {NULL, NULL, {"INSERT INTO role (id, description) VALUES (?, '')"}, "n"},
    {"principal_permission_insert", NULL, {"INSERT INTO role_permission (role_id, permission) VALUES (?, 'a:b:r')"}, "n"},
    {"principal_permission_update", NULL, {"UPDATE role_permission SET permission = 'a:b:w' WHERE role_id = ?"}, "n"},
    {"principal_permission_delete", NULL, {"DELETE FROM role_permission WHERE role_id = ?"}, "n"},
    {"principal_stamp_renew", NULL, {"UPDATE change_version SET roles_stamp = " STAMP_BY_HAND}, ""},
    {NULL, NULL, {"DELETE FROM change_version"}, ""},
    {"principal_permission_restore", NULL, {"INSERT INTO change_version (id, version) VALUES (1, 1)"}, ""},
    {NULL, NULL, {"DELETE FROM change_version"}, ""},
    {"principal_stamp_begin", NULL,
     {"INSERT INTO change_version (id, version, roles_stamp) VALUES (1, 1, " STAMP_BY_HAND ")"}, ""},
};

/* How much of what the triggers keep of our user, and of all roles, is not what it should be. */
static const struct statement compare = {
    "SELECT (SELECT COUNT(*) FROM user u JOIN organisation o ON o.id = u.organisation_id"
    " LEFT JOIN principal q ON q.user_id = u.id AND q.organisation_id = u.organisation_id AND q.user_status = u.status"
    " AND q.organisation_status = o.status AND q.permissions = u.permissions AND q.roles = " PRINCIPAL_ROLES
    " WHERE u.id = ? AND q.user_id IS NULL)"
    " + (SELECT COUNT(*) FROM principal q LEFT JOIN user u ON u.id = q.user_id WHERE q.user_id = ? AND u.id IS NULL)"
    " + (SELECT COUNT(*) FROM change_version v WHERE v.id = 1 AND (v.roles <> " PRINCIPAL_BOOK
    " OR v.roles_stamp = " STAMP_BY_HAND ")),"
    " (SELECT COUNT(*) FROM session s LEFT JOIN principal q ON q.user_id = s.user_id"
    " WHERE s.id = ? AND " PRINCIPAL_COPY_DIFFERS ")"};

struct probe {
    struct id user, first, second, session;
    const char *name;
    const char *trigger; /* that does not do its work */
    bool done;
};

static struct error *take(struct database *database, struct arena *arena, const struct probe *probe, const struct step *step)
{
    struct database_value values[4];
    size_t count = strlen(step->values);
    for (size_t i = 0; i < count; i++) {
        char letter = step->values[i];
        const struct id *id = letter == 'u'   ? &probe->user
                              : letter == 'a' ? &probe->first
                              : letter == 'b' ? &probe->second
                                              : &probe->session;
        values[i] = letter == 'n' ? database_text(probe->name) : database_id(*id);
    }
    return database_change(database, arena, &step->statement, values, count, NULL);
}

/* The trigger that has not done what the step asks of it; NULL: none. */
static struct error *judge(struct database *database, struct arena *arena, const struct probe *probe,
                           const struct step *step, const char **trigger_out)
{
    struct rows *rows;
    *trigger_out = NULL;
    if (step->trigger == NULL && step->copying == NULL)
        return NULL;
    TRY(database_query(database, arena, &compare,
                       VALUES(database_id(probe->user), database_id(probe->user), database_id(probe->session)), &rows));
    if (step->trigger != NULL && rows_integer(rows, 0, 0) != 0)
        *trigger_out = step->trigger;
    else if (step->copying != NULL && rows_integer(rows, 0, 1) != 0)
        *trigger_out = step->copying;
    return NULL;
}

/* Always an error, so that everything is rolled back. */
static struct error *try_all(struct database *database, struct arena *arena, void *context)
{
    struct probe *probe = context;
    probe->trigger = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && probe->trigger == NULL; i++) {
        TRY(take(database, arena, probe, &steps[i]));
        TRY(judge(database, arena, probe, &steps[i], &probe->trigger));
    }
    probe->done = true;
    return error_new(arena, ERROR_INTERNAL, "tried, and rolled back");
}

struct error *principal_probe(struct database *database, struct arena *arena, const char **trigger_out)
{
    struct probe probe = {.user = id_new(), .first = id_new(), .second = id_new(), .session = id_new()};
    probe.name = arena_format(arena, "gatehousectl-check-%s", id_text(arena, probe.user));
    struct error *error = database_transaction(database, arena, try_all, &probe, NULL);
    *trigger_out = probe.trigger;
    return probe.done ? NULL : error;
}
