/* SPDX-License-Identifier: MIT */
/* Handles the endpoints that list roles and permissions: all that there are, and those of one user. */
#include <stddef.h>
#include <string.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/permission/permission.h"
#include "domain/permission/permission_use.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "http/schema.h"
#include "service/access/grant.h"
#include "service/account/member.h"
#include "service/runtime/service.h"

/* ---- roles --------------------------------------------------------------------------------------- */

struct role_view {
    const char *id;
    const char *description;
    struct text_list permissions;
    bool grantable;
};

static const struct schema_field role_fields[] = {
    {.name = "id", .type = SCHEMA_TEXT, .offset = offsetof(struct role_view, id)},
    {.name = "description", .type = SCHEMA_TEXT, .offset = offsetof(struct role_view, description)},
    {.name = "permissions", .type = SCHEMA_TEXTS, .offset = offsetof(struct role_view, permissions)},
    {.name = "grantable",
     .type = SCHEMA_BOOLEAN,
     .offset = offsetof(struct role_view, grantable),
     .description = "Whether the caller may give it to somebody."},
};

static const struct schema role_schema = {.name = "Role", SCHEMA_FIELDS(role_fields), .size = sizeof(struct role_view)};

struct items_reply {
    struct schema_list items;
};

static const struct schema_field roles_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &role_schema, .offset = offsetof(struct items_reply, items)},
};

const struct schema permissions_roles_schema = {
    .name = "RoleList", SCHEMA_FIELDS(roles_fields), .size = sizeof(struct items_reply)};

static void reply_items(struct call *call, const void *const *items, size_t count)
{
    struct items_reply *reply = arena_alloc(call->arena, sizeof *reply);
    reply->items = (struct schema_list){items, count};
    call->result = reply;
}

struct error *permissions_roles(struct call *call)
{
    struct role_list roles;
    struct text_list held = principal_permissions(call->arena, call->caller.principal);
    TRY(role_list(call->service->database, call->arena, &roles));
    const void **views = arena_array(call->arena, roles.count, sizeof *views);
    for (size_t i = 0; i < roles.count; i++) {
        struct role_view *view = arena_alloc(call->arena, sizeof *view);
        *view = (struct role_view){
            .id = roles.items[i].id,
            .description = roles.items[i].description,
            .permissions = roles.items[i].permissions,
            .grantable = grant_possible(&roles.items[i], &held, caller_home(&call->caller)),
        };
        views[i] = view;
    }
    reply_items(call, views, roles.count);
    return NULL;
}

/* ---- the catalogue ------------------------------------------------------------------------------- */

struct entry_view {
    const char *permission;
    struct text_list operations;
    bool grantable;
};

static const struct schema_field entry_fields[] = {
    {.name = "permission", .type = SCHEMA_TEXT, .offset = offsetof(struct entry_view, permission)},
    {.name = "operations",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct entry_view, operations),
     .description = "The operationId of each endpoint that asks for it."},
    {.name = "grantable",
     .type = SCHEMA_BOOLEAN,
     .offset = offsetof(struct entry_view, grantable),
     .description = "Whether the caller may give it to somebody."},
};

static const struct schema entry_schema = {
    .name = "CatalogueItem", SCHEMA_FIELDS(entry_fields), .size = sizeof(struct entry_view)};

static const struct schema_field catalogue_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &entry_schema, .offset = offsetof(struct items_reply, items)},
};

const struct schema permissions_catalogue_schema = {
    .name = "PermissionCatalogue", SCHEMA_FIELDS(catalogue_fields), .size = sizeof(struct items_reply)};

/* The place of the entry, which lies before or at `count` in the sorted array. */
static size_t place_of(struct entry_view *const *entries, size_t count, const char *permission)
{
    size_t place = 0;
    while (place < count && strcmp(entries[place]->permission, permission) < 0)
        place++;
    return place;
}

/* Adds the operation of a row to the entry of its permission; returns how many entries there are then. */
static size_t add_row(struct call *call, struct entry_view **entries, size_t count, const struct route *row)
{
    size_t place = place_of(entries, count, row->permission);
    if (place == count || strcmp(entries[place]->permission, row->permission) != 0) {
        struct entry_view *entry = arena_alloc(call->arena, sizeof *entry);
        *entry = (struct entry_view){
            .permission = row->permission,
            .operations = {arena_array(call->arena, call->routes->count, sizeof *entry->operations.items), 0},
        };
        memmove(entries + place + 1, entries + place, (count - place) * sizeof(struct entry_view *));
        entries[place] = entry;
        count++;
    }
    entries[place]->operations.items[entries[place]->operations.count++] = row->operation;
    return count;
}

struct error *permissions_catalogue(struct call *call)
{
    const struct route_table *table = call->routes;
    struct text_list held = principal_permissions(call->arena, call->caller.principal);
    struct entry_view **entries = arena_array(call->arena, table->count, sizeof(struct entry_view *));
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].access == ACCESS_PERMISSION)
            count = add_row(call, entries, count, &table->rows[i]);
    for (size_t i = 0; i < count; i++)
        entries[i]->grantable = permission_covers(&held, entries[i]->permission);
    reply_items(call, (const void *const *)entries, count);
    return NULL;
}

/* ---- one user's ---------------------------------------------------------------------------------- */

struct held_view {
    const char *permission;
    struct text_list sources;
    const char *last_used_at;
};

static const struct schema_field held_fields[] = {
    {.name = "permission", .type = SCHEMA_TEXT, .offset = offsetof(struct held_view, permission)},
    {.name = "sources",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct held_view, sources),
     .description = "role:<id> for each role that grants it, and user for the user's own permissions."},
    {.name = "lastUsedAt",
     .type = SCHEMA_TIME,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct held_view, last_used_at),
     .description = "The day on which the user last did something that it grants, at midnight UTC; null when that was"
                    " not within the last " LIMIT_TEXT(PERMISSION_USE_DAYS) " days."},
};

static const struct schema held_schema = {
    .name = "EffectivePermission", SCHEMA_FIELDS(held_fields), .size = sizeof(struct held_view)};

static const struct schema_field of_user_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &held_schema, .offset = offsetof(struct items_reply, items)},
};

const struct schema permissions_of_user_schema = {
    .name = "EffectivePermissions", SCHEMA_FIELDS(of_user_fields), .size = sizeof(struct items_reply)};

struct error *permissions_of_user(struct call *call)
{
    struct database *database = call->service->database;
    struct user *user;
    struct principal *principal = NULL;
    struct principal_held *held;
    struct permission_uses uses;
    TRY(member_find(call->service, call->arena, &call->caller, call->route->permission, call->id, &user));
    TRY(principal_load(database, call->arena, user->id, id_none, &principal));
    if (principal == NULL)
        return error_plain(call->arena, ERROR_USER_UNKNOWN);
    TRY(permission_use_of_user(database, call->arena, user->id, permission_use_first_day(PERMISSION_USE_DAYS), &uses));
    size_t count = principal_held(call->arena, principal, &held);
    const void **views = arena_array(call->arena, count, sizeof *views);
    for (size_t i = 0; i < count; i++) {
        struct held_view *view = arena_alloc(call->arena, sizeof *view);
        int64_t day = permission_use_last_day(&uses, user->id, held[i].permission);
        *view = (struct held_view){held[i].permission, held[i].sources, permission_use_day_text(call->arena, day)};
        views[i] = view;
    }
    reply_items(call, views, count);
    return NULL;
}
