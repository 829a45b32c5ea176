/* SPDX-License-Identifier: MIT */
/* The statements on what the service keeps of accounts at a remote identity provider. */
#include "domain/account/remote_account.h"

#include <assert.h>

#include "base/error.h"
#include "store/database/database.h"

/* ---- temporary passwords -------------------------------------------------------------------------- */

static const struct statement set_temporary = {
    "INSERT INTO outside_account (user_id, temporary_until) VALUES (?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"
    " ON DUPLICATE KEY UPDATE temporary_until = VALUES(temporary_until)"};

struct error *remote_account_set_temporary(struct database *database, struct arena *arena, struct id user,
                                           int64_t seconds)
{
    return database_change(database, arena, &set_temporary,
                           VALUES(database_id(user), seconds != 0 ? database_integer(seconds) : database_null()), NULL);
}

static const struct statement get_temporary = {
    "SELECT COALESCE(temporary_until <= UTC_TIMESTAMP(3), FALSE) FROM outside_account WHERE user_id = ?"};

struct error *remote_account_temporary_is_over(struct database *database, struct arena *arena, struct id user,
                                               bool *over_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &get_temporary, VALUES(database_id(user)), &rows));
    *over_out = rows->count != 0 && rows_boolean(rows, 0, 0);
    return NULL;
}

static const struct statement awaits_first = {
    "SELECT COALESCE(a.temporary_until IS NOT NULL, FALSE), u.email FROM user u"
    " LEFT JOIN outside_account a ON a.user_id = u.id WHERE u.id = ? AND u.status = 'awaiting-first-login'"};

struct error *remote_account_awaits_first_login(struct database *database, struct arena *arena, struct id user,
                                                const char **email_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &awaits_first, VALUES(database_id(user)), &rows));
    *email_out = rows->count != 0 && rows_boolean(rows, 0, 0) ? rows_text(rows, 0, 1) : NULL;
    return NULL;
}

/* ---- tokens of sessions that were never seen ------------------------------------------------------- */

static const struct statement set_tokens_from = {
    "INSERT INTO outside_account (user_id, tokens_from, sessions_ended) VALUES (?, UTC_TIMESTAMP(3), 1)"
    " ON DUPLICATE KEY UPDATE tokens_from = VALUES(tokens_from), sessions_ended = sessions_ended + 1"};

struct error *remote_account_refuse_older_tokens(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &set_tokens_from, VALUES(database_id(user)), NULL);
}

/* Tokens count whole seconds: one of the very second in which the sessions ended is refused. */
static const struct statement may_begin = {
    "SELECT 1 FROM user u JOIN organisation o ON o.id = u.organisation_id"
    " LEFT JOIN outside_account a ON a.user_id = u.id WHERE u.id = ?"
    " AND (a.tokens_from IS NULL OR a.tokens_from < '1970-01-01' + INTERVAL ? SECOND)"
    " AND (o.tokens_from IS NULL OR o.tokens_from < '1970-01-01' + INTERVAL ? SECOND)"};

struct error *remote_account_may_begin(struct database *database, struct arena *arena, struct id user,
                                       int64_t issued_at, bool *may_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &may_begin,
                       VALUES(database_id(user), database_integer(issued_at), database_integer(issued_at)), &rows));
    *may_out = rows->count != 0;
    return NULL;
}

static const struct statement find_ends = {"SELECT sessions_ended FROM outside_account WHERE user_id = ?"};

struct error *remote_account_count_ends(struct database *database, struct arena *arena, struct id user,
                                        int64_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_ends, VALUES(database_id(user)), &rows));
    *count_out = rows->count != 0 ? rows_integer(rows, 0, 0) : 0;
    return NULL;
}

/* The row is changed and not only locked: nodes of a cluster tell each other of changes alone. */
static const struct statement count_begin = {"INSERT INTO outside_account (user_id, sessions_begun) VALUES (?, 1)"
                                             " ON DUPLICATE KEY UPDATE sessions_begun = sessions_begun + 1"};

struct error *remote_account_hold_ends(struct database *database, struct arena *arena, struct id user,
                                       int64_t *count_out)
{
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &count_begin, VALUES(database_id(user)), NULL));
    return remote_account_count_ends(database, arena, user, count_out);
}

static const struct statement delete_account = {"DELETE FROM outside_account WHERE user_id = ?"};

struct error *remote_account_delete(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &delete_account, VALUES(database_id(user)), NULL);
}
