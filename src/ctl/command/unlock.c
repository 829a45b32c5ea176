/* SPDX-License-Identifier: MIT */
/* gatehousectl unlock: ends the waits that failed logins of an account, and on its known devices, have started. */
#include <stdio.h>

#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/account/throttle.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/runtime/service.h"

static struct error *lift(struct service *service, struct arena *arena, const char *username, struct user **user_out)
{
    struct caller nobody = {0};
    TRY(user_find_by_username(service->database, arena, username, user_out));
    const struct user *user = *user_out;
    struct throttle_key name = throttle_of_name(arena, username);
    TRY(throttle_lift(service->database, arena, &name));
    if (user == NULL)
        return NULL;
    struct audit_entry entry = {.action = "user.unlock",
                                .organisation_id = user->organisation_id,
                                .target_type = "user",
                                .target_id = id_text(arena, user->id)};
    TRY(login_throttle_lift(service->database, arena, user->id));
    return caller_audit(service, arena, &nobody, &entry);
}

static struct error *unlock(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    struct ctl_json json = {.arena = arena};
    struct user *user = NULL;
    TRY(lift(service, arena, run->operands[0], &user));
    if (user == NULL)
        return error_message(error_plain(arena, ERROR_INTERNAL), "There is no account %s.", run->operands[0]);
    if (!run->json) {
        (void)printf("the account can try its password again\n");
        return NULL;
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_text(&json, "id", id_text(arena, user->id));
    ctl_json_text(&json, "organisationId", id_text(arena, user->organisation_id));
    ctl_json_text(&json, "email", user->email);
    ctl_json_close(&json);
    return NULL;
}

static int run_unlock(struct run *run)
{
    return ctl_with_service(run, unlock, run);
}

const struct ctl_command ctl_unlock = {.name = "unlock",
                                       .operands = "USERNAME",
                                       .summary = "let an account try its password again",
                                       .json = true,
                                       .run = run_unlock};
