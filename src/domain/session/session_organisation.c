/* SPDX-License-Identifier: MIT */
/* Ends the sessions of an organisation's people, some at a time, so that no statement grows with the organisation. */
#include <assert.h>

#include "base/error.h"
#include "domain/session/session.h"
#include "store/database/database.h"

static const struct statement find_portion = {
    "SELECT MAX(x.id) FROM (SELECT u.id FROM user u WHERE u.organisation_id = ? AND u.id > ?"
    " ORDER BY u.id LIMIT ?) x"};

static const struct statement end_portion = {
    "UPDATE session s JOIN user u ON u.id = s.user_id SET s.ended_at = UTC_TIMESTAMP(3)"
    " WHERE u.organisation_id = ? AND u.id > ? AND u.id <= ? AND s.ended_at IS NULL"};

struct error *session_end_organisation(struct database *database, struct arena *arena, struct id organisation,
                                       struct id *after, unsigned limit, bool *more_out)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    TRY(database_query(database, arena, &find_portion,
                       VALUES(database_id(organisation), database_id(*after), database_integer(limit)), &rows));
    *more_out = rows->count == 1 && !rows_is_null(rows, 0, 0);
    if (!*more_out)
        return NULL;
    struct id last = rows_id(rows, 0, 0);
    TRY(database_change(database, arena, &end_portion,
                        VALUES(database_id(organisation), database_id(*after), database_id(last)), NULL));
    *after = last;
    return NULL;
}
