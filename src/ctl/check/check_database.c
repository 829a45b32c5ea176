/* SPDX-License-Identifier: MIT */
/* Checks the database for `gatehousectl check`, and what needs the database to be checked. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "ctl/check/check_int.h"
#include "domain/account/address_keys.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "domain/outbox.h"
#include "domain/permission/principal.h"
#include "identity/provider.h"
#include "service/system/inspect.h"
#include "store/database/database.h"
#include "store/database/migrate.h"

/* How many people a note names. */
#define STAFF_NAMED 10

/* As long as a statement of ours may take, by default: requests fail when a cluster stands longer. */
#define LOCK_WAIT_WARN_SECONDS 5

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
    return error_message(error_plain(checks->arena, ERROR_INTERNAL),
                         "The stored rights of %lld users or roles differ from what they should be.",
                         (long long)different);
}

/* Accounts that were added, or whose address was changed, by hand after the last migrate. */
static struct error *check_address_keys(struct checks *checks)
{
    size_t count = 0;
    TRY(address_keys_unfilled(checks->service.database, checks->arena, &count));
    if (count == 0)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL), "%zu accounts cannot be found by their address.",
                         count);
}

static bool one_account(const struct checks *checks)
{
    return strcmp(checks->configuration->database.user, checks->configuration->database.admin_user) == 0;
}

static struct error *probe_triggers(struct database *database, struct arena *arena)
{
    const char *trigger = NULL;
    TRY(principal_selftest(database, arena, &trigger));
    if (trigger == NULL)
        return NULL;
    return error_message(
        error_plain(arena, ERROR_INTERNAL),
        "The trigger %s is missing or does not do its work: a change of users or roles takes no effect.", trigger);
}

/* Why the administrator's account cannot be used; NULL where it can. It is not logged. */
static struct error *ping_quietly(struct checks *checks, struct database *database)
{
    log_set_module_level(LOG_MODULE_STORE, LOG_LEVEL_FATAL);
    struct error *error = database_ping(database, checks->arena);
    log_set_module_level(LOG_MODULE_STORE, LOG_LEVEL_WARN);
    return error;
}

/*
 * Tries the triggers, without which changes of users or roles would take no effect. That needs rights that the workers'
 * account does not have. Where the administrator's account cannot be used, they are not tried: most often it lets only
 * other users of this machine in.
 */
static bool check_triggers(struct checks *checks)
{
    struct database_options options;
    struct error *found = NULL;
    struct error *refused = database_options_load(checks->arena, checks->configuration, true, &options);
    if (refused == NULL) {
        options.query_timeout_seconds = (unsigned)checks->configuration->database.query_timeout_seconds;
        struct database *database = database_new(&options);
        refused = ping_quietly(checks, database);
        if (refused == NULL)
            found = probe_triggers(database, checks->arena);
        database_free(&database);
    }
    if (refused == NULL)
        return check_tell(checks, "triggers", CHECK_ERROR, found,
                          "Run gatehousectl migrate, and see that the account that makes the triggers is still there.");
    found = error_message(error_plain(checks->arena, ERROR_INTERNAL),
                          "The database account %s could not be used, so the triggers were not tried (%s). Run this "
                          "command as a user who may use it.",
                          checks->configuration->database.admin_user,
                          refused->detail != NULL ? refused->detail : refused->message);
    (void)check_tell(checks, "triggers", CHECK_NOTE, found, NULL);
    return true;
}

/*
 * Checks what the workers' account may do beyond what the code needs. A single account for everything may do all of it.
 */
static bool check_rights(struct checks *checks)
{
    size_t excess = 0;
    if (one_account(checks)) {
        struct error *note =
            error_message(error_plain(checks->arena, ERROR_INTERNAL),
                          "There is one database account for everything: whoever takes over a worker can change "
                          "the audit trail and the roles; see admin_user in gatehouse.conf(5).");
        (void)check_tell(checks, "accounts", CHECK_NOTE, note, NULL);
        return true;
    }
    struct error *error = migrate_excess(checks->service.database, checks->arena, migrate_worker_grants,
                                         migrate_worker_grant_count, &excess);
    if (error == NULL && excess > 0)
        error = error_message(error_plain(checks->arena, ERROR_INTERNAL),
                              "The workers' database account has %zu rights more than it needs.", excess);
    return check_tell(
        checks, "accounts", CHECK_ERROR, error,
        "Run gatehousectl migrate, which takes away those on this database; SHOW GRANTS names the others.");
}

/* Such people are internal staff in all but the name. That may be meant. */
static struct error *check_staff(struct checks *checks)
{
    struct arena *arena = checks->arena;
    struct id *ids;
    size_t count;
    struct buffer text;
    TRY(user_find_reaching(checks->service.database, arena, organisation_internal_id(), STAFF_NAMED + 1, &ids, &count));
    if (count == 0)
        return NULL;
    buffer_init(&text, arena);
    for (size_t i = 0; i < count && i < STAFF_NAMED; i++)
        buffer_add_format(&text, "%s%s", i == 0 ? "" : ", ", id_text(arena, ids[i]));
    return error_message(error_plain(arena, ERROR_INTERNAL),
                         "People outside internal staff hold a permission with the letter a, which reaches every"
                         " organisation: %s%s. See gatehousectl user show; take away what is not meant.",
                         text.bytes, count > STAFF_NAMED ? " and more" : "");
}

