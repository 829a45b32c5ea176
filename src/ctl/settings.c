/* SPDX-License-Identifier: MIT */
/* gatehousectl settings: the system settings document, for operators at the machine. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "service/adjust.h"
#include "service/caller.h"
#include "service/service.h"
#include "service/setup.h"

#define USAGE_GET "settings get"
#define USAGE_SET "settings set [--level LEVEL] [--filter FILTER] [--if-version N]"
#define USAGE_ROLLBACK "settings rollback VERSION"
#define USAGE_HISTORY "settings history [--limit N]"

static struct error *show(struct service *service, struct arena *arena)
{
    struct settings_row row;
    TRY(adjust_current(service, arena, &row));
    (void)printf("%s\n", settings_text(arena, row.settings));
    return NULL;
}

/* ---- set and rollback ---- */

static struct error *check(struct arena *arena, const struct adjustment *adjustment)
{
    struct validation validation;
    enum log_level level = LOG_LEVEL_INFO;
    struct log_levels levels;
    validation_init(&validation, arena);
    if (adjustment->level != NULL && !log_level_parse(adjustment->level, &level))
        validation_add(&validation, "choice", "must be one of fatal, error, warn, info, debug, trace", "--level");
    const char *filter = adjustment->filter != NULL ? adjustment->filter : "";
    const char *problem = log_filter_sentence(log_levels_read(level, filter, &levels));
    if (problem != NULL)
        validation_add(&validation, "format", problem, "--filter");
    return validation.error;
}

static struct error *write_settings(struct service *service, struct arena *arena, const struct adjustment *adjustment)
{
    static const struct caller operator = {0};
    struct settings_row row;
    TRY(check(arena, adjustment));
    TRY(adjust_settings(service, arena, &operator, adjustment, &row));
    (void)printf("version %" PRId64 ": %s\n", row.version, settings_text(arena, row.settings));
    return NULL;
}

static bool read_version(const char *text, int64_t *version_out)
{
    return text_to_integer(text, 1, INT64_C(9007199254740991), version_out);
}

static bool read_set(struct run *run, struct adjustment *adjustment)
{
    static const struct option options[] = {{"level", required_argument, NULL, 'l'},
                                            {"filter", required_argument, NULL, 'f'},
                                            {"if-version", required_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    int64_t version;
    int option;
    while ((option = getopt_long(run->argc, run->argv, "", options, NULL)) != -1) {
        if (option == 'l')
            adjustment->level = optarg;
        else if (option == 'f')
            adjustment->filter = optarg;
        else if (option == 'v' && text_to_integer(optarg, 0, INT64_C(9007199254740991), &version))
            adjustment->if_match = adjust_etag(run->arena, version);
        else
            return false;
    }
    return optind == run->argc && (adjustment->level != NULL || adjustment->filter != NULL);
}

/* ---- history ---- */

static void print_row(struct arena *arena, const struct settings_row *row)
{
    bool by_user = !id_is_none(row->user_id);
    const char *text = row->settings != NULL ? settings_text(arena, row->settings)
                                             : arena_format(arena, "damaged: %s", row->damage);
    (void)printf("%-8" PRId64 " %-24s  %-36s  %s\n", row->version, row->at,
                 by_user ? id_text(arena, row->user_id) : "gatehousectl", text);
}

static struct error *list(struct service *service, struct arena *arena, int64_t limit)
{
    struct settings_page page = {.more = true};
    (void)printf("%-8s %-24s  %-36s  %s\n", "version", "at", "by", "settings");
    for (int64_t before = 0; page.more && limit > 0; before = page.items[page.count - 1].version) {
        unsigned portion = limit < LIMIT_PAGE_MAX ? (unsigned)limit : LIMIT_PAGE_MAX;
        TRY(settings_list(service->database, arena, before, portion, &page));
        for (size_t i = 0; i < page.count; i++)
            print_row(arena, &page.items[i]);
        limit -= (int64_t)page.count;
    }
    return NULL;
}

static bool read_limit(struct run *run, int64_t *limit_out)
{
    static const struct option options[] = {{"limit", required_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    int option;
    *limit_out = LIMIT_PAGE_DEFAULT;
    while ((option = getopt_long(run->argc, run->argv, "", options, NULL)) != -1)
        if (option != 'l' || !text_to_integer(optarg, 1, 1000000, limit_out))
            return false;
    return optind == run->argc;
}

/* ---- which of them ---- */

enum verb { VERB_GET, VERB_SET, VERB_ROLLBACK, VERB_HISTORY };

struct request {
    enum verb verb;
    struct adjustment adjustment;
    int64_t limit;
};

static struct error *perform(struct run *run, const struct request *request)
{
    struct configuration *configuration;
    struct service service;
    struct error *error = NULL;
    TRY(setup_load(run->arena, run->config, NULL, &configuration));
    TRY(service_open(run->arena, configuration, &service));
    if (request->verb == VERB_GET)
        error = show(&service, run->arena);
    else if (request->verb == VERB_HISTORY)
        error = list(&service, run->arena, request->limit);
    else
        error = write_settings(&service, run->arena, &request->adjustment);
    service_close(&service);
    return error;
}

static bool read_request(struct run *run, struct request *request)
{
    static const char *const verbs[] = {"get", "set", "rollback", "history"};
    const char *verb = run->argv[0];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verb, verbs[i]) != 0)
            continue;
        request->verb = (enum verb)i;
        if (request->verb == VERB_SET)
            return read_set(run, &request->adjustment);
        if (request->verb == VERB_HISTORY)
            return read_limit(run, &request->limit);
        if (request->verb == VERB_ROLLBACK)
            return run->argc == 2 && read_version(run->argv[1], &request->adjustment.rollback);
        return run->argc == 1;
    }
    return false;
}

int ctl_settings(struct run *run)
{
    struct request request = {.verb = VERB_GET};
    optind = 1;
    if (run->argc >= 2) {
        /* The verb takes the command's place, so that options are read behind it. */
        run->argc--;
        run->argv++;
    }
    if (!read_request(run, &request))
        return ctl_usage(USAGE_GET " | " USAGE_SET "\n       | " USAGE_ROLLBACK " | " USAGE_HISTORY);
    struct error *error = perform(run, &request);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}
