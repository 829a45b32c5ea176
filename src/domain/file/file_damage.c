/* SPDX-License-Identifier: MIT */
/* The statements on marks of damaged files and on lost files. */
#include "domain/file/file_damage.h"

#include <assert.h>

#include "base/error.h"
#include "base/limits.h"
#include "domain/file/file_admin_int.h"
#include "store/database/database.h"

static struct error *change(struct database *database, struct arena *arena, const struct statement *statement,
                            struct id id, bool *changed_out)
{
    struct change change;
    TRY(database_change(database, arena, statement, VALUES(database_id(id)), &change));
    *changed_out = change.affected == 1;
    return NULL;
}

static const struct statement mark_file = {
    "UPDATE file SET damaged_at = UTC_TIMESTAMP(3) WHERE id = ? AND damaged_at IS NULL"};
static const struct statement clear_file = {
    "UPDATE file SET damaged_at = NULL WHERE id = ? AND damaged_at IS NOT NULL"};

struct error *file_damage_mark(struct database *database, struct arena *arena, struct id id, bool *changed_out)
{
    return change(database, arena, &mark_file, id, changed_out);
}

struct error *file_damage_clear(struct database *database, struct arena *arena, struct id id, bool *changed_out)
{
    return change(database, arena, &clear_file, id, changed_out);
}

static const struct statement note_lost = {
    "INSERT INTO file_lost (file_id, found_at) SELECT f.id, UTC_TIMESTAMP(3) FROM file f"
    " WHERE f.id = ? AND (SELECT COUNT(*) FROM file_lost) < " LIMIT_TEXT(LIMIT_FILES_LOST)};
static const struct statement clear_lost = {"DELETE FROM file_lost WHERE file_id = ?"};

struct error *file_lost_note(struct database *database, struct arena *arena, struct id id, bool *changed_out)
{
    return change(database, arena, &note_lost, id, changed_out);
}

struct error *file_lost_clear(struct database *database, struct arena *arena, struct id id, bool *changed_out)
{
    return change(database, arena, &clear_lost, id, changed_out);
}

static const struct statement count_damaged = {"SELECT (SELECT COUNT(*) FROM file WHERE damaged_at IS NOT NULL),"
                                               " (SELECT COUNT(*) FROM file_lost)"};

struct error *file_damage_count(struct database *database, struct arena *arena, struct file_damage_counts *counts_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &count_damaged, NO_VALUES, &rows));
    *counts_out = (struct file_damage_counts){rows_integer(rows, 0, 0), rows_integer(rows, 0, 1)};
    return NULL;
}

static const struct statement each_damaged = {
    "SELECT " FILE_ADMIN_COLUMNS " FROM (SELECT d.id FROM file d WHERE d.damaged_at IS NOT NULL AND d.id > ?"
    " UNION SELECT l.file_id FROM file_lost l WHERE l.file_id > ? ORDER BY 1 LIMIT ?) m"
    " JOIN file f ON f.id = m.id ORDER BY f.id"};

struct error *file_damage_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                               struct file_admin_page *page_out)
{
    struct rows *rows;
    const struct database_value from = database_id(after);
    assert(limit >= 1 && limit <= FILE_ADMIN_PAGE_MAX);
    TRY(database_query(database, arena, &each_damaged, VALUES(from, from, database_integer(limit)), &rows));
    file_admin_page_read(arena, rows, page_out);
    return NULL;
}

static const struct statement list_twins = {
    "SELECT " FILE_ADMIN_COLUMNS " FROM file f WHERE f.organisation_id = ? AND f.hash = ? AND f.id > ? AND f.id <> ?"
    " ORDER BY f.id LIMIT ?"};

struct error *file_damage_twins(struct database *database, struct arena *arena, const struct file_admin_record *kept,
                                struct id after, unsigned limit, struct file_admin_page *page_out)
{
    struct rows *rows;
    assert(limit >= 1 && limit <= FILE_ADMIN_PAGE_MAX);
    TRY(database_query(database, arena, &list_twins,
                       VALUES(database_id(kept->organisation_id), database_bytes(kept->hash, FILE_HASH_BYTES),
                              database_id(after), database_id(kept->id), database_integer(limit)),
                       &rows));
    file_admin_page_read(arena, rows, page_out);
    return NULL;
}
