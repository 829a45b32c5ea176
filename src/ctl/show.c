/* SPDX-License-Identifier: MIT */
/* gatehousectl routes, openapi: the tables, for people and for programs. */
#include <stdio.h>
#include <stdlib.h>

#include "api/openapi.h"
#include "api/route.h"
#include "ctl/ctl_int.h"

int ctl_routes(struct run *run)
{
    static const char *const accesses[] = {
        [ACCESS_UNSAID] = "UNSAID", [ACCESS_PUBLIC] = "PUBLIC", [ACCESS_TOKEN] = "token", [ACCESS_PERMISSION] = NULL};
    if (run->argc != 1)
        return ctl_usage("routes");
    size_t count;
    const struct route *rows = routes(&count);
    for (size_t i = 0; i < count; i++) {
        const char *access = rows[i].access == ACCESS_PERMISSION ? rows[i].permission : accesses[rows[i].access];
        (void)printf("%-7s %-32s %-14s %s\n", method_text(rows[i].method), rows[i].path, access, rows[i].operation);
    }
    return EXIT_SUCCESS;
}

int ctl_openapi(struct run *run)
{
    if (run->argc != 1)
        return ctl_usage("openapi");
    (void)fputs(openapi_text(run->arena, NULL), stdout);
    return EXIT_SUCCESS;
}
