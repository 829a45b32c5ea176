/* SPDX-License-Identifier: MIT */
/* How organisations are listed and changed by the operator and by internal staff, and a name by its owner. */
#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/columns_int.h"

static const struct statement each_organisation = {"SELECT " ORGANISATION_COLUMNS
                                                   " FROM organisation o WHERE o.id > ? ORDER BY o.id LIMIT ?"};

struct error *organisation_admin_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                                      struct organisation_page *page_out)
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

static const struct statement hold_organisation = {"SELECT " ORGANISATION_COLUMNS
                                                   " FROM organisation o WHERE o.id = ? FOR UPDATE"};

struct error *organisation_admin_lock(struct database *database, struct arena *arena, struct id id,
                                      struct organisation **organisation_out)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    TRY(database_query(database, arena, &hold_organisation, VALUES(database_id(id)), &rows));
    if (organisation_out == NULL)
        return NULL;
    *organisation_out = NULL;
    if (rows->count == 0)
        return NULL;
    *organisation_out = arena_alloc(arena, sizeof **organisation_out);
    organisation_read(arena, rows, 0, 0, *organisation_out);
    return NULL;
}

static const struct statement find_holders = {
    "SELECT u.id FROM user u JOIN user_role r ON r.user_id = u.id AND r.role_id = ?"
    " WHERE u.organisation_id = ? AND u.id > ? AND " USER_SEEN " ORDER BY u.id LIMIT ?"};

struct error *organisation_admin_holders(struct database *database, struct arena *arena, struct id organisation,
                                         const char *role, struct id after, unsigned limit, struct id **users_out,
                                         size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(
        database, arena, &find_holders,
        VALUES(database_text(role), database_id(organisation), database_id(after), database_integer(limit)), &rows));
    *count_out = rows->count;
    *users_out = arena_array(arena, rows->count, sizeof **users_out);
    for (size_t i = 0; i < rows->count; i++)
        (*users_out)[i] = rows_id(rows, i, 0);
    return NULL;
}

/* A flag beside each value tells whether it is to be set: NULL is a value of the quotas. */
static const struct statement change_organisation = {
    "UPDATE organisation SET name = COALESCE(?, name), services = COALESCE(?, services),"
    " quota_bytes = IF(?, ?, quota_bytes), quota_files = IF(?, ?, quota_files),"
    " tokens_from = IF(? = 'disabled', UTC_TIMESTAMP(3), tokens_from),"
    " status = COALESCE(?, status), updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND (? OR status IN ('active', 'disabled'))"};

static struct database_value quota_value(const int64_t *quota)
{
    return quota == NULL ? database_null() : organisation_quota_value(*quota);
}

struct error *organisation_admin_change(struct database *database, struct arena *arena, struct id id,
                                        const struct organisation_admin_change *change, bool *changed_out)
{
    struct change done;
    const char *status = change->status == NULL ? NULL : organisation_status_text(*change->status);
    const char *services = change->services == NULL ? NULL : text_list_join(arena, change->services, " ");
    TRY(database_change(database, arena, &change_organisation,
                        VALUES(database_text(change->name), database_text(services),
                               database_boolean(change->quota_bytes != NULL), quota_value(change->quota_bytes),
                               database_boolean(change->quota_files != NULL), quota_value(change->quota_files),
                               database_text(status), database_text(status), database_id(id),
                               database_boolean(status == NULL)),
                        &done));
    *changed_out = done.affected == 1;
    return NULL;
}
