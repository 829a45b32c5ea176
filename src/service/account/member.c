/* SPDX-License-Identifier: MIT */
/* Finds members, confirms them by a code or by an administrator, and changes them. */
#include "service/account/member.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/one_time_code.h"
#include "domain/account/session.h"
#include "domain/audit.h"
#include "domain/permission/permission.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "identity/provider.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/grant.h"
#include "service/access/login_throttle.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/* ---- finding ------------------------------------------------------------------------------------- */

static struct error *unknown_user(struct arena *arena, const char *path)
{
    return error_entry(error_plain(arena, ERROR_USER_UNKNOWN), path, "unknown", "is not a user");
}

struct error *member_find(struct service *service, struct arena *arena, const struct caller *caller,
                          const char *required, struct id id, struct user **user_out)
{
    TRY(user_find(service->database, arena, caller_home(caller), id, user_out));
    if (*user_out != NULL)
        return NULL;
    if (principal_administers(caller->principal, required))
        TRY(user_find_any(service->database, arena, id, user_out));
    if (*user_out == NULL)
        return unknown_user(arena, "id");
    return caller_audit_crossing(service, arena, caller, (*user_out)->organisation_id, "user", id);
}

struct error *member_find_by_username(struct service *service, struct arena *arena, const struct caller *caller,
                                      const char *username, struct user **user_out)
{
    TRY(user_find_by_username(service->database, arena, username, user_out));
    if (*user_out == NULL)
        return unknown_user(arena, "username");
    if (id_equal((*user_out)->organisation_id, caller_home(caller)))
        return NULL;
    return caller_audit_crossing(service, arena, caller, (*user_out)->organisation_id, "user", (*user_out)->id);
}

struct error *member_check_reach(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct user *user, const char *path)
{
    struct role_list roles;
    struct text_list held = principal_permissions(arena, caller->principal);
    TRY(role_list(service->database, arena, &roles));
    struct text_list theirs = permission_words(arena, grant_mirror(arena, &roles, &user->roles, &user->permissions));
    for (size_t i = 0; i < theirs.count; i++)
        if (!permission_covers(&held, theirs.items[i]))
            return error_entry(error_new(arena, ERROR_ROLE_NOT_GRANTABLE, "the user may do more than the caller"), path,
                               "notGrantable", "may do more than you");
    return NULL;
}

/* ---- confirming ---------------------------------------------------------------------------------- */

/* The permission of an administrator who confirms without a code. */
#define CONFIRM_PERMISSION "cus:user:a"

struct confirmation {
    struct service *service;
    const struct caller *caller;
    const struct user *user;
    bool by_code;
    bool at_provider; /* the provider has checked the code, so it knows already */
    bool changed;
};

/* Locks the rows of the administrator and of the user, and checks the administrator's rights again. */
static struct error *check_confirmer(const struct confirmation *confirmation, struct arena *arena)
{
    struct service *service = confirmation->service;
    const struct user *known = confirmation->user;
    struct caller now;
    struct user *user = NULL;
    TRY(authority_hold(service, arena, confirmation->caller, CONFIRM_PERMISSION, known->id, &now));
    TRY(user_lock(service->database, arena, known->organisation_id, known->id, &user));
    return user == NULL ? unknown_user(arena, "username") : member_check_reach(service, arena, &now, user, "username");
}

static struct error *confirm_rows(struct database *database, struct arena *arena, void *context)
{
    struct confirmation *confirmation = context;
    const struct user *user = confirmation->user;
    bool spent = true;
    struct audit_entry entry = {
        .action = confirmation->by_code ? "user.confirm" : "user.adminConfirm",
        .organisation_id = user->organisation_id,
        .user_id = confirmation->by_code ? user->id : (struct id){{0}},
        .target_type = "user",
        .target_id = id_text(arena, user->id),
    };
    confirmation->changed = false;
    if (!confirmation->by_code)
        TRY(check_confirmer(confirmation, arena));
    if (confirmation->by_code && !confirmation->at_provider)
        TRY(one_time_code_spend(database, arena, user->id, ONE_TIME_CODE_CONFIRM, NULL, &spent));
    else
        TRY(one_time_code_void(database, arena, user->id, ONE_TIME_CODE_CONFIRM));
    if (spent)
        TRY(user_confirm(database, arena, user->organisation_id, user->id, &confirmation->changed));
    if (!confirmation->changed)
        return NULL;
    TRY(provider_sync_queue(confirmation->service, arena, user->id, 0));
    return caller_audit(confirmation->service, arena, confirmation->caller, &entry);
}

