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
#include <stdlib.h>
#include <string.h>

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
                           enum file_status status, struct rows **rows_out)
{
    struct database_value organisation = database_id(filter->organisation_id);
    struct database_value before = database_id(id_is_none(filter->before) ? last : filter->before);
    struct database_value words = database_text(file_status_text(status));
    struct database_value bucket = database_text(filter->bucket);
    struct database_value type = database_text(filter->type);
    struct database_value user = database_id_or_null(filter->user_id);
    struct database_value prefix = database_text(filter->name_prefix);
    struct database_value limit = database_integer((int64_t)filter->limit + 1);
    if (filter->tag != NULL)
        return database_query(database, arena, &list_by_tag,
                              VALUES(organisation, database_text(filter->tag),
                                     filter->any_status ? database_null() : words, before, bucket, type, user,
                                     prefix, limit),
                              rows_out);
    return database_query(database, arena, &list_by_status,
                          VALUES(organisation, words, before, bucket, type, user, prefix, limit), rows_out);
}

static int newest_first(const void *a, const void *b)
{
    const struct file_record *one = a;
    const struct file_record *other = b;
    return memcmp(other->id.bytes, one->id.bytes, ID_BYTES);
}

struct error *file_list(struct database *database, struct arena *arena, const struct file_filter *filter,
                        struct file_page *page_out)
{
    assert(filter->limit >= 1 && filter->limit <= LIMIT_PAGE_MAX);
    /* Both statuses: the newest of each, since the index has them one after the other. */
    bool both = filter->any_status && filter->tag == NULL;
    struct rows *results[2];
    size_t found = 0;
    TRY(query(database, arena, filter, both ? FILE_ACTIVE : filter->status, &results[0]));
    if (both)
        TRY(query(database, arena, filter, FILE_ARCHIVED, &results[1]));
    for (size_t i = 0; i < 1 + (size_t)both; i++)
        found += results[i]->count;
    page_out->items = arena_array(arena, found, sizeof *page_out->items);
    page_out->count = 0;
    for (size_t i = 0; i < 1 + (size_t)both; i++)
        for (size_t row = 0; row < results[i]->count; row++)
            file_read(arena, results[i], row, 0, &page_out->items[page_out->count++]);
    if (both)
        qsort(page_out->items, page_out->count, sizeof *page_out->items, newest_first);
    page_out->more = found > filter->limit;
    if (page_out->more)
        page_out->count = filter->limit;
    return NULL;
}
