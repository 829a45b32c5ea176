/* SPDX-License-Identifier: MIT */
/* The statements on what people see of their sessions. */
#include "domain/session/session_list.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/database/database.h"

/* The id that names the session of any id, twice a parameter. */
#define HEAD "COALESCE((SELECT f.family FROM outside_session f WHERE f.session_id = ?), ?)"

#define COLUMNS                                                                                                        \
    "s.id, s.created_at, COALESCE(s.last_used_at, s.created_at), s.expires_at, s.client_address, s.user_agent,"        \
    " TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), s.expires_at), s.in_cookie, s.id = " HEAD " FROM session s"

/* Open sessions of a user, and of each family the first row alone. */
#define OPEN                                                                                                           \
    " LEFT JOIN outside_session o ON o.session_id = s.id WHERE s.user_id = ? AND s.ended_at IS NULL"                   \
    " AND s.expires_at > UTC_TIMESTAMP(3) AND (o.family IS NULL OR o.family = s.id)"

/* The id is a UUIDv7 with the embedded provider only; it makes the order total. */
#define LAST_USED " ORDER BY COALESCE(s.last_used_at, s.created_at) DESC, s.id DESC"

static void read_record(const struct rows *rows, size_t row, struct session_record *record)
{
    *record = (struct session_record){
        .id = rows_id(rows, row, 0),
        .created_at = rows_time(rows, row, 1),
        .last_used_at = rows_time(rows, row, 2),
        .expires_at = rows_time(rows, row, 3),
        .client_address = rows_text(rows, row, 4),
        .user_agent = rows_text(rows, row, 5),
        .seconds_left = rows_integer(rows, row, 6),
        .in_cookie = rows_boolean(rows, row, 7),
        .current = rows_boolean(rows, row, 8),
    };
}

static const struct statement list_open = {"SELECT " COLUMNS OPEN LAST_USED " LIMIT ?"};

struct error *session_list(struct database *database, struct arena *arena, struct id user, struct id current,
                           unsigned limit, struct session_list *list_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_open,
                       VALUES(database_id(current), database_id(current), database_id(user), database_integer(limit)),
                       &rows));
    list_out->count = rows->count;
    list_out->items = arena_array(arena, rows->count, sizeof *list_out->items);
    for (size_t i = 0; i < rows->count; i++)
        read_record(rows, i, &list_out->items[i]);
    return NULL;
}

static const struct statement find_open = {"SELECT " COLUMNS OPEN " AND s.id = ?"};
static const struct statement find_head = {"SELECT " HEAD};

struct error *session_find(struct database *database, struct arena *arena, struct id user, struct id session, bool any,
                           struct session_record **record_out)
{
    struct rows *rows;
    struct database_value id = database_id(session);
    *record_out = NULL;
    if (any) {
        TRY(database_query(database, arena, &find_head, VALUES(id, id), &rows));
        id = database_id(rows_id(rows, 0, 0));
    }
    TRY(database_query(database, arena, &find_open,
                       VALUES(database_id(session), database_id(session), database_id(user), id), &rows));
    if (rows->count == 0)
        return NULL;
    *record_out = arena_alloc(arena, sizeof **record_out);
    read_record(rows, 0, *record_out);
    return NULL;
}

/* The key alone answers it. It counts every row of a family and expired ones as well, so it may count too many. */
static const struct statement count_rows = {"SELECT COUNT(*) FROM session WHERE user_id = ? AND ended_at IS NULL"};
static const struct statement count_open = {"SELECT COUNT(*) FROM session s" OPEN};
static const struct statement find_unused = {"SELECT s.id FROM session s" OPEN
                                             " ORDER BY COALESCE(s.last_used_at, s.created_at), s.id LIMIT ?"};

static struct error *count(struct database *database, struct arena *arena, const struct statement *statement,
                           struct id user, int64_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, statement, VALUES(database_id(user)), &rows));
    *count_out = rows_integer(rows, 0, 0);
    return NULL;
}

/* Two sign-ins at once may each leave one too many, which the next one finds. */
struct error *session_find_surplus(struct database *database, struct arena *arena, struct id user, unsigned kept,
                                   unsigned limit, struct id **ids_out, size_t *count_out)
{
    struct rows *rows;
    int64_t open;
    *count_out = 0;
    TRY(count(database, arena, &count_rows, user, &open));
    if (open > kept)
        TRY(count(database, arena, &count_open, user, &open));
    if (open <= kept)
        return NULL;
    int64_t wanted = open - kept < limit ? open - kept : limit;
    TRY(database_query(database, arena, &find_unused, VALUES(database_id(user), database_integer(wanted)), &rows));
    *ids_out = arena_array(arena, rows->count, sizeof **ids_out);
    for (size_t i = 0; i < rows->count; i++)
        (*ids_out)[(*count_out)++] = rows_id(rows, i, 0);
    return NULL;
}

/* ---- noting --------------------------------------------------------------------------------------- */

static const struct statement describe = {
    "UPDATE session SET last_used_at = UTC_TIMESTAMP(3), client_address = ?, user_agent = ?, in_cookie = ?"
    " WHERE id = ? AND last_used_at IS NULL"};

struct error *session_describe(struct database *database, struct arena *arena, struct id session,
                               const struct session_client *client, bool in_cookie)
{
    return database_change(database, arena, &describe,
                           VALUES(database_text(client->address), database_text(client->agent),
                                  database_boolean(in_cookie), database_id(session)),
                           NULL);
}

/* How many milliseconds are left until a note is due. */
static const struct statement find_due = {"SELECT s.id, IF(s.last_used_at IS NULL, 0, GREATEST(0, CEILING(? * 1000"
                                          " - TIMESTAMPDIFF(MICROSECOND, s.last_used_at, UTC_TIMESTAMP(3)) / 1000)))"
                                          " FROM session s WHERE s.id = " HEAD " AND s.ended_at IS NULL"};
static const struct statement hold_due = {
    "SELECT 1 FROM session WHERE id = ? AND ended_at IS NULL"
    " AND (last_used_at IS NULL OR last_used_at <= UTC_TIMESTAMP(3) - INTERVAL ? SECOND) FOR UPDATE SKIP LOCKED"};
static const struct statement note_use = {
    "UPDATE session SET last_used_at = UTC_TIMESTAMP(3), client_address = ?, user_agent = ? WHERE id = ?"};

struct use {
    struct id session;
    const struct session_client *client;
};

static struct error *note_rows(struct database *database, struct arena *arena, void *context)
{
    const struct use *use = context;
    struct rows *rows;
    TRY(database_query(database, arena, &hold_due,
                       VALUES(database_id(use->session), database_integer(SESSION_USE_SECONDS)), &rows));
    if (rows->count == 0)
        return NULL;
    return database_change(
        database, arena, &note_use,
        VALUES(database_text(use->client->address), database_text(use->client->agent), database_id(use->session)),
        NULL);
}

struct error *session_note_use(struct database *database, struct arena *arena, struct id session,
                               const struct session_client *client, int64_t *due_out)
{
    struct rows *rows;
    *due_out = SESSION_USE_SECONDS * 1000;
    TRY(database_query(database, arena, &find_due,
                       VALUES(database_integer(SESSION_USE_SECONDS), database_id(session), database_id(session)),
                       &rows));
    if (rows->count == 0)
        return NULL;
    int64_t due = rows_integer(rows, 0, 1);
    if (due > 0) {
        *due_out = due;
        return NULL;
    }
    struct use use = {rows_id(rows, 0, 0), client};
    return database_transaction(database, arena, note_rows, &use, NULL);
}
