/* SPDX-License-Identifier: MIT */
/* Deletes old audit rows. Ids begin with their time, so the primary key finds them in order. */
#include "domain/audit.h"

#include "base/error.h"
#include "store/database/database.h"

static const struct statement purge_rows = {"DELETE FROM audit WHERE id < ? ORDER BY id LIMIT ?"};
static const struct statement count_rows = {"SELECT COUNT(*) FROM audit WHERE id < ?"};

struct error *audit_purge(struct database *database, struct arena *arena, int64_t before, unsigned limit,
                          uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_rows,
                        VALUES(database_id(id_first_at(before + 1)), database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}

struct error *audit_count(struct database *database, struct arena *arena, int64_t before, int64_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &count_rows, VALUES(database_id(id_first_at(before + 1))), &rows));
    *count_out = rows_integer(rows, 0, 0);
    return NULL;
}
