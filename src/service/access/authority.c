/* SPDX-License-Identifier: MIT */
/* Locks and checks rights within the transaction that changes them. */
#include "service/access/authority.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "domain/permission/permission.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "service/access/caller.h"
#include "service/access/grant.h"
#include "service/runtime/service.h"

/* The lower id is locked first, so that two transactions with the same two rows cannot deadlock. */
static struct error *hold_both(struct service *service, struct arena *arena, struct id caller, struct id target)
{
    struct database *database = service->database;
    bool caller_first = memcmp(caller.bytes, target.bytes, sizeof caller.bytes) < 0;
    if (id_equal(caller, target))
        return user_hold(database, arena, target, false);
    if (caller_first)
        TRY(user_hold(database, arena, caller, true));
    TRY(user_hold(database, arena, target, false));
    return caller_first ? NULL : user_hold(database, arena, caller, true);
}

/* Reads the rights of a caller as they are now. */
static struct error *load_again(struct service *service, struct arena *arena, const struct caller *caller,
                                struct caller *caller_out)
{
    struct principal *principal = NULL;
    TRY(principal_load(service->database, arena, caller_user(caller), caller->principal->session_id, &principal));
    if (!principal_stands(principal))
        return error_new(arena, ERROR_TOKEN_REVOKED, "the caller was shut out while the request was on its way");
    *caller_out = *caller;
    caller_out->principal = principal;
    return NULL;
}

struct error *authority_hold_self(struct service *service, struct arena *arena, const struct caller *caller,
                                  struct caller *caller_out)
{
    TRY(user_hold(service->database, arena, caller_user(caller), false));
    return load_again(service, arena, caller, caller_out);
}

struct error *authority_hold(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *required, struct id target, struct caller *caller_out)
{
    TRY(hold_both(service, arena, caller_user(caller), target));
    TRY(load_again(service, arena, caller, caller_out));
    return caller_require(arena, caller_out, required);
}

struct error *authority_look_again(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *required, struct caller *caller_out)
{
    TRY(load_again(service, arena, caller, caller_out));
    return caller_require(arena, caller_out, required);
}

static bool is_owner(const struct user *user)
{
    return user->status == USER_ACTIVE && text_list_has(&user->roles, ROLE_OWNER);
}

static bool is_administrator(struct arena *arena, const struct role_list *roles, const struct user *user)
{
    if (user->status != USER_ACTIVE || !id_equal(user->organisation_id, organisation_internal_id()))
        return false;
    struct text_list held = permission_words(arena, grant_mirror(arena, roles, &user->roles, &user->permissions));
    return text_list_has(&held, PERMISSION_EVERYTHING);
}

/* What a change takes from the user that somebody of the organisation has to keep. */
struct loss {
    bool owner;
    bool administrator;
};

static struct loss find_loss(struct arena *arena, const struct role_list *roles, const struct user *before,
                             const struct user *after)
{
    return (struct loss){
        .owner = is_owner(before) && !is_owner(after),
        .administrator = is_administrator(arena, roles, before) && !is_administrator(arena, roles, after),
    };
}

/* Checks that others keep what the user loses. */
static struct error *check_others(struct database *database, struct arena *arena, struct loss loss,
                                  const struct user *before)
{
    bool owner_kept = true;
    bool administrator_kept = true;
    if (loss.owner)
        TRY(user_others_have_role(database, arena, before->organisation_id, before->id, ROLE_OWNER, &owner_kept));
    if (loss.administrator)
        TRY(user_others_hold_everything(database, arena, before->organisation_id, before->id, &administrator_kept));
    if (owner_kept && administrator_kept)
        return NULL;
    return error_new(arena, ERROR_USER_LAST_OWNER, "the last active %s", owner_kept ? "administrator" : "owner");
}

struct error *authority_check_last_holder(struct service *service, struct arena *arena, const struct role_list *roles,
                                          const struct user *before, const struct user *after)
{
    struct loss loss = find_loss(arena, roles, before, after);
    /* The statements that follow start after the lock is taken, so they see what earlier holders of it have changed. */
    if (loss.owner || loss.administrator)
        TRY(organisation_admin_lock(service->database, arena, before->organisation_id, NULL));
    return check_others(service->database, arena, loss, before);
}

struct error *authority_foresee_last_holder(struct service *service, struct arena *arena, const struct role_list *roles,
                                            const struct user *before, const struct user *after)
{
    return check_others(service->database, arena, find_loss(arena, roles, before, after), before);
}
