/* SPDX-License-Identifier: MIT */
/*
 * Checks the parts of the service in two groups. Database and provider are asked here, and each wait ends at the
 * horizon (base/clock.h). Disks and the mail server are asked by a child at the same time (health_apart.c).
 */
#include "service/system/health.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "domain/outbox.h"
#include "identity/provider.h"
#include "service/integrity/scrub.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"
#include "service/system/health_int.h"
#include "service/system/inspect.h"
#include "store/database/database.h"
#include "store/database/migrate.h"

/* How long an answer of the mail server is used: monitoring asks every few seconds. */
#define MAIL_MICROSECONDS INT64_C(60000000)

/* How long that answer is waited for. It can cause a warning only, which must not delay the whole reply. */
#define MAIL_SECONDS 1

static const char *const part_texts[HEALTH_PART_COUNT] = {
    [HEALTH_DATABASE] = "database",
    [HEALTH_MIGRATIONS] = "migrations",
    [HEALTH_STORAGE] = "storage",
    [HEALTH_PROVIDER] = "identityProvider",
    [HEALTH_SECRETS] = "secrets",
    [HEALTH_OUTBOX] = "outbox",
    [HEALTH_CONFIGURATION] = "configuration",
    [HEALTH_LOG] = "log",
    [HEALTH_CACHE] = "cache",
    [HEALTH_MAIL] = "mail",
    [HEALTH_SCRUB] = "scrub",
};

const char *health_state_text(enum health_state state)
{
    static const char *const texts[] = {
        [HEALTH_UNKNOWN] = "unknown", [HEALTH_OK] = "ok", [HEALTH_WARNING] = "warning", [HEALTH_DOWN] = "down"};
    return texts[state];
}

/* ---- asked here ---------------------------------------------------------------------------------- */

/*
 * Since the database is asked anyway, the newest change is learned here, before what this process keeps is checked. A
 * database in which that cannot be read is reported with the migrations.
 */
static struct error *check_database(struct service *service, struct arena *arena)
{
    TRY(database_ping(service->database, arena));
    struct error *error = change_follower_catch_up(service, arena);
    return error != NULL && error->code == ERROR_DATABASE_UNAVAILABLE ? error : NULL;
}

static struct error *check_migrations(struct service *service, struct arena *arena)
{
    bool applied = false;
    TRY(migrate_applied(service->database, arena, service->migrations, &applied));
    if (applied)
        return NULL;
    return error_message(error_new(arena, ERROR_DATABASE_UNAVAILABLE, "migrations are not applied"),
                         "The database is older than the service. Run gatehousectl migrate.");
}

static struct error *check_provider(struct service *service, struct arena *arena)
{
    const struct key_set *keys = NULL;
    struct error *error = provider_keys(service->provider, arena, false, &keys);
    if (error == NULL || error->code == ERROR_DATABASE_UNAVAILABLE)
        return error;
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "no keys: %s",
                     error->detail == NULL ? error->message : error->detail);
}

/* Only the log gets the sentence that names the file; the caller does not. */
static struct error *check_secrets(struct service *service, struct arena *arena)
{
    struct error *error = inspect_sealed(service, arena);
    if (error == NULL || error->code == ERROR_DATABASE_UNAVAILABLE)
        return error;
    return error_message(error_new(arena, ERROR_INTERNAL, "%s", error->message),
                         "What is sealed in the database does not open with the secret file. Run gatehousectl check.");
}

static struct error *check_outbox(struct service *service, struct arena *arena)
{
    int64_t lag = 0;
    TRY(outbox_lag(service->database, arena, &lag));
    if (lag <= service->configuration->health.outbox_lag_seconds * 1000)
        return NULL;
    return error_message(error_new(arena, ERROR_INTERNAL, "a job of the outbox is %lld ms late", (long long)lag),
                         "E-mails and other jobs wait for too long. Check that a job runner is running.");
}

/* A host with a damaged or lost file serves all the others. */
static struct error *check_scrub(struct service *service, struct arena *arena)
{
    const char *problem;
    TRY(scrub_health(service, arena, &problem));
    return problem == NULL ? NULL : error_message(error_new(arena, ERROR_INTERNAL, "%s", problem), "%s", problem);
}

/* Checked in this order. A part whose need is not in order is not checked. */
static const struct {
    enum health_part part;
    struct error *(*check)(struct service *service, struct arena *arena);
    enum health_part needs; /* the part itself: it needs nothing */
} checks[] = {
    {HEALTH_DATABASE, check_database, HEALTH_DATABASE}, {HEALTH_MIGRATIONS, check_migrations, HEALTH_DATABASE},
    {HEALTH_PROVIDER, check_provider, HEALTH_PROVIDER}, {HEALTH_SECRETS, check_secrets, HEALTH_DATABASE},
    {HEALTH_OUTBOX, check_outbox, HEALTH_DATABASE},     {HEALTH_SCRUB, check_scrub, HEALTH_MIGRATIONS},
};

/* ---- asked apart --------------------------------------------------------------------------------- */

static struct error *check_storage(struct service *service, struct arena *arena)
{
    struct blob_space space;
    TRY(blob_check(service->blobs, arena));
    TRY(blob_space(service->blobs, arena, &space));
    if (space.free_bytes >= (uint64_t)service->configuration->health.free_bytes_min)
        return NULL;
    return error_new(arena, ERROR_STORAGE_FULL, "%llu bytes are free", (unsigned long long)space.free_bytes);
}

/* The environment is that of this worker; the operator's shell has another one. */
static struct error *check_configuration(struct service *service, struct arena *arena)
{
    TRY(inspect_secret_files(arena, service->configuration));
    TRY(inspect_mail_sender(arena, service->configuration));
    return inspect_environment(arena, true);
}

