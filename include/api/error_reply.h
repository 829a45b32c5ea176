/* SPDX-License-Identifier: MIT */
/* The one place where an error becomes a reply (docs/api.md, "Errors"). */
#ifndef GATEHOUSE_API_ERROR_REPLY_H
#define GATEHOUSE_API_ERROR_REPLY_H

#include <stdbool.h>

struct error;
struct reply;
struct schema;

/* Replaces *reply by the error's: status, body of six members, WWW-Authenticate and Retry-After where they belong. */
void error_reply(struct reply *reply, const struct error *error, const char *request_id, bool expose_stack);

/* The error body's schema, for the OpenAPI document. */
extern const struct schema error_reply_schema;

#endif
