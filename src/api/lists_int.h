/* SPDX-License-Identifier: MIT */
/* What the queries of lists have in common. */
#ifndef GATEHOUSE_API_LISTS_INT_H
#define GATEHOUSE_API_LISTS_INT_H

#include <stddef.h>

#include "base/limits.h"
#include "http/schema.h"

/* The members of the schema's row for a page's limit, an int64_t named `limit` in the query. */
#define LISTS_LIMIT(query)                                                                                             \
    .name = "limit", .type = SCHEMA_INTEGER, .minimum = 1, .maximum = LIMIT_PAGE_MAX,                                  \
    .fallback = LIMIT_TEXT(LIMIT_PAGE_DEFAULT), .offset = offsetof(query, limit)

/* Those of the row for the place after which a page begins, a struct id named `cursor`. */
#define LISTS_CURSOR(query)                                                                                            \
    .name = "cursor", .type = SCHEMA_ID, .offset = offsetof(query, cursor),                                            \
    .description = "nextCursor of the page before."

#endif
