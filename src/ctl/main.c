/* SPDX-License-Identifier: MIT */
/* gatehousectl, the operator's command: finds the row of a command, reads the command line and runs the command. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/secret.h"
#include "ctl/ctl_int.h"

static int show_version(struct run *run)
{
    struct ctl_json json = {.arena = run->arena};
    if (!run->json) {
        (void)printf("gatehousectl %s\n", PACKAGE_VERSION);
        return EXIT_SUCCESS;
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_text(&json, "version", PACKAGE_VERSION);
    ctl_json_close(&json);
    return EXIT_SUCCESS;
}

static const struct ctl_command version = {
    .name = "version", .summary = "print the version", .json = true, .run = show_version};

/* In the order in which an operator needs them. */
static const struct ctl_command *const commands[] = {
    &ctl_check,
    &ctl_migrate,
    &ctl_grants,
    &ctl_create_admin,
    &ctl_jobs,
    &ctl_unlock,
    &ctl_mirror,
    &ctl_fsck,
    &ctl_scrub,
    &ctl_scrub_status,
    &ctl_purge,
    &ctl_uploads_list,
    &ctl_uploads_expire,
    &ctl_blobs_move,
    &ctl_backup,
    &ctl_restore,
    &ctl_organisation_list,
    &ctl_organisation_show,
    &ctl_organisation_set,
    &ctl_user_list,
    &ctl_user_show,
    &ctl_user_enable,
    &ctl_user_disable,
    &ctl_user_set_roles,
    &ctl_permissions_unused,
    &ctl_settings_get,
    &ctl_settings_set,
    &ctl_settings_rollback,
    &ctl_settings_history,
    &ctl_cache_keys,
    &ctl_cache_evict,
    &ctl_cache_flush,
    &ctl_identity_setup,
    &ctl_identity_export,
    &ctl_identity_import,
    &ctl_rotate_keys,
    &ctl_rotate_secret,
    &ctl_routes,
    &ctl_openapi,
    &version,
    NULL,
};

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Reads options before the command. Returns the index of the first word that is none; -1: there is no such option. */
static int read_before(struct run *run, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && !is_help(argv[at]) && strcmp(argv[at], "--version") != 0; at++) {
        if (strncmp(argv[at], "--config=", 9) == 0) {
            run->config = argv[at] + 9;
        } else if (strcmp(argv[at], "--config") == 0 && at + 1 < argc) {
            run->config = argv[++at];
        } else {
            (void)fprintf(stderr, "gatehousectl: %s %s\n",
                          strcmp(argv[at], "--config") == 0 ? "no file is named behind" : "there is no option",
                          argv[at]);
            return -1;
        }
    }
    return at;
}

/* Answers first words that are no command. They may be the first word of several commands, alone or with --help. */
static int refuse_command(char **words)
{
    if (!ctl_is_group(commands, words[0])) {
        (void)fprintf(stderr, "gatehousectl: there is no command %s\n\n", words[0]);
        ctl_help_all(stderr, commands, NULL);
        return EXIT_USAGE;
    }
    if (words[1] != NULL && is_help(words[1])) {
        ctl_help_all(stdout, commands, words[0]);
        return EXIT_SUCCESS;
    }
    if (words[1] == NULL)
        (void)fprintf(stderr, "gatehousectl: %s is not a whole command\n\n", words[0]);
    else
        (void)fprintf(stderr, "gatehousectl: there is no command %s %s\n\n", words[0], words[1]);
    ctl_help_all(stderr, commands, words[0]);
    return EXIT_USAGE;
}

static int run_command(struct run *run, int argc, char **argv)
{
    int words;
    const struct ctl_command *command = ctl_find(commands, argv, &words);
    if (command == NULL)
        return refuse_command(argv);
    switch (ctl_read(run, command, argc - words + 1, argv + words - 1)) {
    case CTL_HELP:
        ctl_help(stdout, command);
        return EXIT_SUCCESS;
    case CTL_READ:
        return command->run(run);
    default:
        return EXIT_USAGE;
    }
}

int main(int argc, char **argv)
{
    secret_protect_process();
    struct run run = {.arena = arena_new()};
    int at = read_before(&run, argc, argv);
    if (at < 0 || at == argc) {
        ctl_help_all(stderr, commands, NULL);
        return EXIT_USAGE;
    }
    if (is_help(argv[at]) || (strcmp(argv[at], "help") == 0 && at + 1 == argc)) {
        ctl_help_all(stdout, commands, NULL);
        return EXIT_SUCCESS;
    }
    if (strcmp(argv[at], "--version") == 0)
        return show_version(&run);
    if (strcmp(argv[at], "complete") == 0) {
        ctl_complete(commands, argc - at - 1, argv + at + 1);
        return EXIT_SUCCESS;
    }
    int status = run_command(&run, argc - at, argv + at);
    arena_free(&run.arena);
    return status;
}
