/* SPDX-License-Identifier: MIT */
/*
 * gatehousectl fsck: compares files with their bytes. Exits with 0 when all is well or repaired, 1 when not, 2 when it
 * could not check everything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "service/integrity/fsck.h"
#include "service/runtime/service.h"

#define EXIT_FAULTS 1
#define EXIT_UNABLE 2
#define MIN_AGE_SECONDS 3600
#define AGE_MAX INT64_C(315360000)
#define RATE_MAX 1000000

/* Where findings go. */
struct output {
    struct progress progress;
    struct ctl_json *json; /* NULL: as lines for people */
};

static const char *id_or_null(struct arena *arena, struct id id)
{
    return id_is_none(id) ? NULL : id_text(arena, id);
}

static void write_finding(struct ctl_json *json, const struct fsck_finding *finding)
{
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "kind", fsck_kind_text(finding->kind));
    ctl_json_text(json, "path", finding->path);
    ctl_json_text(json, "fileId", id_or_null(json->arena, finding->id));
    ctl_json_text(json, "organisationId", id_or_null(json->arena, finding->organisation_id));
    ctl_json_text(json, "movedTo", finding->moved_to);
    ctl_json_boolean(json, "repaired", finding->repaired);
    ctl_json_close(json);
}

static void print_finding(void *context, const struct fsck_finding *finding)
{
    char id[ID_TEXT_BYTES];
    struct output *output = context;
    ctl_progress_end(&output->progress);
    if (output->json != NULL) {
        write_finding(output->json, finding);
        return;
    }
    (void)printf("%-10s", fsck_kind_text(finding->kind));
    if (finding->path != NULL)
        (void)printf(" %s", finding->path);
    if (!id_is_none(finding->id)) {
        id_format(finding->id, id);
        (void)printf(" file %s", id);
    }
    if (!id_is_none(finding->organisation_id)) {
        id_format(finding->organisation_id, id);
        (void)printf(" organisation %s", id);
    }
    if (finding->moved_to != NULL)
        (void)printf(" moved to %s", finding->moved_to);
    if (finding->kind <= FSCK_UNREADABLE && finding->repaired)
        (void)printf(" repaired from the backup");
    (void)printf("\n");
}

static bool read_options(const struct run *run, struct fsck_options *options)
{
    int64_t mebibytes = 0;
    options->repair = ctl_has(run, "repair");
    options->quick = ctl_has(run, "quick");
    options->resume = ctl_has(run, "resume");
    options->from = ctl_value(run, "from");
    if (!ctl_number(run, "min-age", 0, AGE_MAX, &options->min_age_seconds) ||
        !ctl_number(run, "rate", 0, RATE_MAX, &mebibytes))
        return false;
    options->bytes_per_second = mebibytes * 1024 * 1024;
    if (options->repair || options->from == NULL)
        return true;
    (void)ctl_usage(run, "--from goes with --repair");
    return false;
}

static void print_summary(struct arena *arena, const struct fsck_options *options, const struct fsck_result *result)
{
    int64_t found = 0;
    for (int kind = 0; kind < FSCK_KINDS; kind++)
        found += result->counts[kind];
    (void)printf("%" PRId64 " files compared, %s read, %" PRId64 " names in the store", result->files,
                 ctl_bytes(arena, result->bytes), result->blobs);
    if (result->young > 0)
        (void)printf(", %" PRId64 " left alone: younger than %" PRId64 " seconds", result->young,
                     options->min_age_seconds);
    (void)printf("\n");
    for (enum fsck_kind kind = 0; kind < FSCK_KINDS; kind++)
        if (result->counts[kind] > 0)
            (void)printf("  %-10s %" PRId64 "\n", fsck_kind_text(kind), result->counts[kind]);
    if (found == 0)
        (void)printf("all is well\n");
    else if (result->unrepaired == 0)
        (void)printf("all is well now\n");
    else
        (void)printf(
            "%" PRId64 " %s not repaired%s\n", result->unrepaired, result->unrepaired == 1 ? "fault is" : "faults are",
            options->repair ? ": put the bytes back from a backup (--from)" : "; see --repair in gatehousectl(8)");
}

/* Ends the list of findings; `complete`: everything was checked. */
static void write_summary(struct ctl_json *json, const struct fsck_result *result, bool complete)
{
    ctl_json_close(json);
    ctl_json_integer(json, "files", result->files);
    ctl_json_integer(json, "bytesRead", result->bytes);
    ctl_json_integer(json, "blobs", result->blobs);
    ctl_json_integer(json, "young", result->young);
    ctl_json_open(json, "counts", '{');
    for (enum fsck_kind kind = 0; kind < FSCK_KINDS; kind++)
        ctl_json_integer(json, fsck_kind_text(kind), result->counts[kind]);
    ctl_json_close(json);
    ctl_json_integer(json, "unrepaired", result->unrepaired);
    ctl_json_boolean(json, "complete", complete);
    ctl_json_close(json);
}

static int check(struct run *run, struct service *service, struct fsck_options *options, struct output *output)
{
    struct fsck_result result = {0};
    struct arena *scratch = arena_new();
    struct ctl_json json = {.arena = scratch}; /* there may be many findings */
    if (run->json) {
        output->json = &json;
        ctl_json_open(&json, NULL, '{');
        ctl_json_open(&json, "findings", '[');
    }
    struct error *error = fsck_run(service, run->arena, scratch, options, &result);
    ctl_progress_end(options->progress);
    if (run->json)
        write_summary(&json, &result, error == NULL && !result.interrupted);
    int status = result.unrepaired == 0 ? EXIT_SUCCESS : EXIT_FAULTS;
    if (error != NULL) {
        (void)ctl_fail(error);
        status = EXIT_UNABLE;
    } else if (result.interrupted) {
        (void)fprintf(stderr, "gatehousectl: interrupted; fsck --resume goes on here\n");
        status = EXIT_UNABLE;
    } else if (!run->json) {
        print_summary(run->arena, options, &result);
    }
    output->json = NULL;
    arena_free(&scratch);
    return status;
}

static int run_fsck(struct run *run)
{
    struct service service;
    struct output output = {0};
    struct fsck_options options = {
        .min_age_seconds = MIN_AGE_SECONDS, .found = print_finding, .context = &output, .progress = &output.progress};
    if (!read_options(run, &options))
        return EXIT_USAGE;
    ctl_progress_begin(&output.progress);
    struct error *error = ctl_open(run, &service);
    if (error != NULL) {
        (void)ctl_fail(error);
        return EXIT_UNABLE;
    }
    int status = check(run, &service, &options, &output);
    service_close(&service);
    return status;
}

static const struct ctl_option options_known[] = {
    {"repair", NULL, "move aside what does not belong, and count anew", false},
    {"from", "DIRECTORY", "with --repair: take lost bytes from a backup there", false},
    {"min-age", "SECONDS", "leave alone what is younger, an hour without it", false},
    {"quick", NULL, "compare sizes alone, and read no bytes", false},
    {"rate", "MIB", "read that many a second at most, 0 for no bound", false},
    {"resume", NULL, "go on where the last run was interrupted", false},
    {0},
};

const struct ctl_command ctl_fsck = {.name = "fsck",
                                     .summary = "compare what is known of files with their bytes",
                                     .options = options_known,
                                     .json = true,
                                     .run = run_fsck};
