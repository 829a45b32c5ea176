/* SPDX-License-Identifier: MIT */
/*
 * Lists files by keyset, newest first; file_list_sorted.c has the other orders. The index file_listing has the order
 * (id DESC: only in this direction does the
 * server test conditions inside an index) and every column that filters use. Compared with an index of only
 * organisation, status and id, a page costs the same, and a filter that few or no files match costs a tenth.
 *
 * Filters are written column = COALESCE(?, column), which is true of every row when NULL is bound (none of these
 * columns is NULL), so no SQL is made at run time.
 *
 * Names are searched in steps, since the index has only one order. A beginning that many files share fills a page from
 * the newest files, NEAR or at last FAR of them. A rare one is found by the index file_name, which has all matches side
 * by side to be sorted. Among half a million files the rare name took 110 to 250 ms by the first way alone, and the
 * common one would by the second.
 */
#include "domain/file/file_list_int.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "domain/columns_int.h"

#define FILTERS                                                                                                        \
    " AND f.bucket = COALESCE(?, f.bucket) AND f.type = COALESCE(?, f.type)"                                           \
    " AND f.user_id = COALESCE(?, f.user_id) AND LOCATE(COALESCE(?, ''), f.name) = 1"
#define WINDOW " AND f.id >= ? AND f.id < ?"
#define ORDER " ORDER BY f.id DESC LIMIT ?"

/*
 * How many of the newest files a search for a name looks at, and how many matches are few enough to be sorted at once.
 */
#define NEAR 200
#define FAR 5000
#define FEW 1000

static const struct statement list_by_status = {"SELECT " FILE_COLUMNS " FROM file f FORCE INDEX (file_listing)"
                                                " WHERE f.organisation_id = ? AND f.status = ?" WINDOW FILTERS ORDER};

/*
 * Both statuses, which the index has one after the other: the newest of each, in one statement. So a file whose status
 * changes meanwhile is seen exactly once.
 */
static const struct statement list_all = {
    "SELECT " FILE_COLUMNS ", (SELECT " FILE_LIST_TOTAL
    " FROM file_usage n WHERE n.organisation_id = ?) FROM ((SELECT " FILE_ROW_COLUMNS
    " FROM file f FORCE INDEX (file_listing)"
    " WHERE f.organisation_id = ? AND f.status = 'active'" WINDOW FILTERS ORDER ") UNION ALL (SELECT " FILE_ROW_COLUMNS
    " FROM file f FORCE INDEX (file_listing)"
    " WHERE f.organisation_id = ? AND f.status = 'archived'" WINDOW FILTERS ORDER ")) f" ORDER};

/* The id at a position of the listing; no row where there are fewer. */
static const struct statement find_near = {
    "SELECT f.id FROM file f FORCE INDEX (file_listing)"
    " WHERE f.organisation_id = ? AND f.status = ? AND f.id < ? ORDER BY f.id DESC LIMIT 1 OFFSET ?"};

static const struct statement count_by_name = {
    "SELECT COUNT(*) FROM (SELECT f.id FROM file f FORCE INDEX (file_name)"
    " WHERE f.organisation_id = ? AND f.status IN (?, ?) AND f.name BETWEEN ? AND ? AND f.id < ? LIMIT ?) few"};

/* First the ids, from the index alone: a row is read only when it is on the page. */
static const struct statement list_by_name = {
    "SELECT " FILE_COLUMNS " FROM (SELECT f.id FROM file f FORCE INDEX (file_name)"
    " WHERE f.organisation_id = ? AND f.status IN (?, ?) AND f.name BETWEEN ? AND ? AND f.id < ?" FILTERS ORDER
    ") found STRAIGHT_JOIN file f FORCE INDEX (PRIMARY) ON f.id = found.id" ORDER};

static const struct statement list_by_tag = {
    "SELECT " FILE_COLUMNS " FROM file_tag t FORCE INDEX (file_tag_listing)"
    " STRAIGHT_JOIN file f FORCE INDEX (PRIMARY)"
    " ON f.id = t.file_id AND f.organisation_id = t.organisation_id"
    " WHERE t.organisation_id = ? AND t.tag = ? AND f.status = COALESCE(?, f.status)"
    " AND t.file_id < ?" FILTERS " ORDER BY t.file_id DESC LIMIT ?"};

