/* SPDX-License-Identifier: MIT */
/* The statements on the intent log of passwords. */
#include "domain/account/password_intent.h"

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

static const struct statement insert_intent = {
    "INSERT INTO outside_intent (id, user_id, sealed, is_temporary, keep, asked_at, due_at)"
    " VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};

struct error *password_intent_insert(struct database *database, struct arena *arena,
                                     const struct password_intent *intent)
{
    return database_change(database, arena, &insert_intent,
                           VALUES(database_id(intent->id), database_id(intent->user),
                                  database_bytes(intent->sealed, intent->length), database_integer(intent->temporary),
                                  database_id_or_null(intent->kept_session),
                                  database_integer(PASSWORD_INTENT_CALL_SECONDS)),
                           NULL);
}

static const struct statement delete_intent = {"DELETE FROM outside_intent WHERE id = ?"};

struct error *password_intent_delete(struct database *database, struct arena *arena, struct id id)
{
    return database_change(database, arena, &delete_intent, VALUES(database_id(id)), NULL);
}

static const struct statement delete_user = {"DELETE FROM outside_intent WHERE user_id = ?"};

struct error *password_intent_delete_user(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &delete_user, VALUES(database_id(user)), NULL);
}

/* ---- rows whose turn has come ----------------------------------------------------------------------- */

static const struct statement list_due = {
    "SELECT user_id FROM outside_intent WHERE due_at <= UTC_TIMESTAMP(3) ORDER BY due_at LIMIT ?"};

struct error *password_intent_list_due(struct database *database, struct arena *arena, unsigned limit,
                                       struct id **users_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_due, VALUES(database_integer(limit)), &rows));
    *count_out = rows->count;
    *users_out = arena_array(arena, rows->count + 1, sizeof **users_out);
    for (size_t i = 0; i < rows->count; i++)
        (*users_out)[i] = rows_id(rows, i, 0);
    return NULL;
}

static const struct statement find_due = {
    "SELECT i.id, i.sealed, i.is_temporary, i.keep, i.asked_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND,"
    " u.provider_subject, u.email FROM outside_intent i LEFT JOIN user u ON u.id = i.user_id"
    " WHERE i.user_id = ? AND i.due_at <= UTC_TIMESTAMP(3) ORDER BY i.asked_at, i.id LIMIT 1"};

static void read_row(struct rows *rows, struct id user, struct password_intent *intent_out)
{
    *intent_out = (struct password_intent){
        .id = rows_id(rows, 0, 0),
        .user = user,
        .temporary = rows_boolean(rows, 0, 2),
        .is_last = rows_boolean(rows, 0, 4),
    };
    intent_out->sealed = rows_bytes(rows, 0, 1, &intent_out->length);
    if (!rows_is_null(rows, 0, 3))
        intent_out->kept_session = rows_id(rows, 0, 3);
    if (rows_is_null(rows, 0, 5))
        return;
    intent_out->subject = rows_text(rows, 0, 5);
    intent_out->email = rows_text(rows, 0, 6);
}

static const struct statement claim_due = {
    "UPDATE outside_intent SET due_at = UTC_TIMESTAMP(3) + INTERVAL LEAST(?, ? * POW(2, LEAST(attempts, 20))) SECOND,"
    " attempts = attempts + 1 WHERE id = ? AND due_at <= UTC_TIMESTAMP(3)"};

struct error *password_intent_claim(struct database *database, struct arena *arena, struct id user,
                                    struct password_intent *intent_out, bool *found_out)
{
    struct change change;
    struct rows *rows;
    *found_out = false;
    TRY(database_query(database, arena, &find_due,
                       VALUES(database_integer(PASSWORD_INTENT_GIVE_UP_SECONDS), database_id(user)), &rows));
    if (rows->count == 0)
        return NULL;
    read_row(rows, user, intent_out);
    TRY(database_change(database, arena, &claim_due,
                        VALUES(database_integer(PASSWORD_INTENT_PAUSE_MAX_SECONDS),
                               database_integer(PASSWORD_INTENT_CALL_SECONDS), database_id(intent_out->id)),
                        &change));
    *found_out = change.affected == 1;
    return NULL;
}
