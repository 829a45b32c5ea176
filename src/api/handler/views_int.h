/* SPDX-License-Identifier: MIT */
/* Users and organisations as replies show them, and their schemas. */
#ifndef GATEHOUSE_API_HANDLER_VIEWS_INT_H
#define GATEHOUSE_API_HANDLER_VIEWS_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/text.h"

struct arena;
struct organisation;
struct schema;
struct user;

struct user_view {
    struct id id;
    struct id organisation_id;
    const char *email;
    const char *phone;
    const char *first_name;
    const char *last_name;
    struct text_list roles;
    struct text_list permissions;
    const char *status;
    bool email_verified;
    bool phone_verified;
    const char *created_at;
    const char *updated_at;
    const char *locale;
    const char *last_login_at;
    const char *invitation_expires_at;
    const char *locked_until;
};

struct organisation_view {
    struct id id;
    const char *name;
    struct text_list services;
    const char *status;
    const char *created_at;
    const char *updated_at;
    int64_t quota_bytes;
    int64_t quota_files;
    int64_t used_bytes;
    int64_t used_files;
    int64_t user_count;
};

extern const struct schema user_view_schema;
extern const struct schema organisation_view_schema;

/* A user or an organisation as replies show it, in the arena. */
struct user_view *user_view(struct arena *arena, const struct user *user);
struct organisation_view *organisation_view(struct arena *arena, const struct organisation *organisation);

#endif