static struct error *check_log(struct service *service, struct arena *arena)
{
    return inspect_log(arena, service->configuration);
}

static struct error *check_cache(struct service *service, struct arena *arena)
{
    return inspect_cache(arena, service->configuration);
}

static struct error *check_mail(struct service *service, struct arena *arena)
{
    return inspect_mail_way(arena, service->configuration, MAIL_SECONDS);
}

/* Mail is the last one, since it is not asked every time. */
static const struct health_question apart[] = {
    {HEALTH_STORAGE, check_storage}, {HEALTH_CONFIGURATION, check_configuration},
    {HEALTH_LOG, check_log},         {HEALTH_CACHE, check_cache},
    {HEALTH_MAIL, check_mail},
};

#define APART_COUNT (sizeof apart / sizeof *apart)

/* What this process knows from earlier checks. */
static struct {
    int64_t mail_asked; /* clock_monotonic(); 0: never */
    enum health_state states[HEALTH_PART_COUNT];
} known;

/* ---- results --------------------------------------------------------------------------------------- */

static void note_down(struct health *health, enum health_part part, struct error *error)
{
    health->states[part] = HEALTH_DOWN;
    if (health->error == NULL)
        health->error = error_member(error, "part", part_texts[part]);
    error_entry(health->error, part_texts[part], error_code_text(error->code), error->message);
}

static void note_warning(struct health *health, enum health_part part, const struct error *error)
{
    health->states[part] = HEALTH_WARNING;
    if (known.states[part] != HEALTH_WARNING)
        LOG(WARN, SYSTEM, "a part of the service does not work", LOG_TEXT("part", part_texts[part]),
            LOG_TEXT("detail", error->detail != NULL ? error->detail : error->message));
}

/*
 * Without the database the state of a provider that keeps its keys there is unknown; and so is that of a provider for
 * which the database has left no time.
 */
static bool is_unknown(const struct health *health, enum health_part part, const struct error *error, int64_t until)
{
    if (part != HEALTH_PROVIDER || health->states[HEALTH_DATABASE] != HEALTH_DOWN)
        return false;
    return error->code == ERROR_DATABASE_UNAVAILABLE || clock_monotonic() >= until;
}

static void ask_here(struct service *service, struct arena *arena, int64_t until, struct health *health)
{
    clock_set_horizon(until);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        enum health_part part = checks[i].part;
        if (checks[i].needs != part && health->states[checks[i].needs] != HEALTH_OK)
            continue;
        /* Without the provider's keys this check fails for another reason than the secret. */
        if (part == HEALTH_SECRETS && health->states[HEALTH_PROVIDER] != HEALTH_OK)
            continue;
        struct error *error = checks[i].check(service, arena);
        if (error == NULL)
            health->states[part] = HEALTH_OK;
        else if (part == HEALTH_SCRUB)
            note_warning(health, part, error);
        else if (!is_unknown(health, part, error, until))
            note_down(health, part, error);
    }
    clock_set_horizon(0);
}

static void note_apart(struct health *health, enum health_part part, struct error *error)
{
    if (error == NULL)
        health->states[part] = HEALTH_OK;
    else if (part == HEALTH_STORAGE)
        note_down(health, part, error);
    else
        note_warning(health, part, error);
}

static void take_answers(struct service *service, struct arena *arena, struct health_look *look, size_t count,
                         struct health *health)
{
    struct error *errors[APART_COUNT] = {NULL};
    size_t answered = health_apart_end(arena, look, count, errors);
    for (size_t i = 0; i < answered; i++)
        note_apart(health, apart[i].part, errors[i]);
    if (answered == count)
        return;
    /* The first part without an answer is the one that hangs; those behind it were not asked. */
    struct error *late =
        error_new(arena, ERROR_STORAGE_UNAVAILABLE, "%s has not answered within %lld s",
                  part_texts[apart[answered].part], (long long)service->configuration->health.deadline_seconds);
    note_apart(health, apart[answered].part, late);
}

static void remember(const struct health *health)
{
    for (enum health_part part = 0; part < HEALTH_PART_COUNT; part++) {
        if (known.states[part] == HEALTH_WARNING && health->states[part] == HEALTH_OK)
            LOG(INFO, SYSTEM, "a part of the service works again", LOG_TEXT("part", part_texts[part]));
        if (health->states[part] != HEALTH_UNKNOWN)
            known.states[part] = health->states[part];
    }
}

static void add_states(struct health *health)
{
    for (enum health_part part = 0; health->error != NULL && part < HEALTH_PART_COUNT; part++)
        error_member(health->error, part_texts[part], health_state_text(health->states[part]));
}

void health_check(struct service *service, struct arena *arena, struct health *health_out)
{
    int64_t now = clock_monotonic();
    int64_t until = now + service->configuration->health.deadline_seconds * 1000000;
    bool mail_known = known.mail_asked != 0 && now - known.mail_asked < MAIL_MICROSECONDS;
    size_t count = mail_known ? APART_COUNT - 1 : APART_COUNT;
    struct health_look look;
    *health_out = (struct health){.error = NULL};
    health_apart_begin(service, apart, count, until, &look);
    ask_here(service, arena, until, health_out);
    take_answers(service, arena, &look, count, health_out);
    if (mail_known)
        health_out->states[HEALTH_MAIL] = known.states[HEALTH_MAIL];
    else if (health_out->states[HEALTH_MAIL] != HEALTH_UNKNOWN)
        known.mail_asked = now;
    remember(health_out);
    add_states(health_out);
}
