/* SPDX-License-Identifier: MIT */
/* The statements on the keys of signed links. */
#include "domain/file/link_key.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/file/link_key_int.h"

static const struct statement insert_key = {"INSERT INTO link_key (id, key_sealed) VALUES (?, ?)"};

struct error *link_key_insert(struct database *database, struct arena *arena, const struct link_key *key)
{
    return database_change(database, arena, &insert_key,
                           VALUES(database_id(key->id), database_bytes(key->sealed, key->length)), NULL);
}

struct link_key *link_key_read(struct arena *arena, const struct rows *rows, size_t column)
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
    *key_out = link_key_read(arena, rows, 0);
    return NULL;
}

static const struct statement delete_others = {"DELETE FROM link_key WHERE id <> ?"};

struct error *link_key_delete_others(struct database *database, struct arena *arena, struct id id)
{
    struct change change;
    return database_change(database, arena, &delete_others, VALUES(database_id(id)), &change);
}

struct error *link_key_delete_all(struct database *database, struct arena *arena)
{
    return link_key_delete_others(database, arena, id_none);
}
