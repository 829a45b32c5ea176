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

struct account {
    const char *database;
    const char *user;
    const char *host;
};

static struct error *statements(struct arena *arena, const struct account *account, const struct grant *grants,
                                size_t count, const char **text_out)
{
    return migrate_grant_text(arena, account->database, account->user, account->host, grants, count, text_out);
}

/* Writes one right: its GRANT statement, and the statement's parts. */
static struct error *write_grant(struct ctl_json *json, const struct account *account, const struct grant *grant)
{
    const char *text;
    TRY(statements(json->arena, account, grant, 1, &text));
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "table", grant->table);
    ctl_json_text(json, "rights", grant->rights);
    ctl_json_text(json, "statement", arena_copy(json->arena, text, strlen(text) - strlen(";\n")));
    ctl_json_close(json);
    return NULL;
}

static struct error *write_json(struct arena *arena, const struct account *account)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_text(&json, "database", account->database);
    ctl_json_text(&json, "user", account->user);
    ctl_json_text(&json, "host", account->host);
    ctl_json_open(&json, "items", '[');
    for (size_t i = 0; i < migrate_worker_grant_count; i++)
        TRY(write_grant(&json, account, &migrate_worker_grants[i]));
    ctl_json_close(&json);
    ctl_json_close(&json);
    return NULL;
}

static struct error *print(struct run *run)
{
    struct configuration *configuration;
    const char *text;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    const struct account account = {.database = configuration->database.name,
                                    .user = configuration->database.user,
                                    .host = ctl_account_host(configuration)};
    /* The names are checked here, before anything is printed. */
    TRY(statements(run->arena, &account, migrate_worker_grants, migrate_worker_grant_count, &text));
    if (run->json)
        return write_json(run->arena, &account);
    (void)fputs(text, stdout);
    return NULL;
}

static int grants(struct run *run)
{
    struct error *error = print(run);
    return error != NULL ? ctl_fail(error) : EXIT_SUCCESS;
}

const struct ctl_command ctl_grants = {.name = "grants",
                                       .summary =
                                           "print the rights of the workers' database account as GRANT statements",
                                       .json = true,
                                       .run = grants};
