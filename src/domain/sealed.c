/* SPDX-License-Identifier: MIT */
/* Lists the sealed values of all tables and replaces them. */
#include "domain/sealed.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

/* Columns: primary key, name, id, sealed. */
static const struct statement list_signing_keys = {"SELECT CAST(kid AS BINARY), kid, NULL, private_key_sealed FROM "
                                                   "identity_signing_key WHERE kid > ? ORDER BY kid LIMIT ?"};
static const struct statement list_link_keys = {
    "SELECT id, '', id, key_sealed FROM link_key WHERE id > ? ORDER BY id LIMIT ?"};
static const struct statement list_refresh_tokens = {
    "SELECT session_id, '', family, refresh_sealed FROM outside_session WHERE session_id > ? AND refresh_sealed IS NOT "
    "NULL"
    " ORDER BY session_id LIMIT ?"};
static const struct statement list_passwords = {
    "SELECT id, '', user_id, sealed FROM outside_intent WHERE id > ? ORDER BY id LIMIT ?"};
static const struct statement list_work = {"SELECT CAST(id AS BINARY), '', NULL, payload FROM outbox WHERE id > ? AND "
                                           "status = 'waiting' AND LENGTH(payload) > 0"
                                           " ORDER BY id LIMIT ?"};

static const struct statement replace_signing_key = {
    "UPDATE identity_signing_key SET private_key_sealed = ? WHERE kid = ? AND private_key_sealed = ?"};
static const struct statement replace_link_key = {"UPDATE link_key SET key_sealed = ? WHERE id = ? AND key_sealed = ?"};
static const struct statement replace_refresh_token = {
    "UPDATE outside_session SET refresh_sealed = ? WHERE session_id = ? AND refresh_sealed = ?"};
static const struct statement replace_password = {"UPDATE outside_intent SET sealed = ? WHERE id = ? AND sealed = ?"};
static const struct statement replace_work = {
    "UPDATE outbox SET payload = ? WHERE id = ? AND payload = ? AND status = 'waiting'"};

static const struct table {
    const struct statement *list;
    const struct statement *replace;
    bool is_text; /* the primary key is compared as a text or number, not as bytes */
} tables[SEALED_KINDS] = {
    [SEALED_SIGNING_KEY] = {&list_signing_keys, &replace_signing_key, true},
    [SEALED_LINK_KEY] = {&list_link_keys, &replace_link_key, false},
    [SEALED_REFRESH_TOKEN] = {&list_refresh_tokens, &replace_refresh_token, false},
    [SEALED_PASSWORD] = {&list_passwords, &replace_password, false},
    [SEALED_WORK] = {&list_work, &replace_work, true},
};

static struct database_value key_of(struct arena *arena, const struct table *table, const struct sealed_row *row)
{
    if (row == NULL)
        return table->list == &list_work ? database_text("0") : database_bytes("", 0);
    if (table->is_text)
        return database_text(arena_copy(arena, row->key, row->key_length));
    return database_bytes(row->key, row->key_length);
}

struct error *sealed_list(struct database *database, struct arena *arena, enum sealed_kind kind,
                          const struct sealed_row *after, struct sealed_page *page_out)
{
    const struct table *table = &tables[kind];
    struct rows *rows;
    TRY(database_query(database, arena, table->list, VALUES(key_of(arena, table, after), database_integer(SEALED_PAGE)),
                       &rows));
    page_out->count = rows->count;
    page_out->items = arena_array(arena, rows->count, sizeof *page_out->items);
    for (size_t i = 0; i < rows->count; i++) {
        struct sealed_row *row = &page_out->items[i];
        row->key = rows_bytes(rows, i, 0, &row->key_length);
        row->name = rows_text(rows, i, 1);
        if (!rows_is_null(rows, i, 2))
            row->id = rows_id(rows, i, 2);
        row->sealed = rows_bytes(rows, i, 3, &row->length);
    }
    return NULL;
}

struct error *sealed_replace(struct database *database, struct arena *arena, enum sealed_kind kind,
                             const struct sealed_row *row, const void *sealed, size_t length, bool *changed_out)
{
    const struct table *table = &tables[kind];
    struct change change;
    TRY(database_change(
        database, arena, table->replace,
        VALUES(database_bytes(sealed, length), key_of(arena, table, row), database_bytes(row->sealed, row->length)),
        &change));
    *changed_out = change.affected == 1;
    return NULL;
}
