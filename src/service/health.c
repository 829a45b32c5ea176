/* SPDX-License-Identifier: MIT */
#include "service/health.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "blob/blob.h"
#include "domain/outbox.h"
#include "identity/provider.h"
#include "service/live.h"
#include "service/service.h"
#include "store/database.h"
#include "store/migrate.h"

static const char *const part_texts[HEALTH_PART_COUNT] = {
    [HEALTH_DATABASE] = "database", [HEALTH_MIGRATIONS] = "migrations", [HEALTH_STORAGE] = "storage",
    [HEALTH_PROVIDER] = "identityProvider", [HEALTH_OUTBOX] = "outbox",
};

const char *health_part_text(enum health_part part)
{
    return part_texts[part];
}

const char *health_state_text(enum health_state state)
{
    static const char *const texts[] = {[HEALTH_UNKNOWN] = "unknown", [HEALTH_OK] = "ok", [HEALTH_DOWN] = "down"};
    return texts[state];
}

/*
 * Whoever asks the database anyway learns of the newest change, before what is kept is judged. A database in which that
 * cannot be read is told of with the migrations.
 */
static struct error *check_database(struct service *service, struct arena *arena)
{
    TRY(database_ping(service->database, arena));
    struct error *error = live_check(service, arena);
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

static struct error *check_storage(struct service *service, struct arena *arena)
{
    struct blob_space space;
    TRY(blob_check(service->blobs, arena));
    TRY(blob_space(service->blobs, arena, &space));
    if (space.free_bytes >= (uint64_t)service->configuration->health.free_bytes_min)
        return NULL;
    return error_new(arena, ERROR_STORAGE_FULL, "%llu bytes are free", (unsigned long long)space.free_bytes);
}

static struct error *check_provider(struct service *service, struct arena *arena)
{
    const struct key_set *keys = NULL;
    struct error *error = provider_keys(service->provider, arena, false, &keys);
    if (error == NULL || error->code == ERROR_DATABASE_UNAVAILABLE)
        return error;
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "no keys: %s", error->detail == NULL ? error->message : error->detail);
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

/* What kind of part it is: whether it is asked of the database. */
static const struct {
    struct error *(*check)(struct service *service, struct arena *arena);
    bool of_database;
} checks[HEALTH_PART_COUNT] = {
    [HEALTH_DATABASE] = {check_database, false}, [HEALTH_MIGRATIONS] = {check_migrations, true},
    [HEALTH_STORAGE] = {check_storage, false},   [HEALTH_PROVIDER] = {check_provider, false},
    [HEALTH_OUTBOX] = {check_outbox, true},
};

/* A provider that keeps its keys in the database cannot be told about without it. */
static enum health_state judge(const struct health *health, enum health_part part, const struct error *error)
{
    if (error == NULL)
        return HEALTH_OK;
    bool follows = part == HEALTH_PROVIDER && health->states[HEALTH_DATABASE] == HEALTH_DOWN;
    return follows && error->code == ERROR_DATABASE_UNAVAILABLE ? HEALTH_UNKNOWN : HEALTH_DOWN;
}

static void add_states(struct health *health)
{
    for (enum health_part part = 0; health->error != NULL && part < HEALTH_PART_COUNT; part++)
        error_member(health->error, part_texts[part], health_state_text(health->states[part]));
}

void health_check(struct service *service, struct arena *arena, struct health *health_out)
{
    *health_out = (struct health){.error = NULL};
    database_set_deadline(clock_monotonic() + service->configuration->health.deadline_seconds * 1000000);
    for (enum health_part part = 0; part < HEALTH_PART_COUNT; part++) {
        if (checks[part].of_database && health_out->states[HEALTH_DATABASE] != HEALTH_OK)
            continue;
        struct error *error = checks[part].check(service, arena);
        health_out->states[part] = judge(health_out, part, error);
        if (health_out->states[part] != HEALTH_DOWN)
            continue;
        if (health_out->error == NULL)
            health_out->error = error_member(error, "part", part_texts[part]);
        error_entry(health_out->error, part_texts[part], error_code_text(error->code), error->message);
    }
    database_set_deadline(0);
    add_states(health_out);
}
