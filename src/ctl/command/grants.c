/* SPDX-License-Identifier: MIT */
/* gatehousectl grants: prints the rights of the workers' database account, for those who make accounts by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "service/runtime/startup.h"
#include "store/database/migrate.h"

static int grants(struct run *run)
{
    struct configuration *configuration;
    const char *text;
    struct error *error = startup_load(run->arena, run->config, NULL, &configuration);
    if (error == NULL)
        error = migrate_grant_text(run->arena, configuration->database.name, configuration->database.user,
                                   ctl_account_host(configuration), migrate_worker_grants, migrate_worker_grant_count,
                                   &text);
    if (error != NULL)
        return ctl_fail(error);
    (void)printf("%s", text);
    return EXIT_SUCCESS;
}

const struct ctl_command ctl_grants = {.name = "grants",
                                       .summary =
                                           "print the rights of the workers' database account as GRANT statements",
                                       .run = grants};
