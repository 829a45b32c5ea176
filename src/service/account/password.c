/* SPDX-License-Identifier: MIT */
/*
 * Changes, resets and sets passwords.
 *
 * Each of the three changes takes the same steps: our rows decide; the provider changes the password; what follows from
 * it is written (the throttle, the mail to the owner, the audit row). With a provider that joins transactions they are
 * one transaction. With a provider over the network the first and the last step are a transaction each, and the call
 * stands between them. When the call was refused or got no answer, what the first step took is given back.
 */
#include "service/account/password.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/one_time_code.h"
#include "domain/account/organisation.h"
#include "domain/account/password_policy.h"
#include "domain/audit.h"
#include "domain/permission/principal.h"
#include "identity/provider.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/account/member.h"
#include "service/account/notification.h"
#include "service/account/provider_change.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

struct password_step;

/* The steps of one kind of change. */
struct password_steps {
    struct error *(*decide)(struct password_step *step, struct arena *arena); /* may be NULL */
    struct error *(*ask)(struct password_step *step, struct arena *arena);
    struct error *(*follow)(struct password_step *step, struct arena *arena);
    struct error *(*give_back)(struct password_step *step, struct arena *arena); /* may be NULL */
};

struct password_step {
    const struct password_steps *steps;
    struct service *service;
    const struct caller *caller;
    const struct login_throttle *throttle;
    const struct user *user;
    struct secret password;
    struct secret new_password;
    bool permanent;
    struct one_time_code_spent code;
    const char *typed;  /* the code */
    const char *action; /* the audit action of a change that is resolved afterwards */
    enum provider_outcome outcome;
    struct error *refusal; /* an answer that commits the transaction: what was counted stays counted */
};

static struct error *run_decide(struct database *database, struct arena *arena, void *context)
{
    (void)database;
    struct password_step *step = context;
    step->refusal = NULL;
    return step->steps->decide != NULL ? step->steps->decide(step, arena) : NULL;
}

static struct error *run_follow(struct database *database, struct arena *arena, void *context)
{
    (void)database;
    struct password_step *step = context;
    return step->steps->follow(step, arena);
}

static struct error *run_together(struct database *database, struct arena *arena, void *context)
{
    struct password_step *step = context;
    TRY(run_decide(database, arena, step));
    if (step->refusal != NULL)
        return NULL;
    TRY(step->steps->ask(step, arena));
    return run_follow(database, arena, step);
}

static struct error *run_apart(struct password_step *step, struct arena *arena)
{
    struct database *database = step->service->database;
    TRY(database_transaction(database, arena, run_decide, step, NULL));
    if (step->refusal != NULL)
        return NULL;
    struct error *error = step->steps->ask(step, arena);
    if (error == NULL && step->refusal == NULL)
        error = database_transaction(database, arena, run_follow, step, NULL);
    if (error != NULL && step->outcome != PROVIDER_OK && step->steps->give_back != NULL)
        TRY(step->steps->give_back(step, arena));
    return error;
}

static struct error *run(struct password_step *step, struct arena *arena)
{
    step->outcome = PROVIDER_STATE;
    if (!provider_joins_transaction(step->service->provider))
        return run_apart(step, arena);
    return database_transaction(step->service->database, arena, run_together, step, NULL);
}

/* Queues the mail to the owner and writes the audit row. */
static struct error *conclude(const struct password_step *step, struct arena *arena, const char *action)
{
    struct audit_entry entry = {
        .action = action,
        .organisation_id = step->user->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, step->user->id),
    };
    /* A reset has no token; the code has proven who the user is. */
    if (step->caller->principal == NULL)
        entry.user_id = step->user->id;
    TRY(notification_password_changed(step->service, arena, step->user));
    return caller_audit(step->service, arena, step->caller, &entry);
}

static struct error *same_password(struct arena *arena, const char *path)
{
    return error_entry(error_plain(arena, ERROR_PASSWORD_POLICY), path, "same",
                       "must differ from the current password");
}

