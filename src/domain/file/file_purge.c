/* SPDX-License-Identifier: MIT */
/* Deletes the row of a file: only the operator's account may do that. */
#include <assert.h>

#include "base/error.h"
#include "domain/file/file_admin.h"
#include "store/database/database.h"

static const struct statement lock_archived = {
    "SELECT f.archived_at FROM file f WHERE f.id = ? AND f.organisation_id = ? AND f.status = 'archived' FOR UPDATE"};
static const struct statement delete_tags = {"DELETE FROM file_tag WHERE file_id = ? AND organisation_id = ?"};
static const struct statement delete_file = {"DELETE FROM file WHERE id = ? AND organisation_id = ?"};
static const struct statement note_removal = {"INSERT INTO file_removal (file_id) VALUES (?)"};

struct error *file_purge(struct database *database, struct arena *arena, const struct file_admin_record *record,
                         int64_t before, bool *taken_out)
{
    assert(database_in_transaction(database));
    struct rows *rows;
    const struct database_value id = database_id(record->id);
    const struct database_value organisation = database_id(record->organisation_id);
    TRY(database_query(database, arena, &lock_archived, VALUES(id, organisation), &rows));
    *taken_out = rows->count == 1 && rows_time_milliseconds(rows, 0, 0) <= before;
    if (!*taken_out)
        return NULL;
    TRY(database_change(database, arena, &delete_tags, VALUES(id, organisation), NULL));
    TRY(database_change(database, arena, &delete_file, VALUES(id, organisation), NULL));
    TRY(database_change(database, arena, &note_removal, VALUES(id), NULL));
    return NULL;
}
