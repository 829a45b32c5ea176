/* SPDX-License-Identifier: MIT */
/*
 * Makes the route table of its groups: routes_accounts.c, routes_organisations.c, routes_files.c and routes_service.c
 * each hold the rows of one tag, routes_rights.c and routes_sessions.c more of those of accounts, routes_uploads.c more
 * of those of files.
 */
#include "api/route.h"

#include <assert.h>
#include <string.h>

#include "api/routes_int.h"

static const struct routes_group *const groups[] = {&routes_accounts,      &routes_rights, &routes_sessions,
                                                    &routes_organisations, &routes_files,  &routes_uploads,
                                                    &routes_service};

/* One array, since the metrics count requests by the row's place in it. */
static struct route rows[ROUTES_MAX];
static struct route_table table = {.rows = rows};

static void join_groups(void)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        assert(table.count + groups[i]->count <= ROUTES_MAX);
        memcpy(rows + table.count, groups[i]->rows, groups[i]->count * sizeof *rows);
        table.count += groups[i]->count;
    }
}

const struct route_table *routes(void)
{
    if (table.count == 0)
        join_groups();
    return &table;
}
