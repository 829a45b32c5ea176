/* SPDX-License-Identifier: MIT */
/* Writes users and organisations as replies show them. */
#include "api/handler/views_int.h"

#include <stddef.h>

#include "base/arena.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "http/schema.h"

static const struct schema_field user_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct user_view, id)},
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct user_view, organisation_id)},
    {.name = "email", .type = SCHEMA_EMAIL, .offset = offsetof(struct user_view, email)},
    {.name = "phone", .type = SCHEMA_PHONE, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct user_view, phone)},
    {.name = "firstName", .type = SCHEMA_TEXT, .offset = offsetof(struct user_view, first_name)},
    {.name = "lastName", .type = SCHEMA_TEXT, .offset = offsetof(struct user_view, last_name)},
    {.name = "roles",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct user_view, roles),
     .description = "Role ids; what they grant is looked up on each request."},
    {.name = "permissions",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct user_view, permissions),
     .description = "The user's own permissions, beside those of the roles."},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "awaiting-first-login|awaiting-confirmation|active|disabled",
     .offset = offsetof(struct user_view, status)},
    {.name = "emailVerified", .type = SCHEMA_BOOLEAN, .offset = offsetof(struct user_view, email_verified)},
    {.name = "phoneVerified", .type = SCHEMA_BOOLEAN, .offset = offsetof(struct user_view, phone_verified)},
    {.name = "createdAt", .type = SCHEMA_TIME, .offset = offsetof(struct user_view, created_at)},
    {.name = "updatedAt", .type = SCHEMA_TIME, .offset = offsetof(struct user_view, updated_at)},
    {.name = "locale",
     .type = SCHEMA_LANGUAGE,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct user_view, locale),
     .description = "The user's language, as BCP 47 writes it; null where it is not known."},
    {.name = "lastLoginAt",
     .type = SCHEMA_TIME,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct user_view, last_login_at),
     .description = "Null where no login is known."},
    {.name = "invitationExpiresAt",
     .type = SCHEMA_TIME,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct user_view, invitation_expires_at),
     .description = "While the user awaits the first login: when the temporary password expires, or has expired."},
    {.name = "lockedUntil",
     .type = SCHEMA_TIME,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct user_view, locked_until),
     .description = "While failed logins make the account wait: when the next one may be tried. The waits of known "
                    "devices (deviceMark) are not in it."},
};

const struct schema user_view_schema = {.name = "User", SCHEMA_FIELDS(user_fields), .size = sizeof(struct user_view)};

static const struct schema_field organisation_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct organisation_view, id)},
    {.name = "name", .type = SCHEMA_TEXT, .offset = offsetof(struct organisation_view, name)},
    {.name = "services",
     .type = SCHEMA_TEXTS,
     .choices = ORGANISATION_SERVICES,
     .offset = offsetof(struct organisation_view, services)},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|disabled",
     .offset = offsetof(struct organisation_view, status)},
    {.name = "createdAt", .type = SCHEMA_TIME, .offset = offsetof(struct organisation_view, created_at)},
    {.name = "updatedAt", .type = SCHEMA_TIME, .offset = offsetof(struct organisation_view, updated_at)},
    {.name = "quotaBytes",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct organisation_view, quota_bytes),
     .description = "The most bytes that its files may have, archived ones included; null: no bound."},
    {.name = "quotaFiles",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct organisation_view, quota_files),
     .description = "How many files it may have, archived ones included; null: no bound."},
    {.name = "usedBytes",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct organisation_view, used_bytes),
     .description = "As quotaBytes counts them."},
    {.name = "usedFiles",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct organisation_view, used_files),
     .description = "As quotaFiles counts them."},
    {.name = "userCount",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct organisation_view, user_count),
     .description = "Its people in every status, without those who are erased."},
};

const struct schema organisation_view_schema = {
    .name = "Organisation", SCHEMA_FIELDS(organisation_fields), .size = sizeof(struct organisation_view)};

struct user_view *user_view(struct arena *arena, const struct user *user)
{
    struct user_view *view = arena_alloc(arena, sizeof *view);
    *view = (struct user_view){
        .id = user->id,
        .organisation_id = user->organisation_id,
        .email = user->email,
        .phone = user->phone,
        .first_name = user->first_name,
        .last_name = user->last_name,
        .roles = user->roles,
        .permissions = user->permissions,
        .status = user_status_text(user->status),
        .email_verified = user->email_verified,
        .phone_verified = user->phone_verified,
        .created_at = user->created_at,
        .updated_at = user->updated_at,
        .locale = user->locale,
        .last_login_at = user->last_login_at,
        .invitation_expires_at = user->invitation_expires_at,
        .locked_until = user->locked_until,
    };
    return view;
}

static int64_t quota_view(int64_t quota)
{
    return quota == ORGANISATION_NO_QUOTA ? SCHEMA_NO_INTEGER : quota;
}

struct organisation_view *organisation_view(struct arena *arena, const struct organisation *organisation)
{
    struct organisation_view *view = arena_alloc(arena, sizeof *view);
    *view = (struct organisation_view){
        .id = organisation->id,
        .name = organisation->name,
        .services = organisation->services,
        .status = organisation_status_text(organisation->status),
        .created_at = organisation->created_at,
        .updated_at = organisation->updated_at,
        .quota_bytes = quota_view(organisation->quota_bytes),
        .quota_files = quota_view(organisation->quota_files),
        .used_bytes = organisation->used_bytes,
        .used_files = organisation->used_files,
        .user_count = organisation->user_count,
    };
    return view;
}
