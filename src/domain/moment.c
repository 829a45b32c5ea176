/* SPDX-License-Identifier: MIT */
/* Asks the database for its time. */
#include "domain/moment.h"

#include "base/error.h"
#include "store/database/database.h"

static const struct statement look_at_clock = {
    "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"};

struct error *moment_now(struct database *database, struct arena *arena, int64_t *milliseconds_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &look_at_clock, NO_VALUES, &rows));
    *milliseconds_out = rows_integer(rows, 0, 0);
    return NULL;
}
