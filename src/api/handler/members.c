/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of members: creating, confirming, listing and changing them, and what they may do. */
#include <stddef.h>

#include "api/handler/views_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "domain/permission/permission.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "http/schema.h"
#include "service/access/grant.h"
#include "service/account/member.h"
#include "service/account/recovery.h"
#include "service/account/sign_up.h"
#include "service/runtime/service.h"

/* ---- one user ------------------------------------------------------------------------------------ */

struct user_reply {
    const struct user_view *user;
};

static const struct schema_field user_reply_fields[] = {
    {.name = "user", .type = SCHEMA_OBJECT, .schema = &user_view_schema, .offset = offsetof(struct user_reply, user)},
};

const struct schema members_user_schema = {
    .name = "UserReply", SCHEMA_FIELDS(user_reply_fields), .size = sizeof(struct user_reply)};

static struct error *reply_user(struct call *call, const struct user *user)
{
    struct user_reply *reply = arena_alloc(call->arena, sizeof *reply);
    reply->user = user_view(call->arena, user);
    call->result = reply;
    return NULL;
}

/* ---- create -------------------------------------------------------------------------------------- */

static const struct schema_field create_fields[] = {
    {.name = "email", .type = SCHEMA_EMAIL, .flags = SCHEMA_REQUIRED, .offset = offsetof(struct sign_up_member, email)},
    {.name = "password",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct sign_up_member, password)},
    {.name = "firstName",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct sign_up_member, first_name)},
    {.name = "lastName",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct sign_up_member, last_name)},
    {.name = "phone", .type = SCHEMA_PHONE, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct sign_up_member, phone)},
    {.name = "roles",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_USER_ROLES,
     .item_maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct sign_up_member, roles)},
    {.name = "permissions",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_USER_PERMISSIONS,
     .item_maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct sign_up_member, permissions)},
};

const struct schema members_create_schema = {
    .name = "NewUser", SCHEMA_FIELDS(create_fields), .size = sizeof(struct sign_up_member)};

struct error *members_validate_new(struct call *call, struct validation *validation)
{
    const struct sign_up_member *member = call->body;
    struct role_list roles;
    TRY(role_list(call->service->database, call->arena, &roles));
    grant_validate(&roles, &member->roles, &member->permissions, validation);
    return NULL;
}

struct error *members_create(struct call *call)
{
    struct user user;
    TRY(sign_up_member(call->service, call->arena, &call->caller, call->body, &user));
    return reply_user(call, &user);
}

/* ---- confirm, resend ----------------------------------------------------------------------------- */

struct confirm_body {
    const char *username;
    const char *code;
};

static const struct schema_field confirm_fields[] = {
    {.name = "username",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_EMAIL_BYTES,
     .offset = offsetof(struct confirm_body, username),
     .description = "The e-mail address in any spelling, or the user id."},
    {.name = "confirmationCode",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = 32,
     .offset = offsetof(struct confirm_body, code)},
};

const struct schema members_confirm_schema = {
    .name = "ConfirmRequest", SCHEMA_FIELDS(confirm_fields), .size = sizeof(struct confirm_body)};

struct error *members_confirm(struct call *call)
{
    const struct confirm_body *body = call->body;
    TRY(member_confirm(call->service, call->arena, &call->caller, body->username, body->code));
    call->success = "The account is confirmed. You can sign in now.";
    return NULL;
}

static const struct schema_field username_fields[] = {
    {.name = "username",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_EMAIL_BYTES,
     .offset = offsetof(struct username_body, username),
     .description = "The e-mail address in any spelling, or the user id."},
};

const struct schema members_username_schema = {
    .name = "UsernameRequest", SCHEMA_FIELDS(username_fields), .size = sizeof(struct username_body)};

struct error *members_resend(struct call *call)
{
    const struct username_body *body = call->body;
    TRY(recovery_ask(call->service, call->arena, &call->caller, RECOVERY_RESEND, body->username));
    call->success = "If an account awaits it, a new e-mail is on its way.";
    return NULL;
}

struct error *members_admin_confirm(struct call *call)
{
    const struct username_body *body = call->body;
    TRY(member_admin_confirm(call->service, call->arena, &call->caller, body->username));
    call->success = "The account is confirmed.";
    return NULL;
}

/* ---- list, get ----------------------------------------------------------------------------------- */

