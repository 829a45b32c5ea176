/* SPDX-License-Identifier: MIT */
/* Handles the endpoint of the audit trail. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "domain/audit.h"
#include "http/schema.h"
#include "service/runtime/service.h"

struct audit_query {
    struct id organisation_id;
    struct id user_id;
    const char *action;
    const char *since;
    const char *until;
    int64_t limit;
    struct id cursor;
};

static const struct schema_field query_fields[] = {
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct audit_query, organisation_id)},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct audit_query, user_id), .description = "Who acted."},
    {.name = "action", .type = SCHEMA_CHOICE, .choices = AUDIT_ACTIONS, .offset = offsetof(struct audit_query, action)},
    {.name = "since",
     .type = SCHEMA_TEXT,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct audit_query, since),
     .description = "RFC 3339, included."},
    {.name = "until",
     .type = SCHEMA_TEXT,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct audit_query, until),
     .description = "RFC 3339, excluded."},
    {.name = "limit",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = LIMIT_PAGE_MAX,
     .fallback = LIMIT_TEXT(LIMIT_PAGE_DEFAULT),
     .offset = offsetof(struct audit_query, limit)},
    {.name = "cursor",
     .type = SCHEMA_ID,
     .offset = offsetof(struct audit_query, cursor),
     .description = "nextCursor of the page before."},
};

const struct schema audits_query_schema = {
    .name = "AuditQuery", SCHEMA_FIELDS(query_fields), .size = sizeof(struct audit_query)};

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

static const struct schema_field item_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct audit_item, id)},
    {.name = "at", .type = SCHEMA_TIME, .offset = offsetof(struct audit_item, at)},
    {.name = "action", .type = SCHEMA_TEXT, .offset = offsetof(struct audit_item, action)},
    {.name = "organisationId",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, organisation_id)},
    {.name = "userId", .type = SCHEMA_ID, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct audit_item, user_id)},
    {.name = "targetType",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, target_type)},
    {.name = "targetId",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, target_id)},
    {.name = "clientAddress",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, client_address)},
    {.name = "requestId",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, request_id)},
    {.name = "outcome",
     .type = SCHEMA_CHOICE,
     .choices = "success|failure",
     .offset = offsetof(struct audit_item, outcome)},
    {.name = "details", .type = SCHEMA_RAW, .offset = offsetof(struct audit_item, details)},
};

static const struct schema item_schema = {
    .name = "AuditItem", SCHEMA_FIELDS(item_fields), .size = sizeof(struct audit_item)};

struct audit_reply {
    struct schema_list items;
    struct id next_cursor;
};

static const struct schema_field reply_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &item_schema, .offset = offsetof(struct audit_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_reply, next_cursor)},
};

const struct schema audits_reply_schema = {
    .name = "AuditPage", SCHEMA_FIELDS(reply_fields), .size = sizeof(struct audit_reply)};

static void read_time(struct validation *validation, const char *path, const char *text, int64_t *milliseconds_out)
{
    if (text != NULL && !clock_parse(text, milliseconds_out))
        validation_add(validation, "format", "must be a time such as 2026-11-21T08:52:00Z", "%s", path);
}

static struct audit_item *make_item(struct arena *arena, const struct audit_record *record)
{
    const struct audit_entry *entry = &record->entry;
    struct audit_item *item = arena_alloc(arena, sizeof *item);
    *item = (struct audit_item){
        .id = record->id,
        .at = record->at,
        .action = entry->action,
        .organisation_id = entry->organisation_id,
        .user_id = entry->user_id,
        .target_type = entry->target_type,
        .target_id = entry->target_id,
        .client_address = entry->client_address,
        .request_id = entry->request_id,
        .outcome = entry->outcome,
        .details = entry->details,
    };
    return item;
}

struct error *audits_list(struct call *call)
{
    const struct audit_query *query = call->query;
    struct audit_page page;
    struct audit_filter filter = {
        .organisation_id = query->organisation_id,
        .user_id = query->user_id,
        .action = query->action,
        .since = INT64_MIN,
        .until = INT64_MAX,
        .before = query->cursor,
        .limit = (unsigned)query->limit,
    };
    struct validation validation;
    validation_init(&validation, call->arena);
    read_time(&validation, "since", query->since, &filter.since);
    read_time(&validation, "until", query->until, &filter.until);
    TRY(validation.error);
    TRY(audit_list(call->service->database, call->arena, &filter, &page));
    /*
     * Asking for another organisation crosses its boundary, which adds a row to its trail. Its rows are read before
     * that.
     */
    TRY(caller_organisation(call->service, call->arena, &call->caller, call->route->permission, query->organisation_id,
                            &filter.organisation_id));
    struct audit_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **items = arena_array(call->arena, page.count, sizeof *items);
    for (size_t i = 0; i < page.count; i++)
        items[i] = make_item(call->arena, &page.items[i]);
    reply->items = (struct schema_list){items, page.count};
    if (page.more)
        reply->next_cursor = page.items[page.count - 1].id;
    call->result = reply;
    return NULL;
}
