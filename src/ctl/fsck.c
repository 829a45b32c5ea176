/* SPDX-License-Identifier: MIT */
/* gatehousectl fsck: exits 0 when all is well or mended, 1 when not, 2 when it could not look at everything. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "service/fsck.h"
#include "service/service.h"

#define EXIT_FAULTS 1
#define EXIT_UNABLE 2
#define MIN_AGE_SECONDS 3600
#define AGE_MAX INT64_C(315360000)
#define RATE_MAX 1000000
#define USAGE "fsck [--repair [--from DIRECTORY]] [--min-age SECONDS] [--quick] [--rate MIB] [--resume]"

static void print_finding(void *context, const struct fsck_finding *finding)
{
    char id[ID_TEXT_BYTES];
    struct watch *watch = context;
    ctl_unwatch(watch);
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
    if (finding->kind <= FSCK_UNREADABLE && finding->mended)
        (void)printf(" mended from the backup");
    (void)printf("\n");
}

static bool read_number(const char *text, int64_t maximum, int64_t *value_out)
{
    if (text_to_integer(text, 0, maximum, value_out))
        return true;
    (void)fprintf(stderr, "gatehousectl: %s is not a number from 0 to %" PRId64 "\n", text, maximum);
    return false;
}

static bool read_options(struct run *run, struct fsck_options *options)
{
    static const struct option names[] = {
        {"repair", no_argument, NULL, 'r'}, {"min-age", required_argument, NULL, 'a'}, {"quick", no_argument, NULL, 'q'},
        {"rate", required_argument, NULL, 'b'}, {"resume", no_argument, NULL, 'c'},
        {"from", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};
    int64_t mebibytes = 0;
    int option;
    optind = 1;
    while ((option = getopt_long(run->argc, run->argv, "", names, NULL)) != -1) {
        options->repair = options->repair || option == 'r';
        options->quick = options->quick || option == 'q';
        options->resume = options->resume || option == 'c';
        if (option == 'f')
            options->from = optarg;
        if (option == '?' || (option == 'a' && !read_number(optarg, AGE_MAX, &options->min_age_seconds)) ||
            (option == 'b' && !read_number(optarg, RATE_MAX, &mebibytes)))
            return false;
    }
    options->bytes_per_second = mebibytes * 1024 * 1024;
    return optind == run->argc && (options->repair || options->from == NULL);
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
    for (int kind = 0; kind < FSCK_KINDS; kind++)
        if (result->counts[kind] > 0)
            (void)printf("  %-10s %" PRId64 "\n", fsck_kind_text(kind), result->counts[kind]);
    if (found == 0)
        (void)printf("all is well\n");
    else if (result->unmended == 0)
        (void)printf("all is well now\n");
    else
        (void)printf("%" PRId64 " %s not mended%s\n", result->unmended, result->unmended == 1 ? "fault is" : "faults are",
                     options->repair ? ": put the bytes back from a backup (--from)" : "; see --repair in gatehousectl(8)");
}

static int check(struct run *run, struct service *service, struct fsck_options *options)
{
    struct fsck_result result;
    struct arena *scratch = arena_new();
    struct error *error = fsck_run(service, run->arena, scratch, options, &result);
    ctl_unwatch(options->watch);
    int status = result.unmended == 0 ? EXIT_SUCCESS : EXIT_FAULTS;
    if (error != NULL) {
        (void)ctl_fail(error);
        status = EXIT_UNABLE;
    } else if (result.interrupted) {
        (void)fprintf(stderr, "gatehousectl: interrupted; fsck --resume goes on here\n");
        status = EXIT_UNABLE;
    } else {
        print_summary(run->arena, options, &result);
    }
    arena_free(&scratch);
    return status;
}

int ctl_fsck(struct run *run)
{
    struct service service;
    struct watch watch;
    struct fsck_options options = {
        .min_age_seconds = MIN_AGE_SECONDS, .found = print_finding, .context = &watch, .watch = &watch};
    if (!read_options(run, &options))
        return ctl_usage(USAGE);
    ctl_watch(&watch);
    struct error *error = ctl_open(run, &service);
    if (error != NULL) {
        (void)ctl_fail(error);
        return EXIT_UNABLE;
    }
    int status = check(run, &service, &options);
    service_close(&service);
    return status;
}
