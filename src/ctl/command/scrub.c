/* SPDX-License-Identifier: MIT */
/*
 * gatehousectl scrub, scrub status: does in the foreground what the job runner does in the background, and shows the
 * position.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/file/file_damage.h"
#include "service/integrity/scrub.h"
#include "service/maintenance/progress.h"
#include "service/runtime/service.h"

#define RATE_MAX 1000000
#define STEP_MICROSECONDS 200000
#define PAUSE_NANOSECONDS 20000000
#define PATIENCE_MICROSECONDS INT64_C(60000000)

/* How many damaged and lost files `scrub status` names. */
#define STATUS_FILES 100

/* The exit status when not everything could be read. */
#define EXIT_UNABLE 2

/* Where findings go. */
struct output {
    struct progress progress;
    struct ctl_json *json; /* NULL: as lines for people; its arena is reset at each finding */
    int64_t faults;
    int64_t repaired;
};

static void print_found(void *context, struct id file, struct id organisation, const char *what)
{
    struct output *output = context;
    char id[ID_TEXT_BYTES], owner[ID_TEXT_BYTES];
    id_format(file, id);
    id_format(organisation, owner);
    ctl_progress_end(&output->progress);
    output->repaired += *what == 'r';
    output->faults += *what != 'r';
    if (output->json == NULL) {
        (void)printf("%-10s file %s organisation %s\n", what, id, owner);
        return;
    }
    ctl_json_open(output->json, NULL, '{');
    ctl_json_text(output->json, "kind", what);
    ctl_json_text(output->json, "fileId", id);
    ctl_json_text(output->json, "organisationId", owner);
    ctl_json_close(output->json);
    arena_reset(output->json->arena);
}

static struct error *refuse(struct arena *arena)
{
    return error_message(
        error_plain(arena, ERROR_INTERNAL),
        "Another scrub is at work, here or on another host, and does not give way. Try again when it has ended.");
}

/* Runs until a pass has ended, nothing is due, or the operator ends it (then *done_out is false). */
static struct error *follow(struct scrub *scrub, struct arena *arena, struct progress *progress, int64_t total,
                            bool *done_out)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    enum scrub_state state = SCRUB_READING;
    int64_t worked = clock_monotonic();
    *done_out = false;
    while (!progress_ends(progress)) {
        TRY(scrub_step(scrub, clock_monotonic(), &state));
        *done_out = state == SCRUB_DONE || state == SCRUB_IDLE;
        if (*done_out)
            return NULL;
        if (state == SCRUB_WAITING && clock_monotonic() - worked > PATIENCE_MICROSECONDS)
            return refuse(arena);
        worked = state == SCRUB_WAITING ? worked : clock_monotonic();
        progress_show(progress, "files", scrub_position(scrub)->files, total, scrub_position(scrub)->bytes);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* The exit status of a failure, which must differ from that of a damaged file. */
static int tell_failure(const struct error *error)
{
    (void)ctl_fail(error);
    return EXIT_UNABLE;
}

static void write_summary(struct ctl_json *json, const struct output *output, bool complete)
{
    ctl_json_close(json);
    ctl_json_integer(json, "faults", output->faults);
    ctl_json_integer(json, "repaired", output->repaired);
    ctl_json_boolean(json, "complete", complete);
    ctl_json_close(json);
}

static void print_summary(const struct output *output)
{
    if (output->faults == 0)
        (void)printf("all is well\n");
    else
        (void)printf("%" PRId64 " faults; put the bytes back with gatehousectl fsck --repair --from FOLDER,\n"
                     "or in another way and then run gatehousectl scrub --damaged\n",
                     output->faults);
}

static int finish(struct output *output, const struct error *error, bool done)
{
    ctl_progress_end(&output->progress);
    if (output->json != NULL)
        write_summary(output->json, output, error == NULL && done);
    if (error != NULL)
        return tell_failure(error);
    if (!done) {
        (void)fprintf(stderr, "gatehousectl: interrupted; the job runner or gatehousectl scrub goes on here\n");
        return EXIT_UNABLE;
    }
    if (output->json == NULL)
        print_summary(output);
    return output->faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool read_rate(struct run *run, const struct service *service, struct scrub_options *options)
{
    int64_t mebibytes = -1;
    if (!ctl_number(run, "rate", 0, RATE_MAX, &mebibytes))
        return false;
    options->bytes_per_second =
        mebibytes < 0 ? service->configuration->scrub.bytes_per_second : mebibytes * 1024 * 1024;
    return true;
}

/* Scrubs, and tells of it; with JSON `scratch` is the memory of one finding. */
static int tell_scrub(struct run *run, struct service *service, const struct scrub_options *options,
                      struct output *output, struct arena *scratch)
{
    struct ctl_json json = {.arena = scratch};
    int64_t total = 0;
    bool done = false;
    struct error *error = file_admin_estimate(service->database, run->arena, &total);
    if (error != NULL)
        return tell_failure(error);
    if (run->json) {
        output->json = &json;
        ctl_json_open(&json, NULL, '{');
        ctl_json_open(&json, "findings", '[');
    }
    struct scrub *scrub = scrub_new(service, options);
    error = follow(scrub, run->arena, &output->progress, total, &done);
    int status = finish(output, error, done);
    output->json = NULL;
    scrub_free(&scrub);
    return status;
}

static int do_scrub(struct run *run, struct service *service, struct output *output)
{
    struct scrub_options options = {
        .every_days = service->configuration->scrub.every_days == 0 ? 1 : service->configuration->scrub.every_days,
        .now = ctl_has(run, "now"),
        .damaged = ctl_has(run, "damaged"),
        .patient = true,
        .step_microseconds = STEP_MICROSECONDS,
        .found = print_found,
        .context = output};
    if (!read_rate(run, service, &options))
        return EXIT_USAGE;
    struct arena *scratch = arena_new();
    int status = tell_scrub(run, service, &options, output, scratch);
    arena_free(&scratch);
    return status;
}

static int run_scrub(struct run *run)
{
    struct service service;
    struct output output = {0};
    ctl_progress_begin(&output.progress);
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return tell_failure(error);
    int status = do_scrub(run, &service, &output);
    service_close(&service);
    return status;
}

static const struct ctl_option options[] = {
    {"now", NULL, "begin a pass over all files, whatever is due", false},
    {"damaged", NULL, "read only the files that are damaged or lost", false},
    {"rate", "MIB", "read no more than that many MiB a second, 0 for no bound; without it [scrub] bytes_per_second",
     false},
    {0},
};

const struct ctl_command ctl_scrub = {.name = "scrub",
                                      .summary = "read files, compare them with their hashes, mark what is damaged",
                                      .options = options,
                                      .json = true,
                                      .run = run_scrub};

/* ---- status -------------------------------------------------------------------------------------- */

static const char *time_text(struct arena *arena, int64_t time)
{
    char *text = arena_alloc(arena, CLOCK_TEXT_BYTES);
    if (time == 0)
        return NULL;
    clock_format(time, text);
    return text;
}

/* What `scrub status` shows. */
struct status {
    struct scrub_position position;
    struct file_damage_counts counts;
    struct file_admin_page page; /* damaged and lost files, the first of them */
};

static const char *fault_text(const struct file_admin_record *file)
{
    return file->damaged ? "damaged" : "lost";
}

static void print_json(struct arena *arena, const struct status *status)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, "damagedFiles", status->counts.damaged);
    ctl_json_integer(&json, "lostFiles", status->counts.lost);
    ctl_json_text(&json, "lastPassBegan", time_text(arena, status->position.finished));
    ctl_json_text(&json, "passBegan", time_text(arena, status->position.begun));
    ctl_json_integer(&json, "files", status->position.files);
    ctl_json_integer(&json, "bytes", status->position.bytes);
    ctl_json_open(&json, "items", '[');
    for (size_t i = 0; i < status->page.count; i++) {
        ctl_json_open(&json, NULL, '{');
        ctl_json_text(&json, "state", fault_text(&status->page.items[i]));
        ctl_json_text(&json, "id", id_text(arena, status->page.items[i].id));
        ctl_json_text(&json, "organisationId", id_text(arena, status->page.items[i].organisation_id));
        ctl_json_close(&json);
    }
    ctl_json_close(&json);
    ctl_json_close(&json);
}

