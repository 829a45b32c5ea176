/* SPDX-License-Identifier: MIT */
/* Reads and adds versions of the system settings document. */
#include "domain/settings.h"

#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/database/database.h"

/* How many rows are read at a time on the way back to a valid one; nearly always the first is valid. */
#define LOOK_BACK 8

static const struct statement list = {"SELECT version, document, user_id, at FROM settings WHERE version < ?"
                                      " ORDER BY version DESC LIMIT ?"};
static const struct statement find = {"SELECT version, document, user_id, at FROM settings WHERE version = ?"};
static const struct statement insert = {"INSERT INTO settings (version, document, user_id) VALUES (?, ?, ?)"};

static struct settings_row read_row(struct arena *arena, const struct rows *rows, size_t i)
{
    size_t length;
    struct settings_row row = {
        .version = rows_integer(rows, i, 0),
        .user_id = rows_id(rows, i, 2),
        .at = rows_time(rows, i, 3),
    };
    const char *document = rows_bytes(rows, i, 1, &length);
    row.settings = settings_read(arena, document, length, &row.damage);
    return row;
}

struct error *settings_list(struct database *database, struct arena *arena, int64_t before, unsigned limit,
                            struct settings_page *page_out)
{
    assert(limit >= 1 && limit <= LIMIT_PAGE_MAX);
    struct rows *rows;
    struct database_value end = database_integer(before == 0 ? INT64_MAX : before);
    TRY(database_query(database, arena, &list, VALUES(end, database_integer((int64_t)limit + 1)), &rows));
    page_out->more = rows->count > limit;
    page_out->count = page_out->more ? limit : rows->count;
    page_out->items = arena_array(arena, page_out->count, sizeof *page_out->items);
    for (size_t i = 0; i < page_out->count; i++)
        page_out->items[i] = read_row(arena, rows, i);
    return NULL;
}

struct error *settings_load(struct database *database, struct arena *arena, struct settings_state *state_out)
{
    struct settings_page page = {.more = true};
    *state_out = (struct settings_state){0};
    for (int64_t before = 0; page.more && state_out->good == NULL; before = page.items[page.count - 1].version) {
        TRY(settings_list(database, arena, before, LOOK_BACK, &page));
        for (size_t i = 0; i < page.count && state_out->good == NULL; i++) {
            const struct settings_row *row = &page.items[i];
            if (row->settings != NULL)
                state_out->good = row;
            else if (state_out->newest == 0)
                state_out->damaged = row;
            if (state_out->newest == 0)
                state_out->newest = row->version;
        }
        if (page.count == 0)
            break;
    }
    return NULL;
}

struct error *settings_find(struct database *database, struct arena *arena, int64_t version,
                            struct settings_row **row_out)
{
    struct rows *rows;
    *row_out = NULL;
    TRY(database_query(database, arena, &find, VALUES(database_integer(version)), &rows));
    if (rows->count > 0) {
        *row_out = arena_alloc(arena, sizeof **row_out);
        **row_out = read_row(arena, rows, 0);
    }
    return NULL;
}

struct error *settings_insert(struct database *database, struct arena *arena, int64_t version,
                              const struct settings *settings, struct id user)
{
    assert(database_in_transaction(database));
    return database_change(
        database, arena, &insert,
        VALUES(database_integer(version), database_text(settings_text(arena, settings)), database_id_or_null(user)),
        NULL);
}
