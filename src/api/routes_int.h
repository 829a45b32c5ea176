/* SPDX-License-Identifier: MIT */
/* What the files with rows of the route table share. Each holds the rows of one tag. */
#ifndef GATEHOUSE_API_ROUTES_INT_H
#define GATEHOUSE_API_ROUTES_INT_H

#include <stddef.h>

#include "api/route.h"
#include "base/limits.h"

/* What the description of a list with `exports` ends with. */
#define EXPORTED                                                                                                       \
    "With Accept: text/csv or application/x-ndjson the reply is an export of up to " LIMIT_TEXT(                       \
        LIMIT_AUDIT_EXPORT) " rows. Where there are more, X-Next-Cursor is the cursor behind the last one."

/* The codes that a row adds to those of every such row. */
#define ERRORS(...) ((const enum error_code[]){__VA_ARGS__, ERROR_CODE_COUNT})

struct routes_group {
    const struct route *rows;
    size_t count;
};

extern const struct routes_group routes_accounts;
extern const struct routes_group routes_rights;
extern const struct routes_group routes_sessions;
extern const struct routes_group routes_files;
extern const struct routes_group routes_uploads;
extern const struct routes_group routes_organisations;
extern const struct routes_group routes_service;

#endif
