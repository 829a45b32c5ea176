/* SPDX-License-Identifier: MIT */
/* Handles the endpoints that make, list and revoke the signed links of a file. downloads.c opens them. */
#include <stddef.h>

#include "api/handler/files_int.h"
#include "api/handlers_int.h"
#include "api/lists_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/file/file.h"
#include "domain/file/file_link.h"
#include "http/schema.h"
#include "service/access/signed_link.h"
#include "service/runtime/service.h"

/* ---- making -------------------------------------------------------------------------------------- */

struct make_body {
    int64_t expires_in;
};

static const struct schema_field make_fields[] = {
    {.name = "expiresIn",
     .type = SCHEMA_INTEGER,
     .minimum = SIGNED_LINK_SECONDS_MIN,
     .maximum = SIGNED_LINK_SECONDS_MAX,
     .fallback = LIMIT_TEXT(SIGNED_LINK_SECONDS_DEFAULT),
     .offset = offsetof(struct make_body, expires_in),
     .description = "Seconds."},
};

const struct schema links_make_schema = {
    .name = "LinkRequest", SCHEMA_FIELDS(make_fields), .size = sizeof(struct make_body)};

struct made_view {
    const char *url;
    const char *expires_at;
};

static const struct schema_field made_fields[] = {
    {.name = "url",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct made_view, url),
     .description = "Absolute. Whoever holds it may fetch the file, so it is a secret until it ends."},
    {.name = "expiresAt", .type = SCHEMA_TIME, .offset = offsetof(struct made_view, expires_at)},
};

const struct schema links_made_schema = {.name = "Link", SCHEMA_FIELDS(made_fields), .size = sizeof(struct made_view)};

struct error *links_make(struct call *call)
{
    const struct make_body *body = call->body;
    struct file_record *record;
    struct made_view *view = arena_alloc(call->arena, sizeof *view);
    TRY(files_find(call, &record));
    TRY(signed_link_make(call->service, call->arena, &call->caller, record, body->expires_in, &view->url,
                         &view->expires_at));
    call->result = view;
    return NULL;
}

/* ---- listing ------------------------------------------------------------------------------------- */

struct list_query {
    int64_t limit;
    struct id cursor;
};

static const struct schema_field query_fields[] = {
    {LISTS_LIMIT(struct list_query)},
    {LISTS_CURSOR(struct list_query)},
};

const struct schema links_query_schema = {
    .name = "FileLinksQuery", SCHEMA_FIELDS(query_fields), .size = sizeof(struct list_query)};

static const struct schema_field link_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct file_link, id)},
    {.name = "createdAt", .type = SCHEMA_TIME, .offset = offsetof(struct file_link, created_at)},
    {.name = "expiresAt", .type = SCHEMA_TIME, .offset = offsetof(struct file_link, expires_at)},
    {.name = "userId",
     .type = SCHEMA_ID,
     .offset = offsetof(struct file_link, user_id),
     .description = "Who made the link. It opens the file only while this person may read it."},
    {.name = "uses",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct file_link, uses),
     .description = "How often it gave the file from its first byte on; counted a moment after each download."},
};

static const struct schema link_schema = {
    .name = "FileLink", SCHEMA_FIELDS(link_fields), .size = sizeof(struct file_link)};

struct list_reply {
    struct schema_list items;
    const char *next_cursor;
};

static const struct schema_field list_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &link_schema, .offset = offsetof(struct list_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct list_reply, next_cursor)},
};

const struct schema links_list_schema = {
    .name = "FileLinks", SCHEMA_FIELDS(list_fields), .size = sizeof(struct list_reply)};

struct error *links_list(struct call *call)
{
    const struct list_query *query = call->query;
    struct file_record *record;
    struct file_link_page page;
    TRY(files_find(call, &record));
    TRY(file_link_list(call->service->database, call->arena, record->organisation_id, record->id, query->cursor,
                       (unsigned)query->limit, &page));
    struct list_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **items = arena_array(call->arena, page.count, sizeof *items);
    for (size_t i = 0; i < page.count; i++)
        items[i] = &page.items[i];
    reply->items = (struct schema_list){items, page.count};
    if (page.more)
        reply->next_cursor = id_text(call->arena, page.items[page.count - 1].id);
    call->result = reply;
    return NULL;
}

/* ---- revoking ------------------------------------------------------------------------------------ */

struct error *links_revoke(struct call *call)
{
    struct file_record *record;
    TRY(files_find(call, &record));
    TRY(signed_link_revoke(call->service, call->arena, &call->caller, record, call->second_id));
    call->success = "The link is revoked. It opens nothing any more.";
    return NULL;
}
