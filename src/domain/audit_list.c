/* SPDX-License-Identifier: MIT */
/*
 * Lists the audit trail: by keyset on the id (which carries the time), with one statement for each index. An index
 * begins with the columns that are asked for and then has the order. So rare rows are found as fast as common ones. The
 * statement is the first of the table whose filters are all given; the filters that are left are compared row by row,
 * inside the index where it has the column. The times bound the id as well, so that the index finds a window in the
 * past, without reading up to it.
 *
 * Rows of another organisation are never read where an organisation is asked for: each such index begins with it, or
 * with the request. So the time that a list takes does not tell what other organisations have.
 */
#include "domain/audit.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/database/database.h"

#define COLUMNS                                                                                                        \
    "a.id, a.at, a.action, a.organisation_id, a.user_id, a.target_type, a.target_id, a.client_address,"                \
    " a.request_id, a.outcome, a.details"

/* A parameter that says whether anything passes, and the value that passes otherwise; in the order of the filters. */
#define FILTERS                                                                                                        \
    " AND (? OR a.organisation_id = ?) AND (? OR a.user_id = ?) AND (? OR a.action = ?) AND (? OR a.outcome = ?)"      \
    " AND (? OR a.target_id = ?) AND (? OR a.request_id = ?)"
#define REST " AND a.id >= ? AND a.id < ?" FILTERS " ORDER BY a.id DESC LIMIT ?, ?"

static const struct statement list_all = {"SELECT " COLUMNS " FROM audit a FORCE INDEX (PRIMARY) WHERE TRUE" REST};
static const struct statement list_of_user = {"SELECT " COLUMNS
                                              " FROM audit a FORCE INDEX (audit_user) WHERE a.user_id = ?" REST};
static const struct statement list_of_user_and_action = {
    "SELECT " COLUMNS " FROM audit a FORCE INDEX (audit_user_action) WHERE a.user_id = ? AND a.action = ?" REST};
static const struct statement list_of_user_and_organisation = {"SELECT " COLUMNS
                                                               " FROM audit a FORCE INDEX (audit_user_organisation)"
                                                               " WHERE a.organisation_id = ? AND a.user_id = ?" REST};
static const struct statement list_of_organisation = {
    "SELECT " COLUMNS " FROM audit a FORCE INDEX (audit_organisation) WHERE a.organisation_id = ?" REST};
static const struct statement list_of_organisation_and_action = {"SELECT " COLUMNS
                                                                 " FROM audit a FORCE INDEX (audit_organisation_action)"
                                                                 " WHERE a.organisation_id = ? AND a.action = ?" REST};
static const struct statement list_of_organisation_and_outcome = {
    "SELECT " COLUMNS " FROM audit a FORCE INDEX (audit_organisation_outcome)"
    " WHERE a.organisation_id = ? AND a.outcome = ?" REST};
static const struct statement list_of_organisation_and_target = {
    "SELECT " COLUMNS " FROM audit a FORCE INDEX (audit_organisation_target)"
    " WHERE a.organisation_id = ? AND a.target_id = ?" REST};
static const struct statement list_of_organisation_and_request = {
    "SELECT " COLUMNS " FROM audit a FORCE INDEX (audit_request)"
    " WHERE a.organisation_id = ? AND a.request_id = ?" REST};
static const struct statement list_of_action = {"SELECT " COLUMNS
                                                " FROM audit a FORCE INDEX (audit_action) WHERE a.action = ?" REST};
static const struct statement list_of_outcome = {"SELECT " COLUMNS
                                                 " FROM audit a FORCE INDEX (audit_outcome) WHERE a.outcome = ?" REST};
static const struct statement list_of_target = {"SELECT " COLUMNS
                                                " FROM audit a FORCE INDEX (audit_target) WHERE a.target_id = ?" REST};
static const struct statement list_of_request = {
    "SELECT " COLUMNS " FROM audit a FORCE INDEX (audit_request) WHERE a.request_id = ?" REST};

/* The filters, in the order of FILTERS. */
enum { ORGANISATION, USER, ACTION, OUTCOME, TARGET, REQUEST, FILTER_COUNT };

#define BIT(filter) (1U << (filter))