/* Our rows first, then the provider. What fails at the provider is done by the queued job, or by the first login. */
static struct error *confirm(struct confirmation *confirmation, struct arena *arena)
{
    struct service *service = confirmation->service;
    enum provider_outcome outcome;
    TRY(database_transaction(service->database, arena, confirm_rows, confirmation, NULL));
    if (!confirmation->changed || confirmation->at_provider)
        return NULL;
    struct error *error = provider_confirm(service->provider, arena, confirmation->user->provider_subject, &outcome);
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "the provider will be told of a confirmation later", LOG_TEXT("detail", error->detail));
    return NULL;
}

/*
 * Tries a code; `user` NULL: nobody waits for one. A provider that answers "confirmed already" has accepted this code
 * before, and its answer was lost.
 */
static struct error *try_code(struct service *service, struct arena *arena, const struct user *user,
                              const char *username, const char *code, bool *good_out)
{
    static const struct id nobody;
    enum provider_outcome outcome;
    if (!provider_has_codes(service->provider))
        return one_time_code_try(
            service->database, arena, service->master,
            &(struct one_time_code_attempt){user != NULL ? user->id : nobody, username, ONE_TIME_CODE_CONFIRM, code},
            good_out);
    TRY(provider_confirm_by_code(service->provider, arena, user != NULL ? user->provider_subject : NULL, code,
                                 &outcome));
    *good_out = outcome == PROVIDER_OK || outcome == PROVIDER_STATE;
    return NULL;
}

struct error *member_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code)
{
    struct login_throttle throttle = login_throttle_of_code(caller);
    struct user *user = NULL;
    bool good = false;
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(user_find_by_username(service->database, arena, username, &user));
    bool waiting = user != NULL && user->status == USER_AWAITING_CONFIRMATION;
    TRY(try_code(service, arena, waiting ? user : NULL, username, code, &good));
    struct confirmation confirmation = {.service = service,
                                        .caller = caller,
                                        .user = user,
                                        .by_code = true,
                                        .at_provider = provider_has_codes(service->provider)};
    if (good && waiting)
        TRY(confirm(&confirmation, arena));
    if (confirmation.changed) {
        caller_log_actor(arena, user);
        return NULL;
    }
    TRY(caller_audit_failure(service, arena, caller, "user.confirmFailed", user));
    return login_throttle_failed(service, arena, &throttle, error_plain(arena, ERROR_CODE_MISMATCH));
}

struct error *member_admin_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *username)
{
    struct user *user = NULL;
    TRY(member_find_by_username(service, arena, caller, username, &user));
    if (user->status == USER_AWAITING_FIRST_LOGIN || user->status == USER_DISABLED)
        return error_plain(arena, ERROR_USER_STATE);
    struct confirmation confirmation = {.service = service, .caller = caller, .user = user};
    TRY(confirm(&confirmation, arena));
    return confirmation.changed ? NULL : error_plain(arena, ERROR_USER_ALREADY_CONFIRMED);
}

/* ---- changing ------------------------------------------------------------------------------------ */

struct update {
    struct service *service;
    const struct caller *caller; /* NULL: the operator, who may do everything that leaves the rows in order */
    const char *required;
    const struct member_patch *patch;
    struct id organisation;
    struct id id;
    struct caller now;      /* the caller as the transaction finds the row */
    struct role_list roles; /* as the transaction finds them */
};

static bool by_operator(const struct update *update)
{
    return update->caller == NULL;
}

