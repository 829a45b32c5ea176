/* SPDX-License-Identifier: MIT */
/* Counts an organisation's storage, checks its quotas, and counts again where the sum is wrong. */
#include "domain/file/file_usage.h"

#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/columns_int.h"

/*
 * The row of the organisation cannot change meanwhile: the foreign key of the inserted file rows locks it. The two
 * bounds are the maximum of an unsigned column: no quota.
 */
static const struct statement take = {
    "UPDATE file_usage SET bytes = bytes + ?, files = files + ? WHERE organisation_id = ?"
    " AND bytes + ? <= COALESCE((SELECT o.quota_bytes FROM organisation o WHERE o.id = ?), 18446744073709551615)"
    " AND files + ? <= COALESCE((SELECT o.quota_files FROM organisation o WHERE o.id = ?), 18446744073709551615)"};

/* Makes the row where there is none; it is locked in either case. */
static const struct statement hold_usage = {
    "INSERT INTO file_usage (organisation_id, bytes, files) VALUES (?, 0, 0) ON DUPLICATE KEY UPDATE bytes = bytes"};

static struct error *take_from_row(struct database *database, struct arena *arena, struct id organisation,
                                   struct file_usage more, bool *taken_out)
{
    struct change change;
    struct database_value bytes = database_integer(more.bytes);
    struct database_value files = database_integer(more.files);
    struct database_value id = database_id(organisation);
    TRY(database_change(database, arena, &take, VALUES(bytes, files, id, bytes, id, files, id), &change));
    *taken_out = change.affected == 1;
    return NULL;
}

struct error *file_usage_take(struct database *database, struct arena *arena, struct id organisation,
                              struct file_usage more, bool *exceeded_out)
{
    assert(database_in_transaction(database));
    bool taken = false;
    TRY(take_from_row(database, arena, organisation, more, &taken));
    *exceeded_out = !taken;
    if (taken)
        return NULL;
    /* The quota is used up, or there is no row yet: another first upload may be making it. */
    TRY(database_change(database, arena, &hold_usage, VALUES(database_id(organisation)), NULL));
    TRY(take_from_row(database, arena, organisation, more, &taken));
    *exceeded_out = !taken;
    return NULL;
}

/* A comparison with NULL is NULL: without a quota nothing is exceeded. */
static const struct statement compare = {
    "SELECT COALESCE(COALESCE(u.bytes, 0) + ? > o.quota_bytes, 0) OR COALESCE(COALESCE(u.files, 0) + ? > "
    "o.quota_files, 0)"
    " FROM organisation o LEFT JOIN file_usage u ON u.organisation_id = ? WHERE o.id = ?"};

struct error *file_usage_exceeds(struct database *database, struct arena *arena, struct id organisation,
                                 struct file_usage more, bool *exceeds_out)
{
    struct rows *rows;
    struct database_value id = database_id(organisation);
    TRY(database_query(database, arena, &compare,
                       VALUES(database_integer(more.bytes), database_integer(more.files), id, id), &rows));
    *exceeds_out = rows->count == 1 && rows_integer(rows, 0, 0) != 0;
    return NULL;
}

static const struct statement release = {
    "UPDATE file_usage SET bytes = IF(bytes > ?, bytes - ?, 0), files = IF(files > ?, files - ?, 0)"
    " WHERE organisation_id = ?"};

struct error *file_usage_release(struct database *database, struct arena *arena, struct id organisation,
                                 struct file_usage less)
{
    assert(database_in_transaction(database));
    struct database_value bytes = database_integer(less.bytes);
    struct database_value files = database_integer(less.files);
    return database_change(database, arena, &release, VALUES(bytes, bytes, files, files, database_id(organisation)),
                           NULL);
}

static const struct statement find_usage = {"SELECT u.bytes, u.files FROM file_usage u WHERE u.organisation_id = ?"};

static struct file_usage read_usage(const struct rows *rows)
{
    if (rows->count == 0)
        return (struct file_usage){0, 0};
    return (struct file_usage){rows_integer(rows, 0, 0), rows_integer(rows, 0, 1)};
}

struct error *file_usage_find(struct database *database, struct arena *arena, struct id organisation,
                              struct file_usage *usage_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_usage, VALUES(database_id(organisation)), &rows));
    *usage_out = read_usage(rows);
    return NULL;
}

/* ---- counting again ------------------------------------------------------------------------------ */

static const struct statement count_files = {
    "SELECT CAST(COALESCE(SUM(f.size), 0) AS UNSIGNED), COUNT(*) FROM (SELECT g.size FROM file g"
    " WHERE g.organisation_id = ? UNION ALL SELECT w.reserved FROM file_upload w WHERE w.organisation_id = ?"
    " AND w.file_id IS NULL) f"};

static const struct statement set_usage = {"UPDATE file_usage SET bytes = ?, files = ? WHERE organisation_id = ?"};

struct recount {
    struct id organisation;
    bool wrong;
};

/* The row is locked, so every transaction that inserts or deletes files has either ended or will change it later. */
static struct error *recount(struct database *database, struct arena *arena, void *context)
{
    struct recount *order = context;
    struct rows *rows;
    struct file_usage noted;
    TRY(database_change(database, arena, &hold_usage, VALUES(database_id(order->organisation)), NULL));
    TRY(database_query(database, arena, &count_files,
                       VALUES(database_id(order->organisation), database_id(order->organisation)), &rows));
    struct file_usage counted = read_usage(rows);
    TRY(file_usage_find(database, arena, order->organisation, &noted));
    order->wrong = counted.bytes != noted.bytes || counted.files != noted.files;
    if (!order->wrong)
        return NULL;
    return database_change(
        database, arena, &set_usage,
        VALUES(database_integer(counted.bytes), database_integer(counted.files), database_id(order->organisation)),
        NULL);
}

struct error *file_usage_recount(struct database *database, struct arena *arena, struct id organisation,
                                 bool *wrong_out)
{
    struct recount order = {.organisation = organisation};
    TRY(database_transaction(database, arena, recount, &order, NULL));
    if (wrong_out != NULL)
        *wrong_out = order.wrong;
    return NULL;
}
