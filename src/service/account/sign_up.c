/* SPDX-License-Identifier: MIT */
/*
 * Makes accounts: our rows first (they own the address and nobody sees them), the provider's account second, activation
 * with the mail last. domain/account/provisioning.h says what each interruption leaves.
 */
#include "service/account/sign_up.h"

#include <assert.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "codec/random.h"
#include "domain/account/one_time_code.h"
#include "domain/account/password_policy.h"
#include "domain/account/provisioning.h"
#include "domain/account/throttle.h"
#include "domain/audit.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "identity/provider.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/grant.h"
#include "service/access/login_throttle.h"
#include "service/account/notification.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/* What the steps share about the account that is made. */
struct creation {
    struct service *service;
    const struct caller *caller;       /* NULL: the operator's command */
    const char *required;              /* the permission that the caller needs */
    const char *role_path;             /* the path of the error for a role that cannot be granted; NULL: roles[n] */
    struct organisation *organisation; /* a new customer's; NULL: a user of an existing one */
    const char *organisation_name;     /* for the mail */
    const struct role_list *roles;
    struct user *user;
    const char *subject;
    struct secret password;
    enum provider_account_kind kind;
    enum user_status status;
    const char *action;
    struct provisioning_limit *limit; /* NULL: the operator's command */
    bool counted;                     /* the limit has counted this account */
    bool won;
    struct organisation *organisation_out; /* may be NULL */
    struct user *user_out;
};

static struct error *record_creation(struct creation *creation, struct arena *arena)
{
    struct caller nobody = {0};
    struct audit_entry entry = {
        .action = creation->action,
        .organisation_id = creation->user->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, creation->user->id),
    };
    return caller_audit(creation->service, arena, creation->caller != NULL ? creation->caller : &nobody, &entry);
}

/* Queues the first mail of the account, with a temporary password or a code. The administrator's command sends none. */
static struct error *queue_mail(struct creation *creation, struct arena *arena)
{
    struct service *service = creation->service;
    const struct user *user = creation->user;
    bool allowed = false;
    struct secret code;
    if (creation->kind == PROVIDER_INVITED) {
        TRY(one_time_code_mail_allowed(service->database, arena, user->id, NOTIFICATION_FIRST_LOGIN, &allowed));
        return notification_first_login(service, arena, user, creation->organisation_name, creation->password);
    }
    if (creation->kind != PROVIDER_AWAITING_CODE)
        return NULL;
    TRY(one_time_code_mail_allowed(service->database, arena, user->id, ONE_TIME_CODE_CONFIRM, &allowed));
    if (provider_has_codes(service->provider))
        return NULL;
    TRY(one_time_code_issue(service->database, arena, service->master, user->id, ONE_TIME_CODE_CONFIRM,
                            ONE_TIME_CODE_CONFIRM_SECONDS, &code));
    return notification_confirm(service, arena, user, creation->organisation_name, code);
}

/*
 * Checks that the caller may still make this account, with these rights, at the moment it becomes visible. If not, the
 * job runner removes what was made so far, as after a crash.
 */
static struct error *check_caller(const struct creation *creation, struct arena *arena)
{
    struct caller now;
    struct role_list roles;
    const struct user *user = creation->user;
    if (creation->caller == NULL)
        return NULL;
    TRY(authority_hold(creation->service, arena, creation->caller, creation->required, user->id, &now));
    TRY(role_list(creation->service->database, arena, &roles));
    return grant_check(arena, &now, &roles, user, creation->role_path);
}

/* Reads the rows as they are now, with their times. */
static struct error *read_back(const struct creation *creation, struct arena *arena)
{
    struct database *database = creation->service->database;
    struct organisation *organisation = NULL;
    struct user *user = NULL;
    TRY(user_find(database, arena, creation->user->organisation_id, creation->user->id, &user));
    TRY(organisation_find_whole(database, arena, creation->user->organisation_id, &organisation));
    if (user == NULL || organisation == NULL)
        return error_new(arena, ERROR_INTERNAL, "the account vanished while it was made");
    *creation->user_out = *user;
    if (creation->organisation_out != NULL)
        *creation->organisation_out = *organisation;
    return NULL;
}

/*
 * Makes the account visible: activation, mail and audit row in one transaction. It reads the account as well: a failure
 * to read it afterwards would answer that there is none.
 */
