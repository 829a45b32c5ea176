/* SPDX-License-Identifier: MIT */
/* gatehousectl purge: removes files that have been archived for long, or old audit rows, for good. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "blob/blob.h"
#include "ctl/ctl_int.h"
#include "service/maintenance/purge.h"
#include "service/runtime/service.h"

#define DAYS_MAX 36500
#define DAY_MILLISECONDS INT64_C(86400000)

struct request {
    int64_t days;
    bool audit;
    bool dry_run;
};

static bool read_options(const struct run *run, struct request *request)
{
    request->audit = ctl_has(run, "audit");
    request->dry_run = ctl_has(run, "dry-run");
    return ctl_number(run, "older-than", 0, DAYS_MAX, &request->days);
}

static void write_result(struct arena *arena, const struct request *request, const struct purge_result *result)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, request->audit ? "auditRows" : "files", result->count);
    if (!request->audit) {
        ctl_json_integer(&json, "bytes", result->bytes);
        ctl_json_integer(&json, "missing", result->missing);
    }
    ctl_json_boolean(&json, "dryRun", request->dry_run);
    ctl_json_boolean(&json, "interrupted", result->interrupted);
    ctl_json_close(&json);
}

static void print_result(struct run *run, const struct request *request, const struct purge_result *result)
{
    const char *verb = request->dry_run ? "would be purged" : "purged";
    if (run->json)
        write_result(run->arena, request, result);
    else if (request->audit)
        (void)printf("%" PRId64 " audit rows %s\n", result->count, verb);
    else
        (void)printf("%" PRId64 " files %s, %s\n", result->count, verb, ctl_bytes(run->arena, result->bytes));
}

/* That of a purge without an error; tells what was left. */
static int exit_status(const struct service *service, const struct purge_result *result)
{
    if (result->missing > 0)
        (void)fprintf(stderr,
                      "gatehousectl: %" PRId64 " files were left, since their bytes are missing in %s\n"
                      "  If that is the right place, gatehousectl scrub --now remembers them as lost; then they go.\n",
                      result->missing, blob_root(service->blobs));
    if (result->interrupted)
        (void)fprintf(stderr, "gatehousectl: interrupted; run it again for the rest\n");
    return result->missing > 0 || result->interrupted ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int purge(struct run *run)
{
    struct service service;
    struct request request = {0};
    struct progress progress;
    struct purge_result result = {0};
    if (!read_options(run, &request))
        return EXIT_USAGE;
    ctl_progress_begin(&progress);
    struct error *error = ctl_open_administrator(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    struct arena *scratch = arena_new();
    const struct purge_options options = {
        .before = clock_now() - request.days * DAY_MILLISECONDS, .dry_run = request.dry_run, .progress = &progress};
    error = (request.audit ? purge_audit : purge_files)(&service, run->arena, scratch, &options, &result);
    ctl_progress_end(&progress);
    print_result(run, &request, &result);
    int status = error == NULL ? exit_status(&service, &result) : ctl_fail(error);
    arena_free(&scratch);
    service_close(&service);
    return status;
}

static const struct ctl_option options[] = {
    {"older-than", "DAYS", "what was archived, or noted, that many days ago or earlier", true},
    {"audit", NULL, "old audit rows instead of archived files", false},
    {"dry-run", NULL, "print how much it would be, and change nothing", false},
    {0},
};

const struct ctl_command ctl_purge = {.name = "purge",
                                      .summary = "end archived files, or old audit rows, for good",
                                      .options = options,
                                      .json = true,
                                      .run = purge};
