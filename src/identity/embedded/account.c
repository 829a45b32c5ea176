/* SPDX-License-Identifier: MIT */
/* Reads the row of an account. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "identity/embedded/embedded_int.h"

#define ACCOUNT_COLUMNS                                                                                                \
    "SELECT id, username, password_hash, password_version, password_temporary,"                                        \
    " COALESCE(password_expires_at <= UTC_TIMESTAMP(3), FALSE), status, enabled, email_verified, permissions,"
#define COLUMN_IS_OTHER 10

/* Where there is none, some other row is read and thrown away, so that a login of nobody takes as long. */
static const struct statement find_account = {ACCOUNT_COLUMNS " 0 FROM identity_account WHERE id = ?"
                                                              " UNION ALL (" ACCOUNT_COLUMNS
                                                              " 1 FROM identity_account ORDER BY id LIMIT 1) LIMIT 1"};

struct error *embedded_account_find(struct embedded *embedded, struct arena *arena, struct id id,
                                    struct embedded_account **account_out)
{
    struct rows *rows;
    *account_out = NULL;
    TRY(database_query(embedded->options.database, arena, &find_account, VALUES(database_id(id)), &rows));
    if (rows->count == 0 || rows_boolean(rows, 0, COLUMN_IS_OTHER))
        return NULL;
    const char *status = rows_text(rows, 0, 6);
    struct embedded_account *account = arena_alloc(arena, sizeof *account);
    *account = (struct embedded_account){
        .id = rows_id(rows, 0, 0),
        .username = rows_text(rows, 0, 1),
        .password_hash = rows_text(rows, 0, 2),
        .password_version = rows_integer(rows, 0, 3),
        .password_temporary = rows_boolean(rows, 0, 4),
        .password_expired = rows_boolean(rows, 0, 5),
        .force_change = strcmp(status, "force-change") == 0,
        .unconfirmed = strcmp(status, "unconfirmed") == 0,
        .enabled = rows_boolean(rows, 0, 7),
        .email_verified = rows_boolean(rows, 0, 8),
        .permissions = rows_text(rows, 0, 9),
    };
    *account_out = account;
    return NULL;
}
