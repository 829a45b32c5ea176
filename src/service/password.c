/* SPDX-License-Identifier: MIT */
#include "service/password.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/audit.h"
#include "domain/code.h"
#include "domain/principal.h"
#include "identity/provider.h"
#include "service/caller.h"
#include "service/guard.h"
#include "service/member.h"
#include "service/notice.h"
#include "service/password_policy.h"
#include "service/service.h"
#include "store/database.h"

/*
 * Each of the three changes is one transaction: the provider's write (the embedded one joins the transaction that is
 * open), the throttle, the code, the mail to the owner and the audit row, all or nothing.
 */
struct password_step {
    struct service *service;
    const struct caller *caller;
    const struct guard *guard;
    const struct user *user;
    struct secret password;
    struct secret new_password;
    bool permanent;
    enum provider_outcome outcome;
    struct error *refusal; /* an answer that is to be committed: what was counted stays counted */
};

/* The mail to the owner and the audit row. */
static struct error *conclude(const struct password_step *step, struct arena *arena, const char *action)
{
    struct audit_entry entry = {
        .action = action,
        .organisation_id = step->user->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, step->user->id),
    };
    /* Who resets has no token; the code proved whose the account is. */
    if (step->caller->principal == NULL)
        entry.user_id = step->user->id;
    TRY(notice_password_changed(step->service, arena, step->user));
    return caller_audit(step->service, arena, step->caller, &entry);
}

static struct error *same_password(struct arena *arena, const char *path)
{
    return error_entry(error_plain(arena, ERROR_PASSWORD_POLICY), path, "same", "must differ from the current password");
}

static struct error *change(struct database *database, struct arena *arena, void *context)
{
    (void)database;
    struct password_step *step = context;
    struct service *service = step->service;
    TRY(provider_change_password(service->provider, arena, step->user->provider_subject,
                                 step->caller->principal->session_id, step->password, step->new_password,
                                 &step->outcome));
    if (step->outcome != PROVIDER_OK && step->outcome != PROVIDER_SAME_PASSWORD)
        return NULL;
    /* The password was right; a wait that parallel failures began refuses it alike, and undoes the change. */
    TRY(guard_passed(service, arena, step->guard));
    return step->outcome == PROVIDER_OK ? conclude(step, arena, "user.changePassword") : NULL;
}

struct error *password_change(struct service *service, struct arena *arena, const struct caller *caller,
                              struct secret password, struct secret new_password)
{
    const struct user *user = &caller->principal->user;
    struct password_owner owner = {user->email, user->first_name, user->last_name};
    struct guard guard = guard_of_password(arena, caller, user, user->email);
    struct password_step step = {.service = service, .caller = caller, .guard = &guard, .user = user,
                                 .password = password, .new_password = new_password};
    TRY(guard_enter(service, arena, &guard));
    TRY(password_policy_check(service->passwords, arena, "newPassword", new_password, &owner));
    TRY(database_transaction(service->database, arena, change, &step, NULL));
    if (step.outcome == PROVIDER_OK)
        return NULL;
    if (step.outcome == PROVIDER_SAME_PASSWORD)
        return same_password(arena, "newPassword");
    struct error *error = error_new(arena, ERROR_REQUEST_INVALID, "%s", provider_outcome_text(step.outcome));
    TRY(caller_audit_failure(service, arena, caller, "user.changePassword", user));
    return guard_failed(service, arena, &guard, error_entry(error, "password", "mismatch", "is not the current password"));
}

/* The user whose code may be tried: only active accounts can be reset. NULL costs the same. */
static const struct user *resettable(const struct user *user)
{
    return user != NULL && user->status == USER_ACTIVE ? user : NULL;
}

static struct error *reset(struct database *database, struct arena *arena, void *context)
{
    struct password_step *step = context;
    bool spent = false;
    struct throttle_key account = throttle_of_user(step->user->id);
    step->refusal = NULL;
    TRY(code_spend(database, arena, step->user->id, CODE_RESET, &spent));
    if (!spent) {
        step->refusal = error_plain(arena, ERROR_CODE_MISMATCH);
        return NULL;
    }
    TRY(provider_set_password(step->service->provider, arena, step->user->provider_subject, step->new_password, false,
                              &step->outcome));
    if (step->outcome != PROVIDER_OK)
        return error_new(arena, ERROR_INTERNAL, "provider: %s", provider_outcome_text(step->outcome));
    TRY(throttle_lift(database, arena, &account));
    return conclude(step, arena, "user.resetPassword");
}

static struct error *code_failed(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct guard *guard, const struct user *user)
{
    TRY(caller_audit_failure(service, arena, caller, "user.resetFailed", user));
    return guard_failed(service, arena, guard, error_plain(arena, ERROR_CODE_MISMATCH));
}

struct error *password_reset(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code, struct secret new_password)
{
    static const struct id nobody;
    struct guard guard = guard_of_code(caller);
    struct user *found = NULL;
    bool good = false;
    TRY(guard_enter(service, arena, &guard));
    TRY(user_find_by_username(service->database, arena, username, &found));
    const struct user *user = resettable(found);
    struct id id = user == NULL ? nobody : user->id;
    TRY(code_try(service->database, arena, service->master, id, CODE_RESET, code, &good));
    if (!good || user == NULL)
        return code_failed(service, arena, caller, &guard, found);
    struct password_owner owner = {user->email, user->first_name, user->last_name};
    struct error *refusal = password_policy_check(service->passwords, arena, "newPassword", new_password, &owner);
    if (refusal != NULL) {
        TRY(code_give_back(service->database, arena, user->id, CODE_RESET));
        return refusal;
    }
    struct password_step step = {.service = service, .caller = caller, .user = user, .new_password = new_password};
    TRY(database_transaction(service->database, arena, reset, &step, NULL));
    if (step.refusal != NULL)
        return code_failed(service, arena, caller, &guard, user);
    caller_known(arena, user);
    return NULL;
}

/* On the locked row, so that nobody is given more rights between the judgement and the change. */
static struct error *set(struct database *database, struct arena *arena, void *context)
{
    struct password_step *step = context;
    struct user *user = NULL;
    TRY(user_lock(database, arena, step->user->organisation_id, step->user->id, &user));
    if (user == NULL)
        return error_plain(arena, ERROR_USER_UNKNOWN);
    TRY(member_check_reach(step->service, arena, step->caller, user, "username"));
    TRY(provider_set_password(step->service->provider, arena, user->provider_subject, step->new_password,
                              !step->permanent, &step->outcome));
    if (step->outcome != PROVIDER_OK)
        return error_new(arena, ERROR_INTERNAL, "provider: %s", provider_outcome_text(step->outcome));
    TRY(code_void(database, arena, user->id, CODE_RESET));
    return conclude(step, arena, step->permanent ? "user.setPassword" : "user.setTemporaryPassword");
}

struct error *password_set(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *username, struct secret password, bool permanent)
{
    struct user *user = NULL;
    TRY(member_find_by_username(service, arena, caller, username, &user));
    struct password_owner owner = {user->email, user->first_name, user->last_name};
    struct password_step step = {.service = service, .caller = caller, .user = user, .new_password = password,
                                 .permanent = permanent};
    TRY(password_policy_check(service->passwords, arena, "password", password, &owner));
    return database_transaction(service->database, arena, set, &step, NULL);
}
