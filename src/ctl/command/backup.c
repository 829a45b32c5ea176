/* SPDX-License-Identifier: MIT */
/* gatehousectl backup, restore: copies rows and files, and puts a copy back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "service/maintenance/backup.h"
#include "service/maintenance/restore.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"

#define RATE_MAX 1000000

/* ---- backup -------------------------------------------------------------------------------------- */

static bool read_backup_options(const struct run *run, struct backup_options *options)
{
    int64_t mebibytes = 0;
    options->link = ctl_has(run, "link");
    options->include_secret = ctl_has(run, "include-secret");
    options->directory = run->operands[0];
    if (!ctl_number(run, "rate", 0, RATE_MAX, &mebibytes))
        return false;
    options->bytes_per_second = mebibytes * 1024 * 1024;
    return true;
}

static void write_backup(struct ctl_json *json, const struct backup_result *result, bool complete)
{
    ctl_json_close(json);
    ctl_json_text(json, "path", result->path);
    ctl_json_integer(json, "rows", result->rows);
    ctl_json_integer(json, "files", result->files);
    ctl_json_integer(json, "bytes", result->bytes);
    ctl_json_integer(json, "bytesRead", result->copied);
    ctl_json_integer(json, "linkedFiles", result->reused);
    ctl_json_boolean(json, "complete", complete);
    ctl_json_close(json);
}

static int make_backup(struct run *run, struct service *service, const struct backup_options *options,
                       struct ctl_lost *lost)
{
    struct backup_result result = {0};
    struct arena *scratch = arena_new();
    struct ctl_json json = {.arena = scratch}; /* many files may be lost */
    if (run->json)
        ctl_lost_begin(lost, &json);
    struct error *error = backup_run(service, run->arena, scratch, options, &result);
    ctl_progress_end(options->progress);
    int status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    if (run->json)
        write_backup(&json, &result, error == NULL);
    arena_free(&scratch);
    if (error != NULL)
        return status;
    if (run->json)
        return result.lost == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    (void)printf("%s\n%" PRId64 " rows, %" PRId64 " files of %s; %s read, %" PRId64
                 " files linked to an earlier backup\n",
                 result.path, result.rows, result.files, ctl_bytes(run->arena, result.bytes),
                 ctl_bytes(run->arena, result.copied), result.reused);
    if (!options->include_secret)
        (void)printf("the backup does not contain the secret file: keep a copy of %s elsewhere\n",
                     service->configuration->service.secret_file);
    if (result.lost == 0)
        return EXIT_SUCCESS;
    (void)printf("%" PRId64 " files could not be saved: see fsck in gatehousectl(8)\n", result.lost);
    return EXIT_FAILURE;
}

static int run_backup(struct run *run)
{
    struct service service;
    struct ctl_lost lost = {0};
    struct backup_options options = {.lost = ctl_lost_tell, .context = &lost, .progress = &lost.progress};
    if (!read_backup_options(run, &options))
        return EXIT_USAGE;
    ctl_progress_begin(&lost.progress);
    struct error *error = ctl_open_administrator(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    int status = make_backup(run, &service, &options, &lost);
    service_close(&service);
    return status;
}

static const struct ctl_option backup_known[] = {
    {"link", NULL, "link to the bytes in the files directory instead of copying them", false},
    {"include-secret", NULL, "put a copy of the secret file into the backup", false},
    {"rate", "MIB", "read that many a second at most, 0 for no bound", false},
    {0},
};

const struct ctl_command ctl_backup = {.name = "backup",
                                       .operands = "DIRECTORY",
                                       .summary = "copy rows and files, while the service runs",
                                       .options = backup_known,
                                       .json = true,
                                       .run = run_backup};

/* ---- restore ------------------------------------------------------------------------------------- */

static void read_restore_options(const struct run *run, struct restore_options *options)
{
    const char *sql = ctl_value(run, "sql");
    options->sql = sql != NULL ? sql : arena_format(run->arena, "%s/sql", configuration_data_directory());
    options->accept_loss = ctl_has(run, "accept-loss");
    options->directory = run->operands[0];
}

/* Restores, then makes the workers' account and its password, which a new host lacks. */
static struct error *restore(struct run *run, struct arena *scratch, const struct restore_options *options,
                             struct ctl_migrated *migrated, struct restore_result *result)
{
    struct configuration *configuration;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    TRY(restore_run(run->arena, scratch, configuration, options, result));
    TRY(ctl_make_ready(run, options->sql, migrated));
    return restore_finish(run->arena, configuration);
}

static void write_restored(struct ctl_json *json, const struct restore_result *result,
                           const struct ctl_migrated *migrated, bool complete)
{
    ctl_json_close(json);
    ctl_json_text(json, "path", result->path);
    ctl_json_text(json, "createdAt", result->created_at);
    ctl_json_integer(json, "rows", result->rows);
    ctl_json_integer(json, "files", result->files);
    ctl_json_integer(json, "bytes", result->bytes);
    ctl_migrated_print(migrated, json);
    ctl_json_boolean(json, "complete", complete);
    ctl_json_close(json);
}

static void print_restored(struct arena *arena, const struct restore_result *result)
{
    (void)printf("%s of %s is restored: %" PRId64 " rows, %" PRId64 " files of %s, every hash compared\n", result->path,
                 result->created_at, result->rows, result->files, ctl_bytes(arena, result->bytes));
    (void)printf("everybody has to sign in again, and all links to files have ended\n");
    if (result->lost > 0)
        (void)printf("%" PRId64 " files are without their bytes\n", result->lost);
}

static int run_restore(struct run *run)
{
    struct ctl_lost lost = {0};
    struct restore_result result = {0};
    struct ctl_migrated migrated = {0};
    struct restore_options options = {.lost = ctl_lost_tell, .context = &lost, .progress = &lost.progress};
    read_restore_options(run, &options);
    ctl_progress_begin(&lost.progress);
    struct arena *scratch = arena_new();
    struct ctl_json json = {.arena = scratch}; /* many files may be lost */
    if (run->json)
        ctl_lost_begin(&lost, &json);
    struct error *error = restore(run, scratch, &options, &migrated, &result);
    ctl_progress_end(&lost.progress);
    if (run->json)
        write_restored(&json, &result, &migrated, error == NULL);
    else
        ctl_migrated_print(&migrated, NULL);
    if (error == NULL && !run->json)
        print_restored(run->arena, &result);
    int status = error != NULL ? ctl_fail(error) : result.lost > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    arena_free(&scratch);
    return status;
}

static const struct ctl_option restore_known[] = {
    {"accept-loss", NULL, "go on although the bytes of some files are lost", false},
    {"sql", "DIRECTORY", "take the migrations from there", false},
    {0},
};

const struct ctl_command ctl_restore = {.name = "restore",
                                        .operands = "DIRECTORY",
                                        .summary = "put a backup into an empty database and files directory",
                                        .options = restore_known,
                                        .json = true,
                                        .run = run_restore};