static struct error *ask_change_once(struct password_step *step, struct arena *arena)
{
    return provider_change_password(step->service->provider, arena, step->user->provider_subject,
                                    step->caller->principal->session_id, step->password, step->new_password,
                                    &step->outcome);
}

static struct error *ask_change(struct password_step *step, struct arena *arena)
{
    bool again = false;
    TRY(ask_change_once(step, arena));
    TRY(provider_change_reconcile(step->service, arena, step->user->id, step->outcome, &again));
    return again ? ask_change_once(step, arena) : NULL;
}

/*
 * The password was right. A wait that parallel failures have started refuses it like a wrong one, and undoes the change
 * where the provider joins the transaction.
 */
static struct error *follow_change(struct password_step *step, struct arena *arena)
{
    if (step->outcome != PROVIDER_OK && step->outcome != PROVIDER_SAME_PASSWORD)
        return NULL;
    struct error *refusal = login_throttle_passed(step->service, arena, step->throttle);
    if (refusal != NULL && (step->outcome != PROVIDER_OK || provider_joins_transaction(step->service->provider)))
        return refusal;
    return step->outcome == PROVIDER_OK ? conclude(step, arena, "user.changePassword") : NULL;
}

static const struct password_steps changing = {.ask = ask_change, .follow = follow_change};

struct error *password_change(struct service *service, struct arena *arena, const struct caller *caller,
                              struct secret password, struct secret new_password)
{
    struct user *user;
    struct organisation *organisation;
    TRY(principal_details(service->database, arena, caller->principal, &user, &organisation));
    struct password_owner owner = {user->email, user->first_name, user->last_name, organisation->name};
    struct login_throttle throttle = login_throttle_of_password(arena, caller, user, user->email, id_none);
    struct password_step step = {.steps = &changing,
                                 .service = service,
                                 .caller = caller,
                                 .throttle = &throttle,
                                 .user = user,
                                 .password = password,
                                 .new_password = new_password};
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(password_policy_check(service->passwords, arena, "newPassword", new_password, &owner));
    TRY(run(&step, arena));
    if (step.outcome == PROVIDER_OK)
        return NULL;
    if (step.outcome == PROVIDER_SAME_PASSWORD)
        return same_password(arena, "newPassword");
    if (step.outcome == PROVIDER_PASSWORD_REFUSED)
        return password_policy_refused(arena, "newPassword");
    struct error *error = error_new(arena, ERROR_REQUEST_INVALID, "%s", provider_outcome_text(step.outcome));
    TRY(caller_audit_failure(service, arena, caller, "user.changePassword", user));
    return login_throttle_failed(service, arena, &throttle,
                                 error_entry(error, "password", "mismatch", "is not the current password"));
}

/* The user whose code may be tried: only active accounts can be reset. NULL costs the same time. */
static const struct user *resettable(const struct user *user)
{
    return user != NULL && user->status == USER_ACTIVE ? user : NULL;
}

static struct error *decide_reset(struct password_step *step, struct arena *arena)
{
    bool spent = false;
    TRY(one_time_code_spend(step->service->database, arena, step->service->master,
                            &(struct one_time_code_attempt){step->user->id, NULL, ONE_TIME_CODE_RESET, step->typed},
                            &step->code, &spent));
    if (!spent)
        step->refusal = error_plain(arena, ERROR_CODE_MISMATCH);
    return NULL;
}

/* The provider's answer, as an error unless the password is set. */
static struct error *check_setting(const struct password_step *step, struct arena *arena, const char *path)
{
    if (step->outcome == PROVIDER_PASSWORD_REFUSED)
        return password_policy_refused(arena, path);
    if (step->outcome == PROVIDER_OK)
        return NULL;
    struct error *error = error_new(arena, ERROR_INTERNAL, "provider: %s", provider_outcome_text(step->outcome));
    return step->outcome == PROVIDER_ABSENT
               ? error_message(error, "The identity provider has no account of this user any more.")
               : error;
}

