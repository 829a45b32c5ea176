/* SPDX-License-Identifier: MIT */
/* The statements on uploads that arrive in pieces. */
#include "domain/file/file_upload.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

#define COLUMNS                                                                                                        \
    "w.id, w.organisation_id, w.user_id, w.length, w.received, w.reserved, w.metadata, w.digest, w.file_id,"           \
    " w.expires_at, w.expires_at <= UTC_TIMESTAMP(3), w.holder"
#define COLUMN_COUNT 12

static struct database_value length_value(const struct file_upload *upload)
{
    return upload->length == FILE_UPLOAD_LENGTH_UNKNOWN ? database_null() : database_integer(upload->length);
}

static const struct statement insert_upload = {
    "INSERT INTO file_upload (id, organisation_id, user_id, length, reserved, metadata, digest, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};

struct error *file_upload_insert(struct database *database, struct arena *arena, const struct file_upload *upload,
                                 unsigned seconds)
{
    return database_change(database, arena, &insert_upload,
                           VALUES(database_id(upload->id), database_id(upload->organisation_id),
                                  database_id(upload->user_id), length_value(upload),
                                  database_integer(upload->reserved),
                                  database_bytes(upload->metadata, strlen(upload->metadata)),
                                  database_bytes(upload->digest, sizeof upload->digest), database_integer(seconds)),
                           NULL);
}

static void read_row(struct arena *arena, const struct rows *rows, size_t row, struct file_upload *upload)
{
    size_t length = 0;
    *upload = (struct file_upload){
        .id = rows_id(rows, row, 0),
        .organisation_id = rows_id(rows, row, 1),
        .user_id = rows_id(rows, row, 2),
        .length = rows_is_null(rows, row, 3) ? FILE_UPLOAD_LENGTH_UNKNOWN : rows_integer(rows, row, 3),
        .received = rows_integer(rows, row, 4),
        .reserved = rows_integer(rows, row, 5),
        .expires = rows_time_milliseconds(rows, row, 9),
        .expired = rows_boolean(rows, row, 10),
    };
    const void *metadata = rows_bytes(rows, row, 6, &length);
    upload->metadata = arena_copy(arena, metadata, length);
    const void *digest = rows_bytes(rows, row, 7, &length);
    memcpy(upload->digest, digest, length < sizeof upload->digest ? length : sizeof upload->digest);
    if (!rows_is_null(rows, row, 8))
        upload->file_id = rows_id(rows, row, 8);
    if (!rows_is_null(rows, row, 11))
        upload->holder = rows_id(rows, row, 11);
}

static struct file_upload *read_first(struct arena *arena, const struct rows *rows)
{
    if (rows->count == 0)
        return NULL;
    struct file_upload *upload = arena_alloc(arena, sizeof *upload);
    read_row(arena, rows, 0, upload);
    return upload;
}

static const struct statement find_upload = {"SELECT " COLUMNS " FROM file_upload w WHERE w.id = ?"
                                             " AND w.organisation_id = ? AND w.user_id = ?"};

struct error *file_upload_find(struct database *database, struct arena *arena, struct id organisation, struct id user,
                               struct id id, struct file_upload **upload_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_upload,
                       VALUES(database_id(id), database_id(organisation), database_id(user)), &rows));
    *upload_out = read_first(arena, rows);
    return NULL;
}

static const struct statement lock_upload = {"SELECT " COLUMNS
                                             " FROM file_upload w WHERE w.id = ? AND w.organisation_id = ? FOR UPDATE"};

struct error *file_upload_lock(struct database *database, struct arena *arena, struct id organisation, struct id id,
                               struct file_upload **upload_out)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    TRY(database_query(database, arena, &lock_upload, VALUES(database_id(id), database_id(organisation)), &rows));
    *upload_out = read_first(arena, rows);
    return NULL;
}

/* ---- the writer ---------------------------------------------------------------------------------- */

static const struct statement hold = {
    "UPDATE file_upload SET holder = ?, held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND"
    " WHERE id = ? AND organisation_id = ? AND user_id = ? AND (holder IS NULL OR held_until <= UTC_TIMESTAMP(3))"};

struct error *file_upload_hold(struct database *database, struct arena *arena, const struct file_upload *upload,
                               struct id holder, unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &hold,
                        VALUES(database_id(holder), database_integer(seconds), database_id(upload->id),
                               database_id(upload->organisation_id), database_id(upload->user_id)),
                        &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement take_over = {
    "UPDATE file_upload SET holder = ?, held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND"
    " WHERE id = ? AND organisation_id = ? AND user_id = ? AND (holder IS NULL OR holder = ?)"};

struct error *file_upload_take_over(struct database *database, struct arena *arena, const struct file_upload *upload,
                                    struct id holder, unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &take_over,
                        VALUES(database_id(holder), database_integer(seconds), database_id(upload->id),
                               database_id(upload->organisation_id), database_id(upload->user_id),
                               database_id(upload->holder)),
                        &change));
    *held_out = change.affected == 1;
    return NULL;
}

