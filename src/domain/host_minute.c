/* SPDX-License-Identifier: MIT */
/* The statements on the minutes of hosts. */
#include "domain/host_minute.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

static const struct statement insert_minute = {
    "INSERT IGNORE INTO host_minute (minute, host, requests, errors, p50_microseconds, p99_microseconds, logins,"
    " login_failures, uploads, upload_bytes, outbox_depth, free_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};

static struct database_value duration(int64_t microseconds)
{
    return microseconds == HOST_MINUTE_NONE ? database_null() : database_integer(microseconds);
}

struct error *host_minute_insert(struct database *database, struct arena *arena, const struct host_minute *minute)
{
    struct change change;
    return database_change(database, arena, &insert_minute,
                           VALUES(database_time(arena, minute->time), database_text(minute->host),
                                  database_integer(minute->requests), database_integer(minute->errors),
                                  duration(minute->p50), duration(minute->p99), database_integer(minute->logins),
                                  database_integer(minute->login_failures), database_integer(minute->uploads),
                                  database_integer(minute->upload_bytes), database_integer(minute->outbox_depth),
                                  database_integer(minute->free_bytes)),
                           &change);
}

static const struct statement list_minutes = {
    "SELECT m.minute, m.host, m.requests, m.errors, m.p50_microseconds, m.p99_microseconds, m.logins,"
    " m.login_failures, m.uploads, m.upload_bytes, m.outbox_depth, m.free_bytes FROM host_minute m"
    " WHERE m.minute >= ? ORDER BY m.minute, m.host LIMIT ?"};

static int64_t read_duration(const struct rows *rows, size_t row, size_t column)
{
    return rows_is_null(rows, row, column) ? HOST_MINUTE_NONE : rows_integer(rows, row, column);
}

/* How many rows stand before those of the last minute; all of them when there is one minute only. */
static size_t whole_minutes(const struct host_minutes *minutes)
{
    const char *last = minutes->items[minutes->count - 1].minute;
    size_t count = minutes->count;
    while (count > 0 && strcmp(minutes->items[count - 1].minute, last) == 0)
        count--;
    return count == 0 ? minutes->count : count;
}

struct error *host_minute_list(struct database *database, struct arena *arena, int64_t since, unsigned limit,
                               struct host_minutes *minutes_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_minutes,
                       VALUES(database_time(arena, since), database_integer((int64_t)limit + 1)), &rows));
    *minutes_out = (struct host_minutes){arena_array(arena, rows->count, sizeof *minutes_out->items), rows->count};
    for (size_t i = 0; i < rows->count; i++)
        minutes_out->items[i] = (struct host_minute){
            .minute = rows_time(rows, i, 0),
            .host = rows_text(rows, i, 1),
            .requests = rows_integer(rows, i, 2),
            .errors = rows_integer(rows, i, 3),
            .p50 = read_duration(rows, i, 4),
            .p99 = read_duration(rows, i, 5),
            .logins = rows_integer(rows, i, 6),
            .login_failures = rows_integer(rows, i, 7),
            .uploads = rows_integer(rows, i, 8),
            .upload_bytes = rows_integer(rows, i, 9),
            .outbox_depth = rows_integer(rows, i, 10),
            .free_bytes = rows_integer(rows, i, 11),
        };
    if (minutes_out->count > limit) {
        minutes_out->count = whole_minutes(minutes_out);
        minutes_out->count = minutes_out->count > limit ? limit : minutes_out->count;
    }
    return NULL;
}

static const struct statement purge_minutes = {
    "DELETE FROM host_minute WHERE minute < UTC_TIMESTAMP(3) - INTERVAL ? HOUR LIMIT ?"};

struct error *host_minute_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_minutes,
                        VALUES(database_integer(HOST_MINUTE_KEEP_HOURS), database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