static struct error *check_keys(struct checks *checks)
{
    const struct key_set *keys;
    TRY(provider_check(checks->service.provider, checks->arena));
    return provider_keys(checks->service.provider, checks->arena, false, &keys);
}

static struct error *check_outbox(struct checks *checks)
{
    int64_t lag = 0;
    TRY(outbox_lag(checks->service.database, checks->arena, &lag));
    if (lag <= checks->configuration->health.outbox_lag_seconds * 1000)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL),
                         "E-mails or other jobs have been due for %" PRId64 " s.", lag / 1000);
}

static void check_clock(struct checks *checks)
{
    int64_t ahead = 0;
    struct error *error = inspect_clock(&checks->service, checks->arena, &ahead);
    int64_t apart = ahead < 0 ? -ahead : ahead;
    bool far = apart > LIMIT_TOKEN_LEEWAY_SECONDS * 1000;
    if (error == NULL && apart > INSPECT_CLOCK_WARN_MILLISECONDS)
        error = error_message(error_plain(checks->arena, ERROR_INTERNAL),
                              "This machine's clock is %" PRId64 " s %s the database's.", apart / 1000,
                              ahead > 0 ? "ahead of" : "behind");
    (void)check_tell(checks, "clock", far ? CHECK_ERROR : CHECK_WARNING, error,
                     "Have chrony or ntpd keep the clocks of all machines.");
}

/* Waits and leases that one node has timed end by the clock of the next one in use. Silent where the clocks agree. */
static void check_host_clock(struct checks *checks, const char *part, int64_t ahead)
{
    int64_t apart = ahead < 0 ? -ahead : ahead;
    if (apart <= INSPECT_CLOCK_WARN_MILLISECONDS)
        return;
    struct error *error =
        error_message(error_plain(checks->arena, ERROR_INTERNAL), "Its clock is %" PRId64 " s %s this machine's.",
                      apart / 1000, ahead > 0 ? "ahead of" : "behind");
    (void)check_tell(checks, part, CHECK_WARNING, error, "Have chrony or ntpd keep the clocks of all machines.");
}

/*
 * A node's own threads apply what others have changed. MariaDB may overlook that one of them waits for the lock of a
 * transaction that cannot go on before it, and finds out when the wait is over: until then the whole cluster stands.
 */
static void check_host_waits(struct checks *checks, const char *part, int64_t seconds)
{
    if (seconds <= LOCK_WAIT_WARN_SECONDS)
        return;
    struct error *error = error_message(error_plain(checks->arena, ERROR_INTERNAL),
                                        "Its innodb_lock_wait_timeout is %" PRId64 ": changes of the same rows through "
                                        "several nodes can stop the cluster for so many seconds.",
                                        seconds);
    (void)check_tell(checks, part, CHECK_WARNING, error,
                     "Write innodb_lock_wait_timeout = 1 into its configuration, and restart it.");
}

static const char host_help[] = "Start it, or see in its log why it has not joined. If it refuses statements: somebody "
                                "has set wsrep_reject_queries. The service uses the other hosts.";

/* Each host of a list. One that is away is a warning: the service uses the others. */
static void check_hosts(struct checks *checks)
{
    const struct database *database = checks->service.database;
    size_t count = database_host_count(database);
    for (size_t i = 0; count > 1 && i < count; i++) {
        struct database_host_state state;
        struct error *error = database_host_state(database, checks->arena, i, &state);
        const char *part = arena_format(checks->arena, "database %s", state.name);
        if (error == NULL)
            part = arena_format(checks->arena, "%s (%s)", part, state.words);
        (void)check_tell(checks, part, CHECK_WARNING, error, host_help);
        check_host_clock(checks, part, state.ahead);
        check_host_waits(checks, part, state.lock_wait_seconds);
    }
}

void check_database(struct checks *checks)
{
    struct service *service = &checks->service;
    check_hosts(checks);
    if (!check_tell(checks, "database", CHECK_ERROR, database_ping(service->database, checks->arena),
                    "Check that the server runs and that [database] socket, host, user and password_file are right.") ||
        !check_tell(checks, "migrations", CHECK_ERROR, check_migrations(checks), "Run gatehousectl migrate.") ||
        !check_tell(checks, "permissions", CHECK_ERROR, check_principals(checks), "Run gatehousectl migrate.") ||
        !check_rights(checks) || !check_triggers(checks))
        return;
    (void)check_tell(checks, "staff", CHECK_NOTE, check_staff(checks), NULL);
    (void)check_tell(checks, "address keys", CHECK_WARNING, check_address_keys(checks), "Run gatehousectl migrate.");
    check_clock(checks);
    (void)check_tell(checks, "secret", CHECK_ERROR, inspect_sealed(service, checks->arena),
                     "Put the secret file back that the database was set up with; nobody can sign in without it.");
    (void)check_tell(checks, "identity", CHECK_ERROR, check_keys(checks), NULL);
    (void)check_tell(checks, "outbox", CHECK_ERROR, check_outbox(checks),
                     "Check that a job runner runs; gatehousectl jobs --list says what waits.");
}
