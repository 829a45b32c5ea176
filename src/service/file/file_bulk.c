/* SPDX-License-Identifier: MIT */
/*
 * Archives or restores several files. The files are found first, so that an unknown id is told before anything changes
 * and every crossing is in the audit trail whatever comes of it. The rows are changed in the order of their ids: two
 * requests that share files wait for each other instead of blocking each other.
 */
#include "service/file/file_bulk.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/audit.h"
#include "domain/file/file.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define ATTEMPTS 3

/* One file of the request. */
struct item {
    size_t index; /* in the request */
    const struct file_record *record;
    enum file_outcome outcome;
    struct id other; /* FILE_DUPLICATE: the file that is in the way; none: it was gone again */
};

struct bulk {
    struct service *service;
    const struct caller *caller;
    enum file_bulk_change change;
    struct id organisation;
    const struct id *ids;
    size_t count;
    struct item *items; /* in the order of the ids */
    struct file_record **changed;
    bool unexplained; /* a duplicate whose other file is not known */
};

static void add_entry(struct error *error, size_t index, const char *code, const char *message)
{
    (void)error_entry(error, arena_format(error->arena, "ids[%zu]", index), code, message);
}

/* ---- finding ------------------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
    const struct item *one = a;
    const struct item *other = b;
    return memcmp(one->record->id.bytes, other->record->id.bytes, ID_BYTES);
}

static struct error *find(struct bulk *bulk, struct arena *arena)
{
    struct file_record *records[FILE_FIND_MAX];
    struct error *error = NULL;
    TRY(file_find_each(bulk->service->database, arena, bulk->organisation, bulk->ids, bulk->count, records));
    for (size_t i = 0; i < bulk->count; i++) {
        if (records[i] == NULL && error == NULL)
            error = error_plain(arena, ERROR_FILE_UNKNOWN);
        if (records[i] == NULL)
            add_entry(error, i, "unknown", "is not the id of a file");
    }
    TRY(error);
    bulk->items = arena_array(arena, bulk->count, sizeof *bulk->items);
    for (size_t i = 0; i < bulk->count; i++)
        bulk->items[i] = (struct item){.index = i, .record = records[i]};
    qsort(bulk->items, bulk->count, sizeof *bulk->items, compare_items);
    return NULL;
}

static struct error *audit_crossings(struct database *database, struct arena *arena, void *context)
{
    const struct bulk *bulk = context;
    (void)database;
    for (size_t i = 0; i < bulk->count; i++) {
        const struct file_record *record = bulk->items[i].record;
        if (!id_equal(record->organisation_id, caller_home(bulk->caller)))
            TRY(caller_audit_crossing(bulk->service, arena, bulk->caller, record->organisation_id, "file", record->id));
    }
    return NULL;
}

/* ---- changing ------------------------------------------------------------------------------------ */

static struct error *change_item(struct database *database, struct arena *arena, struct bulk *bulk, struct item *item)
{
    const struct file_record *record = item->record;
    bool found = false;
    struct audit_entry entry = {
        .action = bulk->change == FILE_BULK_ARCHIVE ? "file.archive" : "file.restore",
        .organisation_id = record->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, record->id),
    };
    item->other = id_none;
    if (bulk->change == FILE_BULK_ARCHIVE)
        TRY(file_archive(database, arena, record->organisation_id, record->id, &item->outcome));
    else
        TRY(file_restore(database, arena, record->organisation_id, record->id, &item->outcome));
    if (item->outcome == FILE_CHANGED)
        return caller_audit(bulk->service, arena, bulk->caller, &entry);
    if (item->outcome == FILE_DUPLICATE)
        TRY(file_find_duplicate(database, arena, record, &item->other, &found));
    return NULL;
}

/* The error of the outcomes: an unknown file before a wrong state, and that before a duplicate. */
static struct error *check_files(const struct bulk *bulk, struct arena *arena)
{
    bool seen[FILE_DUPLICATE + 1] = {false};
    for (size_t i = 0; i < bulk->count; i++)
        seen[bulk->items[i].outcome] = true;
    if (seen[FILE_ABSENT])
        return error_plain(arena, ERROR_FILE_UNKNOWN);
    if (seen[FILE_UNCHANGED])
        return error_plain(arena, bulk->change == FILE_BULK_ARCHIVE ? ERROR_FILE_ARCHIVED : ERROR_FILE_ACTIVE);
    return seen[FILE_DUPLICATE] ? error_plain(arena, ERROR_FILE_DUPLICATE) : NULL;
}

static void explain_item(struct bulk *bulk, struct error *error, const struct item *item)
{
    switch (item->outcome) {
    case FILE_CHANGED:
        return;
    case FILE_ABSENT:
        add_entry(error, item->index, "unknown", "is not the id of a file");
        return;
    case FILE_UNCHANGED:
        add_entry(error, item->index, "state",
                  bulk->change == FILE_BULK_ARCHIVE ? "is archived already" : "is active already");
        return;
    case FILE_DUPLICATE:
        break;
    }
    add_entry(error, item->index, "duplicate", "is the same file as one that is active");
    bulk->unexplained = bulk->unexplained || id_is_none(item->other);
    if (error->code == ERROR_FILE_DUPLICATE && error->members == NULL && !id_is_none(item->other))
        (void)error_member(error, "id", id_text(error->arena, item->other));
}

/* Names every file that stands in the way, in the order of the request. */
static struct error *explain(struct bulk *bulk, struct arena *arena)
{
    struct error *error = check_files(bulk, arena);
    if (error == NULL)
        return NULL;
    for (size_t index = 0; index < bulk->count; index++)
        for (size_t i = 0; i < bulk->count; i++)
            if (bulk->items[i].index == index)
                explain_item(bulk, error, &bulk->items[i]);
    return error;
}

static struct error *change_all(struct database *database, struct arena *arena, void *context)
{
    struct bulk *bulk = context;
    bulk->unexplained = false;
    for (size_t i = 0; i < bulk->count; i++)
        TRY(change_item(database, arena, bulk, &bulk->items[i]));
    TRY(explain(bulk, arena));
    TRY(file_find_each(database, arena, bulk->organisation, bulk->ids, bulk->count, bulk->changed));
    for (size_t i = 0; i < bulk->count; i++)
        if (bulk->changed[i] == NULL)
            return error_new(arena, ERROR_INTERNAL, "a file that was just changed is missing");
    return NULL;
}

struct error *file_bulk_change(struct service *service, struct arena *arena, const struct caller *caller,
                               enum file_bulk_change change, struct id organisation, const struct id *ids, size_t count,
                               struct file_record ***records_out)
{
    struct bulk bulk = {
        .service = service,
        .caller = caller,
        .change = change,
        .organisation = organisation,
        .ids = ids,
        .count = count,
        .changed = arena_array(arena, count, sizeof *bulk.changed),
    };
    struct error *error = NULL;
    TRY(find(&bulk, arena));
    if (id_is_none(organisation))
        TRY(database_transaction(service->database, arena, audit_crossings, &bulk, NULL));
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        error = database_transaction(service->database, arena, change_all, &bulk, NULL);
        if (error == NULL || !bulk.unexplained)
            break;
    }
    TRY(error);
    *records_out = bulk.changed;
    return NULL;
}
