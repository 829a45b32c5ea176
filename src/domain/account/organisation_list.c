/* SPDX-License-Identifier: MIT */
/*
 * Lists organisations by keyset. Each page is read from the place of its cursor on: by the primary key, or by
 * `organisation_listing` where one status is asked for. What an organisation uses are rows that others keep up to date,
 * two look-ups for each item.
 */
#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/account/organisation.h"
#include "domain/columns_int.h"

#define LISTED ORGANISATION_COLUMNS ", " ORGANISATION_USE_COLUMNS " FROM organisation o"
#define NAMED " AND (? IS NULL OR LOCATE(LOWER(?), LOWER(o.name)) > 0) ORDER BY o.id LIMIT ?"

static const struct statement list_all = {"SELECT " LISTED " FORCE INDEX (PRIMARY)" ORGANISATION_USE_TABLES
                                          " WHERE o.status <> 'provisioning' AND o.id > ?" NAMED};
static const struct statement list_status = {"SELECT " LISTED
                                             " FORCE INDEX (organisation_listing)" ORGANISATION_USE_TABLES
                                             " WHERE o.status = ? AND o.id > ?" NAMED};

static struct error *query(struct database *database, struct arena *arena, const struct organisation_filter *filter,
                           struct rows **rows_out)
{
    struct database_value after = database_id(filter->after);
    struct database_value search = database_text(filter->search);
    struct database_value most = database_integer((int64_t)filter->limit + 1);
    if (filter->any_status)
        return database_query(database, arena, &list_all, VALUES(after, search, search, most), rows_out);
    return database_query(database, arena, &list_status,
                          VALUES(database_text(organisation_status_text(filter->status)), after, search, search, most),
                          rows_out);
}

struct error *organisation_list(struct database *database, struct arena *arena,
                                const struct organisation_filter *filter, struct organisation_page *page_out)
{
    assert(filter->limit >= 1 && filter->limit <= LIMIT_PAGE_MAX);
    struct rows *rows;
    TRY(query(database, arena, filter, &rows));
    page_out->more = rows->count > filter->limit;
    page_out->count = page_out->more ? filter->limit : rows->count;
    page_out->items = arena_array(arena, page_out->count, sizeof *page_out->items);
    for (size_t i = 0; i < page_out->count; i++) {
        organisation_read(arena, rows, i, 0, &page_out->items[i]);
        organisation_read_use(rows, i, ORGANISATION_COLUMN_COUNT, &page_out->items[i]);
    }
    return NULL;
}
