/* SPDX-License-Identifier: MIT */
/* Users by the name that the identity provider has for their account (its subject). */
#include "base/error.h"
#include "domain/account/user.h"
#include "store/database/database.h"

static const struct statement find_subject = {"SELECT id FROM user WHERE provider_subject = ?"};

struct error *user_find_by_subject(struct database *database, struct arena *arena, const char *subject,
                                   struct id *user_out, bool *found_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_subject, VALUES(database_text(subject)), &rows));
    *found_out = rows->count == 1;
    if (*found_out)
        *user_out = rows_id(rows, 0, 0);
    return NULL;
}

static const struct statement find_other = {"SELECT 1 FROM user WHERE provider_subject = ? AND id <> ?"};

struct error *user_other_has_subject(struct database *database, struct arena *arena, const char *subject, struct id but,
                                     bool *has_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_other, VALUES(database_text(subject), database_id(but)), &rows));
    *has_out = rows->count != 0;
    return NULL;
}
