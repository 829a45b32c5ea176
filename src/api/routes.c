/* SPDX-License-Identifier: MIT */
/* The route table. The rows stand in a file for each tag: routes_accounts.c, routes_files.c, routes_service.c. */
#include "api/route.h"

#include <assert.h>
#include <string.h>

#include "api/routes_int.h"

static const struct routes_group *const groups[] = {&routes_accounts, &routes_files, &routes_service};

/* One array, since a row's place in it is the number under which its requests are counted. */
static struct route table[ROUTES_MAX];
static size_t count;

static void join_groups(void)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        assert(count + groups[i]->count <= ROUTES_MAX);
        memcpy(table + count, groups[i]->rows, groups[i]->count * sizeof *table);
        count += groups[i]->count;
    }
}

const struct route *routes(size_t *count_out)
{
    if (count == 0)
        join_groups();
    *count_out = count;
    return table;
}
