/* SPDX-License-Identifier: MIT */
/* gatehousectl settings: shows and changes the system settings document, for operators at the machine. */
#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"
#include "service/system/settings_update.h"

#define VERSION_MAX INT64_C(9007199254740991)

/* What get, set and rollback tell a program. */
static void write_version(struct arena *arena, const struct settings_row *row)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, "version", row->version);
    ctl_json_raw(&json, "settings", settings_text(arena, row->settings));
    ctl_json_close(&json);
}

static struct error *show(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    struct settings_row row;
    TRY(settings_update_current(service, arena, &row));
    if (run->json)
        write_version(arena, &row);
    else
        (void)printf("%s\n", settings_text(arena, row.settings));
    return NULL;
}

/* ---- set and rollback ---- */

struct change {
    struct settings_update update;
    bool as_json;
};

static struct error *check(struct arena *arena, const struct settings_update *update)
{
    struct validation validation;
    enum log_level level = LOG_LEVEL_INFO;
    struct log_levels levels;
    validation_init(&validation, arena);
    if (update->level != NULL && !log_level_parse(update->level, &level))
        validation_add(&validation, "choice", "must be one of fatal, error, warn, info, debug, trace", "--level");
    const char *filter = update->filter != NULL ? update->filter : "";
    const char *problem = log_filter_sentence(log_levels_read(level, filter, &levels));
    if (problem != NULL)
        validation_add(&validation, "format", problem, "--filter");
    return validation.error;
}

static struct error *write_settings(struct service *service, struct arena *arena, void *context)
{
    static const struct caller operator= { 0 };
    const struct change *change = context;
    struct settings_row row;
    TRY(check(arena, &change->update));
    TRY(settings_update_write(service, arena, &operator, & change->update, &row));
    if (change->as_json)
        write_version(arena, &row);
    else
        (void)printf("version %" PRId64 ": %s\n", row.version, settings_text(arena, row.settings));
    return NULL;
}

static bool read_set(const struct run *run, struct settings_update *update)
{
    int64_t version = 0;
    update->level = ctl_value(run, "level");
    update->filter = ctl_value(run, "filter");
    if (!ctl_number(run, "if-version", 0, VERSION_MAX, &version))
        return false;
    if (ctl_has(run, "if-version"))
        update->if_match = settings_update_etag(run->arena, version);
    if (update->level != NULL || update->filter != NULL)
        return true;
    (void)ctl_usage(run, "--level, --filter or both say what to set");
    return false;
}

/* ---- history ---- */

static void print_row(struct arena *arena, const struct settings_row *row)
{
    bool by_user = !id_is_none(row->user_id);
    const char *text =
        row->settings != NULL ? settings_text(arena, row->settings) : arena_format(arena, "damaged: %s", row->damage);
    (void)printf("%-8" PRId64 " %-24s  %-36s  %s\n", row->version, row->at,
                 by_user ? id_text(arena, row->user_id) : "gatehousectl", text);
}

static void write_row(const struct settings_row *row, struct ctl_json *json)
{
    struct arena *arena = json->arena;
    ctl_json_open(json, NULL, '{');
    ctl_json_integer(json, "version", row->version);
    ctl_json_text(json, "at", row->at);
    ctl_json_text(json, "userId", id_is_none(row->user_id) ? NULL : id_text(arena, row->user_id));
    if (row->settings != NULL)
        ctl_json_raw(json, "settings", settings_text(arena, row->settings));
    else
        ctl_json_text(json, "settings", NULL);
    ctl_json_text(json, "damage", row->damage);
    ctl_json_close(json);
}

struct history {
    int64_t limit;
    bool as_json;
};

static struct error *list_rows(struct service *service, struct arena *arena, int64_t limit, struct ctl_json *json)
{
    struct settings_page page = {.more = true};
    for (int64_t before = 0; page.more && limit > 0; before = page.items[page.count - 1].version) {
        unsigned portion = limit < LIMIT_PAGE_MAX ? (unsigned)limit : LIMIT_PAGE_MAX;
        TRY(settings_list(service->database, arena, before, portion, &page));
        for (size_t i = 0; i < page.count; i++) {
            if (json == NULL)
                print_row(arena, &page.items[i]);
            else
                write_row(&page.items[i], json);
        }
        limit -= (int64_t)page.count;
    }
    return NULL;
}

static struct error *list(struct service *service, struct arena *arena, void *context)
{
    const struct history *history = context;
    struct ctl_json json = {.arena = arena};
    if (!history->as_json) {
        (void)printf("%-8s %-24s  %-36s  %s\n", "version", "at", "by", "settings");
        return list_rows(service, arena, history->limit, NULL);
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    TRY(list_rows(service, arena, history->limit, &json));
    ctl_json_close(&json);
    ctl_json_close(&json);
    return NULL;
}

/* ---- the commands ---- */

static int run_get(struct run *run)
{
    return ctl_with_service(run, show, run);
}

static int run_set(struct run *run)
{
    struct change change = {.as_json = run->json};
    return read_set(run, &change.update) ? ctl_with_service(run, write_settings, &change) : EXIT_USAGE;
}

static int run_rollback(struct run *run)
{
    struct change change = {.as_json = run->json};
    if (!text_to_integer(run->operands[0], 1, VERSION_MAX, &change.update.rollback))
        return ctl_usage(run, "\"%s\" is no version", run->operands[0]);
    return ctl_with_service(run, write_settings, &change);
}

static int run_history(struct run *run)
{
    struct history history = {.limit = LIMIT_PAGE_DEFAULT, .as_json = run->json};
    return ctl_number(run, "limit", 1, 1000000, &history.limit) ? ctl_with_service(run, list, &history) : EXIT_USAGE;
}

static const struct ctl_option set_options[] = {
    {"level", "fatal|error|warn|info|debug|trace", "log at this level and above", false},
    {"filter", "FILTER", "levels of single modules, \"*=warn,files=debug\"", false},
    {"if-version", "VERSION", "only where this is the newest version", false},
    {0},
};

static const struct ctl_option history_options[] = {
    {"limit", "N", "how many versions, 25 without it", false},
    {0},
};

const struct ctl_command ctl_settings_get = {.name = "settings get",
                                             .summary = "print the settings that can be changed while the service runs",
                                             .json = true,
                                             .run = run_get};

const struct ctl_command ctl_settings_set = {.name = "settings set",
                                             .summary = "change the settings, on every host",
                                             .options = set_options,
                                             .json = true,
                                             .run = run_set};

const struct ctl_command ctl_settings_rollback = {.name = "settings rollback",
                                                  .operands = "VERSION",
                                                  .summary = "make an earlier version the newest one",
                                                  .json = true,
                                                  .run = run_rollback};

const struct ctl_command ctl_settings_history = {.name = "settings history",
                                                 .summary = "list the versions, newest first",
                                                 .options = history_options,
                                                 .json = true,
                                                 .run = run_history};