static struct error *finish(struct database *database, struct arena *arena, void *context)
{
    struct creation *creation = context;
    TRY(check_caller(creation, arena));
    TRY(provisioning_activate(database, arena, creation->user, creation->subject, creation->status, &creation->won));
    if (!creation->won)
        return error_new(arena, ERROR_USER_EXISTS, "another request made the account");
    TRY(queue_mail(creation, arena));
    TRY(record_creation(creation, arena));
    return read_back(creation, arena);
}

static struct error *make_at_provider(struct creation *creation, struct arena *arena)
{
    enum provider_outcome outcome;
    struct provider_account account = {
        .kind = creation->kind,
        .user_id = creation->user->id,
        .email = creation->user->email,
        .phone = creation->user->phone,
        .permissions = grant_mirror(arena, creation->roles, &creation->user->roles, &creation->user->permissions),
        .password = creation->password,
    };
    TRY(provider_create(creation->service->provider, arena, &account, &creation->subject, &outcome));
    if (outcome == PROVIDER_OK)
        return NULL;
    TRY(provisioning_abort(creation->service->database, arena, creation->user));
    if (creation->counted)
        TRY(throttle_give_back(creation->service->database, arena, &creation->limit->key));
    if (outcome == PROVIDER_PASSWORD_REFUSED)
        return password_policy_refused(arena, "password");
    if (creation->limit != NULL) {
        const struct throttle_key taken = throttle_of_taken(&creation->limit->key);
        TRY(throttle_take(creation->service->database, arena, &taken, creation->limit->most, &creation->limit->wait));
    }
    return error_new(arena, ERROR_USER_EXISTS, "provider: %s", provider_outcome_text(outcome));
}

static struct error *run_steps(struct creation *creation, struct arena *arena)
{
    struct database *database = creation->service->database;
    bool unknown = false;
    TRY(make_at_provider(creation, arena));
    struct error *error = database_transaction(database, arena, finish, creation, &unknown);
    if (error == NULL || !unknown)
        return error;
    /* COMMIT was sent and its answer was lost: the row tells whether it was done. */
    struct user *user = NULL;
    TRY(user_find(database, arena, creation->user->organisation_id, creation->user->id, &user));
    return user != NULL ? NULL : error;
}

static struct error *create(struct creation *creation, struct arena *arena)
{
    struct database *database = creation->service->database;
    enum provisioning_outcome outcome;
    TRY(provisioning_begin(database, arena, creation->organisation, creation->user, creation->limit, &outcome));
    if (outcome == PROVISIONING_TAKEN || outcome == PROVISIONING_BUSY)
        return error_entry(error_plain(arena, ERROR_USER_EXISTS), "email", "taken", "belongs to another account");
    assert(outcome != PROVISIONING_LIMITED || creation->limit != NULL);
    if (outcome == PROVISIONING_LIMITED)
        return error_message(
            login_throttle_refuse(arena, creation->limit->wait, METRIC_THROTTLED_ORGANISATION),
            "Your organisation has tried to make as many accounts as it may in an hour. Wait as long as Retry-After "
            "says.");
    creation->counted = creation->limit != NULL && outcome == PROVISIONING_NEW;
    struct error *error = run_steps(creation, arena);
    provisioning_end(database, arena, creation->user);
    return error;
}

struct error *sign_up_customer(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct sign_up_customer *customer, struct organisation *organisation_out,
                               struct user *user_out)
{
    struct role_list roles;
    struct organisation organisation = {
        .id = id_new(),
        .name = customer->organisation_name,
        .services = customer->services,
        .quota_bytes = ORGANISATION_NO_QUOTA,
        .quota_files = ORGANISATION_NO_QUOTA,
    };
    struct user user = {
        .id = id_new(),
        .email = user_email_canonical(arena, customer->email),
        .phone = customer->phone,
        .first_name = customer->first_name,
        .last_name = customer->last_name,
        .roles = role_of_owner(arena, &customer->services),
    };
    struct provisioning_limit limit = {.key = throttle_of_customers(caller_home(caller)),
                                       .most = service->configuration->limits.customers_per_hour};
    struct creation creation = {
        .service = service,
        .caller = caller,
        .organisation = &organisation,
        .organisation_name = organisation.name,
        .roles = &roles,
        .user = &user,
        .password = secret_of(random_text(arena, RANDOM_PASSWORD_CHARACTERS)),
        .required = "cus:org:a",
        .role_path = "services",
        .kind = PROVIDER_INVITED,
        .status = USER_AWAITING_FIRST_LOGIN,
        .action = "customer.create",
        .organisation_out = organisation_out,
        .user_out = user_out,
        .limit = &limit,
    };
    TRY(role_list(service->database, arena, &roles));
    TRY(grant_check(arena, caller, &roles, &user, "services"));
    return create(&creation, arena);
}

