/* SPDX-License-Identifier: MIT */
/*
 * Listing files: newest first, by keyset. The index file_listing has the order (id DESC: only forwards does
 * the server test conditions inside an index) and every column that is filtered by. Against an index of
 * organisation, status and id alone a page costs the same, and a filter that few or no files fit a tenth.
 *
 * Filters are written column = COALESCE(?, column), which is true of every row when NULL is bound (none of
 * these columns is NULL) and needs no SQL made at run time.
 */
#include "domain/file.h"

#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/columns_int.h"

#define FILTERS                                                              \
    " AND f.bucket = COALESCE(?, f.bucket) AND f.type = COALESCE(?, f.type)" \
    " AND f.user_id = COALESCE(?, f.user_id) AND LOCATE(COALESCE(?, ''), f.name) = 1"
#define ORDER " ORDER BY f.id DESC LIMIT ?"

static const struct statement list_by_status = {
    "SELECT " FILE_COLUMNS " FROM file f FORCE INDEX (file_listing)"
    " WHERE f.organisation_id = ? AND f.status = ? AND f.id < ?" FILTERS ORDER};

/*
 * Both statuses, which the index has one after the other: the newest of each, in one statement, so that a file whose
 * status changes meanwhile is seen once, neither twice nor not at all.
 */
static const struct statement list_all = {
    "SELECT " FILE_COLUMNS " FROM ((SELECT " FILE_COLUMNS " FROM file f FORCE INDEX (file_listing)"
    " WHERE f.organisation_id = ? AND f.status = 'active' AND f.id < ?" FILTERS ORDER
    ") UNION ALL (SELECT " FILE_COLUMNS " FROM file f FORCE INDEX (file_listing)"
    " WHERE f.organisation_id = ? AND f.status = 'archived' AND f.id < ?" FILTERS ORDER ")) f" ORDER};

static const struct statement list_by_tag = {
    "SELECT " FILE_COLUMNS " FROM file_tag t FORCE INDEX (file_tag_listing)"
    " STRAIGHT_JOIN file f FORCE INDEX (PRIMARY)"
    " ON f.id = t.file_id AND f.organisation_id = t.organisation_id"
    " WHERE t.organisation_id = ? AND t.tag = ? AND f.status = COALESCE(?, f.status)"
    " AND t.file_id < ?" FILTERS " ORDER BY t.file_id DESC LIMIT ?"};

/* Where a listing without a cursor starts: behind every id. */
static const struct id last = {
    {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};

static struct error *query(struct database *database, struct arena *arena, const struct file_filter *filter,
                           struct rows **rows_out)
{
    struct database_value organisation = database_id(filter->organisation_id);
    struct database_value before = database_id(id_is_none(filter->before) ? last : filter->before);
    struct database_value status = database_text(filter->any_status ? NULL : file_status_text(filter->status));
    struct database_value bucket = database_text(filter->bucket);
    struct database_value type = database_text(filter->type);
    struct database_value user = database_id_or_null(filter->user_id);
    struct database_value prefix = database_text(filter->name_prefix);
    struct database_value limit = database_integer((int64_t)filter->limit + 1);
    if (filter->tag != NULL)
        return database_query(
            database, arena, &list_by_tag,
            VALUES(organisation, database_text(filter->tag), status, before, bucket, type, user, prefix, limit),
            rows_out);
    if (filter->any_status)
        return database_query(database, arena, &list_all,
                              VALUES(organisation, before, bucket, type, user, prefix, limit, organisation, before,
                                     bucket, type, user, prefix, limit, limit),
                              rows_out);
    return database_query(database, arena, &list_by_status,
                          VALUES(organisation, status, before, bucket, type, user, prefix, limit), rows_out);
}

struct error *file_list(struct database *database, struct arena *arena, const struct file_filter *filter,
                        struct file_page *page_out)
{
    assert(filter->limit >= 1 && filter->limit <= LIMIT_PAGE_MAX);
    struct rows *rows;
    TRY(query(database, arena, filter, &rows));
    page_out->items = arena_array(arena, rows->count, sizeof *page_out->items);
    for (size_t row = 0; row < rows->count; row++)
        file_read(arena, rows, row, 0, &page_out->items[row]);
    page_out->more = rows->count > filter->limit;
    page_out->count = page_out->more ? filter->limit : rows->count;
    return NULL;
}