static struct error *ask_reset(struct password_step *step, struct arena *arena)
{
    TRY(provider_set_password(step->service->provider, arena, step->user->provider_subject, step->new_password, false,
                              &step->outcome));
    return check_setting(step, arena, "newPassword");
}

static struct error *follow_reset(struct password_step *step, struct arena *arena)
{
    struct throttle_key account = throttle_of_user(step->user->id);
    TRY(throttle_lift(step->service->database, arena, &account));
    return conclude(step, arena, "user.resetPassword");
}

static struct error *give_back_reset(struct password_step *step, struct arena *arena)
{
    return one_time_code_restore(step->service->database, arena, step->user->id, ONE_TIME_CODE_RESET, &step->code);
}

static const struct password_steps resetting = {
    .decide = decide_reset, .ask = ask_reset, .follow = follow_reset, .give_back = give_back_reset};

/* The same with a code that the provider has mailed and checks. */
static struct error *ask_reset_by_code(struct password_step *step, struct arena *arena)
{
    const char *subject = step->user != NULL ? step->user->provider_subject : NULL;
    TRY(provider_reset_by_code(step->service->provider, arena, subject, step->typed, step->new_password,
                               &step->outcome));
    if (step->outcome == PROVIDER_CODE_WRONG)
        step->refusal = error_plain(arena, ERROR_CODE_MISMATCH);
    return step->refusal != NULL ? NULL : check_setting(step, arena, "newPassword");
}

static const struct password_steps resetting_by_code = {.ask = ask_reset_by_code, .follow = follow_reset};

static struct error *code_failed(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct login_throttle *throttle, const struct user *user)
{
    TRY(caller_audit_failure(service, arena, caller, "user.resetFailed", user));
    return login_throttle_failed(service, arena, throttle, error_plain(arena, ERROR_CODE_MISMATCH));
}

/*
 * The provider takes code and password together, so the password is checked against the policy first. That is done for
 * a name that nobody has as well, so that the answer does not tell who has an account.
 */
static struct error *reset_by_code(struct password_step *step, struct arena *arena,
                                   const struct login_throttle *throttle, const char *username,
                                   const struct user *found)
{
    struct service *service = step->service;
    struct password_owner owner;
    TRY(password_policy_owner(service->database, arena, step->user, &owner));
    if (step->user == NULL)
        owner.email = username;
    TRY(password_policy_check(service->passwords, arena, "newPassword", step->new_password, &owner));
    step->steps = &resetting_by_code;
    TRY(run(step, arena));
    if (step->refusal != NULL || step->user == NULL)
        return code_failed(service, arena, step->caller, throttle, found);
    caller_log_actor(arena, step->user);
    return NULL;
}

struct error *password_reset(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *username, const char *code, struct secret new_password)
{
    static const struct id nobody;
    struct login_throttle throttle = login_throttle_of_code(caller);
    struct user *found = NULL;
    bool good = false;
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(user_find_by_username(service->database, arena, username, &found));
    const struct user *user = resettable(found);
    struct id id = user == NULL ? nobody : user->id;
    struct password_step step = {.steps = &resetting,
                                 .service = service,
                                 .caller = caller,
                                 .user = user,
                                 .new_password = new_password,
                                 .typed = code};
    if (provider_has_codes(service->provider))
        return reset_by_code(&step, arena, &throttle, username, found);
    TRY(one_time_code_try(service->database, arena, service->master,
                          &(struct one_time_code_attempt){id, username, ONE_TIME_CODE_RESET, code}, &good));
    if (!good || user == NULL)
        return code_failed(service, arena, caller, &throttle, found);
    struct password_owner owner;
    TRY(password_policy_owner(service->database, arena, user, &owner));
    struct error *refusal = password_policy_check(service->passwords, arena, "newPassword", new_password, &owner);
    if (refusal != NULL) {
        TRY(one_time_code_give_back(service->database, arena, user->id, ONE_TIME_CODE_RESET));
        return refusal;
    }
    TRY(run(&step, arena));
    if (step.refusal != NULL)
        return code_failed(service, arena, caller, &throttle, user);
    caller_log_actor(arena, user);
    return NULL;
}