static void print_faults(struct arena *arena, const struct status *status)
{
    for (size_t i = 0; i < status->page.count; i++)
        (void)printf("%-10s file %s organisation %s\n", fault_text(&status->page.items[i]),
                     id_text(arena, status->page.items[i].id), id_text(arena, status->page.items[i].organisation_id));
    if (status->page.count == 0)
        return;
    if (status->counts.damaged + status->counts.lost > (int64_t)status->page.count)
        (void)printf("and more\n");
    (void)printf("put the bytes back with gatehousectl fsck --repair --from FOLDER,\n"
                 "or in another way and then run gatehousectl scrub --damaged\n");
}

static void print_status(struct arena *arena, const struct status *status)
{
    const struct scrub_position *position = &status->position;
    const char *finished = time_text(arena, position->finished);
    const char *begun = time_text(arena, position->begun);
    (void)printf("damaged files       %" PRId64 "\n", status->counts.damaged);
    (void)printf("lost files          %" PRId64 "\n", status->counts.lost);
    (void)printf("last whole pass of  %s\n", finished == NULL ? "never" : finished);
    if (begun == NULL)
        (void)printf("no pass is under way\n");
    else
        (void)printf("under way since     %s: %" PRId64 " files, %s\n", begun, position->files,
                     ctl_bytes(arena, position->bytes));
    print_faults(arena, status);
}

static struct error *show_status(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    struct status status;
    const struct id from_start = {{0}};
    TRY(file_damage_count(service->database, arena, &status.counts));
    TRY(file_damage_each(service->database, arena, from_start, STATUS_FILES, &status.page));
    TRY(scrub_position_load(service, arena, &status.position));
    (run->json ? print_json : print_status)(arena, &status);
    return NULL;
}

static int run_status(struct run *run)
{
    return ctl_with_service(run, show_status, run);
}

const struct ctl_command ctl_scrub_status = {.name = "scrub status",
                                             .summary = "print how far the scrub is and what it has found",
                                             .json = true,
                                             .run = run_status};
