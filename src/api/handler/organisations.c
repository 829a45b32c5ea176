/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of organisations: the own one, and for internal staff every one. */
#include <stddef.h>
#include <string.h>

#include "api/handler/views_int.h"
#include "api/handlers_int.h"
#include "api/lists_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "http/schema.h"
#include "service/account/organisation_update.h"

/* ---- one organisation ---------------------------------------------------------------------------- */

struct organisation_reply {
    const struct organisation_view *organisation;
};

static const struct schema_field organisation_reply_fields[] = {
    {.name = "organisation",
     .type = SCHEMA_OBJECT,
     .schema = &organisation_view_schema,
     .offset = offsetof(struct organisation_reply, organisation)},
};

const struct schema organisations_reply_schema = {
    .name = "OrganisationReply", SCHEMA_FIELDS(organisation_reply_fields), .size = sizeof(struct organisation_reply)};

static struct error *reply_organisation(struct call *call, const struct organisation *organisation)
{
    struct organisation_reply *reply = arena_alloc(call->arena, sizeof *reply);
    reply->organisation = organisation_view(call->arena, organisation);
    call->result = reply;
    return NULL;
}

static struct error *show(struct call *call, struct id id)
{
    struct organisation *organisation;
    TRY(organisation_show(call->service, call->arena, &call->caller, id, &organisation));
    return reply_organisation(call, organisation);
}

static struct error *change(struct call *call, struct id id, const struct organisation_admin_change *change)
{
    struct organisation *organisation;
    TRY(organisation_update(call->service, call->arena, &call->caller, call->route->permission, id, change,
                            &organisation));
    return reply_organisation(call, organisation);
}

struct error *organisations_validate_patch(struct call *call, struct validation *validation)
{
    if (call->body_present == 0 && validation->error == NULL)
        validation_add(validation, "required", "there is nothing to change", "%s", "");
    return NULL;
}

/* ---- the caller's own ---------------------------------------------------------------------------- */

struct own_body {
    const char *name;
};

static const struct schema_field own_fields[] = {
    {.name = "name",
     .type = SCHEMA_NAME,
     .minimum = 1,
     .maximum = LIMIT_ORGANISATION_NAME_CHARACTERS,
     .offset = offsetof(struct own_body, name)},
};

const struct schema organisations_own_schema = {.name = "OwnOrganisationPatch",
                                                .description = "At least one member.",
                                                .not_empty = true,
                                                SCHEMA_FIELDS(own_fields),
                                                .size = sizeof(struct own_body)};

struct error *organisations_own(struct call *call)
{
    return show(call, caller_home(&call->caller));
}

struct error *organisations_patch_own(struct call *call)
{
    const struct own_body *body = call->body;
    return change(call, caller_home(&call->caller), &(struct organisation_admin_change){.name = body->name});
}

/* ---- any, for internal staff --------------------------------------------------------------------- */

struct patch_body {
    const char *name;
    struct text_list services;
    const char *status;
    int64_t quota_bytes;
    int64_t quota_files;
};

/* A number that every reader of JSON keeps exactly (RFC 8259, section 6). */
#define QUOTA_MAX INT64_C(9007199254740991)

static const struct schema_field patch_fields[] = {
    {.name = "name",
     .type = SCHEMA_NAME,
     .minimum = 1,
     .maximum = LIMIT_ORGANISATION_NAME_CHARACTERS,
     .offset = offsetof(struct patch_body, name)},
    {.name = "services",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNIQUE,
     .minimum = 1,
     .maximum = 2,
     .item_maximum = 20,
     .choices = "inventory|logistics",
     .offset = offsetof(struct patch_body, services)},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|disabled",
     .offset = offsetof(struct patch_body, status)},
    {.name = "quotaBytes",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_NULLABLE,
     .maximum = QUOTA_MAX,
     .offset = offsetof(struct patch_body, quota_bytes),
     .description = "null: no bound."},
    {.name = "quotaFiles",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_NULLABLE,
     .maximum = QUOTA_MAX,
     .offset = offsetof(struct patch_body, quota_files),
     .description = "null: no bound."},
};

const struct schema organisations_patch_schema = {.name = "OrganisationPatch",
                                                  .description = "At least one member.",
                                                  .not_empty = true,
                                                  SCHEMA_FIELDS(patch_fields),
                                                  .size = sizeof(struct patch_body)};

struct error *organisations_get(struct call *call)
{
    return show(call, call->id);
}

static int64_t quota_of(int64_t given)
{
    return given == SCHEMA_NO_INTEGER ? ORGANISATION_NO_QUOTA : given;
}

static enum organisation_status status_of(const char *word)
{
    return strcmp(word, organisation_status_text(ORGANISATION_ACTIVE)) == 0 ? ORGANISATION_ACTIVE
                                                                            : ORGANISATION_DISABLED;
}

static bool has(const struct call *call, const char *name)
{
    return schema_has(&organisations_patch_schema, call->body_present, name);
}

struct error *organisations_patch(struct call *call)
{
    const struct patch_body *body = call->body;
    int64_t quota_bytes = quota_of(body->quota_bytes), quota_files = quota_of(body->quota_files);
    enum organisation_status status = body->status != NULL ? status_of(body->status) : ORGANISATION_ACTIVE;
    struct organisation_admin_change wanted = {
        .name = body->name,
        .services = has(call, "services") ? &body->services : NULL,
        .status = body->status != NULL ? &status : NULL,
        .quota_bytes = has(call, "quotaBytes") ? &quota_bytes : NULL,
        .quota_files = has(call, "quotaFiles") ? &quota_files : NULL,
    };
    return change(call, call->id, &wanted);
}

/* ---- all of them --------------------------------------------------------------------------------- */

struct list_query {
    int64_t limit;
    struct id cursor;
    const char *status;
    const char *search;
};

static const struct schema_field list_query_fields[] = {
    {LISTS_LIMIT(struct list_query)},
    {LISTS_CURSOR(struct list_query)},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|disabled",
     .offset = offsetof(struct list_query, status)},
    {.name = "search",
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = LIMIT_ORGANISATION_NAME_CHARACTERS,
     .offset = offsetof(struct list_query, search),
     .description = "Part of the name, whatever the case."},
};

const struct schema organisations_list_query_schema = {
    .name = "OrganisationListQuery", SCHEMA_FIELDS(list_query_fields), .size = sizeof(struct list_query)};

struct list_reply {
    struct schema_list items;
    struct id next_cursor;
};

static const struct schema_field list_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &organisation_view_schema,
     .offset = offsetof(struct list_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct list_reply, next_cursor)},
};

const struct schema organisations_list_schema = {
    .name = "OrganisationList", SCHEMA_FIELDS(list_fields), .size = sizeof(struct list_reply)};

struct error *organisations_list(struct call *call)
{
    const struct list_query *query = call->query;
    struct organisation_page page;
    struct organisation_filter filter = {
        .any_status = query->status == NULL,
        .search = query->search,
        .after = query->cursor,
        .limit = (unsigned)query->limit,
    };
    if (query->status != NULL)
        filter.status = status_of(query->status);
    TRY(organisation_browse(call->service, call->arena, &call->caller, &filter, &page));
    struct list_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **views = arena_array(call->arena, page.count, sizeof *views);
    for (size_t i = 0; i < page.count; i++)
        views[i] = organisation_view(call->arena, &page.items[i]);
    reply->items = (struct schema_list){views, page.count};
    if (page.more)
        reply->next_cursor = page.items[page.count - 1].id;
    call->result = reply;
    return NULL;
}