/* Which filters a statement needs: those that its index begins with. The rarest rows come first. */
static const struct {
    unsigned needs;
    const struct statement *statement;
} choices[] = {
    {BIT(ORGANISATION) | BIT(REQUEST), &list_of_organisation_and_request},
    {BIT(REQUEST), &list_of_request},
    {BIT(ORGANISATION) | BIT(TARGET), &list_of_organisation_and_target},
    {BIT(TARGET), &list_of_target},
    {BIT(ORGANISATION) | BIT(USER), &list_of_user_and_organisation},
    {BIT(USER) | BIT(ACTION), &list_of_user_and_action},
    {BIT(USER), &list_of_user},
    {BIT(ORGANISATION) | BIT(ACTION), &list_of_organisation_and_action},
    {BIT(ORGANISATION) | BIT(OUTCOME), &list_of_organisation_and_outcome},
    {BIT(ORGANISATION), &list_of_organisation},
    {BIT(ACTION), &list_of_action},
    {BIT(OUTCOME), &list_of_outcome},
    {0, &list_all},
};

/* Where the window of ids begins and ends. */
static void find_window(const struct audit_filter *filter, struct database_value *from, struct database_value *to)
{
    struct id first = id_first_at(filter->since);
    struct id end = id_first_at(filter->until);
    if (!id_is_none(filter->before) && memcmp(filter->before.bytes, end.bytes, ID_BYTES) < 0)
        end = filter->before;
    *from = database_id(first);
    *to = database_id(end);
}

/* The most parameters: two filters of the index, the window, all filters with their marks, two more for a limit. */
#define VALUES_MAX (2 + 2 + 2 * FILTER_COUNT + 2)

/* Finds the best statement, and writes its parameters, but for those of its limit. Returns its index in `choices`. */
static size_t choose(const struct audit_filter *filter, struct database_value values[VALUES_MAX], size_t *count_out)
{
    const struct database_value all[FILTER_COUNT] = {
        [ORGANISATION] = database_id_or_null(filter->organisation_id),
        [USER] = database_id_or_null(filter->user_id),
        [ACTION] = database_text(filter->action),
        [OUTCOME] = database_text(filter->outcome),
        [TARGET] = database_text(filter->target_id),
        [REQUEST] = database_text(filter->request_id),
    };
    unsigned given = 0;
    size_t count = 0;
    size_t choice = 0;
    for (unsigned i = 0; i < FILTER_COUNT; i++)
        given |= all[i].kind == DATABASE_NULL ? 0 : BIT(i);
    while ((choices[choice].needs & ~given) != 0)
        choice++;
    for (unsigned i = 0; i < FILTER_COUNT; i++)
        if ((choices[choice].needs & BIT(i)) != 0)
            values[count++] = all[i];
    find_window(filter, &values[count], &values[count + 1]);
    count += 2;
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        values[count++] = database_boolean((given & ~choices[choice].needs & BIT(i)) == 0);
        values[count++] = all[i];
    }
    *count_out = count;
    return choice;
}

static void read_record(const struct rows *rows, size_t row, struct audit_record *record_out)
{
    *record_out = (struct audit_record){
        .id = rows_id(rows, row, 0),
        .at = rows_time(rows, row, 1),
        .entry =
            {
                .action = rows_text(rows, row, 2),
                .organisation_id = rows_id(rows, row, 3),
                .user_id = rows_id(rows, row, 4),
                .target_type = rows_text(rows, row, 5),
                .target_id = rows_text(rows, row, 6),
                .client_address = rows_text(rows, row, 7),
                .request_id = rows_text(rows, row, 8),
                .outcome = rows_text(rows, row, 9),
                .details = rows_text(rows, row, 10),
            },
    };
}

struct error *audit_list(struct database *database, struct arena *arena, const struct audit_filter *filter,
                         struct audit_page *page_out)
{
    assert(filter->limit >= 1 && filter->limit <= LIMIT_AUDIT_PAGE);
    struct database_value values[VALUES_MAX];
    size_t count;
    struct rows *rows;
    size_t choice = choose(filter, values, &count);
    values[count++] = database_integer(filter->skip);
    values[count++] = database_integer((int64_t)filter->limit + 1);
    TRY(database_query(database, arena, choices[choice].statement, values, count, &rows));
    page_out->more = rows->count > filter->limit;
    page_out->count = page_out->more ? filter->limit : rows->count;
    page_out->items = arena_array(arena, page_out->count, sizeof *page_out->items);
    for (size_t i = 0; i < page_out->count; i++)
        read_record(rows, i, &page_out->items[i]);
    return NULL;
}
