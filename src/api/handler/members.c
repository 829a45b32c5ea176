/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of members: creating, confirming, listing and changing them. */
#include <stddef.h>

#include "api/handler/members_int.h"
#include "api/handler/views_int.h"
#include "api/handlers_int.h"
#include "api/lists_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "http/schema.h"
#include "service/access/grant.h"
#include "service/account/member.h"
#include "service/account/recovery.h"
#include "service/account/sign_up.h"
#include "service/runtime/service.h"
#include "service/runtime/use_log.h"

/* ---- one user ------------------------------------------------------------------------------------ */

struct user_reply {
    const struct user_view *user;
};

static const struct schema_field user_reply_fields[] = {
    {.name = "user", .type = SCHEMA_OBJECT, .schema = &user_view_schema, .offset = offsetof(struct user_reply, user)},
};

const struct schema members_user_schema = {
    .name = "UserReply", SCHEMA_FIELDS(user_reply_fields), .size = sizeof(struct user_reply)};

struct error *members_reply_user(struct call *call, const struct user *user)
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
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct sign_up_member, password),
     .description = "Without it the member is invited: the e-mail brings a temporary password."},
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
    MEMBERS_ROLES_FIELD(struct sign_up_member, roles),
    MEMBERS_PERMISSIONS_FIELD(struct sign_up_member, permissions),
};

const struct schema members_create_schema = {
    .name = "NewUser", SCHEMA_FIELDS(create_fields), .size = sizeof(struct sign_up_member)};

struct error *members_validate_new(struct call *call, struct validation *validation)
{
    /* sign_up_member() looks at a member whose form is good. */
    if (validation->error == NULL)
        return NULL;
    return sign_up_validate_member(call->service, call->arena, &call->caller, call->body, validation);
}

struct error *members_create(struct call *call)
{
    struct user user;
    TRY(sign_up_member(call->service, call->arena, &call->caller, call->body, &user));
    return members_reply_user(call, &user);
}

/* ---- confirm, resend ----------------------------------------------------------------------------- */

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
    {LISTS_LIMIT(struct list_query)},
    {LISTS_CURSOR(struct list_query)},
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
    return members_reply_user(call, user);
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
    MEMBERS_ROLES_FIELD(struct patch_body, roles),
    MEMBERS_PERMISSIONS_FIELD(struct patch_body, permissions),
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|disabled",
     .offset = offsetof(struct patch_body, status)},
};

const struct schema members_patch_schema = {.name = "UserPatch",
                                            .description = "At least one member.",
                                            .not_empty = true,
                                            SCHEMA_FIELDS(patch_fields),
                                            .size = sizeof(struct patch_body)};

struct error *members_validate_change(struct call *call, bool changes, const struct text_list *roles,
                                      const struct text_list *permissions, struct validation *validation)
{
    struct role_list known;
    if (!changes && validation->error == NULL)
        validation_add(validation, "required", "there is nothing to change", "%s", "");
    TRY(role_list(call->service->database, call->arena, &known));
    grant_validate(&known, roles, permissions, validation);
    return NULL;
}

struct error *members_validate_patch(struct call *call, struct validation *validation)
{
    const struct patch_body *body = call->body;
    return members_validate_change(call, call->body_present != 0, &body->roles, &body->permissions, validation);
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
    return members_reply_user(call, user);
}