/* Locks the user's row and checks the caller again. Only administrators reach into another organisation. */
static struct error *hold(struct update *update, struct arena *arena, struct user **user_out)
{
    struct service *service = update->service;
    struct database *database = service->database;
    TRY(by_operator(update)
            ? user_hold(database, arena, update->id, false)
            : authority_hold(service, arena, update->caller, update->required, update->id, &update->now));
    if (!by_operator(update) && !id_equal(update->organisation, caller_home(&update->now)) &&
        !principal_administers(update->now.principal, update->required))
        return unknown_user(arena, "id");
    TRY(user_lock(database, arena, update->organisation, update->id, user_out));
    TRY(role_list(database, arena, &update->roles));
    if (*user_out == NULL)
        return unknown_user(arena, "id");
    return by_operator(update) ? NULL : member_check_reach(service, arena, &update->now, *user_out, "id");
}

/* Applies the patch to the locked row. Grants are checked on the result. */
static struct error *apply(const struct update *update, struct arena *arena, struct user *user)
{
    const struct member_patch *patch = update->patch;
    if (patch->roles != NULL)
        user->roles = *patch->roles;
    if (patch->permissions != NULL)
        user->permissions = *patch->permissions;
    if (patch->roles != NULL || patch->permissions != NULL)
        TRY(grant_check(arena, by_operator(update) ? NULL : &update->now, &update->roles, user, NULL));
    if (patch->first_name != NULL)
        user->first_name = patch->first_name;
    if (patch->last_name != NULL)
        user->last_name = patch->last_name;
    if (patch->has_phone && (user->phone == NULL || patch->phone == NULL || strcmp(user->phone, patch->phone) != 0))
        user->phone_verified = false;
    if (patch->has_phone)
        user->phone = patch->phone;
    return NULL;
}

static struct error *apply_status(const struct update *update, struct arena *arena, struct user *user)
{
    if (!update->patch->has_status)
        return NULL;
    if (user->status != USER_ACTIVE && user->status != USER_DISABLED)
        return error_plain(arena, ERROR_USER_STATE);
    user->status = update->patch->status;
    return NULL;
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

/* Checks the length of all roles and permissions that the user would have. */
static struct error *validate_result(const struct update *update, struct arena *arena, const struct user *user)
{
    struct validation validation;
    const struct member_patch *patch = update->patch;
    validation_init(&validation, arena);
    if (patch->roles != NULL || patch->permissions != NULL)
        grant_validate_length(arena, &update->roles, patch->roles != NULL ? patch->roles : &user->roles,
                              patch->permissions != NULL ? patch->permissions : &user->permissions, &validation);
    return validation.error;
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

/* Makes the row that the patch asks for, after all checks. */
static struct error *make_after(struct update *update, struct arena *arena, const struct user *before,
                                struct user *after)
{
    *after = *before;
    TRY(validate_result(update, arena, before));
    TRY(apply(update, arena, after));
    TRY(check_self(update, arena, before, after));
    TRY(apply_status(update, arena, after));
    return authority_check_last_holder(update->service, arena, &update->roles, before, after);
}

static struct error *update_rows(struct database *database, struct arena *arena, void *context)
{
    struct update *update = context;
    static const struct caller nobody;
    struct user *before = NULL;
    struct user *after = arena_alloc(arena, sizeof *after);
    TRY(hold(update, arena, &before));
    TRY(make_after(update, arena, before, after));
    bool disabled = update->patch->has_status && after->status == USER_DISABLED;
    struct audit_entry entry = {
        .details = describe(arena, update->patch),
        .action = disabled ? "user.disable" : "user.update",
        .organisation_id = after->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, after->id),
    };
    if (disabled)
        TRY(session_end_all(database, arena, after->id, (struct id){{0}}, NULL));
    TRY(user_update(database, arena, after));
    /*
     * The job waits: if it ran while run_update() sends the row, an old status could arrive last, and would stay until
     * the job runs again.
     */
    TRY(provider_sync_queue(update->service, arena, after->id,
                            update->patch->has_status ? PROVIDER_SYNC_PATIENCE_SECONDS : 0));
    return caller_audit(update->service, arena, by_operator(update) ? &nobody : &update->now, &entry);
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
    TRY(user_find(service->database, arena, update->organisation, update->id, user_out));
    return *user_out != NULL ? NULL : unknown_user(arena, "id");
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
        return unknown_user(arena, "username");
    update.organisation = user->organisation_id;
    update.id = user->id;
    return run_update(&update, arena, user_out);
}
