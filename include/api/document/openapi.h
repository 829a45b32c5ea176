/* SPDX-License-Identifier: MIT */
/* Writes the OpenAPI 3.1 document from the route and schema tables. */
#ifndef GATEHOUSE_API_DOCUMENT_OPENAPI_H
#define GATEHOUSE_API_DOCUMENT_OPENAPI_H

#include <stdbool.h>

struct arena;
struct route_table;

/*
 * The document as JSON text in the arena: the same bytes for the same tables. `base_url` is the server's address; NULL
 * writes "/", as in the committed docs/openapi.json.
 */
const char *openapi_text(struct arena *arena, const struct route_table *table, const char *base_url);

/* Whether the document declares a tag of that name. A test checks that it declares the tag of every row. */
bool openapi_has_tag(const char *name);

#endif
