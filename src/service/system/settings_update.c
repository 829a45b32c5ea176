/* SPDX-License-Identifier: MIT */
#include "service/system/settings_update.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/metrics.h"
#include "codec/digest.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "domain/audit.h"
#include "domain/change_log.h"
#include "http/range.h"
#include "service/access/caller.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"
#include "store/cache/cache.h"
#include "store/database/database.h"

/* How long the cache keeps what the rows come to: a row that was typed in is announced by the job runner long before. How long
 * a process may take to read them. */
#define CACHE_SECONDS 60
#define LEASE_SECONDS 2

/* Version 0: what the configuration says. */
static const struct settings *configured(const struct service *service, struct arena *arena)
{
    struct settings *settings = arena_alloc(arena, sizeof *settings);
    settings->level = LOG_LEVEL_INFO;
    (void)log_level_parse(service->configuration->log.level, &settings->level);
    settings->filter = "";
    (void)log_levels_read(settings->level, settings->filter, &settings->levels);
    return settings;
}

static struct settings_row row_of(const struct service *service, struct arena *arena, const struct settings_state *state)
{
    if (state->good != NULL)
        return *state->good;
    return (struct settings_row){.settings = configured(service, arena)};
}

struct error *adjust_current(struct service *service, struct arena *arena, struct settings_row *row_out)
{
    struct settings_state state;
    TRY(settings_load(service->database, arena, &state));
    *row_out = row_of(service, arena, &state);
    return NULL;
}

const char *adjust_etag(struct arena *arena, int64_t version)
{
    return arena_format(arena, "\"%" PRId64 "\"", version);
}

/*
 * What tells this state of the rows from any other: the newest version, and the one that holds with a digest of what it
 * says. At most ADJUST_STATE_BYTES with the NUL.
 */
static const char *state_payload(struct arena *arena, const struct settings_state *state)
{
    uint8_t digest[DIGEST_BYTES] = {0};
    const struct settings_row *good = state->good;
    const char *text = good == NULL ? "" : settings_text(arena, good->settings);
    digest_sha256(text, strlen(text), digest);
    return arena_format(arena, "{\"newest\":%" PRId64 ",\"version\":%" PRId64 ",\"digest\":\"%s\"}", state->newest,
                        good == NULL ? 0 : good->version, hex_encode(arena, digest, sizeof digest / 2));
}

/* ---- writing ---- */

struct writing {
    struct service *service;
    const struct caller *caller;
    const struct adjustment *adjustment;
    struct settings_row row;
    int64_t change_version;
};

static struct error *find_past(struct writing *writing, struct arena *arena, const struct settings **settings_out)
{
    struct settings_row *row;
    TRY(settings_find(writing->service->database, arena, writing->adjustment->rollback, &row));
    if (row != NULL && row->settings != NULL) {
        *settings_out = row->settings;
        return NULL;
    }
    struct validation validation;
    validation_init(&validation, arena);
    validation_add(&validation, row == NULL ? "unknown" : "damaged",
                   row == NULL ? "there is no such version" : "this version is damaged", "version");
    return validation.error;
}

static const struct settings *merge(struct arena *arena, const struct settings *old, const struct adjustment *adjustment)
{
    struct settings *settings = arena_alloc(arena, sizeof *settings);
    *settings = *old;
    if (adjustment->level != NULL)
        (void)log_level_parse(adjustment->level, &settings->level);
    if (adjustment->filter != NULL)
        settings->filter = adjustment->filter;
    (void)log_levels_read(settings->level, settings->filter, &settings->levels);
    return settings;
}

static struct error *audit(const struct writing *writing, struct arena *arena)
{
    struct buffer details;
    buffer_init(&details, arena);
    buffer_add_format(&details, "{\"version\":%" PRId64 ",", writing->row.version);
    if (writing->adjustment->rollback != 0)
        buffer_add_format(&details, "\"rollbackTo\":%" PRId64 ",", writing->adjustment->rollback);
    buffer_add_text(&details, "\"settings\":");
    buffer_add_text(&details, settings_text(arena, writing->row.settings));
    buffer_add_char(&details, '}');
    struct audit_entry entry = {.action = "settings.update",
                                .target_type = "settings",
                                .target_id = arena_format(arena, "%" PRId64, writing->row.version),
                                .details = details.bytes};
    return caller_audit(writing->service, arena, writing->caller, &entry);
}

static struct error *write_version(struct database *database, struct arena *arena, void *context)
{
    struct writing *writing = context;
    const struct adjustment *adjustment = writing->adjustment;
    struct settings_state state;
    TRY(change_lock(database, arena));
    TRY(settings_load(database, arena, &state));
    const struct settings_row old = row_of(writing->service, arena, &state);
    if (adjustment->if_match != NULL && !range_names(adjustment->if_match, adjust_etag(arena, old.version), false))
        return error_new(arena, ERROR_SETTINGS_STALE, "the version is %" PRId64, old.version);
    writing->row = (struct settings_row){.version = state.newest + 1, .user_id = caller_user(writing->caller)};
    if (adjustment->rollback != 0)
        TRY(find_past(writing, arena, &writing->row.settings));
    else
        writing->row.settings = merge(arena, old.settings, adjustment);
    TRY(settings_insert(database, arena, writing->row.version, writing->row.settings, writing->row.user_id));
    TRY(audit(writing, arena));
    state = (struct settings_state){.good = &writing->row, .newest = writing->row.version};
    return change_append(database, arena, CHANGE_SETTINGS, state_payload(arena, &state), &writing->change_version);
}

