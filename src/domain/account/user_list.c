/* SPDX-License-Identifier: MIT */
/*
 * Lists users by keyset. A filter that no index serves is written so that NULL asks for all (see file_list.c). The
 * search ignores case in every script, and LOCATE has no wild cards. It goes through the people of the organisation in
 * the index user_listing, which holds every column that it reads.
 */
#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/address.h"
#include "domain/account/user.h"
#include "domain/columns_int.h"

static const struct statement list_users = {
    "SELECT " USER_COLUMNS ", " USER_ROLES ", " USER_WAITS " FROM user u FORCE INDEX (user_listing)"
    " WHERE u.organisation_id = ? AND u.id > ? AND " USER_SEEN " AND u.status = COALESCE(?, u.status)"
    " AND (? IS NULL OR LOCATE(LOWER(?), LOWER(CONCAT(u.first_name, ' ', u.last_name))) > 0"
    " OR LOCATE(LOWER(?), LOWER(u.email)) > 0 OR LOCATE(?, u.email_key) > 0)"
    " ORDER BY u.id LIMIT ?"};

static const struct statement each_user = {"SELECT " USER_COLUMNS ", " USER_ROLES ", " USER_WAITS
                                           " FROM user u WHERE u.id > ? AND " USER_SEEN " ORDER BY u.id LIMIT ?"};

static void read_page(struct arena *arena, const struct rows *rows, unsigned limit, struct user_page *page_out)
{
    page_out->more = rows->count > limit;
    page_out->count = page_out->more ? limit : rows->count;
    page_out->items = arena_array(arena, page_out->count, sizeof *page_out->items);
    for (size_t i = 0; i < page_out->count; i++) {
        user_read(arena, rows, i, 0, &page_out->items[i]);
        page_out->items[i].roles = text_words(arena, rows_text(rows, i, USER_COLUMN_COUNT));
        user_read_waits(rows, i, USER_COLUMN_COUNT + 1, &page_out->items[i]);
    }
}

struct error *user_list(struct database *database, struct arena *arena, const struct user_filter *filter,
                        struct user_page *page_out)
{
    assert(filter->limit >= 1 && filter->limit <= LIMIT_PAGE_MAX);
    struct rows *rows;
    struct database_value search = database_text(filter->search);
    struct database_value folded = database_text(filter->search == NULL ? NULL : address_fold(arena, filter->search));
    TRY(database_query(database, arena, &list_users,
                       VALUES(database_id(filter->organisation_id), database_id(filter->after),
                              database_text(filter->any_status ? NULL : user_status_text(filter->status)), search,
                              search, search, folded, database_integer((int64_t)filter->limit + 1)),
                       &rows));
    read_page(arena, rows, filter->limit, page_out);
    return NULL;
}

struct error *user_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                        struct user_page *page_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &each_user, VALUES(database_id(after), database_integer((int64_t)limit + 1)),
                       &rows));
    read_page(arena, rows, limit, page_out);
    return NULL;
}
