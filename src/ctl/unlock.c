/* SPDX-License-Identifier: MIT */
/* gatehousectl unlock: ends the wait that failed logins of an account started. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/audit.h"
#include "domain/throttle.h"
#include "domain/user.h"
#include "service/caller.h"
#include "service/service.h"
#include "service/setup.h"

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

static struct error *unlock(struct run *run, const char *username, bool *known_out)
{
    struct configuration *configuration;
    struct service service;
    TRY(setup_load(run->arena, run->config, NULL, &configuration));
    TRY(service_open(run->arena, configuration, &service));
    struct error *error = lift(&service, run->arena, username, known_out);
    service_close(&service);
    return error;
}

int ctl_unlock(struct run *run)
{
    bool known = false;
    if (run->argc != 2)
        return ctl_usage("unlock USERNAME");
    struct error *error = unlock(run, run->argv[1], &known);
    if (error != NULL)
        return ctl_fail(error);
    if (!known) {
        (void)fprintf(stderr, "gatehousectl: there is no account %s\n", run->argv[1]);
        return EXIT_FAILURE;
    }
    (void)printf("the account can try its password again\n");
    return EXIT_SUCCESS;
}
