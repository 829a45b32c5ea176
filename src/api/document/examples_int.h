/* SPDX-License-Identifier: MIT */
/* Writes examples of requests and replies for the OpenAPI document, from the schemas and a table of values. */
#ifndef GATEHOUSE_API_DOCUMENT_EXAMPLES_INT_H
#define GATEHOUSE_API_DOCUMENT_EXAMPLES_INT_H

#include <stdbool.h>

struct buffer;
struct schema;

/*
 * Adds an object of the schema as JSON. As `input` it has the required members, and the optional ones that the table
 * names with this schema. As a reply it has every member that is not optional.
 */
void examples_write(struct buffer *buffer, const struct schema *schema, bool input);

/* The reply of an operation as JSON, where it has no schema or the table has a better example; else NULL. */
const char *examples_of_operation(const char *operation);

#endif
