/* SPDX-License-Identifier: MIT */
/* The statements on sessions. */
#include "domain/session/session.h"

#include "base/error.h"
#include "domain/session/known_device.h"
#include "store/database/database.h"

static const struct statement insert_session = {
    "INSERT INTO session (id, user_id, expires_at) VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};

struct error *session_insert(struct database *database, struct arena *arena, struct id id, struct id user,
                             int64_t seconds)
{
    TRY(database_change(database, arena, &insert_session,
                        VALUES(database_id(id), database_id(user), database_integer(seconds)), NULL));
    return NULL;
}

static const struct statement adopt_session = {
    "INSERT IGNORE INTO session (id, user_id, expires_at) VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};

struct error *session_adopt(struct database *database, struct arena *arena, struct id id, struct id user,
                            int64_t seconds)
{
    return database_change(database, arena, &adopt_session,
                           VALUES(database_id(id), database_id(user), database_integer(seconds)), NULL);
}

static const struct statement find_session = {"SELECT 1 FROM session WHERE id = ? AND user_id = ?"};

struct error *session_is_known(struct database *database, struct arena *arena, struct id id, struct id user,
                               bool *known_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_session, VALUES(database_id(id), database_id(user)), &rows));
    *known_out = rows->count != 0;
    return NULL;
}

static const struct statement check_session = {"SELECT 1 FROM session WHERE id = ? AND user_id = ? AND ended_at IS NULL"
                                               " AND expires_at > UTC_TIMESTAMP(3)"};

struct error *session_check(struct database *database, struct arena *arena, struct id id, struct id user,
                            bool *good_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &check_session, VALUES(database_id(id), database_id(user)), &rows));
    *good_out = rows->count == 1;
    return NULL;
}

static const struct statement end_session = {
    "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = ? AND user_id = ? AND ended_at IS NULL"};

struct error *session_end(struct database *database, struct arena *arena, struct id id, struct id user, bool *ended_out)
{
    struct change change;
    TRY(database_change(database, arena, &end_session, VALUES(database_id(id), database_id(user)), &change));
    if (ended_out != NULL)
        *ended_out = change.affected == 1;
    return NULL;
}

static const struct statement end_all_sessions = {
    "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE user_id = ? AND id <> ? AND ended_at IS NULL"};

struct error *session_end_all(struct database *database, struct arena *arena, struct id user, struct id keep,
                              uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &end_all_sessions, VALUES(database_id(user), database_id(keep)), &change));
    if (count_out != NULL)
        *count_out = change.affected;
    return known_device_forget_all(database, arena, user, keep);
}

static const struct statement delete_all = {"DELETE FROM session WHERE user_id = ?"};

struct error *session_delete_all(struct database *database, struct arena *arena, struct id user)
{
    TRY(known_device_forget_all(database, arena, user, id_none));
    return database_change(database, arena, &delete_all, VALUES(database_id(user)), NULL);
}

static const struct statement purge_sessions = {
    "DELETE FROM session WHERE expires_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY LIMIT ?"};

struct error *session_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_sessions, VALUES(database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}

static const struct statement renew_stamps = {"UPDATE principal SET session_mark = UNHEX(REPLACE(UUID(), '-', ''))"};

struct error *session_renew_stamps(struct database *database, struct arena *arena)
{
    return database_change(database, arena, &renew_stamps, NO_VALUES, NULL);
}

static const struct statement end_everyones = {"UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE ended_at IS NULL"};

struct error *session_end_everyones(struct database *database, struct arena *arena)
{
    return database_change(database, arena, &end_everyones, NO_VALUES, NULL);
}
