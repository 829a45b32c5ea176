/* SPDX-License-Identifier: MIT */
/* Changes the caller's own names, phone and language in one transaction with the audit row and the provider's job. */
#include "service/account/own_profile.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

struct update {
    struct service *service;
    const struct caller *caller;
    const struct own_profile_patch *patch;
    struct user *user; /* as the transaction leaves it */
};

static bool is_same(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static void apply(const struct own_profile_patch *patch, struct user *user)
{
    if (patch->first_name != NULL)
        user->first_name = patch->first_name;
    if (patch->last_name != NULL)
        user->last_name = patch->last_name;
    if (patch->has_phone && !is_same(user->phone, patch->phone))
        user->phone_verified = false;
    if (patch->has_phone)
        user->phone = patch->phone;
    if (patch->has_locale)
        user->locale = patch->locale;
}

static const char *describe(struct arena *arena, const struct own_profile_patch *patch)
{
    bool names = patch->first_name != NULL || patch->last_name != NULL;
    return arena_format(arena, "{\"names\":%s,\"phone\":%s,\"locale\":%s}", names ? "true" : "false",
                        patch->has_phone ? "true" : "false", patch->has_locale ? "true" : "false");
}

static struct error *update_rows(struct database *database, struct arena *arena, void *context)
{
    struct update *update = context;
    struct caller now;
    struct user *user = NULL;
    TRY(authority_hold_self(update->service, arena, update->caller, &now));
    TRY(user_lock(database, arena, caller_home(&now), caller_user(&now), &user));
    if (user == NULL)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the user is gone");
    apply(update->patch, user);
    struct audit_entry entry = {
        .action = "user.update",
        .organisation_id = user->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, user->id),
        .details = describe(arena, update->patch),
    };
    TRY(user_update_profile(database, arena, user));
    TRY(provider_sync_queue(update->service, arena, user->id, 0));
    TRY(caller_audit(update->service, arena, &now, &entry));
    return user_find(database, arena, user->organisation_id, user->id, &update->user);
}

struct error *own_profile_update(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct own_profile_patch *patch, struct user **user_out)
{
    struct update update = {service, caller, patch, NULL};
    TRY(database_transaction(service->database, arena, update_rows, &update, NULL));
    *user_out = update.user;
    return NULL;
}
