/* SPDX-License-Identifier: MIT */
/* Checks and combines roles and permissions that are to be granted. */
#include "service/access/grant.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "domain/permission/permission.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "service/access/caller.h"

static bool stands_before(const struct text_list *list, size_t index)
{
    const struct text_list before = {list->items, index};
    return text_list_has(&before, list->items[index]);
}

/* Records a fault of an item, unless its path has one already: then it is no text, or too long. */
static void add_item_fault(struct validation *validation, const char *list, size_t index, const char *code,
                           const char *message)
{
    const char *path = arena_format(validation->arena, "%s[%zu]", list, index);
    if (!validation_has(validation, path))
        validation_add(validation, code, message, "%s", path);
}

void grant_validate(const struct role_list *known, const struct text_list *roles, const struct text_list *permissions,
                    struct validation *validation)
{
    for (size_t i = 0; i < roles->count; i++)
        if (role_find(known, roles->items[i]) == NULL)
            add_item_fault(validation, "roles", i, "unknown", "is not the id of a role");
        else if (stands_before(roles, i))
            add_item_fault(validation, "roles", i, "duplicate", "is there already");
    for (size_t i = 0; i < permissions->count; i++)
        if (!permission_valid(permissions->items[i]))
            add_item_fault(validation, "permissions", i, "format", "must be module:area:letter, such as cus:file:r");
        else if (stands_before(permissions, i))
            add_item_fault(validation, "permissions", i, "duplicate", "is there already");
}

void grant_validate_length(struct arena *arena, const struct role_list *known, const struct text_list *roles,
                           const struct text_list *permissions, struct validation *validation)
{
    if (strlen(grant_mirror(arena, known, roles, permissions)) > LIMIT_PERMISSIONS_BYTES ||
        strlen(text_list_join(arena, permissions, " ")) > LIMIT_PERMISSIONS_BYTES)
        validation_add(
            validation, "length",
            "roles and permissions together grant more than " LIMIT_TEXT(LIMIT_PERMISSIONS_BYTES) " characters of text",
            "permissions");
}

#define TOO_MUCH "grants more than you hold"

static struct error *add_fault(struct arena *arena, struct error *error, const char *path, const char *what,
                               const char *why)
{
    if (error == NULL)
        error = error_plain(arena, ERROR_ROLE_NOT_GRANTABLE);
    return error_entry(error, path, "notGrantable", arena_format(arena, "%s %s", what, why));
}

/* Why a holder of `held` cannot give the role to a user of the organisation; NULL when they can. */
static const char *check_role(const struct role *role, const struct text_list *held, struct id organisation)
{
    if (!role_grantable(role, held))
        return TOO_MUCH;
    bool inside = id_equal(organisation, organisation_internal_id());
    return role_is_internal(role->id) && !inside ? "is for internal staff only" : NULL;
}

bool grant_possible(const struct role *role, const struct text_list *held, struct id organisation)
{
    return check_role(role, held, organisation) == NULL;
}

struct error *grant_check(struct arena *arena, const struct caller *caller, const struct role_list *known,
                          const struct user *user, const char *role_path)
{
    static const char *everything[] = {PERMISSION_EVERYTHING};
    struct text_list held = {everything, 1};
    struct error *error = NULL;
    if (caller != NULL)
        held = principal_permissions(arena, caller->principal);
    for (size_t i = 0; i < user->roles.count; i++) {
        const struct role *role = role_find(known, user->roles.items[i]);
        const char *path = role_path != NULL ? role_path : arena_format(arena, "roles[%zu]", i);
        /* A role that does not exist and a malformed permission grant nothing. New ones were refused before. */
        const char *why = role != NULL ? check_role(role, &held, user->organisation_id) : NULL;
        if (why != NULL)
            error = add_fault(arena, error, path, role->id, why);
    }
    for (size_t i = 0; i < user->permissions.count; i++) {
        const char *permission = user->permissions.items[i];
        if (permission_valid(permission) && !permission_covers(&held, permission))
            error = add_fault(arena, error, arena_format(arena, "permissions[%zu]", i), permission, TOO_MUCH);
    }
    return error;
}

struct error *grant_check_reach(struct arena *arena, const struct caller *caller, const struct role_list *known,
                                const struct user *user, const char *path)
{
    struct text_list held = principal_permissions(arena, caller->principal);
    struct text_list theirs = permission_words(arena, grant_mirror(arena, known, &user->roles, &user->permissions));
    for (size_t i = 0; i < theirs.count; i++)
        if (!permission_covers(&held, theirs.items[i]))
            return error_entry(error_new(arena, ERROR_ROLE_NOT_GRANTABLE, "the user may do more than the caller"), path,
                               "notGrantable", "may do more than you");
    return NULL;
}

const char *grant_mirror(struct arena *arena, const struct role_list *known, const struct text_list *roles,
                         const struct text_list *permissions)
{
    struct text_list all = {0};
    size_t most = permissions->count;
    for (size_t i = 0; i < roles->count; i++) {
        const struct role *role = role_find(known, roles->items[i]);
        most += role == NULL ? 0 : role->permissions.count;
    }
    all.items = arena_array(arena, most, sizeof *all.items);
    for (size_t i = 0; i < permissions->count; i++)
        if (permission_valid(permissions->items[i]) && !text_list_has(&all, permissions->items[i]))
            all.items[all.count++] = permissions->items[i];
    for (size_t i = 0; i < roles->count; i++) {
        const struct role *role = role_find(known, roles->items[i]);
        for (size_t j = 0; role != NULL && j < role->permissions.count; j++)
            if (permission_valid(role->permissions.items[j]) && !text_list_has(&all, role->permissions.items[j]))
                all.items[all.count++] = role->permissions.items[j];
    }
    return text_list_join(arena, &all, " ");
}
