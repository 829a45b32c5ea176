/* SPDX-License-Identifier: MIT */
/*
 * gatehousectl migrate: makes or updates the database. It also makes the secret file and the workers' database password
 * where they are missing, so that a new installation needs no other step.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/secret.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "codec/seal.h"
#include "ctl/ctl_int.h"
#include "domain/account/address_keys.h"
#include "domain/permission/principal.h"
#include "domain/session/session.h"
#include "service/runtime/startup.h"
#include "store/database/database.h"
#include "store/database/migrate.h"

/* Tells of a migration; `context` is a struct ctl_json, or NULL. */
static void print_applied(void *context, const char *file_name)
{
    if (context == NULL)
        (void)printf("applied %s\n", file_name);
    else
        ctl_json_text(context, NULL, file_name);
}

/* Makes a file of random hexadecimal digits, whole or not at all. An existing file stays. */
static struct error *make_secret(struct arena *arena, const char *path)
{
    unsigned char bytes[SEAL_MASTER_BYTES];
    if (access(path, F_OK) == 0)
        return NULL;
    random_bytes(bytes, sizeof bytes);
    const char *text = hex_encode(arena, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes);
    return secret_create(arena, path, secret_of(text));
}

/* Makes what the triggers keep anew: without them for a while, it may be wrong. */
static struct error *keep_principals(struct database *database, struct arena *arena, struct ctl_migrated *migrated)
{
    TRY(principal_rebuild(database, arena, &migrated->rights_repaired));
    return session_renew_stamps(database, arena);
}

/* Refuses to begin when accounts have addresses that would be the same from now on. */
static struct error *refuse_collisions(struct database *database, struct arena *arena)
{
    struct address_holder *holders;
    size_t count;
    TRY(address_keys_collisions(database, arena, &holders, &count));
    if (count == 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, "%s  %s  %s\n", i > 0 && strcmp(holders[i - 1].key, holders[i].key) != 0 ? "\n" : "",
                      id_text(arena, holders[i].user), holders[i].email);
    return error_message(
        error_plain(arena, ERROR_INTERNAL),
        "The %zu accounts above have addresses that are spellings of the same one, which from this version on"
        " has one account. Nothing was changed. Give all but one of each another address, as"
        " docs/upgrading.md says, and run migrate again.",
        count);
}

static struct error *fill_keys(struct database *database, struct arena *arena, struct ctl_migrated *migrated)
{
    size_t count;
    TRY(address_keys_fill(database, arena, &count));
    migrated->address_keys = (int64_t)count;
    return NULL;
}

static struct error *run_migrations(struct arena *arena, const struct configuration *configuration,
                                    const char *directory, struct ctl_migrated *migrated)
{
    struct database_options options;
    TRY(database_options_load(arena, configuration, true, &options));
    options.query_timeout_seconds = 0;
    const char *name = configuration->database.name;
    options.name = NULL;
    struct database *database = database_new(&options);
    struct error *error = migrate_create_database(database, arena, name);
    database_free(&database);
    TRY(error);
    options.name = name;
    database = database_new(&options);
    error = refuse_collisions(database, arena);
    if (error == NULL)
        error = migrate(database, arena, directory, migrated->applied, migrated->context);
    if (error == NULL)
        error = fill_keys(database, arena, migrated);
    if (error == NULL)
        error = keep_principals(database, arena, migrated);
    database_free(&database);
    return error;
}

static struct error *grant(struct arena *arena, const struct configuration *configuration)
{
    struct database_options options;
    struct secret password = {0};
    const char *user = configuration->database.user;
    if (strcmp(user, configuration->database.admin_user) == 0)
        return NULL;
    if (configuration->database.password_file != NULL)
        TRY(secret_read(arena, configuration->database.password_file, &password));
    TRY(database_options_load(arena, configuration, true, &options));
    struct database *database = database_new(&options);
    const char *host = ctl_account_host(configuration);
    struct error *error = migrate_account(database, arena, user, host, password);
    if (error == NULL)
        error = migrate_grant(database, arena, configuration->database.name, user, host, migrate_worker_grants,
                              migrate_worker_grant_count);
    database_free(&database);
    return error;
}

const char *ctl_account_host(const struct configuration *configuration)
{
    bool local = configuration->database.socket != NULL || strcmp(configuration->database.host, "localhost") == 0;
    return local ? "localhost" : "%";
}

struct error *ctl_make_ready(struct run *run, const char *directory, struct ctl_migrated *migrated)
{
    struct configuration *configuration;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    TRY(make_secret(run->arena, configuration->service.secret_file));
    bool own_user = strcmp(configuration->database.user, configuration->database.admin_user) != 0;
    if (own_user && configuration->database.password_file != NULL)
        TRY(make_secret(run->arena, configuration->database.password_file));
    TRY(run_migrations(run->arena, configuration, directory, migrated));
    return grant(run->arena, configuration);
}

void ctl_migrated_print(const struct ctl_migrated *migrated, struct ctl_json *json)
{
    if (json != NULL) {
        ctl_json_integer(json, "addressKeys", migrated->address_keys);
        ctl_json_integer(json, "rightsRepaired", migrated->rights_repaired);
        return;
    }
    if (migrated->address_keys != 0)
        (void)printf("computed the comparison keys of %" PRId64 " addresses\n", migrated->address_keys);
    if (migrated->rights_repaired != 0)
        (void)printf("repaired the stored rights of %" PRId64 " users or roles\n", migrated->rights_repaired);
}

static int run_migrate(struct run *run)
{
    struct ctl_json json = {.arena = run->arena};
    struct ctl_migrated migrated = {.applied = print_applied, .context = run->json ? &json : NULL};
    const char *directory = ctl_value(run, "sql");
    if (directory == NULL)
        directory = arena_format(run->arena, "%s/sql", configuration_data_directory());
    if (run->json) {
        ctl_json_open(&json, NULL, '{');
        ctl_json_open(&json, "applied", '[');
    }
    struct error *error = ctl_make_ready(run, directory, &migrated);
    if (run->json)
        ctl_json_close(&json);
    ctl_migrated_print(&migrated, run->json ? &json : NULL);
    if (run->json) {
        ctl_json_boolean(&json, "complete", error == NULL);
        ctl_json_close(&json);
    } else if (error == NULL) {
        (void)printf("the database is up to date\n");
    }
    return error != NULL ? ctl_fail(error) : EXIT_SUCCESS;
}

static const struct ctl_option options[] = {
    {"sql", "DIRECTORY", "take the migrations from there", false},
    {0},
};

const struct ctl_command ctl_migrate = {.name = "migrate",
                                        .summary = "create or update the database",
                                        .options = options,
                                        .json = true,
                                        .run = run_migrate};
