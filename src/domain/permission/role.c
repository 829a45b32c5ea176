/* SPDX-License-Identifier: MIT */
/* Reads the role groups. */
#include "domain/permission/role.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/columns_int.h"
#include "domain/permission/permission.h"

static const char *const reserved[] = {ROLE_ADMINISTRATOR, "account-admin", NULL};

static const struct statement list_roles = {
    "SELECT r.id, r.description, p.permission FROM role r LEFT JOIN role_permission p ON p.role_id = r.id"
    " ORDER BY r.id, p.permission"};

struct error *role_list(struct database *database, struct arena *arena, struct role_list *roles_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_roles, NO_VALUES, &rows));
    *roles_out = (struct role_list){arena_array(arena, rows->count, sizeof(struct role)), 0};
    const char **permissions = arena_array(arena, rows->count, sizeof *permissions);
    struct role *role = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const char *id = rows_text(rows, i, 0);
        if (role == NULL || strcmp(role->id, id) != 0) {
            role = &roles_out->items[roles_out->count++];
            *role = (struct role){id, rows_text(rows, i, 1), {permissions + i, 0}};
        }
        if (!rows_is_null(rows, i, 2))
            role->permissions.items[role->permissions.count++] = columns_permission(arena, rows, i, 2);
    }
    return NULL;
}

const struct role *role_find(const struct role_list *roles, const char *id)
{
    for (size_t i = 0; i < roles->count; i++)
        if (strcmp(roles->items[i].id, id) == 0)
            return &roles->items[i];
    return NULL;
}

/* Whether only holders of `*:*:a` may grant the role (`admin`, `account-admin`). */
static bool is_reserved(const char *id)
{
    return columns_word_index(reserved, id) >= 0;
}

bool role_is_internal(const char *id)
{
    return strcmp(id, ROLE_ADMINISTRATOR) == 0;
}

bool role_grantable(const struct role *role, const struct text_list *held)
{
    if (is_reserved(role->id) && !permission_covers(held, PERMISSION_EVERYTHING))
        return false;
    for (size_t i = 0; i < role->permissions.count; i++) {
        struct permission permission;
        const char *text = role->permissions.items[i];
        if (permission_parse(text, &permission) && !permission_covers(held, text))
            return false;
    }
    return true;
}

struct text_list role_of_owner(struct arena *arena, const struct text_list *services)
{
    struct text_list roles = {arena_array(arena, 3, sizeof *roles.items), 0};
    roles.items[roles.count++] = ROLE_OWNER;
    if (text_list_has(services, "inventory"))
        roles.items[roles.count++] = "inv-manage";
    if (text_list_has(services, "logistics"))
        roles.items[roles.count++] = "log-manage";
    return roles;
}
