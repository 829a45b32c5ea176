/* SPDX-License-Identifier: MIT */
/* Lists the outbox for the operator. */
#include "base/arena.h"
#include "base/error.h"
#include "domain/outbox.h"
#include "store/database/database.h"

struct error *outbox_list(struct database *database, struct arena *arena, unsigned limit,
                          struct outbox_lines *lines_out)
{
    static const struct statement list = {
        "SELECT id, kind, status, attempts, created_at, next_attempt_at, last_error FROM outbox"
        " WHERE status IN ('waiting', 'dead') ORDER BY id LIMIT ?"};
    struct rows *rows;
    TRY(database_query(database, arena, &list, VALUES(database_integer(limit)), &rows));
    lines_out->count = rows->count;
    lines_out->items = arena_array(arena, rows->count, sizeof *lines_out->items);
    for (size_t i = 0; i < rows->count; i++)
        lines_out->items[i] = (struct outbox_line){
            .number = (uint64_t)rows_integer(rows, i, 0),
            .kind = rows_text(rows, i, 1),
            .status = rows_text(rows, i, 2),
            .attempts = (unsigned)rows_integer(rows, i, 3),
            .created_at = rows_time(rows, i, 4),
            .next_attempt_at = rows_time(rows, i, 5),
            .last_error = rows_text(rows, i, 6),
        };
    return NULL;
}