/* Collects everything that is wrong with a new member. A password that is the only fault answers with its own code. */
static struct error *validate_member(struct service *service, const struct sign_up_member *member,
                                     const char *organisation, const struct role_list *roles,
                                     struct validation *validation)
{
    struct arena *arena = validation->arena;
    struct password_owner owner = {member->email, member->first_name, member->last_name, organisation};
    grant_validate(roles, &member->roles, &member->permissions, validation);
    grant_validate_length(arena, roles, &member->roles, &member->permissions, validation);
    if (member->password.bytes == NULL)
        return validation->error;
    struct error *password = password_policy_check(service->passwords, arena, "password", member->password, &owner);
    if (validation->error == NULL)
        return password;
    if (password != NULL)
        error_entry(validation->error, password->entries->path, password->entries->code, password->entries->message);
    return validation->error;
}

struct error *sign_up_validate_member(struct service *service, struct arena *arena, const struct caller *caller,
                                      const struct sign_up_member *member, struct validation *validation)
{
    struct role_list roles;
    struct user *maker;
    struct organisation *organisation;
    TRY(principal_details(service->database, arena, caller->principal, &maker, &organisation));
    TRY(role_list(service->database, arena, &roles));
    return validate_member(service, member, organisation->name, &roles, validation);
}

struct error *sign_up_member(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct sign_up_member *member, struct user *user_out)
{
    struct role_list roles;
    struct user *maker;
    struct organisation *organisation;
    TRY(principal_details(service->database, arena, caller->principal, &maker, &organisation));
    struct user user = {
        .id = id_new(),
        .organisation_id = caller_home(caller),
        .email = user_email_canonical(arena, member->email),
        .phone = member->phone,
        .first_name = member->first_name,
        .last_name = member->last_name,
        .roles = member->roles,
        .permissions = member->permissions,
    };
    struct provisioning_limit limit = {.key = throttle_of_members(caller_home(caller)),
                                       .most = service->configuration->limits.accounts_per_hour};
    bool invited = member->password.bytes == NULL;
    struct creation creation = {
        .service = service,
        .caller = caller,
        .organisation_name = organisation->name,
        .roles = &roles,
        .user = &user,
        .password = invited ? secret_of(random_text(arena, RANDOM_PASSWORD_CHARACTERS)) : member->password,
        .required = "cus:user:w",
        .kind = invited ? PROVIDER_INVITED : PROVIDER_AWAITING_CODE,
        .status = invited ? USER_AWAITING_FIRST_LOGIN : USER_AWAITING_CONFIRMATION,
        .action = "user.create",
        .user_out = user_out,
        .limit = &limit,
    };
    struct validation validation;
    validation_init(&validation, arena);
    TRY(role_list(service->database, arena, &roles));
    TRY(validate_member(service, member, organisation->name, &roles, &validation));
    TRY(grant_check(arena, caller, &roles, &user, NULL));
    return create(&creation, arena);
}

struct error *sign_up_admin(struct service *service, struct arena *arena, const struct sign_up_customer *person,
                            struct secret password, struct user *user_out)
{
    static const char *admin_roles[] = {ROLE_ADMINISTRATOR};
    struct role_list roles;
    struct user user = {
        .id = id_new(),
        .organisation_id = organisation_internal_id(),
        .email = user_email_canonical(arena, person->email),
        .phone = person->phone,
        .first_name = person->first_name,
        .last_name = person->last_name,
        .roles = {admin_roles, 1},
    };
    struct creation creation = {
        .service = service,
        .roles = &roles,
        .user = &user,
        .password = password,
        .kind = PROVIDER_CONFIRMED_ALREADY,
        .status = USER_ACTIVE,
        .action = "user.createAdmin",
        .user_out = user_out,
    };
    struct password_owner owner;
    TRY(organisation_ensure_internal(service->database, arena));
    TRY(password_policy_owner(service->database, arena, &user, &owner));
    TRY(password_policy_check(service->passwords, arena, "password", password, &owner));
    TRY(role_list(service->database, arena, &roles));
    return create(&creation, arena);
}
