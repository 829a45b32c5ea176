/* SPDX-License-Identifier: MIT */
/* The members of a body that change what a user may do, for the requests that make the change or foresee it. */
#ifndef GATEHOUSE_API_HANDLER_MEMBERS_INT_H
#define GATEHOUSE_API_HANDLER_MEMBERS_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "domain/permission/permission.h"

struct call;
struct error;
struct text_list;
struct validation;

/* Rows of a body's schema: role ids and own permissions, in a text_list each. members_validate_change() checks them. */
#define MEMBERS_ROLES_FIELD(body, place)                                                                               \
    {.name = "roles",                                                                                                  \
     .type = SCHEMA_TEXTS,                                                                                             \
     .flags = SCHEMA_UNCHECKED | SCHEMA_UNIQUE,                                                                        \
     .maximum = LIMIT_USER_ROLES,                                                                                      \
     .item_maximum = LIMIT_FIELD_BYTES,                                                                                \
     .pattern = "^[^\\\\u0000]*$",                                                                                     \
     .offset = offsetof(body, place)}
#define MEMBERS_PERMISSIONS_FIELD(body, place)                                                                         \
    {.name = "permissions",                                                                                            \
     .type = SCHEMA_TEXTS,                                                                                             \
     .flags = SCHEMA_UNCHECKED | SCHEMA_UNIQUE,                                                                        \
     .maximum = LIMIT_USER_PERMISSIONS,                                                                                \
     .item_maximum = LIMIT_FIELD_BYTES,                                                                                \
     .pattern = PERMISSION_PATTERN,                                                                                    \
     .offset = offsetof(body, place),                                                                                  \
     .description = "All effective permissions, those of the roles included, have at most " LIMIT_TEXT(                \
         LIMIT_PERMISSIONS_BYTES) " bytes as text with a blank between two."}

/*
 * Validates a change of a user: there is one (`changes`), roles are known, permissions well-formed. Its own error is of
 * the database.
 */
struct error *members_validate_change(struct call *call, bool changes, const struct text_list *roles,
                                      const struct text_list *permissions, struct validation *validation);

#endif
