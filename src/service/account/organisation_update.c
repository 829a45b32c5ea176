/* SPDX-License-Identifier: MIT */
/*
 * Changes organisations. The rows change in one transaction: the organisation, the roles of its owners where services
 * change, a job for each owner's copy at the provider, and the audit rows.
 *
 * A disabled organisation shuts its people out by its status, which every request reads. Their sessions end as well, so
 * that they do not come back with the organisation: some people at a time, since there may be many. Ending them is
 * finished before the organisation is enabled again, whoever was killed over it.
 */
#include "service/account/organisation_update.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "domain/session/session.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/grant.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define OWNERS_AT_ONCE 100
#define SESSION_PEOPLE_AT_ONCE 500

/* ---- showing ------------------------------------------------------------------------------------- */

static struct error *unknown(struct arena *arena)
{
    return error_entry(error_plain(arena, ERROR_ORGANISATION_UNKNOWN), "id", "unknown", "is not an organisation");
}

struct error *organisation_show(struct service *service, struct arena *arena, const struct caller *caller, struct id id,
                                struct organisation **organisation_out)
{
    TRY(organisation_find_whole(service->database, arena, id, organisation_out));
    if (*organisation_out == NULL)
        return unknown(arena);
    if (id_equal(id, caller_home(caller)))
        return NULL;
    return caller_audit_crossing(service, arena, caller, id, "organisation", id);
}

struct error *organisation_browse(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct organisation_filter *filter, struct organisation_page *page_out)
{
    static const struct id many;
    TRY(caller_audit_crossing(service, arena, caller, many, "organisation", many));
    return organisation_list(service->database, arena, filter, page_out);
}

/* ---- changing ------------------------------------------------------------------------------------ */

struct update {
    struct service *service;
    const struct caller *caller; /* NULL: the operator, who may do everything that leaves the rows in order */
    const char *required;
    struct id id;
    const struct organisation_admin_change *change;
    struct caller now;           /* the caller as the transaction finds the row */
    struct role_list roles;      /* as the transaction finds them */
    struct organisation *before; /* the locked row */
    struct organisation *after;  /* as the transaction leaves it */
    struct text_list added;      /* roles that come with the services */
    struct text_list taken;
};

/* Roles that one list of services brings and the other does not. */
static struct text_list roles_beyond(struct arena *arena, const struct text_list *services,
                                     const struct text_list *others)
{
    struct text_list all = role_of_owner(arena, services), known = role_of_owner(arena, others);
    struct text_list beyond = {arena_array(arena, all.count, sizeof *beyond.items), 0};
    for (size_t i = 0; i < all.count; i++)
        if (!text_list_has(&known, all.items[i]))
            beyond.items[beyond.count++] = all.items[i];
    return beyond;
}

/* Calls `act` with each owner's locked row. The rows are locked by id, as everywhere. */
static struct error *each_owner(struct update *update, struct arena *arena,
                                struct error *(*act)(struct update *, struct arena *, struct user *))
{
    struct database *database = update->service->database;
    struct id after = {{0}};
    size_t count = OWNERS_AT_ONCE;
    while (count == OWNERS_AT_ONCE) {
        struct id *owners;
        TRY(organisation_admin_holders(database, arena, update->id, ROLE_OWNER, after, OWNERS_AT_ONCE, &owners,
                                       &count));
        for (size_t i = 0; i < count; i++) {
            struct user *user = NULL;
            after = owners[i];
            TRY(user_lock(database, arena, update->id, owners[i], &user));
            if (user != NULL && act != NULL && text_list_has(&user->roles, ROLE_OWNER))
                TRY(act(update, arena, user));
        }
    }
    return NULL;
}

/* The user's roles without those that are taken, and with those that are added. False: they are the same. */
static bool change_roles(const struct update *update, struct arena *arena, struct user *user)
{
    struct text_list roles = {arena_array(arena, user->roles.count + update->added.count, sizeof *roles.items), 0};
    bool changed = false;
    for (size_t i = 0; i < user->roles.count; i++)
        if (!text_list_has(&update->taken, user->roles.items[i]))
            roles.items[roles.count++] = user->roles.items[i];
    changed = roles.count != user->roles.count;
    for (size_t i = 0; i < update->added.count; i++)
        if (!text_list_has(&roles, update->added.items[i])) {
            roles.items[roles.count++] = update->added.items[i];
            changed = true;
        }
    user->roles = roles;
    return changed;
}

