/* SPDX-License-Identifier: MIT */
/* The statements on file rows for the operator's commands. */
#include "domain/file/file_admin.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/file/file_admin_int.h"
#include "store/database/database.h"

static const struct statement each_file = {"SELECT " FILE_ADMIN_COLUMNS
                                           " FROM file f WHERE f.id > ? ORDER BY f.id LIMIT ?"};
static const struct statement find_file = {"SELECT " FILE_ADMIN_COLUMNS " FROM file f WHERE f.id = ?"};

static void read_record(const struct rows *rows, size_t row, struct file_admin_record *record_out)
{
    *record_out = (struct file_admin_record){
        .id = rows_id(rows, row, 0),
        .organisation_id = rows_id(rows, row, 1),
        .size = rows_integer(rows, row, 3),
        .status = strcmp(rows_text(rows, row, 4), "active") == 0 ? FILE_ACTIVE : FILE_ARCHIVED,
        .created = rows_time_milliseconds(rows, row, 5),
        .archived = rows_time_milliseconds(rows, row, 6),
        .damaged = rows_boolean(rows, row, 7),
        .lost = rows_boolean(rows, row, 8),
    };
    size_t length;
    const void *hash = rows_bytes(rows, row, 2, &length);
    assert(length == FILE_HASH_BYTES);
    memcpy(record_out->hash, hash, FILE_HASH_BYTES);
}

void file_admin_page_read(struct arena *arena, const struct rows *rows, struct file_admin_page *page_out)
{
    page_out->count = rows->count;
    page_out->items = arena_array(arena, rows->count, sizeof *page_out->items);
    for (size_t i = 0; i < rows->count; i++)
        read_record(rows, i, &page_out->items[i]);
}

struct error *file_admin_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                              struct file_admin_page *page_out)
{
    assert(limit >= 1 && limit <= FILE_ADMIN_PAGE_MAX);
    struct rows *rows;
    TRY(database_query(database, arena, &each_file, VALUES(database_id(after), database_integer(limit)), &rows));
    file_admin_page_read(arena, rows, page_out);
    return NULL;
}

struct error *file_admin_find(struct database *database, struct arena *arena, struct id id,
                              struct file_admin_record *record_out, bool *found_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_file, VALUES(database_id(id)), &rows));
    *found_out = rows->count == 1;
    if (*found_out)
        read_record(rows, 0, record_out);
    return NULL;
}

static const struct statement estimate_files = {"SELECT COALESCE(MAX(table_rows), 0) FROM information_schema.tables"
                                                " WHERE table_schema = DATABASE() AND table_name = 'file'"};

struct error *file_admin_estimate(struct database *database, struct arena *arena, int64_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &estimate_files, NO_VALUES, &rows));
    *count_out = rows_integer(rows, 0, 0);
    return NULL;
}

#define PARAMETERS_8 "?, ?, ?, ?, ?, ?, ?, ?"
#define PARAMETERS_32 PARAMETERS_8 ", " PARAMETERS_8 ", " PARAMETERS_8 ", " PARAMETERS_8
#define PARAMETERS_64 PARAMETERS_32 ", " PARAMETERS_32

static const struct statement known_files = {"SELECT f.id FROM file f WHERE f.id IN (" PARAMETERS_64 ")"};

struct error *file_admin_known(struct database *database, struct arena *arena, const struct id *ids, size_t count,
                               bool *known_out)
{
    assert(count >= 1 && count <= FILE_ADMIN_KNOWN_MAX);
    struct database_value values[FILE_ADMIN_KNOWN_MAX];
    struct rows *rows;
    for (size_t i = 0; i < FILE_ADMIN_KNOWN_MAX; i++)
        values[i] = database_id(ids[i < count ? i : 0]);
    TRY(database_query(database, arena, &known_files, values, FILE_ADMIN_KNOWN_MAX, &rows));
    memset(known_out, 0, count * sizeof *known_out);
    for (size_t row = 0; row < rows->count; row++)
        for (size_t i = 0; i < count; i++)
            if (id_equal(ids[i], rows_id(rows, row, 0)))
                known_out[i] = true;
    return NULL;
}

static const struct statement list_removals = {"SELECT file_id FROM file_removal ORDER BY file_id LIMIT ?"};
static const struct statement find_removal = {"SELECT 1 FROM file_removal WHERE file_id = ?"};
static const struct statement delete_removal = {"DELETE FROM file_removal WHERE file_id = ?"};

struct error *file_admin_removals(struct database *database, struct arena *arena, unsigned limit, struct id **ids_out,
                                  size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_removals, VALUES(database_integer(limit)), &rows));
    *count_out = rows->count;
    *ids_out = arena_array(arena, rows->count, sizeof **ids_out);
    for (size_t i = 0; i < rows->count; i++)
        (*ids_out)[i] = rows_id(rows, i, 0);
    return NULL;
}

struct error *file_admin_removal_noted(struct database *database, struct arena *arena, struct id id, bool *noted_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_removal, VALUES(database_id(id)), &rows));
    *noted_out = rows->count == 1;
    return NULL;
}

struct error *file_admin_removal_done(struct database *database, struct arena *arena, struct id id)
{
    TRY(database_change(database, arena, &delete_removal, VALUES(database_id(id)), NULL));
    return NULL;
}

static const struct statement sum_files = {
    "SELECT COALESCE(SUM(f.status = 'active'), 0), COALESCE(SUM(IF(f.status = 'active', f.size, 0)), 0),"
    " COALESCE(SUM(f.status <> 'active'), 0), COALESCE(SUM(IF(f.status = 'active', 0, f.size)), 0)"
    " FROM file f WHERE f.organisation_id = ?"};

struct error *file_admin_sums(struct database *database, struct arena *arena, struct id organisation,
                              struct file_admin_sums *sums_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &sum_files, VALUES(database_id(organisation)), &rows));
    *sums_out = (struct file_admin_sums){
        .active_files = rows_integer(rows, 0, 0),
        .active_bytes = rows_integer(rows, 0, 1),
        .archived_files = rows_integer(rows, 0, 2),
        .archived_bytes = rows_integer(rows, 0, 3),
    };
    return NULL;
}

static const struct statement compare_usage = {
    "SELECT s.bytes = COALESCE(u.bytes, 0) AND s.files = COALESCE(u.files, 0) FROM (SELECT COALESCE(SUM(f.size), 0)"
    " AS bytes, COUNT(*) AS files FROM (SELECT g.size FROM file g WHERE g.organisation_id = ? UNION ALL"
    " SELECT w.reserved FROM file_upload w WHERE w.organisation_id = ? AND w.file_id IS NULL) f) s"
    " LEFT JOIN file_usage u ON u.organisation_id = ?"};

struct error *file_admin_usage_agrees(struct database *database, struct arena *arena, struct id organisation,
                                      bool *holds_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &compare_usage,
                       VALUES(database_id(organisation), database_id(organisation), database_id(organisation)), &rows));
    *holds_out = rows->count == 1 && rows_boolean(rows, 0, 0);
    return NULL;
}
