/* SPDX-License-Identifier: MIT */
/* The statements on organisations. */
#include "domain/account/organisation.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/columns_int.h"

static const char *const statuses[] = {"provisioning", "active", "disabled", NULL};

/* The same id on every installation: version 7, at the beginning of time. */
static const struct id internal = {{0, 0, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}};

const char *organisation_status_text(enum organisation_status status)
{
    return statuses[status];
}

struct id organisation_internal_id(void)
{
    return internal;
}

struct database_value organisation_quota_value(int64_t quota)
{
    return quota == ORGANISATION_NO_QUOTA ? database_null() : database_integer(quota);
}

static int64_t quota_read(const struct rows *rows, size_t row, size_t column)
{
    return rows_is_null(rows, row, column) ? ORGANISATION_NO_QUOTA : rows_integer(rows, row, column);
}

enum organisation_status organisation_status_read(const char *text)
{
    int status = columns_word_index(statuses, text);
    return status < 0 ? ORGANISATION_DISABLED : (enum organisation_status)status;
}

void organisation_read(struct arena *arena, const struct rows *rows, size_t row, size_t first,
                       struct organisation *organisation_out)
{
    *organisation_out = (struct organisation){
        .id = rows_id(rows, row, first),
        .name = rows_text(rows, row, first + 1),
        .services = text_words(arena, rows_text(rows, row, first + 2)),
        .status = organisation_status_read(rows_text(rows, row, first + 3)),
        .quota_bytes = quota_read(rows, row, first + 4),
        .quota_files = quota_read(rows, row, first + 5),
        .created_at = rows_time(rows, row, first + 6),
        .updated_at = rows_time(rows, row, first + 7),
    };
}

void organisation_read_use(const struct rows *rows, size_t row, size_t first, struct organisation *organisation)
{
    organisation->used_bytes = rows_integer(rows, row, first);
    organisation->used_files = rows_integer(rows, row, first + 1);
    organisation->user_count = rows_integer(rows, row, first + 2);
}

static const struct statement insert_organisation = {"INSERT INTO organisation (id, name, services, status, "
                                                     "quota_bytes, quota_files) VALUES (?, ?, ?, ?, ?, ?)"};

struct error *organisation_insert(struct database *database, struct arena *arena,
                                  const struct organisation *organisation)
{
    TRY(database_change(database, arena, &insert_organisation,
                        VALUES(database_id(organisation->id), database_text(organisation->name),
                               database_text(text_list_join(arena, &organisation->services, " ")),
                               database_text(statuses[organisation->status]),
                               organisation_quota_value(organisation->quota_bytes),
                               organisation_quota_value(organisation->quota_files)),
                        NULL));
    return NULL;
}

struct error *organisation_ensure_internal(struct database *database, struct arena *arena)
{
    struct change change;
    TRY(database_change(database, arena, &insert_organisation,
                        VALUES(database_id(internal), database_text("Internal"), database_text("inventory logistics"),
                               database_text("active"), database_null(), database_null()),
                        &change));
    return NULL;
}

static const struct statement find_organisation = {"SELECT " ORGANISATION_COLUMNS
                                                   " FROM organisation o WHERE o.id = ?"};

struct error *organisation_find(struct database *database, struct arena *arena, struct id id,
                                struct organisation **organisation_out)
{
    struct rows *rows;
    *organisation_out = NULL;
    TRY(database_query(database, arena, &find_organisation, VALUES(database_id(id)), &rows));
    if (rows->count == 0)
        return NULL;
    *organisation_out = arena_alloc(arena, sizeof **organisation_out);
    organisation_read(arena, rows, 0, 0, *organisation_out);
    return NULL;
}

static const struct statement find_whole = {"SELECT " ORGANISATION_COLUMNS ", " ORGANISATION_USE_COLUMNS
                                            " FROM organisation o" ORGANISATION_USE_TABLES
                                            " WHERE o.id = ? AND o.status <> 'provisioning'"};

struct error *organisation_find_whole(struct database *database, struct arena *arena, struct id id,
                                      struct organisation **organisation_out)
{
    struct rows *rows;
    *organisation_out = NULL;
    TRY(database_query(database, arena, &find_whole, VALUES(database_id(id)), &rows));
    if (rows->count == 0)
        return NULL;
    *organisation_out = arena_alloc(arena, sizeof **organisation_out);
    organisation_read(arena, rows, 0, 0, *organisation_out);
    organisation_read_use(rows, 0, ORGANISATION_COLUMN_COUNT, *organisation_out);
    return NULL;
}

static const struct statement activate_organisation = {
    "UPDATE organisation SET status = 'active', updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND status = 'provisioning'"};

struct error *organisation_activate(struct database *database, struct arena *arena, struct id id, bool *changed_out)
{
    struct change change;
    TRY(database_change(database, arena, &activate_organisation, VALUES(database_id(id)), &change));
    if (changed_out != NULL)
        *changed_out = change.affected == 1;
    return NULL;
}
