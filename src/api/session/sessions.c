/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of sessions: one's own, and those of team members. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "api/session_cookie_int.h"
#include "base/arena.h"
#include "base/limits.h"
#include "http/schema.h"
#include "service/account/session_admin.h"

static const struct schema_field session_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct session_record, id)},
    {.name = "createdAt",
     .type = SCHEMA_TIME,
     .offset = offsetof(struct session_record, created_at),
     .description = "When the user signed in."},
    {.name = "lastUsedAt",
     .type = SCHEMA_TIME,
     .offset = offsetof(struct session_record, last_used_at),
     .description = "Noted once a minute."},
    {.name = "expiresAt", .type = SCHEMA_TIME, .offset = offsetof(struct session_record, expires_at)},
    {.name = "clientAddress",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct session_record, client_address),
     .description = "From where it was used then."},
    {.name = "userAgent",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct session_record, user_agent),
     .description = "The program that used it then, by its own words: at most 200 characters, none that is invisible."},
    {.name = "current",
     .type = SCHEMA_BOOLEAN,
     .offset = offsetof(struct session_record, current),
     .description = "It is the session of the token that asks."},
};

static const struct schema session_schema = {
    .name = "Session", SCHEMA_FIELDS(session_fields), .size = sizeof(struct session_record)};

struct list_reply {
    struct schema_list items;
};

static const struct schema_field list_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &session_schema,
     .offset = offsetof(struct list_reply, items),
     .description = "Open sessions, those that were used last first."},
};

const struct schema sessions_list_schema = {
    .name = "SessionList", SCHEMA_FIELDS(list_fields), .size = sizeof(struct list_reply)};

static struct error *reply_list(struct call *call, const struct session_list *list)
{
    struct list_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **views = arena_array(call->arena, list->count, sizeof *views);
    for (size_t i = 0; i < list->count; i++)
        views[i] = &list->items[i];
    reply->items = (struct schema_list){views, list->count};
    call->result = reply;
    return NULL;
}

/* ---- one's own ------------------------------------------------------------------------------------ */

struct error *sessions_list(struct call *call)
{
    struct session_list list;
    TRY(session_admin_list(call->service, call->arena, &call->caller, &list));
    return reply_list(call, &list);
}

struct error *sessions_end(struct call *call)
{
    struct session_record *current;
    TRY(session_admin_current(call->service, call->arena, &call->caller, &current));
    TRY(session_admin_end(call->service, call->arena, &call->caller, call->id));
    if (current != NULL && current->in_cookie && id_equal(current->id, call->id))
        session_cookie_clear(call);
    call->success = "The session has ended.";
    return NULL;
}

/* ---- those of team members ------------------------------------------------------------------------ */

struct error *sessions_list_of(struct call *call)
{
    struct session_list list;
    TRY(session_admin_list_of(call->service, call->arena, &call->caller, call->route->permission, call->id, &list));
    return reply_list(call, &list);
}

struct error *sessions_end_of(struct call *call)
{
    TRY(session_admin_end_of(call->service, call->arena, &call->caller, call->route->permission, call->id,
                             call->second_id));
    call->success = "The session has ended.";
    return NULL;
}

struct error *sessions_end_all_of(struct call *call)
{
    TRY(session_admin_end_of(call->service, call->arena, &call->caller, call->route->permission, call->id, id_none));
    call->success = "All sessions of the user have ended.";
    return NULL;
}
