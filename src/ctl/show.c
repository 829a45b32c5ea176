/* SPDX-License-Identifier: MIT */
/* gatehousectl routes, openapi: prints the route table and the OpenAPI document. */
#include <stdio.h>
#include <stdlib.h>

#include "api/document/openapi.h"
#include "api/route.h"
#include "ctl/ctl_int.h"

static const char *access_of(const struct route *row)
{
    static const char *const accesses[] = {
        [ACCESS_UNSAID] = "UNSAID", [ACCESS_PUBLIC] = "PUBLIC", [ACCESS_TOKEN] = "token"};
    return row->access == ACCESS_PERMISSION ? row->permission : accesses[row->access];
}

static void print_json(struct run *run, const struct route *rows, size_t count)
{
    struct ctl_json json = {.arena = run->arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    for (size_t i = 0; i < count; i++) {
        ctl_json_open(&json, NULL, '{');
        ctl_json_text(&json, "method", request_method_text(rows[i].method));
        ctl_json_text(&json, "path", rows[i].path);
        ctl_json_text(&json, "access", access_of(&rows[i]));
        ctl_json_text(&json, "operation", rows[i].operation);
        ctl_json_close(&json);
    }
    ctl_json_close(&json);
    ctl_json_close(&json);
}

static int show_routes(struct run *run)
{
    const struct route *rows = routes()->rows;
    size_t count = routes()->count;
    if (run->json) {
        print_json(run, rows, count);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < count; i++)
        (void)printf("%-7s %-32s %-14s %s\n", request_method_text(rows[i].method), rows[i].path, access_of(&rows[i]),
                     rows[i].operation);
    return EXIT_SUCCESS;
}

/* The document is JSON, with --json and without. */
static int show_openapi(struct run *run)
{
    (void)fputs(openapi_text(run->arena, routes(), NULL), stdout);
    return EXIT_SUCCESS;
}

const struct ctl_command ctl_routes = {
    .name = "routes", .summary = "print the table of endpoints", .json = true, .run = show_routes};

const struct ctl_command ctl_openapi = {
    .name = "openapi", .summary = "print the OpenAPI document", .json = true, .run = show_openapi};
