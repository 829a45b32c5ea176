/* SPDX-License-Identifier: MIT */
/* gatehousectl: the operator's command. A table of sub-commands; each lives in a file of its own. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "ctl/ctl_int.h"

static int show_version(struct run *run)
{
    (void)run;
    (void)printf("gatehousectl %s\n", PACKAGE_VERSION);
    return EXIT_SUCCESS;
}

struct command {
    const char *name;
    const char *summary;
    int (*run)(struct run *run);
};

static const struct command commands[] = {
    {"check", "look at everything the service stands on", ctl_check},
    {"migrate", "create or update the database", ctl_migrate},
    {"create-admin", "create an internal administrator", ctl_create_admin},
    {"jobs", "run the background jobs", ctl_jobs},
    {"unlock", "let an account try its password again", ctl_unlock},
    {"mirror", "send all permissions to the identity provider", ctl_mirror},
    {"fsck", "compare what is known of files with their bytes", ctl_fsck},
    {"purge", "end archived files, or old audit rows, for good", ctl_purge},
    {"backup", "copy rows and files, while the service runs", ctl_backup},
    {"restore", "put a backup into an empty database and files directory", ctl_restore},
    {"organisation", "list, show and change organisations", ctl_organisation},
    {"settings", "read and change what the service can be told while it runs", ctl_settings},
    {"cache", "look into the service cache, and evict from it on every host", ctl_cache},
    {"identity", "set up the identity provider, move people to another one", ctl_identity},
    {"rotate-keys", "make new keys for tokens and links", ctl_rotate_keys},
    {"routes", "print the table of endpoints", ctl_routes},
    {"openapi", "print the OpenAPI document", ctl_openapi},
    {"version", "print the version", show_version},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static int print_usage(FILE *stream)
{
    (void)fprintf(stream, "usage: gatehousectl [--config FILE] COMMAND [OPTION ...]\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        (void)fprintf(stream, "  %-14s %s\n", commands[i].name, commands[i].summary);
    (void)fprintf(stream, "\nSee gatehousectl(8).\n");
    return stream == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}

int ctl_usage(const char *what)
{
    (void)fprintf(stderr, "usage: gatehousectl [--config FILE] %s\n", what);
    return EXIT_USAGE;
}

int ctl_fail(const struct error *error)
{
    (void)fprintf(stderr, "gatehousectl: %s\n", error->message);
    if (error->detail != NULL)
        (void)fprintf(stderr, "  %s\n", error->detail);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        (void)fprintf(stderr, "  %s: %s\n", entry->path, entry->message);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct run run = {.arena = arena_new()};
    int at = 1;
    if (at + 1 < argc && strcmp(argv[at], "--config") == 0) {
        run.config = argv[at + 1];
        at += 2;
    } else if (at < argc && strncmp(argv[at], "--config=", 9) == 0) {
        run.config = argv[at] + 9;
        at++;
    }
    if (at < argc && (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0))
        return print_usage(stdout);
    if (at < argc && strcmp(argv[at], "--version") == 0)
        return show_version(&run);
    for (size_t i = 0; at < argc && i < COMMANDS; i++) {
        if (strcmp(argv[at], commands[i].name) != 0)
            continue;
        run.argc = argc - at;
        run.argv = argv + at;
        int status = commands[i].run(&run);
        arena_free(&run.arena);
        return status;
    }
    return print_usage(stderr);
}
