/* SPDX-License-Identifier: MIT */
/* gatehousectl purge: the end of files that have been archived for long, or of old audit rows. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "service/purge.h"
#include "service/service.h"

#define DAYS_MAX 36500
#define DAY_MILLISECONDS INT64_C(86400000)
#define USAGE "purge --older-than DAYS [--audit] [--dry-run]"

struct request {
    int64_t days;
    bool audit;
    bool dry_run;
};

static bool read_options(struct run *run, struct request *request)
{
    static const struct option names[] = {{"older-than", required_argument, NULL, 'o'},
                                          {"audit", no_argument, NULL, 'a'},
                                          {"dry-run", no_argument, NULL, 'n'},
                                          {NULL, 0, NULL, 0}};
    int option;
    request->days = -1;
    optind = 1;
    while ((option = getopt_long(run->argc, run->argv, "", names, NULL)) != -1) {
        request->audit = request->audit || option == 'a';
        request->dry_run = request->dry_run || option == 'n';
        if (option == 'o' && !text_to_integer(optarg, 0, DAYS_MAX, &request->days)) {
            (void)fprintf(stderr, "gatehousectl: --older-than takes a number of days from 0 to %d\n", DAYS_MAX);
            return false;
        }
        if (option == '?')
            return false;
    }
    return optind == run->argc && request->days >= 0;
}

static void print_result(struct run *run, const struct request *request, const struct purge_result *result)
{
    const char *verb = request->dry_run ? "would be purged" : "purged";
    if (request->audit)
        (void)printf("%" PRId64 " audit rows %s\n", result->count, verb);
    else
        (void)printf("%" PRId64 " files %s, %s\n", result->count, verb, ctl_bytes(run->arena, result->bytes));
}

int ctl_purge(struct run *run)
{
    struct service service;
    struct request request = {0};
    struct watch watch;
    struct purge_result result = {0};
    if (!read_options(run, &request))
        return ctl_usage(USAGE);
    ctl_watch(&watch);
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    struct arena *scratch = arena_new();
    const struct purge_options options = {
        .before = clock_now() - request.days * DAY_MILLISECONDS, .dry_run = request.dry_run, .watch = &watch};
    error = (request.audit ? purge_audit : purge_files)(&service, run->arena, scratch, &options, &result);
    ctl_unwatch(&watch);
    print_result(run, &request, &result);
    int status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    if (error == NULL && result.interrupted) {
        (void)fprintf(stderr, "gatehousectl: interrupted; run it again for the rest\n");
        status = EXIT_FAILURE;
    }
    arena_free(&scratch);
    service_close(&service);
    return status;
}
