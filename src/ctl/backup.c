/* SPDX-License-Identifier: MIT */
/* gatehousectl backup, restore. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "service/backup.h"
#include "service/restore.h"
#include "service/service.h"
#include "service/setup.h"

#define RATE_MAX 1000000
#define BACKUP_USAGE "backup DIRECTORY [--link] [--include-secret] [--rate MIB]"
#define RESTORE_USAGE "restore DIRECTORY [--accept-loss] [--sql DIRECTORY]"

static void print_lost(void *context, struct id id, const char *why)
{
    char text[ID_TEXT_BYTES];
    ctl_unwatch(context);
    id_format(id, text);
    (void)printf("lost       file %s: %s\n", text, why);
}

/* ---- backup -------------------------------------------------------------------------------------- */

static bool read_backup_options(struct run *run, struct backup_options *options)
{
    static const struct option names[] = {{"link", no_argument, NULL, 'l'},
                                          {"include-secret", no_argument, NULL, 's'},
                                          {"rate", required_argument, NULL, 'r'},
                                          {NULL, 0, NULL, 0}};
    int64_t mebibytes = 0;
    int option;
    optind = 1;
    while ((option = getopt_long(run->argc, run->argv, "", names, NULL)) != -1) {
        options->link = options->link || option == 'l';
        options->include_secret = options->include_secret || option == 's';
        if (option == '?' || (option == 'r' && !text_to_integer(optarg, 0, RATE_MAX, &mebibytes)))
            return false;
    }
    options->bytes_per_second = mebibytes * 1024 * 1024;
    options->directory = optind < run->argc ? run->argv[optind] : NULL;
    return optind + 1 == run->argc;
}

static int make_backup(struct run *run, struct service *service, const struct backup_options *options)
{
    struct backup_result result;
    struct arena *scratch = arena_new();
    struct error *error = backup_run(service, run->arena, scratch, options, &result);
    ctl_unwatch(options->watch);
    int status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    arena_free(&scratch);
    if (error != NULL)
        return status;
    (void)printf("%s\n%" PRId64 " rows, %" PRId64 " files of %s; %s read, %" PRId64 " files linked to an earlier backup\n",
                 result.path, result.rows, result.files, ctl_bytes(run->arena, result.bytes),
                 ctl_bytes(run->arena, result.copied), result.reused);
    if (!options->include_secret)
        (void)printf("the secret file is not in it: keep a copy of %s elsewhere\n",
                     service->configuration->service.secret_file);
    if (result.lost == 0)
        return EXIT_SUCCESS;
    (void)printf("%" PRId64 " files could not be saved: see fsck in gatehousectl(8)\n", result.lost);
    return EXIT_FAILURE;
}

int ctl_backup(struct run *run)
{
    struct service service;
    struct watch watch;
    struct backup_options options = {.lost = print_lost, .context = &watch, .watch = &watch};
    if (!read_backup_options(run, &options))
        return ctl_usage(BACKUP_USAGE);
    ctl_watch(&watch);
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    int status = make_backup(run, &service, &options);
    service_close(&service);
    return status;
}

/* ---- restore ------------------------------------------------------------------------------------- */

static bool read_restore_options(struct run *run, struct restore_options *options)
{
    static const struct option names[] = {
        {"accept-loss", no_argument, NULL, 'a'}, {"sql", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
    int option;
    optind = 1;
    options->sql = arena_format(run->arena, "%s/sql", configuration_data_directory());
    while ((option = getopt_long(run->argc, run->argv, "", names, NULL)) != -1) {
        options->accept_loss = options->accept_loss || option == 'a';
        if (option == 's')
            options->sql = optarg;
        if (option == '?')
            return false;
    }
    options->directory = optind < run->argc ? run->argv[optind] : NULL;
    return optind + 1 == run->argc;
}

/* The workers' account and its password are the last thing that a new host lacks. */
static struct error *restore(struct run *run, struct arena *scratch, const struct restore_options *options,
                             struct restore_result *result)
{
    struct configuration *configuration;
    TRY(setup_load(run->arena, run->config, NULL, &configuration));
    TRY(restore_run(run->arena, scratch, configuration, options, result));
    TRY(ctl_make_ready(run, options->sql));
    return restore_finish(run->arena, configuration);
}

int ctl_restore(struct run *run)
{
    struct watch watch;
    struct restore_result result = {0};
    struct restore_options options = {.lost = print_lost, .context = &watch, .watch = &watch};
    if (!read_restore_options(run, &options))
        return ctl_usage(RESTORE_USAGE);
    ctl_watch(&watch);
    struct arena *scratch = arena_new();
    struct error *error = restore(run, scratch, &options, &result);
    ctl_unwatch(&watch);
    int status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    arena_free(&scratch);
    if (error != NULL)
        return status;
    (void)printf("%s of %s is restored: %" PRId64 " rows, %" PRId64 " files of %s, every hash compared\n", result.path,
                 result.created_at, result.rows, result.files, ctl_bytes(run->arena, result.bytes));
    (void)printf("everybody has to sign in again\n");
    if (result.lost == 0)
        return EXIT_SUCCESS;
    (void)printf("%" PRId64 " files are without their bytes\n", result.lost);
    return EXIT_FAILURE;
}
