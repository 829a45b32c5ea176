/* SPDX-License-Identifier: MIT */
/* Reads the settings in force, and applies them to this process. */
#include "service/runtime/settings_apply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "base/metrics.h"
#include "codec/document.h"
#include "service/runtime/service.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"

/*
 * How long the cache keeps what was read. The job runner announces a row that was typed in long before that.
 *
 * The second: how long a process may take to read the rows.
 */
#define CACHE_SECONDS 60
#define LEASE_SECONDS 2

/* The settings of version 0: those of the configuration. */
static const struct settings *configured(const struct service *service, struct arena *arena)
{
    struct settings *settings = arena_alloc(arena, sizeof *settings);
    settings->level = LOG_LEVEL_INFO;
    (void)log_level_parse(service->configuration->log.level, &settings->level);
    settings->filter = "";
    (void)log_levels_read(settings->level, settings->filter, &settings->levels);
    return settings;
}

struct settings_row settings_apply_row(const struct service *service, struct arena *arena,
                                       const struct settings_state *state)
{
    if (state->good != NULL)
        return *state->good;
    return (struct settings_row){.settings = configured(service, arena)};
}

/*
 * {"newest":…,"version":…,"document":…,"damaged":…,"damage":…}: the state of the rows, for the host's cache. The
 * document is null where no row is good: each process then takes the settings of its own configuration.
 */
static struct error *load_state(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct settings_state state;
    struct buffer buffer;
    TRY(settings_load(context, arena, &state));
    const struct settings_row *good = state.good;
    buffer_init(&buffer, arena);
    buffer_add_format(&buffer, "{\"newest\":%" PRId64 ",\"version\":%" PRId64 ",\"document\":", state.newest,
                      good == NULL ? 0 : good->version);
    buffer_add_json_text(&buffer, good == NULL ? NULL : settings_text(arena, good->settings));
    buffer_add_format(&buffer,
                      ",\"damaged\":%" PRId64 ",\"damage\":", state.damaged == NULL ? 0 : state.damaged->version);
    buffer_add_json_text(&buffer, state.damaged == NULL ? NULL : state.damaged->damage);
    buffer_add_char(&buffer, '}');
    *bytes_out = buffer.bytes;
    *length_out = buffer.length;
    return NULL;
}

static bool read_state(struct arena *arena, const void *bytes, size_t length, struct settings_state *state_out)
{
    struct document *entry = NULL;
    struct settings_row *good = arena_alloc(arena, sizeof *good);
    struct settings_row *damaged = arena_alloc(arena, sizeof *damaged);
    *good = *damaged = (struct settings_row){0};
    if (document_parse(arena, bytes, length, &entry) != NULL ||
        !document_integer(document_member(entry, "newest"), &state_out->newest) ||
        !document_integer(document_member(entry, "version"), &good->version) ||
        !document_integer(document_member(entry, "damaged"), &damaged->version))
        return false;
    const char *text = document_text(document_member(entry, "document"));
    if (text != NULL)
        good->settings = settings_read(arena, text, strlen(text), &good->damage);
    damaged->damage = document_text(document_member(entry, "damage"));
    state_out->good = good->settings == NULL ? NULL : good;
    state_out->damaged = damaged->version == 0 ? NULL : damaged;
    return good->version == 0 || good->settings != NULL;
}

/* Reads the state through the host's cache: of all its processes that start, one asks the database. */
static struct error *find_state(struct service *service, struct arena *arena, struct settings_state *state_out)
{
    const struct cache_loader loader = {load_state, service->database, CACHE_SECONDS, LEASE_SECONDS};
    void *bytes;
    size_t length;
    TRY(cache_fetch(service->cache, arena, CACHE_SETTINGS_CURRENT, &loader, &bytes, &length));
    return read_state(arena, bytes, length, state_out) ? NULL : settings_load(service->database, arena, state_out);
}

static void apply(struct service *service, struct arena *arena, const struct settings_state *state)
{
    struct settings_row row = settings_apply_row(service, arena, state);
    int64_t damaged = state->damaged == NULL ? 0 : state->damaged->version;
    service->settings.version = row.version;
    service->settings.damaged = damaged;
    log_set_levels(&row.settings->levels);
    uint64_t told = metrics_swap(METRIC_SETTINGS_DAMAGED, (uint64_t)damaged);
    if (damaged != 0 && told != (uint64_t)damaged)
        LOG(ERROR, SYSTEM, "the newest settings are damaged; the last good ones hold",
            LOG_INTEGER("damagedVersion", damaged), LOG_INTEGER("version", row.version),
            LOG_TEXT("reason", state->damaged->damage));
}

struct error *settings_apply_cached(struct service *service, struct arena *arena)
{
    struct settings_state state;
    TRY(find_state(service, arena, &state));
    apply(service, arena, &state);
    return NULL;
}

struct error *settings_apply_change(struct service *service, struct arena *arena, const char *announced)
{
    struct settings_state state;
    /*
     * A change is read from the database, not from the cache: the process that followed it first has seen the rows as
     * they are, and the others must not fall behind it.
     */
    TRY(settings_load(service->database, arena, &state));
    apply(service, arena, &state);
    (void)snprintf(service->settings.announced, sizeof service->settings.announced, "%s",
                   announced == NULL ? "" : announced);
    return NULL;
}
