/* SPDX-License-Identifier: MIT */
/* Sends a member's first mail again and lifts waits, in one transaction on the locked rows of caller and member. */
#include "service/account/member_help.h"

#include "base/clock.h"
#include "base/error.h"
#include "domain/account/one_time_code.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/account/member.h"
#include "service/account/member_int.h"
#include "service/account/notification.h"
#include "service/account/recovery.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define DAY_SECONDS 86400

struct help {
    struct service *service;
    const struct caller *caller;
    const char *required;
    struct id organisation;
    struct id id;
    struct caller now;
};

static struct error *find(struct help *help, struct arena *arena)
{
    struct user *user = NULL;
    TRY(member_find(help->service, arena, help->caller, help->required, help->id, &user));
    help->organisation = user->organisation_id;
    return NULL;
}

static struct error *hold(struct help *help, struct arena *arena, struct user **user_out)
{
    TRY(member_hold(help->service, arena, help->caller, help->required, help->organisation, help->id, &help->now,
                    user_out));
    return member_check_reach(help->service, arena, &help->now, *user_out, "id");
}

static struct error *record(const struct help *help, struct arena *arena, const char *action)
{
    struct audit_entry entry = {
        .action = action,
        .organisation_id = help->organisation,
        .target_type = "user",
        .target_id = id_text(arena, help->id),
    };
    return caller_audit(help->service, arena, &help->now, &entry);
}

/* The mails of a day are counted by the day of UTC. */
static struct error *refuse_mail(struct arena *arena)
{
    unsigned rest = (unsigned)(DAY_SECONDS - clock_now() / 1000 % DAY_SECONDS);
    return error_message(login_throttle_refuse(arena, rest, METRIC_THROTTLED_MAIL),
                         "This account has got as many e-mails today as it may. Wait as long as Retry-After says.");
}

static struct error *send_again(struct database *database, struct arena *arena, void *context)
{
    struct help *help = context;
    struct user *user = NULL;
    bool allowed = false;
    TRY(hold(help, arena, &user));
    bool invited = user->status == USER_AWAITING_FIRST_LOGIN;
    if (!invited && user->status != USER_AWAITING_CONFIRMATION)
        return error_plain(arena, ERROR_USER_STATE);
    TRY(one_time_code_mail_allowed(database, arena, user->id,
                                   invited ? NOTIFICATION_FIRST_LOGIN : ONE_TIME_CODE_CONFIRM, &allowed));
    if (!allowed)
        return refuse_mail(arena);
    TRY(recovery_send_again(help->service, arena, &help->now, user->id));
    return record(help, arena, invited ? "user.resendInvitation" : "user.resendConfirmation");
}

struct error *member_send_again(struct service *service, struct arena *arena, const struct caller *caller,
                                const char *required, struct id id)
{
    struct help help = {.service = service, .caller = caller, .required = required, .id = id};
    TRY(find(&help, arena));
    return database_transaction(service->database, arena, send_again, &help, NULL);
}

static struct error *unlock(struct database *database, struct arena *arena, void *context)
{
    struct help *help = context;
    struct user *user = NULL;
    TRY(hold(help, arena, &user));
    TRY(login_throttle_lift(database, arena, help->id));
    return record(help, arena, "user.unlock");
}

struct error *member_unlock(struct service *service, struct arena *arena, const struct caller *caller,
                            const char *required, struct id id)
{
    struct help help = {.service = service, .caller = caller, .required = required, .id = id};
    TRY(find(&help, arena));
    return database_transaction(service->database, arena, unlock, &help, NULL);
}
