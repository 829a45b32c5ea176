/* SPDX-License-Identifier: MIT */
/* How the operator lists and changes organisations. */
#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/columns_int.h"

static const struct statement each_organisation = {"SELECT " ORGANISATION_COLUMNS
                                                   " FROM organisation o WHERE o.id > ? ORDER BY o.id LIMIT ?"};

struct error *organisation_admin_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                                      struct organisation_admin_page *page_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &each_organisation,
                       VALUES(database_id(after), database_integer((int64_t)limit + 1)), &rows));
    page_out->more = rows->count > limit;
    page_out->count = page_out->more ? limit : rows->count;
    page_out->items = arena_array(arena, page_out->count, sizeof *page_out->items);
    for (size_t i = 0; i < page_out->count; i++)
        organisation_read(arena, rows, i, 0, &page_out->items[i]);
    return NULL;
}

static const struct statement hold_organisation = {"SELECT 1 FROM organisation WHERE id = ? FOR UPDATE"};

struct error *organisation_admin_lock(struct database *database, struct arena *arena, struct id id)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    return database_query(database, arena, &hold_organisation, VALUES(database_id(id)), &rows);
}

/* A flag beside each value tells whether it is to be set: NULL is a value of the quotas. */
static const struct statement change_organisation = {
    "UPDATE organisation SET quota_bytes = IF(?, ?, quota_bytes), quota_files = IF(?, ?, quota_files),"
    " status = COALESCE(?, status), updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND (? OR status IN ('active', 'disabled'))"};

static struct database_value quota_value(const int64_t *quota)
{
    return quota == NULL || *quota == ORGANISATION_NO_QUOTA ? database_null() : database_integer(*quota);
}

struct error *organisation_admin_change(struct database *database, struct arena *arena, struct id id,
                                        const struct organisation_admin_change *change, bool *changed_out)
{
    struct change done;
    const char *status = change->status == NULL ? NULL : organisation_status_text(*change->status);
    TRY(database_change(database, arena, &change_organisation,
                        VALUES(database_boolean(change->quota_bytes != NULL), quota_value(change->quota_bytes),
                               database_boolean(change->quota_files != NULL), quota_value(change->quota_files),
                               database_text(status), database_id(id), database_boolean(status == NULL)),
                        &done));
    *changed_out = done.affected == 1;
    return NULL;
}
