/* SPDX-License-Identifier: MIT */
/* The statements on the keys of signed links, and on the files that links open. */
#include "domain/file/link_key.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/file/link_target_int.h"

static const struct statement insert_key = {"INSERT INTO link_key (id, key_sealed) VALUES (?, ?)"};

struct error *link_key_insert(struct database *database, struct arena *arena, const struct link_key *key)
{
    return database_change(database, arena, &insert_key,
                           VALUES(database_id(key->id), database_bytes(key->sealed, key->length)), NULL);
}

/* The key in the first row, at `column` (its id) and the next (its sealed bytes); NULL when there is no row. */
static struct link_key *read_key(struct arena *arena, const struct rows *rows, size_t column)
{
    if (rows->count == 0)
        return NULL;
    struct link_key *key = arena_alloc(arena, sizeof *key);
    key->id = rows_id(rows, 0, column);
    key->sealed = rows_bytes(rows, 0, column + 1, &key->length);
    return key;
}

/* By the time of the database, which all hosts share. */
static const struct statement find_newest = {
    "SELECT k.id, k.key_sealed FROM link_key k ORDER BY k.created_at DESC, k.id DESC LIMIT 1"};

struct error *link_key_find_newest(struct database *database, struct arena *arena, struct link_key **key_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_newest, NO_VALUES, &rows));
    *key_out = read_key(arena, rows, 0);
    return NULL;
}

static const struct statement delete_others = {"DELETE FROM link_key WHERE id <> ?"};

struct error *link_key_delete_others(struct database *database, struct arena *arena, struct id id)
{
    struct change change;
    return database_change(database, arena, &delete_others, VALUES(database_id(id)), &change);
}

/* ---- opening ------------------------------------------------------------------------------------- */

#define MAKER_COLUMN PRINCIPAL_COLUMN_COUNT
#define KEY_COLUMN (MAKER_COLUMN + 1)
#define TARGET_FILE_COLUMN (KEY_COLUMN + 2)

struct error *link_target_find(struct database *database, struct arena *arena, const struct statement *statement,
                               const struct database_value *values, size_t count, struct link_target *target_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, statement, values, count, &rows));
    *target_out = (struct link_target){.change_version = 0};
    if (rows->count == 0)
        return NULL;
    target_out->change_version = rows_integer(rows, 0, PRINCIPAL_VERSION_COLUMN);
    if (rows_is_null(rows, 0, KEY_COLUMN))
        return NULL;
    target_out->key = read_key(arena, rows, KEY_COLUMN);
    target_out->file = arena_alloc(arena, sizeof *target_out->file);
    file_read(arena, rows, 0, TARGET_FILE_COLUMN, target_out->file);
    return principal_read(database, arena, rows, rows_id(rows, 0, MAKER_COLUMN), &target_out->maker);
}

static const struct statement find_linked = {"SELECT " LINK_TARGET_COLUMNS
                                             " FROM change_version v LEFT JOIN (link_key k"
                                             " JOIN file f ON f.id = ? AND f.status = 'active'"
                                             " JOIN organisation o ON o.id = f.organisation_id AND o.status = 'active'"
                                             " JOIN principal p ON p.user_id = ?) ON k.id = ? WHERE v.id = 1"};

struct error *link_key_find_target(struct database *database, struct arena *arena, const struct link_ids *ids,
                                   struct link_target *target_out)
{
    return link_target_find(database, arena, &find_linked,
                            VALUES(database_id(ids->file), database_id(ids->maker), database_id(ids->key)), target_out);
}