/* Where a listing without a cursor starts: behind every id. */
static const struct id last = {{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};

/* What a filter binds. */
struct bound {
    struct database_value organisation;
    struct database_value status; /* NULL: any */
    struct database_value before;
    struct database_value bucket;
    struct database_value type;
    struct database_value user;
    struct database_value prefix;
    struct database_value prefix_end;
    struct database_value statuses[2]; /* the same twice where one is asked for */
    struct database_value limit;
    bool any_status;
};

static struct bound bind_filter(struct arena *arena, const struct file_filter *filter)
{
    const char *prefix = filter->name_prefix;
    const char *status = filter->any_status ? NULL : file_status_text(filter->status);
    return (struct bound){
        .organisation = database_id(filter->organisation_id),
        .status = database_text(status),
        .before = database_id(id_is_none(filter->before) ? last : filter->before),
        .bucket = database_text(filter->bucket),
        .type = database_text(filter->type),
        .user = database_id_or_null(filter->user_id),
        .prefix = database_text(prefix),
        .prefix_end = database_text(prefix == NULL ? NULL : file_list_end_of_prefix(arena, prefix)),
        .statuses = {database_text(status != NULL ? status : file_status_text(FILE_ACTIVE)),
                     database_text(status != NULL ? status : file_status_text(FILE_ARCHIVED))},
        .limit = database_integer((int64_t)filter->limit + 1),
        .any_status = filter->any_status,
    };
}

/* In the order of the listing, from `floor` on. */
static struct error *query_listing(struct database *database, struct arena *arena, const struct file_filter *filter,
                                   struct id floor, struct rows **rows_out)
{
    struct bound b = bind_filter(arena, filter);
    struct database_value from = database_id(floor);
    if (filter->any_status)
        return database_query(database, arena, &list_all,
                              VALUES(b.organisation, b.organisation, from, b.before, b.bucket, b.type, b.user, b.prefix,
                                     b.limit, b.organisation, from, b.before, b.bucket, b.type, b.user, b.prefix,
                                     b.limit, b.limit),
                              rows_out);
    return database_query(database, arena, &list_by_status,
                          VALUES(b.organisation, b.status, from, b.before, b.bucket, b.type, b.user, b.prefix, b.limit),
                          rows_out);
}

/* Where the newest `count` files end; zeros where that is all of them. */
static struct error *find_floor(struct database *database, struct arena *arena, const struct bound *b, int64_t count,
                                struct id *floor_out)
{
    *floor_out = id_none;
    for (size_t i = 0; i < 2; i++) {
        struct rows *rows;
        if (i == 1 && !b->any_status)
            break;
        TRY(database_query(database, arena, &find_near,
                           VALUES(b->organisation, b->statuses[i], b->before, database_integer(count)), &rows));
        struct id found = rows->count > 0 ? rows_id(rows, 0, 0) : *floor_out;
        if (memcmp(found.bytes, floor_out->bytes, ID_BYTES) > 0)
            *floor_out = found;
    }
    return NULL;
}

/* A page from the newest `count` files; *done_out: nothing else belongs to it. */
static struct error *query_newest(struct database *database, struct arena *arena, const struct file_filter *filter,
                                  int64_t count, struct rows **rows_out, bool *done_out)
{
    struct bound b = bind_filter(arena, filter);
    struct id floor;
    TRY(find_floor(database, arena, &b, count, &floor));
    TRY(query_listing(database, arena, filter, floor, rows_out));
    *done_out = (*rows_out)->count > filter->limit || id_is_none(floor);
    return NULL;
}

static struct error *query_name(struct database *database, struct arena *arena, const struct file_filter *filter,
                                struct rows **rows_out)
{
    struct bound b = bind_filter(arena, filter);
    struct rows *few;
    bool done;
    TRY(query_newest(database, arena, filter, NEAR, rows_out, &done));
    if (done)
        return NULL;
    TRY(database_query(
        database, arena, &count_by_name,
        VALUES(b.organisation, b.statuses[0], b.statuses[1], b.prefix, b.prefix_end, b.before, database_integer(FEW)),
        &few));
    if (rows_integer(few, 0, 0) == FEW)
        TRY(query_newest(database, arena, filter, FAR, rows_out, &done));
    if (done)
        return NULL;
    return database_query(database, arena, &list_by_name,
                          VALUES(b.organisation, b.statuses[0], b.statuses[1], b.prefix, b.prefix_end, b.before,
                                 b.bucket, b.type, b.user, b.prefix, b.limit, b.limit),
                          rows_out);
}

static struct error *query(struct database *database, struct arena *arena, const struct file_filter *filter,
                           struct rows **rows_out)
{
    struct bound b = bind_filter(arena, filter);
    if (filter->sort != FILE_NEWEST || filter->period)
        return file_list_sorted(database, arena, filter, rows_out);
    if (filter->tag != NULL)
        return database_query(database, arena, &list_by_tag,
                              VALUES(b.organisation, database_text(filter->tag), b.status, b.before, b.bucket, b.type,
                                     b.user, b.prefix, b.limit),
                              rows_out);
    if (filter->name_prefix != NULL && *filter->name_prefix != '\0')
        return query_name(database, arena, filter, rows_out);
    return query_listing(database, arena, filter, id_none, rows_out);
}

static bool is_unfiltered(const struct file_filter *filter)
{
    return filter->any_status && !filter->period && filter->bucket == NULL && filter->type == NULL &&
           filter->tag == NULL && filter->name_prefix == NULL && id_is_none(filter->user_id);
}

/* The column behind the file's, where a statement has it, is the number of the organisation's files. */
static int64_t find_total(const struct file_filter *filter, const struct rows *rows)
{
    if (rows->count <= filter->limit && id_is_none(filter->before))
        return (int64_t)rows->count;
    if (!is_unfiltered(filter) || rows->count == 0 || rows->columns <= FILE_COLUMN_COUNT ||
        rows_is_null(rows, 0, FILE_COLUMN_COUNT))
        return FILE_TOTAL_UNKNOWN;
    int64_t total = rows_integer(rows, 0, FILE_COLUMN_COUNT);
    return total < 0 ? FILE_TOTAL_UNKNOWN : total;
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
    page_out->total = find_total(filter, rows);
    page_out->more = rows->count > filter->limit;
    page_out->count = page_out->more ? filter->limit : rows->count;
    return NULL;
}
