/* SPDX-License-Identifier: MIT */
/* gatehousectl unlock: ends the wait that failed logins of an account have started. */
#include <stdio.h>

#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/account/throttle.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/service.h"

static struct error *lift(struct service *service, struct arena *arena, const char *username, bool *known_out)
{
    struct user *user = NULL;
    struct caller nobody = {0};
    TRY(user_find_by_username(service->database, arena, username, &user));
    struct throttle_key name = throttle_of_name(arena, username);
    TRY(throttle_lift(service->database, arena, &name));
    *known_out = user != NULL;
    if (user == NULL)
        return NULL;
    struct throttle_key account = throttle_of_user(user->id);
    struct audit_entry entry = {.action = "user.unlock",
                                .organisation_id = user->organisation_id,
                                .target_type = "user",
                                .target_id = id_text(arena, user->id)};
    TRY(throttle_lift(service->database, arena, &account));
    return caller_audit(service, arena, &nobody, &entry);
}

static struct error *unlock(struct service *service, struct arena *arena, void *context)
{
    bool known = false;
    const char *username = context;
    TRY(lift(service, arena, username, &known));
    if (!known)
        return error_message(error_plain(arena, ERROR_INTERNAL), "There is no account %s.", username);
    (void)printf("the account can try its password again\n");
    return NULL;
}

static int run_unlock(struct run *run)
{
    return ctl_with_service(run, unlock, run->operands[0]);
}

const struct ctl_command ctl_unlock = {
    .name = "unlock", .operands = "USERNAME", .summary = "let an account try its password again", .run = run_unlock};