static void add_list(struct buffer *details, const char *name, const struct text_list *list)
{
    buffer_add_format(details, "%s\"%s\":[", details->length > 1 ? "," : "", name);
    for (size_t i = 0; i < list->count; i++) {
        buffer_add_text(details, i == 0 ? "" : ",");
        buffer_add_json_text(details, list->items[i]);
    }
    buffer_add_char(details, ']');
}

static struct error *record(const struct update *update, struct arena *arena, const char *action, const char *type,
                            struct id target, const char *details)
{
    static const struct caller nobody;
    struct audit_entry entry = {
        .action = action,
        .organisation_id = update->id,
        .target_type = type,
        .target_id = id_text(arena, target),
        .details = details,
    };
    return caller_audit(update->service, arena, update->caller == NULL ? &nobody : &update->now, &entry);
}

static struct error *change_owner(struct update *update, struct arena *arena, struct user *user)
{
    struct validation validation;
    struct buffer details;
    if (!change_roles(update, arena, user))
        return NULL;
    validation_init(&validation, arena);
    grant_validate_length(arena, &update->roles, &user->roles, &user->permissions, &validation);
    if (validation.error != NULL)
        return error_entry(error_plain(arena, ERROR_REQUEST_INVALID), "services", "length",
                           "an owner would hold more permissions than one account may");
    TRY(user_roles_set(update->service->database, arena, user->organisation_id, user->id, &user->roles));
    TRY(provider_sync_queue(update->service, arena, user->id, 0));
    buffer_init(&details, arena);
    buffer_add_char(&details, '{');
    add_list(&details, "roles", &user->roles);
    buffer_add_char(&details, '}');
    return record(update, arena, "user.update", "user", user->id, details.bytes);
}

/* Whose organisation it is not any more may change it no more than any other. */
static struct error *hold_caller(struct update *update, struct arena *arena)
{
    TRY(authority_hold(update->service, arena, update->caller, update->required, caller_user(update->caller),
                       &update->now));
    bool may = id_equal(update->id, caller_home(&update->now)) ||
               principal_administers(update->now.principal, update->required);
    return may ? NULL : unknown(arena);
}

/* Locks owners before the organisation: that is the order of every transaction that locks both. */
static struct error *hold(struct update *update, struct arena *arena)
{
    struct database *database = update->service->database;
    if (update->caller != NULL)
        TRY(hold_caller(update, arena));
    if (update->change->services != NULL)
        TRY(each_owner(update, arena, NULL));
    TRY(organisation_admin_lock(database, arena, update->id, &update->before));
    if (update->before == NULL || update->before->status == ORGANISATION_PROVISIONING)
        return unknown(arena);
    return role_list(database, arena, &update->roles);
}

/* What the change of services means for the owners, and whether the caller may give it. */
static struct error *check_services(struct update *update, struct arena *arena)
{
    const struct text_list *services = update->change->services;
    if (services == NULL)
        return NULL;
    update->added = roles_beyond(arena, services, &update->before->services);
    update->taken = roles_beyond(arena, &update->before->services, services);
    struct user gains = {.organisation_id = update->id, .roles = update->added};
    return grant_check(arena, update->caller == NULL ? NULL : &update->now, &update->roles, &gains, "services");
}

static void add_quota(struct buffer *details, const char *name, const int64_t *quota)
{
    if (quota == NULL)
        return;
    buffer_add_format(details, "%s\"%s\":", details->length > 1 ? "," : "", name);
    if (*quota == ORGANISATION_NO_QUOTA)
        buffer_add_text(details, "null");
    else
        buffer_add_format(details, "%" PRId64, *quota);
}