/* The permission of an administrator who sets a password. */
#define SET_PERMISSION "cus:user:a"

/* On locked rows, so that nobody's rights change between the check and the change. */
static struct error *decide_setting(struct password_step *step, struct arena *arena)
{
    struct user *user = NULL;
    struct caller now;
    TRY(authority_hold(step->service, arena, step->caller, SET_PERMISSION, step->user->id, &now));
    TRY(user_lock(step->service->database, arena, step->user->organisation_id, step->user->id, &user));
    if (user == NULL)
        return error_plain(arena, ERROR_USER_UNKNOWN);
    TRY(member_check_reach(step->service, arena, &now, user, "username"));
    return one_time_code_void(step->service->database, arena, user->id, ONE_TIME_CODE_RESET);
}

static struct error *ask_setting(struct password_step *step, struct arena *arena)
{
    TRY(provider_set_password(step->service->provider, arena, step->user->provider_subject, step->new_password,
                              !step->permanent, &step->outcome));
    return check_setting(step, arena, "password");
}

static struct error *follow_setting(struct password_step *step, struct arena *arena)
{
    return conclude(step, arena, step->permanent ? "user.setPassword" : "user.setTemporaryPassword");
}

static const struct password_steps setting = {.decide = decide_setting, .ask = ask_setting, .follow = follow_setting};

struct error *password_set(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *username, struct secret password, bool permanent)
{
    struct user *user = NULL;
    TRY(member_find_by_username(service, arena, caller, username, &user));
    struct password_owner owner;
    struct password_step step = {.steps = &setting,
                                 .service = service,
                                 .caller = caller,
                                 .user = user,
                                 .new_password = password,
                                 .permanent = permanent};
    TRY(password_policy_owner(service->database, arena, user, &owner));
    TRY(password_policy_check(service->passwords, arena, "password", password, &owner));
    return run(&step, arena);
}

/* ---- changes whose answer was lost ---------------------------------------------------------------- */

#define RECONCILE_USERS 20

static struct error *reconcile_rows(struct database *database, struct arena *arena, void *context)
{
    (void)database;
    struct password_step *step = context;
    return conclude(step, arena, step->action);
}

/* The provider first: an owner who is told twice is better than one who is not told. */
static struct error *reconcile_one(struct service *service, struct arena *arena, struct id id)
{
    static const char *const actions[] = {[PROVIDER_PASSWORD_CHANGED] = "user.setPassword",
                                          [PROVIDER_PASSWORD_CHANGED_BY_OWNER] = "user.changePassword",
                                          [PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY] = "user.setTemporaryPassword"};
    static const struct caller nobody;
    enum provider_reconciliation reconciliation;
    struct user *user = NULL;
    TRY(provider_reconcile(service->provider, arena, id, &reconciliation));
    LOG(INFO, ACCOUNTS, "a change of a password whose answer was lost is resolved",
        LOG_TEXT("reconciledUserId", id_text(arena, id)),
        LOG_TEXT("outcome", reconciliation == PROVIDER_PASSWORD_UNCHANGED ? "notChanged" : "changed"));
    TRY(user_find_any(service->database, arena, id, &user));
    if (reconciliation == PROVIDER_PASSWORD_UNCHANGED || user == NULL)
        return NULL;
    struct password_step step = {
        .service = service, .caller = &nobody, .user = user, .action = actions[reconciliation]};
    return database_transaction(service->database, arena, reconcile_rows, &step, NULL);
}

struct error *password_reconcile(struct service *service, struct arena *arena, size_t *count_out)
{
    struct id *users;
    size_t count;
    struct error *first = NULL;
    *count_out = 0;
    TRY(provider_unreconciled(service->provider, arena, RECONCILE_USERS, &users, &count));
    for (size_t i = 0; i < count; i++) {
        struct error *error = reconcile_one(service, arena, users[i]);
        *count_out += error == NULL;
        first = first != NULL ? first : error;
    }
    return first;
}