/* A hold whose time is over is still one as long as nobody else has taken it. */
#define HELD " WHERE id = ? AND organisation_id = ? AND holder = ? AND file_id IS NULL"

static const struct statement save = {
    "UPDATE file_upload SET received = ?, digest = ?, held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND" HELD};

struct error *file_upload_save(struct database *database, struct arena *arena, const struct file_upload *upload,
                               struct id holder, unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &save,
                        VALUES(database_integer(upload->received),
                               database_bytes(upload->digest, sizeof upload->digest), database_integer(seconds),
                               database_id(upload->id), database_id(upload->organisation_id), database_id(holder)),
                        &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement reserve = {"UPDATE file_upload SET length = ?, reserved = ?" HELD};

struct error *file_upload_reserve(struct database *database, struct arena *arena, const struct file_upload *upload,
                                  struct id holder, bool *held_out)
{
    struct change change;
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &reserve,
                        VALUES(length_value(upload), database_integer(upload->reserved), database_id(upload->id),
                               database_id(upload->organisation_id), database_id(holder)),
                        &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement finish = {
    "UPDATE file_upload SET file_id = ?, received = ?, reserved = 0, holder = NULL, held_until = NULL" HELD};

struct error *file_upload_finish(struct database *database, struct arena *arena, const struct file_upload *upload,
                                 struct id holder, bool *held_out)
{
    struct change change;
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &finish,
                        VALUES(database_id(upload->file_id), database_integer(upload->received),
                               database_id(upload->id), database_id(upload->organisation_id), database_id(holder)),
                        &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement release_hold = {"UPDATE file_upload SET holder = NULL, held_until = NULL"
                                              " WHERE id = ? AND organisation_id = ? AND holder = ?"};

struct error *file_upload_release(struct database *database, struct arena *arena, struct id organisation, struct id id,
                                  struct id holder)
{
    return database_change(database, arena, &release_hold,
                           VALUES(database_id(id), database_id(organisation), database_id(holder)), NULL);
}

static const struct statement delete_upload = {"DELETE FROM file_upload WHERE id = ? AND organisation_id = ?"};

struct error *file_upload_delete(struct database *database, struct arena *arena, struct id organisation, struct id id)
{
    assert(database_in_transaction(database));
    return database_change(database, arena, &delete_upload, VALUES(database_id(id), database_id(organisation)), NULL);
}

static const struct statement abandon_uploads = {
    "UPDATE file_upload SET metadata = '', expires_at = UTC_TIMESTAMP(3) WHERE user_id = ? AND organisation_id = ?"};

struct error *file_upload_abandon(struct database *database, struct arena *arena, struct id organisation,
                                  struct id user)
{
    return database_change(database, arena, &abandon_uploads, VALUES(database_id(user), database_id(organisation)),
                           NULL);
}

/* ---- the operator's view ------------------------------------------------------------------------- */

static const struct statement list_uploads = {
    "SELECT " COLUMNS ", w.created_at, COALESCE(w.held_until > UTC_TIMESTAMP(3), 0) FROM file_upload w"
    " WHERE w.id > ? AND (? = 0 OR (w.expires_at <= UTC_TIMESTAMP(3) AND"
    " (w.held_until IS NULL OR w.held_until <= UTC_TIMESTAMP(3)))) ORDER BY w.id LIMIT ?"};

struct error *file_upload_list(struct database *database, struct arena *arena, bool expired, struct id after,
                               unsigned limit, struct file_upload_listed **items_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_uploads,
                       VALUES(database_id(after), database_boolean(expired), database_integer(limit)), &rows));
    struct file_upload_listed *items = arena_array(arena, rows->count, sizeof *items);
    for (size_t i = 0; i < rows->count; i++) {
        read_row(arena, rows, i, &items[i].upload);
        items[i].expires_at = rows_time(rows, i, 9);
        items[i].created_at = rows_time(rows, i, COLUMN_COUNT);
        items[i].held = rows_boolean(rows, i, COLUMN_COUNT + 1);
    }
    *items_out = items;
    *count_out = rows->count;
    return NULL;
}

static const struct statement know_upload = {"SELECT 1 FROM file_upload WHERE id = ?"};

struct error *file_upload_known(struct database *database, struct arena *arena, struct id id, bool *known_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &know_upload, VALUES(database_id(id)), &rows));
    *known_out = rows->count == 1;
    return NULL;
}
