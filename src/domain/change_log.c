/* SPDX-License-Identifier: MIT */
/* Adds changes to the change log, reads the newer ones and removes old ones. */
#include "domain/change_log.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

static const char *const kinds[CHANGE_LOG_KIND_COUNT] = {
    [CHANGE_LOG_CACHE] = "cache",
    [CHANGE_LOG_SECRETS] = "secrets",
    [CHANGE_LOG_SETTINGS] = "settings",
};

const char *change_log_kind_text(enum change_log_kind kind)
{
    return kind < CHANGE_LOG_KIND_COUNT ? kinds[kind] : "unknown";
}

static enum change_log_kind kind_of(const char *text)
{
    for (enum change_log_kind kind = 0; kind < CHANGE_LOG_KIND_COUNT; kind++)
        if (strcmp(kinds[kind], text) == 0)
            return kind;
    return CHANGE_LOG_UNKNOWN;
}

static const struct statement count_on = {"UPDATE change_version SET version = version + 1 WHERE id = 1"};

/*
 * When the table was emptied by hand, counting starts again far from where it was. Only then is there an INSERT: it
 * makes the table's trigger read the roles with locks, which would conflict with a change of a role.
 */
static const struct statement begin_anew = {
    "INSERT INTO change_version (id, version) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000))"
    " ON DUPLICATE KEY UPDATE version = version + 1"};

static const struct statement find_version = {"SELECT version FROM change_version WHERE id = 1"};

static const struct statement lock_version = {"SELECT version FROM change_version WHERE id = 1 FOR UPDATE"};

static const struct statement insert_change = {"INSERT INTO change_log (id, kind, payload) VALUES (?, ?, ?)"};

struct error *change_log_current(struct database *database, struct arena *arena, int64_t *version_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_version, NO_VALUES, &rows));
    *version_out = rows->count == 0 ? 0 : rows_integer(rows, 0, 0);
    return NULL;
}

struct error *change_log_lock(struct database *database, struct arena *arena)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    return database_query(database, arena, &lock_version, NO_VALUES, &rows);
}

struct error *change_log_append(struct database *database, struct arena *arena, enum change_log_kind kind,
                                const char *payload, int64_t *version_out)
{
    int64_t version;
    struct change counted;
    assert(database_in_transaction(database) && kind < CHANGE_LOG_KIND_COUNT);
    TRY(database_change(database, arena, &count_on, NO_VALUES, &counted));
    if (counted.affected == 0)
        TRY(database_change(database, arena, &begin_anew, NO_VALUES, NULL));
    TRY(change_log_current(database, arena, &version));
    TRY(database_change(database, arena, &insert_change,
                        VALUES(database_integer(version), database_text(kinds[kind]), database_text(payload)), NULL));
    if (version_out != NULL)
        *version_out = version;
    return NULL;
}

static const struct statement list_changes = {
    "SELECT id, kind, payload FROM change_log WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"};

struct error *change_log_list(struct database *database, struct arena *arena, int64_t after, int64_t last,
                              struct change_log_entries *entries_out)
{
    struct rows *rows;
    *entries_out = (struct change_log_entries){.whole = after == last};
    if (after >= last || last - after > CHANGE_LOG_LIST_MAX)
        return NULL;
    TRY(database_query(database, arena, &list_changes,
                       VALUES(database_integer(after), database_integer(last), database_integer(CHANGE_LOG_LIST_MAX)),
                       &rows));
    if (rows->count != (size_t)(last - after))
        return NULL;
    entries_out->whole = true;
    entries_out->count = rows->count;
    entries_out->items = arena_array(arena, rows->count, sizeof *entries_out->items);
    for (size_t i = 0; i < rows->count; i++)
        entries_out->items[i] =
            (struct change_log_entry){rows_integer(rows, i, 0), kind_of(rows_text(rows, i, 1)), rows_text(rows, i, 2)};
    return NULL;
}

static const struct statement purge_changes = {
    "DELETE FROM change_log WHERE at < UTC_TIMESTAMP(3) - INTERVAL ? DAY ORDER BY id LIMIT ?"};

struct error *change_log_purge(struct database *database, struct arena *arena, unsigned days, unsigned limit,
                               uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_changes, VALUES(database_integer(days), database_integer(limit)),
                        &change));
    *count_out = change.affected;
    return NULL;
}
