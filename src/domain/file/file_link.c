/* SPDX-License-Identifier: MIT */
/* The statements on the rows of signed links. */
#include "domain/file/file_link.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/file/link_key_int.h"
#include "domain/principal_int.h"

static const struct statement insert_link = {
    "INSERT INTO file_link (id, organisation_id, file_id, user_id, expires_at) VALUES (?, ?, ?, ?, ?)"};

struct error *file_link_insert(struct database *database, struct arena *arena, const struct file_link *link,
                               int64_t end)
{
    return database_change(database, arena, &insert_link,
                           VALUES(database_id(link->id), database_id(link->organisation_id), database_id(link->file_id),
                                  database_id(link->user_id), database_time(arena, end)),
                           NULL);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static const struct statement find_linked = {"SELECT " PRINCIPAL_COLUMNS
                                             ", p.user_id, k.id, k.key_sealed, " FILE_COLUMNS
                                             " FROM change_version v LEFT JOIN (file_link l JOIN link_key k ON k.id = ?"
                                             " JOIN file f ON f.id = l.file_id AND f.status = 'active'"
                                             " JOIN organisation o ON o.id = f.organisation_id AND o.status = 'active'"
                                             " JOIN principal p ON p.user_id = l.user_id) ON l.id = ? WHERE v.id = 1"};

#define MAKER_COLUMN PRINCIPAL_COLUMN_COUNT
#define KEY_COLUMN (MAKER_COLUMN + 1)
#define TARGET_FILE_COLUMN (KEY_COLUMN + 2)

struct error *file_link_find_target(struct database *database, struct arena *arena, struct id key, struct id link,
                                    struct link_target *target_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_linked, VALUES(database_id(key), database_id(link)), &rows));
    *target_out = (struct link_target){.change_version = 0};
    if (rows->count == 0)
        return NULL;
    target_out->change_version = rows_integer(rows, 0, PRINCIPAL_VERSION_COLUMN);
    if (rows_is_null(rows, 0, KEY_COLUMN))
        return NULL;
    target_out->key = link_key_read(arena, rows, KEY_COLUMN);
    target_out->file = arena_alloc(arena, sizeof *target_out->file);
    file_read(arena, rows, 0, TARGET_FILE_COLUMN, target_out->file);
    return principal_read(database, arena, rows, rows_id(rows, 0, MAKER_COLUMN), &target_out->maker);
}

/* ---- listing, revoking, counting ----------------------------------------------------------------- */

static const struct statement list_links = {
    "SELECT l.id, l.user_id, l.created_at, l.expires_at, l.uses FROM file_link l FORCE INDEX (file_link_file)"
    " WHERE l.file_id = ? AND l.organisation_id = ? AND l.id < ? AND l.expires_at > UTC_TIMESTAMP(3)"
    " ORDER BY l.id DESC LIMIT ?"};

struct error *file_link_list(struct database *database, struct arena *arena, struct id organisation, struct id file,
                             struct id after, unsigned limit, struct file_link_page *page_out)
{
    struct rows *rows;
    if (id_is_none(after))
        memset(after.bytes, 0xff, sizeof after.bytes);
    TRY(database_query(
        database, arena, &list_links,
        VALUES(database_id(file), database_id(organisation), database_id(after), database_integer((int64_t)limit + 1)),
        &rows));
    *page_out = (struct file_link_page){.more = rows->count > limit};
    page_out->count = page_out->more ? limit : rows->count;
    page_out->items = arena_array(arena, page_out->count, sizeof *page_out->items);
    for (size_t i = 0; i < page_out->count; i++)
        page_out->items[i] = (struct file_link){
            .id = rows_id(rows, i, 0),
            .organisation_id = organisation,
            .file_id = file,
            .user_id = rows_id(rows, i, 1),
            .created_at = rows_time(rows, i, 2),
            .expires_at = rows_time(rows, i, 3),
            .uses = rows_integer(rows, i, 4),
        };
    return NULL;
}

static const struct statement delete_link = {
    "DELETE FROM file_link WHERE id = ? AND file_id = ? AND organisation_id = ? AND expires_at > UTC_TIMESTAMP(3)"};

struct error *file_link_delete(struct database *database, struct arena *arena, struct id organisation, struct id file,
                               struct id id, bool *deleted_out)
{
    struct change change;
    TRY(database_change(database, arena, &delete_link,
                        VALUES(database_id(id), database_id(file), database_id(organisation)), &change));
    *deleted_out = change.affected == 1;
    return NULL;
}

static const struct statement delete_links = {"DELETE FROM file_link"};

struct error *file_link_delete_all(struct database *database, struct arena *arena)
{
    return database_change(database, arena, &delete_links, NO_VALUES, NULL);
}

static const struct statement count_use = {"UPDATE file_link SET uses = uses + 1 WHERE id = ?"};

struct error *file_link_count(struct database *database, struct arena *arena, struct id id)
{
    struct change change;
    return database_change(database, arena, &count_use, VALUES(database_id(id)), &change);
}

static const struct statement purge_links = {
    "DELETE FROM file_link WHERE expires_at < UTC_TIMESTAMP(3) - INTERVAL 1 HOUR LIMIT ?"};

struct error *file_link_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_links, VALUES(database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
