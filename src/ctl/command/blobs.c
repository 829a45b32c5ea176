/* SPDX-License-Identifier: MIT */
/* gatehousectl blobs move: copies the bytes of all files from the directory to the S3 store, or back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "blob/open.h"
#include "ctl/ctl_int.h"
#include "service/maintenance/blob_move.h"
#include "service/runtime/service.h"

#define RATE_MAX 1000000
#define MEBIBYTE (INT64_C(1024) * 1024)

static void print_result(const struct run *run, const struct service *service, const char *to,
                         const struct blob_move_result *result)
{
    bool used = strcmp(service->configuration->files.store, to) == 0;
    (void)printf("%" PRId64 " files are in the store %s: %" PRId64 " copied now, %s\n", result->files, to,
                 result->copied, ctl_bytes(run->arena, result->bytes));
    if (result->lost > 0)
        (void)printf("%" PRId64 " files are not: their bytes are lost; see gatehousectl fsck\n", result->lost);
    else if (!result->interrupted && !used)
        (void)printf("stop the workers, run this once more, set store = %s in [files], and start them\n", to);
}

static void write_result(struct ctl_json *json, const char *to, const struct blob_move_result *result, bool complete)
{
    ctl_json_close(json);
    ctl_json_text(json, "to", to);
    ctl_json_integer(json, "files", result->files);
    ctl_json_integer(json, "copiedFiles", result->copied);
    ctl_json_integer(json, "copiedBytes", result->bytes);
    ctl_json_boolean(json, "complete", complete);
    ctl_json_close(json);
}

static int copy(struct run *run, struct service *service, const struct blob_move_options *options,
                struct ctl_lost *lost)
{
    struct blob_move_result result = {0};
    struct arena *scratch = arena_new();
    struct ctl_json json = {.arena = scratch}; /* many files may be lost */
    if (run->json)
        ctl_lost_begin(lost, &json);
    struct error *error = blob_move_run(service, run->arena, scratch, options, &result);
    ctl_progress_end(options->progress);
    if (run->json)
        write_result(&json, options->to, &result, error == NULL && !result.interrupted);
    else
        print_result(run, service, options->to, &result);
    int status = error != NULL ? ctl_fail(error) : result.lost > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (error == NULL && result.interrupted) {
        (void)fprintf(stderr, "gatehousectl: interrupted; run it again for the rest\n");
        status = EXIT_FAILURE;
    }
    arena_free(&scratch);
    return status;
}

static int move(struct run *run)
{
    struct service service;
    struct ctl_lost lost = {0};
    struct blob_move_options options = {
        .to = ctl_value(run, "to"), .lost = ctl_lost_tell, .context = &lost, .progress = &lost.progress};
    int64_t mebibytes = 0;
    if (strcmp(options.to, BLOB_OPEN_DIRECTORY) != 0 && strcmp(options.to, BLOB_OPEN_S3) != 0)
        return ctl_usage(run, "--to is " BLOB_OPEN_DIRECTORY " or " BLOB_OPEN_S3);
    if (!ctl_number(run, "rate", 0, RATE_MAX, &mebibytes))
        return EXIT_USAGE;
    options.bytes_per_second = mebibytes * MEBIBYTE;
    ctl_progress_begin(&lost.progress);
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    int status = copy(run, &service, &options, &lost);
    service_close(&service);
    return status;
}

static const struct ctl_option options_known[] = {
    {"to", "directory|s3", "where the bytes are to be", true},
    {"rate", "MIB", "read that many a second at most, 0 for no bound", false},
    {0},
};

const struct ctl_command ctl_blobs_move = {.name = "blobs move",
                                           .summary = "copy the bytes of all files to the other store",
                                           .options = options_known,
                                           .json = true,
                                           .run = move};
