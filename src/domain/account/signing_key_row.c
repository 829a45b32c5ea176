/* SPDX-License-Identifier: MIT */
/* Lists, adds, retires and deletes the rows of the embedded provider's signing keys. */
#include "domain/account/signing_key_row.h"

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

/* Those in use before the retired ones: a worker may sign with a retired key until it reads again. */
static const struct statement list_keys = {
    "SELECT kid, private_key_sealed, public_key, retired_at IS NULL FROM identity_signing_key"
    " WHERE retired_at IS NULL OR retired_at > UTC_TIMESTAMP(3) - INTERVAL ? SECOND"
    " ORDER BY retired_at IS NOT NULL, created_at DESC, kid LIMIT ?"};
static const struct statement insert_key = {
    "INSERT INTO identity_signing_key (kid, private_key_sealed, public_key) VALUES (?, ?, ?)"};
static const struct statement retire_keys = {
    "UPDATE identity_signing_key SET retired_at = UTC_TIMESTAMP(3) WHERE retired_at IS NULL AND kid <> ?"};
static const struct statement purge_keys = {
    "DELETE FROM identity_signing_key WHERE retired_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY"
    " AND retired_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND"};

struct error *signing_key_row_list(struct database *database, struct arena *arena, int64_t published_seconds,
                                   size_t most, struct signing_key_row **rows_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_keys,
                       VALUES(database_integer(published_seconds), database_integer((int64_t)most)), &rows));
    *count_out = rows->count;
    *rows_out = arena_array(arena, rows->count, sizeof **rows_out);
    for (size_t i = 0; i < rows->count; i++) {
        struct signing_key_row *row = &(*rows_out)[i];
        *row = (struct signing_key_row){
            .kid = rows_text(rows, i, 0), .public_pem = rows_text(rows, i, 2), .current = rows_boolean(rows, i, 3)};
        row->sealed = rows_bytes(rows, i, 1, &row->sealed_length);
    }
    return NULL;
}

struct error *signing_key_row_insert(struct database *database, struct arena *arena, const struct signing_key_row *row)
{
    return database_change(database, arena, &insert_key,
                           VALUES(database_text(row->kid), database_bytes(row->sealed, row->sealed_length),
                                  database_text(row->public_pem)),
                           NULL);
}

struct error *signing_key_row_retire_others(struct database *database, struct arena *arena, const char *kid)
{
    return database_change(database, arena, &retire_keys, VALUES(database_text(kid)), NULL);
}

struct error *signing_key_row_purge(struct database *database, struct arena *arena, int64_t seconds)
{
    return database_change(database, arena, &purge_keys, VALUES(database_integer(seconds)), NULL);
}
