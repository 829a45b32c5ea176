/* SPDX-License-Identifier: MIT */
/*
 * Changes members, and tells beforehand what a change would bring. Both ask check_change(), so what is told is what
 * happens.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/audit.h"
#include "domain/permission/permission.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/grant.h"
#include "service/account/member.h"
#include "service/account/member_int.h"
#include "service/account/provider_sync.h"
#include "service/account/session_admin.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/* ---- checking ------------------------------------------------------------------------------------ */

struct update {
    struct service *service;
    const struct caller *caller; /* NULL: the operator, who may do everything that leaves the rows in order */
    const char *required;
    const struct member_patch *patch;
    struct id organisation;
    struct id id;
    bool foresees;          /* nothing will be written, so nothing is locked */
    struct caller now;      /* the caller as the transaction finds the row */
    struct role_list roles; /* as the transaction finds them */
    struct user *changed;   /* as it leaves the row */
};

static bool by_operator(const struct update *update)
{
    return update->caller == NULL;
}

/* Makes the row that the patch asks for. */
static void apply(const struct member_patch *patch, const struct user *before, struct user *after)
{
    *after = *before;
    if (patch->roles != NULL)
        after->roles = *patch->roles;
    if (patch->permissions != NULL)
        after->permissions = *patch->permissions;
    if (patch->first_name != NULL)
        after->first_name = patch->first_name;
    if (patch->last_name != NULL)
        after->last_name = patch->last_name;
    if (patch->has_phone && (before->phone == NULL || patch->phone == NULL || strcmp(before->phone, patch->phone) != 0))
        after->phone_verified = false;
    if (patch->has_phone)
        after->phone = patch->phone;
    if (patch->has_status)
        after->status = patch->status;
}

static bool changes_grants(const struct update *update)
{
    return update->patch->roles != NULL || update->patch->permissions != NULL;
}

/* Checks the length of all roles and permissions that the user would have. */
static struct error *validate_result(const struct update *update, struct arena *arena, const struct user *after)
{
    struct validation validation;
    validation_init(&validation, arena);
    if (changes_grants(update))
        grant_validate_length(arena, &update->roles, &after->roles, &after->permissions, &validation);
    return validation.error;
}

/* Checks that the caller holds all that the user may do, and all that the change leaves the user with. */
static struct error *check_grants(const struct update *update, struct arena *arena, const struct user *before,
                                  const struct user *after)
{
    const struct caller *caller = by_operator(update) ? NULL : &update->now;
    if (caller != NULL)
        TRY(grant_check_reach(arena, caller, &update->roles, before, "id"));
    TRY(validate_result(update, arena, after));
    return changes_grants(update) ? grant_check(arena, caller, &update->roles, after, NULL) : NULL;
}

/* Whether the user loses something that grants a permission. A role that does not exist any more grants nothing. */
static bool loses(const struct update *update, const struct user *before, const struct user *after)
{
    for (size_t i = 0; i < before->roles.count; i++)
        if (role_find(&update->roles, before->roles.items[i]) != NULL &&
            !text_list_has(&after->roles, before->roles.items[i]))
            return true;
    for (size_t i = 0; i < before->permissions.count; i++)
        if (permission_valid(before->permissions.items[i]) &&
            !text_list_has(&after->permissions, before->permissions.items[i]))
            return true;
    return false;
}

/* Checks that callers do not set their own status, or take a role or permission from themselves. */
static struct error *check_self(const struct update *update, struct arena *arena, const struct user *before,
                                const struct user *after)
{
    if (by_operator(update) || !id_equal(before->id, caller_user(&update->now)))
        return NULL;
    return update->patch->has_status || loses(update, before, after) ? error_plain(arena, ERROR_USER_SELF) : NULL;
}

static struct error *check_status(const struct update *update, struct arena *arena, const struct user *before)
{
    bool can_change = before->status == USER_ACTIVE || before->status == USER_DISABLED;
    return update->patch->has_status && !can_change ? error_plain(arena, ERROR_USER_STATE) : NULL;
}

/* Checks the change of `before` into `after`, by the caller and the roles as `update` has them. */
static struct error *check_change(const struct update *update, struct arena *arena, const struct user *before,
                                  const struct user *after)
{
    TRY(check_grants(update, arena, before, after));
    TRY(check_self(update, arena, before, after));
    TRY(check_status(update, arena, before));
    return update->foresees ? authority_foresee_last_holder(update->service, arena, &update->roles, before, after)
                            : authority_check_last_holder(update->service, arena, &update->roles, before, after);
}

/* ---- changing ------------------------------------------------------------------------------------ */

/* Locks the user's row and checks the caller again. */
static struct error *hold(struct update *update, struct arena *arena, struct user **user_out)
{
    struct service *service = update->service;
    if (by_operator(update))
        TRY(user_lock(service->database, arena, update->organisation, update->id, user_out));
    else
        TRY(member_hold(service, arena, update->caller, update->required, update->organisation, update->id,
                        &update->now, user_out));
    TRY(role_list(service->database, arena, &update->roles));
    return *user_out == NULL ? member_unknown(arena, "id") : NULL;
}

static void add_list(struct buffer *details, const char *name, const struct text_list *list)
{
    buffer_add_format(details, ",\"%s\":[", name);
    for (size_t i = 0; i < list->count; i++) {
        buffer_add_text(details, i == 0 ? "" : ",");
        buffer_add_json_text(details, list->items[i]);
    }
    buffer_add_char(details, ']');
}

