/* SPDX-License-Identifier: MIT */
/* Handles the endpoints that explain decisions: what somebody may do and why, and what a change would bring. */
#include <stddef.h>

#include "api/handler/members_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "domain/permission/permission.h"
#include "domain/permission/permission_use.h"
#include "domain/permission/principal.h"
#include "http/schema.h"
#include "service/access/caller.h"
#include "service/account/member.h"
#include "service/runtime/service.h"
#include "service/runtime/use_log.h"

/* ---- explaining ---------------------------------------------------------------------------------- */

#define QUESTIONS_MAX 100

struct authorise_body {
    const char *permission;
    struct text_list permissions;
    struct id user_id;
};

static const struct schema_field authorise_fields[] = {
    {.name = "permission",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .instead = "permissions",
     .minimum = 1,
     .maximum = LIMIT_PERMISSION_BYTES,
     .pattern = PERMISSION_CONCRETE_PATTERN,
     .offset = offsetof(struct authorise_body, permission),
     .description = "One concrete permission, such as cus:file:w. Either this or permissions."},
    {.name = "permissions",
     .type = SCHEMA_TEXTS,
     .minimum = 1,
     .maximum = QUESTIONS_MAX,
     .item_maximum = LIMIT_PERMISSION_BYTES,
     .pattern = PERMISSION_CONCRETE_PATTERN,
     .offset = offsetof(struct authorise_body, permissions),
     .description = "Several of them, to be explained in this order."},
    {.name = "userId",
     .type = SCHEMA_ID,
     .offset = offsetof(struct authorise_body, user_id),
     .description = "Somebody else of the organisation; needs cus:user:r. Anybody; needs cus:user:a."},
};

const struct schema authorise_schema = {.name = "AuthoriseRequest",
                                        .description = "Exactly one of permission and permissions.",
                                        SCHEMA_FIELDS(authorise_fields),
                                        .size = sizeof(struct authorise_body)};

struct source_view {
    const char *source;
    const char *permission;
};

static const struct schema_field source_fields[] = {
    {.name = "source",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct source_view, source),
     .description = "role:<id>, or user for the user's own permissions."},
    {.name = "permission", .type = SCHEMA_TEXT, .offset = offsetof(struct source_view, permission)},
};

static const struct schema source_schema = {
    .name = "PermissionSource", SCHEMA_FIELDS(source_fields), .size = sizeof(struct source_view)};

struct authorise_reply {
    bool allowed;
    const char *required;
    struct schema_list granted_by;
    const char *missing;
};

static const struct schema_field authorise_reply_fields[] = {
    {.name = "allowed", .type = SCHEMA_BOOLEAN, .offset = offsetof(struct authorise_reply, allowed)},
    {.name = "required", .type = SCHEMA_TEXT, .offset = offsetof(struct authorise_reply, required)},
    {.name = "grantedBy",
     .type = SCHEMA_OBJECTS,
     .schema = &source_schema,
     .offset = offsetof(struct authorise_reply, granted_by)},
    {.name = "missing",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct authorise_reply, missing)},
};

const struct schema authorise_reply_schema = {
    .name = "AuthoriseReply", SCHEMA_FIELDS(authorise_reply_fields), .size = sizeof(struct authorise_reply)};

struct authorise_list {
    struct schema_list items;
};

static const struct schema_field authorise_list_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &authorise_reply_schema,
     .offset = offsetof(struct authorise_list, items)},
};

const struct schema authorise_list_schema = {
    .name = "AuthoriseList", SCHEMA_FIELDS(authorise_list_fields), .size = sizeof(struct authorise_list)};

static void validate_concrete(const char *text, const char *path, struct validation *validation)
{
    struct permission permission;
    if (!permission_parse_concrete(text, &permission) && !validation_has(validation, path))
        validation_add(validation, "format", "must be one concrete permission, such as cus:file:w", "%s", path);
}

