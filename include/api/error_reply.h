/* SPDX-License-Identifier: MIT */
/* Turns an error into a reply, for every endpoint (docs/api.md, "Errors"). */
#ifndef GATEHOUSE_API_ERROR_REPLY_H
#define GATEHOUSE_API_ERROR_REPLY_H

#include <stdbool.h>

struct error;
struct reply;
struct schema;

/*
 * Replaces *reply by that of the error: status, a body of six members, and WWW-Authenticate and Retry-After where they
 * belong.
 */
void error_reply(struct reply *reply, const struct error *error, const char *request_id, bool expose_stack);

/* The schema of the body, for the OpenAPI document. */
extern const struct schema error_reply_schema;

#endif