/* Whether a transaction whose answer was lost was committed: its line in the change log is the writer's own. */
static struct error *look_up(struct writing *writing, struct arena *arena, struct error *error)
{
    struct settings_row *row = NULL;
    int64_t newest = 0;
    if (change_current(writing->service->database, arena, &newest) != NULL || newest < writing->change_version ||
        settings_find(writing->service->database, arena, writing->row.version, &row) != NULL || row == NULL ||
        row->settings == NULL || !id_equal(row->user_id, writing->row.user_id) ||
        strcmp(settings_text(arena, row->settings), settings_text(arena, writing->row.settings)) != 0)
        return error;
    return NULL;
}

struct error *adjust_settings(struct service *service, struct arena *arena, const struct caller *caller,
                              const struct adjustment *adjustment, struct settings_row *row_out)
{
    struct writing writing = {.service = service, .caller = caller, .adjustment = adjustment};
    bool unknown = false;
    struct error *error = database_transaction(service->database, arena, write_version, &writing, &unknown);
    if (error != NULL && unknown)
        error = look_up(&writing, arena, error);
    TRY(error);
    *row_out = writing.row;
    /* The change is made whatever becomes of this; a process that could not follow does so at its next request. */
    struct error *later = live_follow(service, arena, writing.change_version);
    if (later != NULL)
        LOG(WARN, SYSTEM, "the new settings will be followed later", LOG_TEXT("detail", later->detail));
    return NULL;
}

/* ---- following ---- */

/*
 * {"newest":…,"version":…,"document":…,"damaged":…,"damage":…}: what the rows come to, in the host's cache. The document is null
 * where no row is good: what the configuration says is each process's own.
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
    buffer_add_format(&buffer, ",\"damaged\":%" PRId64 ",\"damage\":", state.damaged == NULL ? 0 : state.damaged->version);
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

/* Through the host's cache: of all its processes that start, one asks the database. */
static struct error *find_state(struct service *service, struct arena *arena, struct settings_state *state_out)
{
    const struct cache_loader loader = {load_state, service->database, CACHE_SECONDS, LEASE_SECONDS};
    void *bytes;
    size_t length;
    TRY(cache_fetch(service->cache, arena, ADJUST_CACHE_KEY, &loader, &bytes, &length));
    return read_state(arena, bytes, length, state_out) ? NULL : settings_load(service->database, arena, state_out);
}

static void apply(struct service *service, struct arena *arena, const struct settings_state *state)
{
    struct settings_row row = row_of(service, arena, state);
    int64_t damaged = state->damaged == NULL ? 0 : state->damaged->version;
    service->adjusted.version = row.version;
    service->adjusted.damaged = damaged;
    log_set_levels(&row.settings->levels);
    uint64_t told = metrics_swap(METRIC_SETTINGS_DAMAGED, (uint64_t)damaged);
    if (damaged != 0 && told != (uint64_t)damaged)
        LOG(ERROR, SYSTEM, "the newest settings are damaged; the last good ones hold",
            LOG_INTEGER("damagedVersion", damaged), LOG_INTEGER("version", row.version),
            LOG_TEXT("reason", state->damaged->damage));
}

struct error *adjust_reload(struct service *service, struct arena *arena)
{
    struct settings_state state;
    TRY(find_state(service, arena, &state));
    apply(service, arena, &state);
    return NULL;
}

struct error *adjust_follow(struct service *service, struct arena *arena, const char *announced)
{
    struct settings_state state;
    /* A change is read where it was made: who followed it first has seen the rows as they are, and the others must not step back. */
    TRY(settings_load(service->database, arena, &state));
    apply(service, arena, &state);
    (void)snprintf(service->adjusted.announced, sizeof service->adjusted.announced, "%s", announced == NULL ? "" : announced);
    return NULL;
}

static struct error *announce(struct database *database, struct arena *arena, void *context)
{
    struct settings_state state;
    TRY(change_lock(database, arena));
    TRY(settings_load(database, arena, &state));
    return change_append(database, arena, CHANGE_SETTINGS, state_payload(arena, &state), context);
}

struct error *adjust_notice(struct service *service, struct arena *arena)
{
    struct settings_state state;
    int64_t version = 0;
    TRY(settings_load(service->database, arena, &state));
    const char *payload = state_payload(arena, &state);
    if (strcmp(payload, service->adjusted.announced) == 0)
        return NULL;
    /* What was announced meanwhile, by another host's job runner perhaps, comes first. */
    TRY(live_check(service, arena));
    if (strcmp(payload, service->adjusted.announced) == 0)
        return NULL;
    TRY(database_transaction(service->database, arena, announce, &version, NULL));
    return live_follow(service, arena, version);
}