struct list_query {
    int64_t limit;
    struct id cursor;
    const char *status;
    const char *search;
    struct id organisation_id;
};

static const struct schema_field list_query_fields[] = {
    {.name = "limit",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = LIMIT_PAGE_MAX,
     .fallback = LIMIT_TEXT(LIMIT_PAGE_DEFAULT),
     .offset = offsetof(struct list_query, limit)},
    {.name = "cursor",
     .type = SCHEMA_ID,
     .offset = offsetof(struct list_query, cursor),
     .description = "nextCursor of the page before."},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "awaiting-first-login|awaiting-confirmation|active|disabled",
     .offset = offsetof(struct list_query, status)},
    {.name = "search",
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = LIMIT_EMAIL_BYTES,
     .offset = offsetof(struct list_query, search),
     .description = "Part of a name or the e-mail address, whatever the case."},
    {.name = "organisationId",
     .type = SCHEMA_ID,
     .offset = offsetof(struct list_query, organisation_id),
     .description = "Another organisation's users; for internal staff."},
};

const struct schema members_list_query_schema = {
    .name = "UserListQuery", SCHEMA_FIELDS(list_query_fields), .size = sizeof(struct list_query)};

struct list_reply {
    struct schema_list items;
    struct id next_cursor;
};

static const struct schema_field list_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &user_view_schema,
     .offset = offsetof(struct list_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct list_reply, next_cursor)},
};

const struct schema members_list_schema = {
    .name = "UserList", SCHEMA_FIELDS(list_fields), .size = sizeof(struct list_reply)};

struct error *members_list(struct call *call)
{
    const struct list_query *query = call->query;
    struct user_page page;
    struct user_filter filter = {
        .any_status = query->status == NULL,
        .search = query->search,
        .after = query->cursor,
        .limit = (unsigned)query->limit,
    };
    if (query->status != NULL)
        (void)user_status_parse(query->status, &filter.status);
    TRY(caller_organisation(call->service, call->arena, &call->caller, call->route->permission, query->organisation_id,
                            &filter.organisation_id));
    TRY(user_list(call->service->database, call->arena, &filter, &page));
    struct list_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **views = arena_array(call->arena, page.count, sizeof *views);
    for (size_t i = 0; i < page.count; i++)
        views[i] = user_view(call->arena, &page.items[i]);
    reply->items = (struct schema_list){views, page.count};
    if (page.more)
        reply->next_cursor = page.items[page.count - 1].id;
    call->result = reply;
    return NULL;
}

struct error *members_get(struct call *call)
{
    struct user *user;
    TRY(member_find(call->service, call->arena, &call->caller, call->route->permission, call->id, &user));
    return reply_user(call, user);
}

/* ---- patch --------------------------------------------------------------------------------------- */

struct patch_body {
    const char *first_name;
    const char *last_name;
    const char *phone;
    struct text_list roles;
    struct text_list permissions;
    const char *status;
};

static const struct schema_field patch_fields[] = {
    {.name = "firstName",
     .type = SCHEMA_NAME,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct patch_body, first_name)},
    {.name = "lastName",
     .type = SCHEMA_NAME,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct patch_body, last_name)},
    {.name = "phone",
     .type = SCHEMA_PHONE,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct patch_body, phone),
     .description = "null clears it."},
    {.name = "roles",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_USER_ROLES,
     .item_maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct patch_body, roles)},
    {.name = "permissions",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_USER_PERMISSIONS,
     .item_maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct patch_body, permissions)},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|disabled",
     .offset = offsetof(struct patch_body, status)},
};

const struct schema members_patch_schema = {.name = "UserPatch",
                                            .description = "At least one member.",
                                            SCHEMA_FIELDS(patch_fields),
                                            .size = sizeof(struct patch_body)};

struct error *members_validate_patch(struct call *call, struct validation *validation)
{
    const struct patch_body *body = call->body;
    struct role_list roles;
    if (call->body_present == 0 && validation->error == NULL)
        validation_add(validation, "required", "there is nothing to change", "%s", "");
    TRY(role_list(call->service->database, call->arena, &roles));
    grant_validate(&roles, &body->roles, &body->permissions, validation);
    return NULL;
}