/* The details for the audit trail: what was given; of the name, that it was. */
static const char *describe(struct arena *arena, const struct organisation_admin_change *change)
{
    struct buffer details;
    buffer_init(&details, arena);
    buffer_add_char(&details, '{');
    if (change->name != NULL)
        buffer_add_text(&details, "\"name\":true");
    if (change->services != NULL)
        add_list(&details, "services", change->services);
    if (change->status != NULL)
        buffer_add_format(&details, "%s\"status\":\"%s\"", details.length > 1 ? "," : "",
                          organisation_status_text(*change->status));
    add_quota(&details, "quotaBytes", change->quota_bytes);
    add_quota(&details, "quotaFiles", change->quota_files);
    buffer_add_char(&details, '}');
    return details.bytes;
}

static bool is_disabled_by(const struct organisation_admin_change *change)
{
    return change->status != NULL && *change->status == ORGANISATION_DISABLED;
}

static struct error *update_rows(struct database *database, struct arena *arena, void *context)
{
    struct update *update = context;
    bool changed = false;
    TRY(hold(update, arena));
    if (is_disabled_by(update->change) && id_equal(update->id, organisation_internal_id()))
        return error_plain(arena, ERROR_ORGANISATION_INTERNAL);
    TRY(check_services(update, arena));
    if (update->added.count + update->taken.count > 0)
        TRY(each_owner(update, arena, change_owner));
    TRY(organisation_admin_change(database, arena, update->id, update->change, &changed));
    if (!changed)
        return unknown(arena);
    TRY(record(update, arena, is_disabled_by(update->change) ? "organisation.disable" : "organisation.update",
               "organisation", update->id, describe(arena, update->change)));
    return organisation_find_whole(database, arena, update->id, &update->after);
}

/* ---- the sessions of a disabled organisation ------------------------------------------------------ */

struct ending {
    struct id organisation;
    struct id from; /* where the portion begins, whenever the transaction is run again */
    struct id after;
    bool more;
};

static struct error *end_portion(struct database *database, struct arena *arena, void *context)
{
    struct ending *ending = context;
    ending->after = ending->from;
    return session_end_organisation(database, arena, ending->organisation, &ending->after, SESSION_PEOPLE_AT_ONCE,
                                    &ending->more);
}

static struct error *end_sessions(struct service *service, struct arena *arena, struct id organisation)
{
    struct ending ending = {.organisation = organisation, .more = true};
    while (ending.more) {
        TRY(database_transaction(service->database, arena, end_portion, &ending, NULL));
        ending.from = ending.after;
    }
    return NULL;
}

/* Sessions from before the organisation was disabled, which a crash has left, must not come back with it. */
static struct error *end_left_sessions(struct service *service, struct arena *arena, struct id id)
{
    struct organisation *organisation = NULL;
    TRY(organisation_find(service->database, arena, id, &organisation));
    return organisation != NULL && organisation->status == ORGANISATION_DISABLED ? end_sessions(service, arena, id)
                                                                                 : NULL;
}

/* The services in the order of the row, whatever the order that was given. */
static struct text_list sort_services(struct arena *arena, const struct text_list *services)
{
    static const char *const order[] = {"inventory", "logistics"};
    struct text_list sorted = {arena_array(arena, 2, sizeof *sorted.items), 0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (text_list_has(services, order[i]))
            sorted.items[sorted.count++] = order[i];
    return sorted;
}

struct error *organisation_update(struct service *service, struct arena *arena, const struct caller *caller,
                                  const char *required, struct id id, const struct organisation_admin_change *change,
                                  struct organisation **organisation_out)
{
    struct organisation_admin_change wanted = *change;
    struct text_list services;
    struct update update = {.service = service, .caller = caller, .required = required, .id = id, .change = &wanted};
    if (change->services != NULL) {
        services = sort_services(arena, change->services);
        wanted.services = &services;
    }
    if (caller != NULL)
        TRY(organisation_show(service, arena, caller, id, organisation_out));
    if (change->status != NULL && *change->status == ORGANISATION_ACTIVE)
        TRY(end_left_sessions(service, arena, id));
    TRY(database_transaction(service->database, arena, update_rows, &update, NULL));
    if (is_disabled_by(change))
        TRY(end_sessions(service, arena, id));
    *organisation_out = update.after;
    return NULL;
}
