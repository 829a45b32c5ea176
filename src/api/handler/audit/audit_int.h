/* SPDX-License-Identifier: MIT */
/* What audit.c and audit_export.c share. */
#ifndef GATEHOUSE_API_HANDLER_AUDIT_INT_H
#define GATEHOUSE_API_HANDLER_AUDIT_INT_H

#include <stdint.h>

#include "base/id.h"

struct arena;
struct audit_filter;
struct audit_page;
struct audit_record;
struct call;
struct caller;
struct error;
struct schema;
struct service;

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

/* The organisations whose rows one reply shows to internal staff. In the arena, with a copy of the caller. */
struct audit_shown;
struct audit_shown *audit_shown_new(struct arena *arena, struct service *service, const struct caller *caller);

/*
 * Before the rows of a page leave: each organisation that has some among them, and is not the caller's own, gets an
 * audit row that says who looked, once for the reply.
 */
struct error *audit_shown_tell(struct audit_shown *shown, struct arena *arena, const struct audit_page *page);

/* The forms of a list, in the order in which the service prefers them. */
enum audit_form { AUDIT_JSON, AUDIT_CSV, AUDIT_NDJSON };

/*
 * Prepares the reply for an export in that form: at most `rows` rows (at least 1) of the filter, newest first. The
 * first rows are read at once, the others while they are sent. Where there are more rows, the header X-Next-Cursor has
 * the cursor behind the last one that is sent. `shown` is told of all rows; NULL: they are of one organisation, which
 * knows.
 */
struct error *audit_export(struct call *call, const struct audit_filter *filter, struct audit_shown *shown,
                           enum audit_form form, unsigned rows);

#endif
