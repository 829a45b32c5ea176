/* SPDX-License-Identifier: MIT */
/* Examples of requests and replies for the OpenAPI document, made from the schema tables and one table of values. */
#ifndef GATEHOUSE_API_DOCUMENT_EXAMPLES_INT_H
#define GATEHOUSE_API_DOCUMENT_EXAMPLES_INT_H

#include <stdbool.h>

struct buffer;
struct schema;

/*
 * Adds an object of the schema as JSON. As `input` it has the required members, and of the others those that the table of
 * values names with this schema; as a reply it has every member that is not optional.
 */
void examples_write(struct buffer *buffer, const struct schema *schema, bool input);

/* What an operation answers, as JSON, where its reply has no schema or a better example than that has; else NULL. */
const char *examples_of_operation(const char *operation);

#endif
