/* SPDX-License-Identifier: MIT */
/* Stores on which day a permission was used last, and compares what people hold with it. */
#include "domain/permission/permission_use.h"

#include <assert.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "domain/permission/permission.h"
#include "store/database/database.h"

#define DAY_MILLISECONDS INT64_C(86400000)

/* A day as a number, and a number as a day. */
#define DAY_COLUMN "DATEDIFF(last_day, '1970-01-01')"
#define DAY_OF "'1970-01-01' + INTERVAL ? DAY"

int64_t permission_use_today(void)
{
    return clock_now() / DAY_MILLISECONDS;
}

int64_t permission_use_first_day(int64_t days)
{
    return permission_use_today() - days + 1;
}

/*
 * Any number of rows in one statement, which is prepared once: they come as one JSON text. The join leaves out users
 * who were deleted or erased between the request and now. It takes no lock on them, since transactions read what is
 * committed.
 */
static const struct statement add_uses = {
    "INSERT INTO permission_use (user_id, permission, last_day)"
    " SELECT u.user_id, j.permission, '1970-01-01' + INTERVAL j.day DAY"
    " FROM JSON_TABLE(?, '$[*]' COLUMNS (user_hex CHAR(32) PATH '$[0]', permission VARCHAR(100) PATH '$[1]',"
    " day INT PATH '$[2]')) j JOIN principal u ON u.user_id = UNHEX(j.user_hex)"
    " AND u.user_status <> 'erased'"
    " ON DUPLICATE KEY UPDATE last_day = GREATEST(last_day, VALUES(last_day))"};

struct error *permission_use_add(struct database *database, struct arena *arena, const struct permission_uses *uses)
{
    struct buffer json;
    assert(uses->count <= PERMISSION_USE_BATCH);
    if (uses->count == 0)
        return NULL;
    buffer_init(&json, arena);
    buffer_add_char(&json, '[');
    for (size_t i = 0; i < uses->count; i++) {
        const struct permission_use *use = &uses->items[i];
        buffer_add_format(&json, "%s[\"%s\",", i == 0 ? "" : ",", hex_encode(arena, use->user.bytes, ID_BYTES));
        buffer_add_json_text(&json, use->permission);
        buffer_add_format(&json, ",%lld]", (long long)use->day);
    }
    buffer_add_char(&json, ']');
    return database_change(database, arena, &add_uses, VALUES(database_text(json.bytes)), NULL);
}

static const struct statement uses_of_user = {"SELECT user_id, permission, " DAY_COLUMN
                                              " FROM permission_use WHERE user_id = ? AND last_day >= " DAY_OF
                                              " ORDER BY permission"};
static const struct statement uses_of_users = {"SELECT user_id, permission, " DAY_COLUMN
                                               " FROM permission_use WHERE user_id > ? AND user_id <= ?"
                                               " AND last_day >= " DAY_OF " ORDER BY user_id, permission"};

static void read_uses(struct arena *arena, const struct rows *rows, struct permission_uses *uses_out)
{
    uses_out->count = rows->count;
    uses_out->items = arena_array(arena, rows->count, sizeof *uses_out->items);
    for (size_t i = 0; i < rows->count; i++)
        uses_out->items[i] =
            (struct permission_use){rows_id(rows, i, 0), rows_text(rows, i, 1), rows_integer(rows, i, 2)};
}

struct error *permission_use_of_user(struct database *database, struct arena *arena, struct id user, int64_t first_day,
                                     struct permission_uses *uses_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &uses_of_user, VALUES(database_id(user), database_integer(first_day)), &rows));
    read_uses(arena, rows, uses_out);
    return NULL;
}

struct error *permission_use_of_users(struct database *database, struct arena *arena, struct id after, struct id last,
                                      int64_t first_day, struct permission_uses *uses_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &uses_of_users,
                       VALUES(database_id(after), database_id(last), database_integer(first_day)), &rows));
    read_uses(arena, rows, uses_out);
    return NULL;
}

int64_t permission_use_last_day(const struct permission_uses *uses, struct id user, const char *held)
{
    int64_t last = PERMISSION_USE_NEVER;
    for (size_t i = 0; i < uses->count; i++) {
        const struct permission_use *use = &uses->items[i];
        if (use->day > last && id_equal(use->user, user) && permission_grants(held, use->permission))
            last = use->day;
    }
    return last;
}

const char *permission_use_day_text(struct arena *arena, int64_t day)
{
    if (day == PERMISSION_USE_NEVER)
        return NULL;
    char *text = arena_alloc(arena, CLOCK_TEXT_BYTES);
    clock_format(day * DAY_MILLISECONDS, text);
    return text;
}

static const struct statement find_beginning = {
    "SELECT DATEDIFF(applied_at, '1970-01-01') FROM schema_migration WHERE LOCATE('permission-use', name) > 0"};

struct error *permission_use_began(struct database *database, struct arena *arena, int64_t *day_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_beginning, NO_VALUES, &rows));
    *day_out = rows->count == 0 ? 0 : rows_integer(rows, 0, 0);
    return NULL;
}

static const struct statement forget_user = {"DELETE FROM permission_use WHERE user_id = ?"};
static const struct statement purge_uses = {"DELETE FROM permission_use WHERE last_day < " DAY_OF
                                            " ORDER BY last_day LIMIT ?"};

struct error *permission_use_forget(struct database *database, struct arena *arena, struct id user)
{
    assert(database_in_transaction(database));
    return database_change(database, arena, &forget_user, VALUES(database_id(user)), NULL);
}

struct error *permission_use_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(
        database, arena, &purge_uses,
        VALUES(database_integer(permission_use_first_day(PERMISSION_USE_DAYS_MAX)), database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
