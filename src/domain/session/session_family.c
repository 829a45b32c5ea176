/* SPDX-License-Identifier: MIT */
/* The statements on families of sessions at a remote identity provider. */
#include "domain/session/session_family.h"

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

/* ---- tokens --------------------------------------------------------------------------------------- */

static const struct statement insert_name = {
    "INSERT INTO outside_session (session_id, family, refresh_sealed) VALUES (?, ?, ?)"
    " ON DUPLICATE KEY UPDATE refresh_sealed = COALESCE(VALUES(refresh_sealed), refresh_sealed)"};

struct error *session_family_insert(struct database *database, struct arena *arena, struct id session, struct id family,
                                    const void *sealed, size_t length)
{
    struct database_value token = sealed != NULL ? database_bytes(sealed, length) : database_null();
    return database_change(database, arena, &insert_name, VALUES(database_id(session), database_id(family), token),
                           NULL);
}

static const struct statement set_token = {"UPDATE outside_session SET refresh_sealed = ? WHERE session_id = ?"};

struct error *session_family_set_token(struct database *database, struct arena *arena, struct id family,
                                       const void *sealed, size_t length)
{
    return database_change(database, arena, &set_token, VALUES(database_bytes(sealed, length), database_id(family)),
                           NULL);
}

static const struct statement find_token = {
    "SELECT o.refresh_sealed, u.provider_subject FROM outside_session o JOIN session s ON s.id = o.session_id"
    " JOIN user u ON u.id = s.user_id WHERE o.session_id = ? AND s.ended_at IS NULL"};

struct error *session_family_find_token(struct database *database, struct arena *arena, struct id family,
                                        struct session_family_token *token_out)
{
    struct rows *rows;
    *token_out = (struct session_family_token){.family = family};
    TRY(database_query(database, arena, &find_token, VALUES(database_id(family)), &rows));
    if (rows->count == 0 || rows_is_null(rows, 0, 0) || rows_is_null(rows, 0, 1))
        return NULL;
    token_out->sealed = rows_bytes(rows, 0, 0, &token_out->length);
    token_out->subject = rows_text(rows, 0, 1);
    return NULL;
}

static const struct statement find_token_of = {
    "SELECT h.session_id, h.refresh_sealed FROM outside_session o JOIN outside_session h ON h.session_id = o.family"
    " WHERE o.session_id = ?"};

struct error *session_family_find_token_of(struct database *database, struct arena *arena, struct id session,
                                           struct session_family_token *token_out)
{
    struct rows *rows;
    *token_out = (struct session_family_token){.sealed = NULL};
    TRY(database_query(database, arena, &find_token_of, VALUES(database_id(session)), &rows));
    if (rows->count == 0 || rows_is_null(rows, 0, 1))
        return NULL;
    token_out->family = rows_id(rows, 0, 0);
    token_out->sealed = rows_bytes(rows, 0, 1, &token_out->length);
    return NULL;
}

static const struct statement find_others = {
    "SELECT o.session_id, o.refresh_sealed FROM session s JOIN outside_session o ON o.session_id = s.id"
    " WHERE s.user_id = ? AND o.refresh_sealed IS NOT NULL AND o.family <>"
    " COALESCE((SELECT f.family FROM outside_session f WHERE f.session_id = ?), ?) ORDER BY s.id DESC LIMIT ?"};

struct error *session_family_find_others(struct database *database, struct arena *arena, struct id user, struct id kept,
                                         unsigned limit, struct session_family_token **tokens_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_others,
                       VALUES(database_id(user), database_id(kept), database_id(kept), database_integer(limit)),
                       &rows));
    *count_out = rows->count;
    *tokens_out = arena_array(arena, rows->count, sizeof **tokens_out);
    for (size_t i = 0; i < rows->count; i++) {
        struct session_family_token *token = &(*tokens_out)[i];
        token->family = rows_id(rows, i, 0);
        token->sealed = rows_bytes(rows, i, 1, &token->length);
    }
    return NULL;
}

static const struct statement drop_tokens = {
    "UPDATE outside_session o JOIN session s ON s.id = o.session_id SET o.refresh_sealed = NULL"
    " WHERE s.user_id = ? AND s.ended_at IS NOT NULL AND o.refresh_sealed IS NOT NULL"};

struct error *session_family_drop_tokens(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &drop_tokens, VALUES(database_id(user)), NULL);
}

/* ---- ending --------------------------------------------------------------------------------------- */

static const struct statement end_family = {
    "UPDATE session s LEFT JOIN outside_session o ON o.session_id = s.id SET s.ended_at = UTC_TIMESTAMP(3)"
    " WHERE s.user_id = ? AND s.ended_at IS NULL AND COALESCE(o.family, s.id) ="
    " COALESCE((SELECT f.family FROM outside_session f WHERE f.session_id = ?), ?)"};
static const struct statement end_others = {
    "UPDATE session s LEFT JOIN outside_session o ON o.session_id = s.id SET s.ended_at = UTC_TIMESTAMP(3)"
    " WHERE s.user_id = ? AND s.ended_at IS NULL AND COALESCE(o.family, s.id) <>"
    " COALESCE((SELECT f.family FROM outside_session f WHERE f.session_id = ?), ?)"};

struct error *session_family_end(struct database *database, struct arena *arena, struct id user, struct id session,
                                 bool others)
{
    return database_change(database, arena, others ? &end_others : &end_family,
                           VALUES(database_id(user), database_id(session), database_id(session)), NULL);
}

/* ---- deleting ------------------------------------------------------------------------------------- */

static const struct statement delete_user = {
    "DELETE o FROM outside_session o JOIN session s ON s.id = o.session_id WHERE s.user_id = ?"};

struct error *session_family_delete_user(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &delete_user, VALUES(database_id(user)), NULL);
}

static const struct statement tidy_names = {
    "DELETE FROM outside_session WHERE session_id NOT IN (SELECT id FROM session) LIMIT 2000"};

struct error *session_family_tidy(struct database *database, struct arena *arena)
{
    return database_change(database, arena, &tidy_names, NO_VALUES, NULL);
}