struct error *authorise_validate(struct call *call, struct validation *validation)
{
    const struct authorise_body *body = call->body;
    if (body->permission != NULL)
        validate_concrete(body->permission, "permission", validation);
    for (size_t i = 0; i < body->permissions.count; i++)
        validate_concrete(body->permissions.items[i], arena_format(call->arena, "permissions[%zu]", i), validation);
    return NULL;
}

/*
 * Finds whose rights are explained: the caller's; with the permission to read users a colleague's, and with letter `a`
 * anybody's.
 */
static struct error *find_subject(struct call *call, struct id user_id, const struct principal **principal_out)
{
    static const char required[] = "cus:user:r";
    struct principal *other = NULL;
    struct user *user;
    *principal_out = call->caller.principal;
    if (id_is_none(user_id) || id_equal(user_id, caller_user(&call->caller)))
        return NULL;
    TRY(caller_require(call->arena, &call->caller, required));
    use_log_note(call->service->uses, caller_user(&call->caller), required, permission_use_today());
    TRY(member_find_named(call->service, call->arena, &call->caller, required, user_id, "userId", &user));
    TRY(principal_load(call->service->database, call->arena, user_id, id_none, &other));
    *principal_out = other;
    return other != NULL ? NULL : error_plain(call->arena, ERROR_USER_UNKNOWN);
}

static const struct authorise_reply *explain(struct arena *arena, const struct principal *subject,
                                             const char *permission)
{
    struct principal_source *sources = NULL;
    /* A user who may not call at all is refused everything, whatever the roles grant. */
    size_t count = principal_is_active(subject) ? principal_sources(arena, subject, permission, &sources) : 0;
    const void **views = arena_array(arena, count, sizeof *views);
    for (size_t i = 0; i < count; i++) {
        struct source_view *view = arena_alloc(arena, sizeof *view);
        *view = (struct source_view){sources[i].source, sources[i].permission};
        views[i] = view;
    }
    struct authorise_reply *reply = arena_alloc(arena, sizeof *reply);
    *reply = (struct authorise_reply){
        .allowed = count > 0,
        .required = permission,
        .granted_by = {views, count},
        .missing = count > 0 ? NULL : permission,
    };
    return reply;
}

struct error *authorise(struct call *call)
{
    const struct authorise_body *body = call->body;
    const struct principal *subject = NULL;
    TRY(find_subject(call, body->user_id, &subject));
    if (body->permission != NULL) {
        call->result = explain(call->arena, subject, body->permission);
        return NULL;
    }
    struct authorise_list *list = arena_alloc(call->arena, sizeof *list);
    const void **items = arena_array(call->arena, body->permissions.count, sizeof *items);
    for (size_t i = 0; i < body->permissions.count; i++)
        items[i] = explain(call->arena, subject, body->permissions.items[i]);
    list->items = (struct schema_list){items, body->permissions.count};
    call->other_result = list;
    return NULL;
}

/* ---- foreseeing ---------------------------------------------------------------------------------- */

struct simulate_body {
    struct id user_id;
    struct text_list roles;
    struct text_list permissions;
};

static const struct schema_field simulate_fields[] = {
    {.name = "userId", .type = SCHEMA_ID, .flags = SCHEMA_REQUIRED, .offset = offsetof(struct simulate_body, user_id)},
    MEMBERS_ROLES_FIELD(struct simulate_body, roles),
    MEMBERS_PERMISSIONS_FIELD(struct simulate_body, permissions),
};

const struct schema authorise_simulate_schema = {
    .name = "SimulateRequest",
    .description = "userId, and roles or permissions or both, as for a change of the user.",
    SCHEMA_FIELDS(simulate_fields),
    .size = sizeof(struct simulate_body)};

struct refusal_view {
    const char *path;
    const char *message;
    const char *code;
};

static const struct schema_field refusal_fields[] = {
    {.name = "path", .type = SCHEMA_TEXT, .offset = offsetof(struct refusal_view, path)},
    {.name = "message", .type = SCHEMA_TEXT, .offset = offsetof(struct refusal_view, message)},
    {.name = "code", .type = SCHEMA_CHOICE, .choices = "notGrantable", .offset = offsetof(struct refusal_view, code)},
};

