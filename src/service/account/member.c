/* SPDX-License-Identifier: MIT */
/* Finds members, and confirms them by a code or by an administrator. */
#include "service/account/member.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/one_time_code.h"
#include "domain/audit.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "identity/provider.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/grant.h"
#include "service/access/login_throttle.h"
#include "service/account/member_int.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/* ---- finding ------------------------------------------------------------------------------------- */

struct error *member_unknown(struct arena *arena, const char *path)
{
    return error_entry(error_plain(arena, ERROR_USER_UNKNOWN), path, "unknown", "is not a user");
}

struct error *member_find_named(struct service *service, struct arena *arena, const struct caller *caller,
                                const char *required, struct id id, const char *path, struct user **user_out)
{
    TRY(user_find(service->database, arena, caller_home(caller), id, user_out));
    if (*user_out != NULL)
        return NULL;
    if (principal_administers(caller->principal, required))
        TRY(user_find_any(service->database, arena, id, user_out));
    if (*user_out == NULL)
        return member_unknown(arena, path);
    return caller_audit_crossing(service, arena, caller, (*user_out)->organisation_id, "user", id);
}

struct error *member_find(struct service *service, struct arena *arena, const struct caller *caller,
                          const char *required, struct id id, struct user **user_out)
{
    return member_find_named(service, arena, caller, required, id, "id", user_out);
}

struct error *member_find_by_username(struct service *service, struct arena *arena, const struct caller *caller,
                                      const char *username, struct user **user_out)
{
    TRY(user_find_by_username(service->database, arena, username, user_out));
    if (*user_out == NULL)
        return member_unknown(arena, "username");
    if (id_equal((*user_out)->organisation_id, caller_home(caller)))
        return NULL;
    return caller_audit_crossing(service, arena, caller, (*user_out)->organisation_id, "user", (*user_out)->id);
}

struct error *member_check_reach(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct user *user, const char *path)
{
    struct role_list roles;
    TRY(role_list(service->database, arena, &roles));
    return grant_check_reach(arena, caller, &roles, user, path);
}

struct error *member_hold(struct service *service, struct arena *arena, const struct caller *caller,
                          const char *required, struct id organisation, struct id id, struct caller *now_out,
                          struct user **user_out)
{
    TRY(authority_hold(service, arena, caller, required, id, now_out));
    if (!id_equal(organisation, caller_home(now_out)) && !principal_administers(now_out->principal, required))
        return member_unknown(arena, "id");
    TRY(user_lock(service->database, arena, organisation, id, user_out));
    return *user_out == NULL ? member_unknown(arena, "id") : NULL;
}

/* ---- confirming ---------------------------------------------------------------------------------- */

/* The permission of an administrator who confirms without a code. */
#define CONFIRM_PERMISSION "cus:user:a"

struct confirmation {
    struct service *service;
    const struct caller *caller;
    const struct user *user;
    const char *code; /* NULL: somebody confirms without one */
    bool at_provider; /* the provider has checked the code, so it knows already */
    bool changed;
};

/* Locks the rows of the administrator and of the user, and checks the administrator's rights, then the user's state. */
static struct error *check_confirmer(const struct confirmation *confirmation, struct arena *arena)
{
    struct service *service = confirmation->service;
    const struct user *known = confirmation->user;
    struct caller now;
    struct user *user = NULL;
    TRY(authority_hold(service, arena, confirmation->caller, CONFIRM_PERMISSION, known->id, &now));
    TRY(user_lock(service->database, arena, known->organisation_id, known->id, &user));
    if (user == NULL)
        return member_unknown(arena, "username");
    TRY(member_check_reach(service, arena, &now, user, "username"));
    if (user->status == USER_AWAITING_FIRST_LOGIN || user->status == USER_DISABLED)
        return error_plain(arena, ERROR_USER_STATE);
    return NULL;
}

static struct error *confirm_rows(struct database *database, struct arena *arena, void *context)
{
    struct confirmation *confirmation = context;
    const struct user *user = confirmation->user;
    bool spent = true;
    struct audit_entry entry = {
        .action = confirmation->code != NULL ? "user.confirm" : "user.adminConfirm",
        .organisation_id = user->organisation_id,
        .user_id = confirmation->code != NULL ? user->id : id_none,
        .target_type = "user",
        .target_id = id_text(arena, user->id),
    };
    confirmation->changed = false;
    if (confirmation->code == NULL)
        TRY(check_confirmer(confirmation, arena));
    if (confirmation->code != NULL && !confirmation->at_provider)
        TRY(one_time_code_spend(
            database, arena, confirmation->service->master,
            &(struct one_time_code_attempt){user->id, NULL, ONE_TIME_CODE_CONFIRM, confirmation->code}, NULL, &spent));
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
                                        .code = code,
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
    struct confirmation confirmation = {.service = service, .caller = caller, .user = user};
    TRY(confirm(&confirmation, arena));
    return confirmation.changed ? NULL : error_plain(arena, ERROR_USER_ALREADY_CONFIRMED);
}
