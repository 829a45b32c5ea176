/* SPDX-License-Identifier: MIT */
/* Writes versions of the settings document, in one transaction each. */
#include "service/system/settings_update.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "domain/audit.h"
#include "domain/change_log.h"
#include "http/range.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"
#include "service/runtime/settings_apply.h"
#include "store/database/database.h"

struct error *settings_update_current(struct service *service, struct arena *arena, struct settings_row *row_out)
{
    struct settings_state state;
    TRY(settings_load(service->database, arena, &state));
    *row_out = settings_apply_row(service, arena, &state);
    return NULL;
}

const char *settings_update_etag(struct arena *arena, int64_t version)
{
    return arena_format(arena, "\"%" PRId64 "\"", version);
}

/*
 * Describes the state of the rows so that no two states have one text: the newest version, and the version in force
 * with a digest of its document. At most SETTINGS_STATE_BYTES with the NUL.
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
    const struct settings_update *update;
    struct settings_row row;
    int64_t change_version;
};

static struct error *find_past(struct writing *writing, struct arena *arena, const struct settings **settings_out)
{
    struct settings_row *row;
    TRY(settings_find(writing->service->database, arena, writing->update->rollback, &row));
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

static const struct settings *merge(struct arena *arena, const struct settings *old,
                                    const struct settings_update *update)
{
    struct settings *settings = arena_alloc(arena, sizeof *settings);
    *settings = *old;
    if (update->level != NULL)
        (void)log_level_parse(update->level, &settings->level);
    if (update->filter != NULL)
        settings->filter = update->filter;
    (void)log_levels_read(settings->level, settings->filter, &settings->levels);
    return settings;
}

static struct error *audit(const struct writing *writing, struct arena *arena)
{
    struct buffer details;
    buffer_init(&details, arena);
    buffer_add_format(&details, "{\"version\":%" PRId64 ",", writing->row.version);
    if (writing->update->rollback != 0)
        buffer_add_format(&details, "\"rollbackTo\":%" PRId64 ",", writing->update->rollback);
    buffer_add_text(&details, "\"settings\":");
    buffer_add_text(&details, settings_text(arena, writing->row.settings));
    buffer_add_char(&details, '}');
    struct audit_entry entry = {.action = "settings.update",
                                .target_type = "settings",
                                .target_id = arena_format(arena, "%" PRId64, writing->row.version),
                                .details = details.bytes};
    return caller_audit(writing->service, arena, writing->caller, &entry);
}

/* A value that can never match has a sentence of its own, since reading the settings again does not help. */
static struct error *refuse_match(struct arena *arena, const char *if_match, int64_t version)
{
    struct error *error = error_new(arena, ERROR_SETTINGS_STALE, "the version is %" PRId64, version);
    if (range_tags_strong(if_match))
        return error;
    return error_message(error,
                         "If-Match takes the ETag of the settings as it was given: in quotes, without W/ before it.");
}

static struct error *write_version(struct database *database, struct arena *arena, void *context)
{
    struct writing *writing = context;
    const struct settings_update *update = writing->update;
    struct settings_state state;
    TRY(change_log_lock(database, arena));
    TRY(settings_load(database, arena, &state));
    const struct settings_row old = settings_apply_row(writing->service, arena, &state);
    if (update->if_match != NULL && !range_names(update->if_match, settings_update_etag(arena, old.version), false))
        return refuse_match(arena, update->if_match, old.version);
    if (state.newest >= SETTINGS_VERSION_MAX)
        return error_new(arena, ERROR_INTERNAL,
                         "a row of the table settings has the version %" PRId64
                         ", behind which there is none; delete it",
                         state.newest);
    writing->row = (struct settings_row){.version = state.newest + 1, .user_id = caller_user(writing->caller)};
    if (update->rollback != 0)
        TRY(find_past(writing, arena, &writing->row.settings));
    else
        writing->row.settings = merge(arena, old.settings, update);
    TRY(settings_insert(database, arena, writing->row.version, writing->row.settings, writing->row.user_id));
    TRY(audit(writing, arena));
    state = (struct settings_state){.good = &writing->row, .newest = writing->row.version};
    return change_log_append(database, arena, CHANGE_LOG_SETTINGS, state_payload(arena, &state),
                             &writing->change_version);
}

/* Finds out whether a transaction whose answer was lost was committed: then the rows are what this writer wrote. */
static struct error *look_up(struct writing *writing, struct arena *arena, struct error *error)
{
    struct settings_row *row = NULL;
    int64_t newest = 0;
    if (change_log_current(writing->service->database, arena, &newest) != NULL || newest < writing->change_version ||
        settings_find(writing->service->database, arena, writing->row.version, &row) != NULL || row == NULL ||
        row->settings == NULL || !id_equal(row->user_id, writing->row.user_id) ||
        strcmp(settings_text(arena, row->settings), settings_text(arena, writing->row.settings)) != 0)
        return error;
    return NULL;
}

struct error *settings_update_write(struct service *service, struct arena *arena, const struct caller *caller,
                                    const struct settings_update *update, struct settings_row *row_out)
{
    struct writing writing = {.service = service, .caller = caller, .update = update};
    bool unknown = false;
    struct error *error = database_transaction(service->database, arena, write_version, &writing, &unknown);
    if (error != NULL && unknown)
        error = look_up(&writing, arena, error);
    TRY(error);
    *row_out = writing.row;
    /* The change is made. A process that could not follow it now does so at its next request. */
    struct error *later = change_follower_follow(service, arena, writing.change_version);
    if (later != NULL)
        LOG(WARN, SYSTEM, "the new settings will be followed later", LOG_TEXT("detail", later->detail));
    return NULL;
}

/* ---- announcing ---- */

static struct error *announce(struct database *database, struct arena *arena, void *context)
{
    struct settings_state state;
    TRY(change_log_lock(database, arena));
    TRY(settings_load(database, arena, &state));
    return change_log_append(database, arena, CHANGE_LOG_SETTINGS, state_payload(arena, &state), context);
}

struct error *settings_update_announce(struct service *service, struct arena *arena)
{
    struct settings_state state;
    int64_t version = 0;
    TRY(settings_load(service->database, arena, &state));
    const char *payload = state_payload(arena, &state);
    if (strcmp(payload, service->settings.announced) == 0)
        return NULL;
    /* First follow what was announced meanwhile, perhaps by the job runner of another host. */
    TRY(change_follower_catch_up(service, arena));
    if (strcmp(payload, service->settings.announced) == 0)
        return NULL;
    TRY(database_transaction(service->database, arena, announce, &version, NULL));
    return change_follower_follow(service, arena, version);
}
