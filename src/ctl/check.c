/* SPDX-License-Identifier: MIT */
/* gatehousectl check: each part the service stands on, one line each, with a sentence on what to mend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/scanner.h"
#include "ctl/ctl_int.h"
#include "domain/principal.h"
#include "identity/provider.h"
#include "service/service.h"
#include "service/setup.h"
#include "store/database.h"
#include "store/mail.h"
#include "store/mail_template.h"
#include "store/migrate.h"

struct checks {
    struct arena *arena;
    const struct configuration *configuration;
    struct service service;
    bool good;
    bool not_tried; /* the triggers, for want of an account that may */
};

static bool tell(struct checks *checks, const char *part, const struct error *error, const char *mend)
{
    if (error == NULL) {
        (void)printf("%-14s ok\n", part);
        return true;
    }
    checks->good = false;
    (void)printf("%-14s %s\n", part, error->message);
    if (error->detail != NULL)
        (void)printf("%-14s   %s\n", "", error->detail);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        (void)printf("%-14s   %s: %s\n", "", entry->path, entry->message);
    if (mend != NULL)
        (void)printf("%-14s   %s\n", "", mend);
    return false;
}

static struct error *check_migrations(struct checks *checks)
{
    size_t pending = 0;
    const char *directory = arena_format(checks->arena, "%s/sql", configuration_data_directory());
    TRY(migrate_pending(checks->service.database, checks->arena, directory, &pending));
    if (pending == 0)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL), "%zu migrations are not applied.", pending);
}

static struct error *check_principals(struct checks *checks)
{
    int64_t different = 0;
    TRY(principal_compare(checks->service.database, checks->arena, &different));
    if (different == 0)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL), "What is kept of %lld users or roles is not what they are.",
                         (long long)different);
}

static bool one_account(const struct checks *checks)
{
    return strcmp(checks->configuration->database.user, checks->configuration->database.admin_user) == 0;
}

/*
 * Without them a change of users or roles would take effect nowhere. Trying them takes rights that the workers' account
 * does not have; where the administrator's account does not let this user in, they are not looked at.
 */
static struct error *check_triggers(struct checks *checks)
{
    const char *trigger = NULL;
    struct database_options options;
    checks->not_tried = database_options_load(checks->arena, checks->configuration, true, &options) != NULL;
    if (checks->not_tried)
        return NULL;
    options.query_timeout_seconds = (unsigned)checks->configuration->database.query_timeout_seconds;
    struct database *database = database_new(&options);
    log_set_module_level(LOG_MODULE_STORE, LOG_LEVEL_FATAL);
    struct error *error = database_ping(database, checks->arena);
    log_set_module_level(LOG_MODULE_STORE, LOG_LEVEL_WARN);
    checks->not_tried = error != NULL;
    if (error == NULL)
        error = principal_probe(database, checks->arena, &trigger);
    database_free(&database);
    if (checks->not_tried)
        return NULL;
    TRY(error);
    if (trigger == NULL)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL),
                         "The trigger %s is missing or does not do its work: a change of users or roles takes no effect.",
                         trigger);
}

/* What the workers' account may do beyond what the code needs. One account for everything may do all of it. */
static struct error *check_rights(struct checks *checks)
{
    size_t excess = 0;
    if (one_account(checks))
        return NULL;
    TRY(migrate_excess(checks->service.database, checks->arena, migrate_worker_grants, migrate_worker_grant_count, &excess));
    if (excess == 0)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL),
                         "The workers' database account has %zu rights more than it needs.", excess);
}

/* Lines about what is not wrong but should be known. */
static void note_accounts(const struct checks *checks)
{
    if (one_account(checks))
        (void)printf("%-14s one database account for everything: whoever takes over a worker can change the audit trail and the"
                     " roles; see admin_user in gatehouse.conf(5)\n", "note");
    else if (checks->not_tried)
        (void)printf("%-14s the triggers were not tried: run this command as a user whom the database account %s lets in\n",
                     "note", checks->configuration->database.admin_user);
}

static struct error *check_keys(struct checks *checks)
{
    const struct key_set *keys;
    TRY(provider_check(checks->service.provider, checks->arena));
    return provider_keys(checks->service.provider, checks->arena, false, &keys);
}

/* The templates that this version sends, filled with stand-ins. */
static struct error *check_mail(struct checks *checks)
{
    static const char *const names[] = {"first-login", "confirm", "reset", "password-changed"};
    static const struct mail_template_value values[] = {
        {"firstName", "A"}, {"lastName", "B"}, {"organisation", "C"}, {"email", "a@example.org"}, {"code", "123456"},
        {"temporaryPassword", "P"}, {"link", "https://example.org/"}, {"days", "7"}, {"hours", "24"}, {"minutes", "60"},
        {"time", "2026-11-21 08:52 UTC"}};
    struct mail_transport *transport;
    struct mail mail = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TRY(mail_template_fill(checks->arena, checks->configuration->mail.templates, names[i], values,
                               sizeof values / sizeof *values, &mail));
    return mail_transport_load(checks->arena, checks->configuration, &transport);
}

static void check_service(struct checks *checks)
{
    if (!tell(checks, "service", service_open(checks->arena, checks->configuration, &checks->service), NULL))
        return;
    if (tell(checks, "database", database_ping(checks->service.database, checks->arena),
             "Check that the server runs and that [database] socket, host, user and password_file are right.") &&
        tell(checks, "migrations", check_migrations(checks), "Run gatehousectl migrate.") &&
        tell(checks, "permissions", check_principals(checks), "Run gatehousectl migrate.") &&
        tell(checks, "triggers", check_triggers(checks),
             "Run gatehousectl migrate, and see that the account that makes the triggers is still there.") &&
        tell(checks, "accounts", check_rights(checks), "Run gatehousectl migrate, which takes them away."))
        (void)tell(checks, "identity", check_keys(checks),
                   provider_joins(checks->service.provider) ? "Check that the secret file is the one the keys were made with." : NULL);
    note_accounts(checks);
    (void)tell(checks, "files", blob_check(checks->service.blobs, checks->arena),
               "Check that [files] directory is there, belongs to the workers' user and has space left.");
    if (checks->service.scanner != NULL)
        (void)tell(checks, "scanner", scanner_ping(checks->service.scanner, checks->arena),
                   "Check that clamd runs, that [files] clamd_socket is its LocalSocket, and who may connect to it.");
    (void)tell(checks, "mail", check_mail(checks), "Check the settings of [mail] and the files in [mail] templates.");
    service_close(&checks->service);
}

static int check(struct run *run)
{
    struct checks checks = {.arena = run->arena, .good = true};
    struct configuration *configuration;
    struct error *error = setup_load(run->arena, run->config, NULL, &configuration);
    checks.configuration = configuration;
    if (tell(&checks, "configuration", error, NULL))
        check_service(&checks);
    return checks.good ? EXIT_SUCCESS : EXIT_FAILURE;
}

const struct ctl_command ctl_check = {.name = "check", .summary = "look at everything the service stands on", .run = check};