struct error *members_patch(struct call *call)
{
    const struct patch_body *body = call->body;
    struct user *user;
    struct member_patch patch = {
        .first_name = body->first_name,
        .last_name = body->last_name,
        .has_phone = schema_has(&members_patch_schema, call->body_present, "phone"),
        .phone = body->phone,
        .roles = schema_has(&members_patch_schema, call->body_present, "roles") ? &body->roles : NULL,
        .permissions = schema_has(&members_patch_schema, call->body_present, "permissions") ? &body->permissions : NULL,
        .has_status = body->status != NULL,
    };
    if (patch.has_status)
        (void)user_status_parse(body->status, &patch.status);
    TRY(member_update(call->service, call->arena, &call->caller, call->route->permission, call->id, &patch, &user));
    return reply_user(call, user);
}

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

struct roles_reply {
    struct schema_list items;
};

static const struct schema_field roles_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &role_schema, .offset = offsetof(struct roles_reply, items)},
};

const struct schema members_roles_schema = {
    .name = "RoleList", SCHEMA_FIELDS(roles_fields), .size = sizeof(struct roles_reply)};

struct error *members_roles(struct call *call)
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
    struct roles_reply *reply = arena_alloc(call->arena, sizeof *reply);
    reply->items = (struct schema_list){views, roles.count};
    call->result = reply;
    return NULL;
}

/* ---- authorise ----------------------------------------------------------------------------------- */

struct authorise_body {
    const char *permission;
    struct id user_id;
};

static const struct schema_field authorise_fields[] = {
    {.name = "permission",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PERMISSION_BYTES,
     .offset = offsetof(struct authorise_body, permission),
     .description = "One concrete permission, such as cus:file:w."},
    {.name = "userId",
     .type = SCHEMA_ID,
     .offset = offsetof(struct authorise_body, user_id),
     .description = "Somebody else; needs cus:user:a."},
};

const struct schema members_authorise_schema = {
    .name = "AuthoriseRequest", SCHEMA_FIELDS(authorise_fields), .size = sizeof(struct authorise_body)};

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

const struct schema members_authorise_reply_schema = {
    .name = "AuthoriseReply", SCHEMA_FIELDS(authorise_reply_fields), .size = sizeof(struct authorise_reply)};

/* Finds whose rights are explained: the caller's, or for administrators of users another user's. */
static struct error *find_subject(struct call *call, struct id user_id, const struct principal **principal_out)
{
    static const char required[] = "cus:user:a";
    struct principal *other = NULL;
    struct user *user;
    *principal_out = call->caller.principal;
    if (id_is_none(user_id) || id_equal(user_id, caller_user(&call->caller)))
        return NULL;
    TRY(caller_require(call->arena, &call->caller, required));
    TRY(member_find(call->service, call->arena, &call->caller, required, user_id, &user));
    TRY(principal_load(call->service->database, call->arena, user_id, (struct id){{0}}, &other));
    *principal_out = other;
    return other != NULL ? NULL : error_plain(call->arena, ERROR_USER_UNKNOWN);
}

struct error *members_authorise(struct call *call)
{
    const struct authorise_body *body = call->body;
    const struct principal *subject = NULL;
    struct permission permission;
    struct principal_source *sources;
    if (!permission_parse_concrete(body->permission, &permission))
        return error_entry(error_plain(call->arena, ERROR_REQUEST_INVALID), "permission", "format",
                           "must be one concrete permission, such as cus:file:w");
    TRY(find_subject(call, body->user_id, &subject));
    size_t count = principal_sources(call->arena, subject, body->permission, &sources);
    /* A user who may not call at all is refused everything, whatever the roles grant. */
    if (subject->user.status != USER_ACTIVE || subject->organisation.status != ORGANISATION_ACTIVE)
        count = 0;
    const void **views = arena_array(call->arena, count, sizeof *views);
    for (size_t i = 0; i < count; i++) {
        struct source_view *view = arena_alloc(call->arena, sizeof *view);
        *view = (struct source_view){sources[i].source, sources[i].permission};
        views[i] = view;
    }
    struct authorise_reply *reply = arena_alloc(call->arena, sizeof *reply);
    *reply = (struct authorise_reply){
        .allowed = count > 0,
        .required = body->permission,
        .granted_by = {views, count},
        .missing = count > 0 ? NULL : body->permission,
    };
    call->result = reply;
    return NULL;
}