static const struct schema refusal_schema = {
    .name = "NotGrantable", SCHEMA_FIELDS(refusal_fields), .size = sizeof(struct refusal_view)};

struct simulate_reply {
    struct text_list permissions;
    struct text_list gained;
    struct text_list lost;
    struct schema_list not_grantable;
};

static const struct schema_field simulate_reply_fields[] = {
    {.name = "permissions",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct simulate_reply, permissions),
     .description = "The effective permissions that the change asks for."},
    {.name = "gained",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct simulate_reply, gained),
     .description = "The operationId of each endpoint that these permissions grant and those of now do not."},
    {.name = "lost",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct simulate_reply, lost),
     .description = "The operationId of each endpoint that the permissions of now grant and these do not."},
    {.name = "notGrantable",
     .type = SCHEMA_OBJECTS,
     .schema = &refusal_schema,
     .offset = offsetof(struct simulate_reply, not_grantable),
     .description = "What the caller may not give: the validation of the 403 that the change would be answered with."},
};

const struct schema authorise_simulate_reply_schema = {
    .name = "SimulateReply", SCHEMA_FIELDS(simulate_reply_fields), .size = sizeof(struct simulate_reply)};

struct error *authorise_validate_simulate(struct call *call, struct validation *validation)
{
    const struct simulate_body *body = call->body;
    bool changes = schema_has(&authorise_simulate_schema, call->body_present, "roles") ||
                   schema_has(&authorise_simulate_schema, call->body_present, "permissions");
    return members_validate_change(call, changes, &body->roles, &body->permissions, validation);
}

/* The operations that `with` grants and `without` does not, in the order of the route table. */
static struct text_list operations_between(const struct call *call, const struct text_list *without,
                                           const struct text_list *with)
{
    const struct route_table *table = call->routes;
    struct text_list operations = {arena_array(call->arena, table->count, sizeof *operations.items), 0};
    for (size_t i = 0; i < table->count; i++) {
        const struct route *row = &table->rows[i];
        if (row->access == ACCESS_PERMISSION && permission_covers(with, row->permission) &&
            !permission_covers(without, row->permission))
            operations.items[operations.count++] = row->operation;
    }
    return operations;
}

static struct schema_list view_refusals(struct arena *arena, const struct error_entry *entries)
{
    size_t count = 0;
    for (const struct error_entry *entry = entries; entry != NULL; entry = entry->next)
        count++;
    const void **views = arena_array(arena, count, sizeof *views);
    count = 0;
    for (const struct error_entry *entry = entries; entry != NULL; entry = entry->next) {
        struct refusal_view *view = arena_alloc(arena, sizeof *view);
        *view = (struct refusal_view){entry->path, entry->message, entry->code};
        views[count++] = view;
    }
    return (struct schema_list){views, count};
}

struct error *authorise_simulate(struct call *call)
{
    const struct simulate_body *body = call->body;
    struct member_outcome outcome;
    struct member_patch patch = {
        .roles = schema_has(&authorise_simulate_schema, call->body_present, "roles") ? &body->roles : NULL,
        .permissions =
            schema_has(&authorise_simulate_schema, call->body_present, "permissions") ? &body->permissions : NULL,
    };
    TRY(member_foresee(call->service, call->arena, &call->caller, call->route->permission, body->user_id, &patch,
                       &outcome));
    struct simulate_reply *reply = arena_alloc(call->arena, sizeof *reply);
    *reply = (struct simulate_reply){
        .permissions = outcome.after,
        .gained = operations_between(call, &outcome.before, &outcome.after),
        .lost = operations_between(call, &outcome.after, &outcome.before),
        .not_grantable = view_refusals(call->arena, outcome.not_grantable),
    };
    call->result = reply;
    return NULL;
}
