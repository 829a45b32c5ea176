/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of the audit trail: everything for internal staff, an organisation's own for its owners. */
#include <stddef.h>

#include "api/handler/audit/audit_int.h"
#include "api/handlers_int.h"
#include "api/lists_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "domain/account/organisation.h"
#include "domain/audit.h"
#include "http/accept.h"
#include "http/reply.h"
#include "http/schema.h"
#include "service/access/caller_audit.h"
#include "service/runtime/service.h"

struct audit_query {
    struct id organisation_id;
    struct id user_id;
    const char *action;
    const char *outcome;
    const char *target_id;
    const char *request_id;
    const char *since;
    const char *until;
    int64_t limit;
    struct id cursor;
};

/* The first one is for internal staff alone. */
static const struct schema_field query_fields[] = {
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct audit_query, organisation_id)},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct audit_query, user_id), .description = "Who acted."},
    {.name = "action", .type = SCHEMA_CHOICE, .choices = AUDIT_ACTIONS, .offset = offsetof(struct audit_query, action)},
    {.name = "outcome",
     .type = SCHEMA_CHOICE,
     .choices = "success|failure",
     .offset = offsetof(struct audit_query, outcome)},
    {.name = "targetId",
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = AUDIT_TARGET_CHARACTERS,
     .offset = offsetof(struct audit_query, target_id),
     .description = "What was acted on: the id of a person, a file or an organisation."},
    {.name = "requestId",
     .type = SCHEMA_TEXT,
     .minimum = LIMIT_REQUEST_ID_MIN,
     .maximum = LIMIT_REQUEST_ID_MAX,
     .offset = offsetof(struct audit_query, request_id),
     .description = "All that one request has done: X-Request-Id of its reply."},
    {.name = "since",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_READ_AS_TIME,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct audit_query, since),
     .description = "RFC 3339, included."},
    {.name = "until",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_READ_AS_TIME,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct audit_query, until),
     .description = "RFC 3339, excluded."},
    {LISTS_LIMIT(struct audit_query),
     .description = "An export without it has up to " LIMIT_TEXT(LIMIT_AUDIT_EXPORT) " rows."},
    {.name = "cursor",
     .type = SCHEMA_ID,
     .offset = offsetof(struct audit_query, cursor),
     .description = "nextCursor of the page before, or X-Next-Cursor of the export before."},
};

const struct schema audits_query_schema = {
    .name = "AuditQuery", SCHEMA_FIELDS(query_fields), .size = sizeof(struct audit_query)};

const struct schema audits_own_query_schema = {.name = "OwnAuditQuery",
                                               .fields = query_fields + 1,
                                               .count = sizeof query_fields / sizeof *query_fields - 1,
                                               .size = sizeof(struct audit_query)};

struct audit_reply {
    struct schema_list items;
    struct id next_cursor;
};

static const struct schema_field reply_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &audit_item_schema,
     .offset = offsetof(struct audit_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_reply, next_cursor)},
};

static const struct schema_field header_fields[] = {
    {.name = "X-Next-Cursor",
     .type = SCHEMA_ID,
     .description = "Of an export that has not all rows: the cursor behind its last one."},
};

const struct schema audits_headers_schema = {.name = "AuditHeaders", SCHEMA_FIELDS(header_fields), .size = 1};

const struct schema audits_reply_schema = {
    .name = "AuditPage", SCHEMA_FIELDS(reply_fields), .size = sizeof(struct audit_reply)};

/* The schema has checked it. */
static void read_time(const char *text, int64_t *milliseconds_out)
{
    if (text != NULL)
        (void)clock_parse(text, milliseconds_out);
}

static void read_filter(const struct audit_query *query, struct audit_filter *filter_out)
{
    *filter_out = (struct audit_filter){
        .organisation_id = query->organisation_id,
        .user_id = query->user_id,
        .action = query->action,
        .outcome = query->outcome,
        .target_id = query->target_id,
        .request_id = query->request_id,
        .since = INT64_MIN,
        .until = INT64_MAX,
        .before = query->cursor,
        .limit = (unsigned)query->limit,
    };
    read_time(query->since, &filter_out->since);
    read_time(query->until, &filter_out->until);
}

static struct error *list(struct call *call, const struct audit_filter *filter, struct audit_shown *shown)
{
    struct audit_page page;
    TRY(audit_list(call->service->database, call->arena, filter, &page));
    if (shown != NULL)
        TRY(audit_shown_tell(shown, call->arena, &page));
    struct audit_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **items = arena_array(call->arena, page.count, sizeof *items);
    for (size_t i = 0; i < page.count; i++)
        items[i] = audit_item(call->arena, &page.items[i]);
    reply->items = (struct schema_list){items, page.count};
    if (page.more)
        reply->next_cursor = page.items[page.count - 1].id;
    call->result = reply;
    return NULL;
}

/* Answers in the form that the client wants: a page, or an export. `shown` as for audit_export(). */
static struct error *answer(struct call *call, const struct audit_filter *filter, struct audit_shown *shown)
{
    static const char *const forms[] = {
        [AUDIT_JSON] = "application/json", [AUDIT_CSV] = "text/csv", [AUDIT_NDJSON] = "application/x-ndjson"};
    enum audit_form form =
        (enum audit_form)accept_choose(request_header(call->request, "ACCEPT"), forms, sizeof forms / sizeof *forms);
    reply_set_header(call->reply, "Vary", "Accept");
    if (form == AUDIT_JSON)
        return list(call, filter, shown);
    bool limited = schema_has(call->route->query, call->query_present, "limit");
    return audit_export(call, filter, shown, form, limited ? filter->limit : LIMIT_AUDIT_EXPORT);
}

/*
 * Rows of every organisation. Who must have a reason must have it here whatever the rows are, or the answer would
 * depend on them.
 */
static struct error *list_everything(struct call *call, const struct audit_filter *filter)
{
    TRY(caller_check_reason(call->arena, &call->caller));
    return answer(call, filter, audit_shown_new(call->arena, call->service, &call->caller));
}

struct error *audits_list(struct call *call)
{
    struct audit_filter filter;
    struct organisation *organisation;
    read_filter(call->query, &filter);
    if (id_is_none(filter.organisation_id))
        return list_everything(call, &filter);
    TRY(answer(call, &filter, NULL));
    if (id_equal(filter.organisation_id, caller_home(&call->caller)))
        return NULL;
    /*
     * Asking for another organisation crosses its boundary, which adds a row to its trail. Its rows, the first ones of
     * an export, are read before that. One that does not exist has no trail.
     */
    TRY(organisation_find(call->service->database, call->arena, filter.organisation_id, &organisation));
    if (organisation == NULL)
        return caller_check_reason(call->arena, &call->caller);
    return caller_audit_crossing(call->service, call->arena, &call->caller, filter.organisation_id, "organisation",
                                 filter.organisation_id);
}

struct error *audits_list_own(struct call *call)
{
    struct audit_filter filter;
    read_filter(call->query, &filter);
    filter.organisation_id = caller_home(&call->caller);
    return answer(call, &filter, NULL);
}
