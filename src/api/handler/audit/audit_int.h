/* SPDX-License-Identifier: MIT */
/* What audit.c and audit_export.c share. */
#ifndef GATEHOUSE_API_HANDLER_AUDIT_INT_H
#define GATEHOUSE_API_HANDLER_AUDIT_INT_H

#include <stdint.h>

#include "base/id.h"

struct arena;
struct audit_filter;
struct audit_record;
struct call;
struct error;
struct schema;

/* A row of the audit trail as replies show it. */
struct audit_item {
    struct id id;
    const char *at;
    const char *action;
    struct id organisation_id;
    struct id user_id;
    const char *target_type;
    const char *target_id;
    const char *client_address;
    const char *request_id;
    const char *outcome;
    const char *details;
};

extern const struct schema audit_item_schema;

/* Makes the item of a row, in the arena. */
struct audit_item *audit_item(struct arena *arena, const struct audit_record *record);

/* The forms of a list, in the order in which the service prefers them. */
enum audit_form { AUDIT_JSON, AUDIT_CSV, AUDIT_NDJSON };

/*
 * Prepares the reply for an export in that form: at most `rows` rows (at least 1) of the filter, newest first. The
 * first rows are read at once, the others while they are sent. Where there are more rows, the header X-Next-Cursor has
 * the cursor behind the last one that is sent.
 */
struct error *audit_export(struct call *call, const struct audit_filter *filter, enum audit_form form, unsigned rows);

#endif