/* The details for the audit trail: roles, permissions and status as given, and whether names or phone were changed. */
static const char *describe(struct arena *arena, const struct member_patch *patch)
{
    struct buffer details;
    buffer_init(&details, arena);
    buffer_add_format(&details, "{\"names\":%s,\"phone\":%s",
                      patch->first_name != NULL || patch->last_name != NULL ? "true" : "false",
                      patch->has_phone ? "true" : "false");
    if (patch->roles != NULL)
        add_list(&details, "roles", patch->roles);
    if (patch->permissions != NULL)
        add_list(&details, "permissions", patch->permissions);
    if (patch->has_status)
        buffer_add_format(&details, ",\"status\":\"%s\"", user_status_text(patch->status));
    buffer_add_char(&details, '}');
    return details.bytes;
}

static struct error *update_rows(struct database *database, struct arena *arena, void *context)
{
    struct update *update = context;
    static const struct caller nobody;
    struct user *before = NULL;
    struct user *after = arena_alloc(arena, sizeof *after);
    TRY(hold(update, arena, &before));
    apply(update->patch, before, after);
    TRY(check_change(update, arena, before, after));
    bool disabled = update->patch->has_status && after->status == USER_DISABLED;
    struct audit_entry entry = {
        .details = describe(arena, update->patch),
        .action = disabled ? "user.disable" : "user.update",
        .organisation_id = after->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, after->id),
    };
    if (disabled)
        TRY(session_admin_end_all(update->service, arena, after->id));
    TRY(user_update(database, arena, after));
    /*
     * The job waits: if it ran while run_update() sends the row, an old status could arrive last, and would stay until
     * the job runs again.
     */
    TRY(provider_sync_queue(update->service, arena, after->id,
                            update->patch->has_status ? PROVIDER_SYNC_PATIENCE_SECONDS : 0));
    TRY(caller_audit(update->service, arena, by_operator(update) ? &nobody : &update->now, &entry));
    return user_find(database, arena, update->organisation, update->id, &update->changed);
}

/* Finds unknown roles and malformed permissions, before anything else is looked up. */
static struct error *validate(const struct update *update, struct arena *arena)
{
    static const struct text_list none;
    struct validation validation;
    struct role_list roles;
    const struct member_patch *patch = update->patch;
    validation_init(&validation, arena);
    TRY(role_list(update->service->database, arena, &roles));
    grant_validate(&roles, patch->roles != NULL ? patch->roles : &none,
                   patch->permissions != NULL ? patch->permissions : &none, &validation);
    return validation.error;
}

static struct error *run_update(struct update *update, struct arena *arena, struct user **user_out)
{
    struct service *service = update->service;
    TRY(database_transaction(service->database, arena, update_rows, update, NULL));
    /* Sent at once where somebody is let in or shut out. The queued job repeats it if this fails. */
    struct error *error = update->patch->has_status ? provider_sync_user(service, arena, update->id) : NULL;
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "the provider will be told of a status later", LOG_TEXT("detail", error->detail));
    *user_out = update->changed;
    return NULL;
}

struct error *member_update(struct service *service, struct arena *arena, const struct caller *caller,
                            const char *required, struct id id, const struct member_patch *patch,
                            struct user **user_out)
{
    struct user *user = NULL;
    struct update update = {.service = service, .caller = caller, .required = required, .patch = patch, .id = id};
    TRY(validate(&update, arena));
    TRY(member_find(service, arena, caller, required, id, &user));
    update.organisation = user->organisation_id;
    return run_update(&update, arena, user_out);
}

struct error *member_update_as_operator(struct service *service, struct arena *arena, const char *username,
                                        const struct member_patch *patch, struct user **user_out)
{
    struct user *user = NULL;
    struct update update = {.service = service, .patch = patch};
    TRY(validate(&update, arena));
    TRY(user_find_by_username(service->database, arena, username, &user));
    if (user == NULL)
        return member_unknown(arena, "username");
    update.organisation = user->organisation_id;
    update.id = user->id;
    return run_update(&update, arena, user_out);
}

/* ---- foreseeing ---------------------------------------------------------------------------------- */

static struct text_list effective(struct arena *arena, const struct role_list *roles, const struct user *user)
{
    return permission_words(arena, grant_mirror(arena, roles, &user->roles, &user->permissions));
}

struct error *member_foresee(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *required, struct id id, const struct member_patch *patch,
                             struct member_outcome *outcome_out)
{
    struct user *before = NULL;
    struct user after;
    struct update update = {.service = service, .caller = caller, .patch = patch, .foresees = true, .now = *caller};
    TRY(validate(&update, arena));
    TRY(member_find_named(service, arena, caller, required, id, "userId", &before));
    TRY(role_list(service->database, arena, &update.roles));
    apply(patch, before, &after);
    struct error *refusal = check_change(&update, arena, before, &after);
    if (refusal != NULL && refusal->code != ERROR_ROLE_NOT_GRANTABLE)
        return refusal;
    *outcome_out = (struct member_outcome){
        .before = effective(arena, &update.roles, before),
        .after = effective(arena, &update.roles, &after),
        .not_grantable = refusal == NULL ? NULL : refusal->entries,
    };
    return NULL;
}
