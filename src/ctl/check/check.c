/* SPDX-License-Identifier: MIT */
/* gatehousectl check: checks each part that the service needs, and prints a line for each, with advice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/sandbox/sandbox.h"
#include "blob/scanner.h"
#include "blob/sniffer/sniffer.h"
#include "ctl/check/check_int.h"
#include "service/runtime/startup.h"
#include "service/system/inspect.h"

/* ---- this machine -------------------------------------------------------------------------------- */

/* A note: root may read and write everything, so this does not find what the workers may not. */
static struct error *check_user(struct checks *checks)
{
    struct stat status;
    bool is_s3 = strcmp(checks->configuration->files.store, "s3") == 0;
    const char *directory = is_s3 ? checks->configuration->files.s3_spool : checks->configuration->files.directory;
    if (geteuid() != 0 || stat(directory, &status) != 0 || status.st_uid == 0)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_INTERNAL),
                         "This runs as root, who may read and write what the workers' user may not.");
}

/* A kernel with an older Landlock keeps less out, and nothing is wrong. */
static void check_sandbox(struct checks *checks)
{
    const struct sandbox_walls walls = sandbox_offered();
    bool wanted = checks->configuration->service.sandbox;
    (void)check_tell(checks, "sandbox", wanted && walls.landlock != 0 && walls.calls ? CHECK_NOTE : CHECK_WARNING,
                     inspect_sandbox(checks->arena, checks->configuration),
                     wanted ? "Run a newer kernel, or let the container use Landlock and seccomp."
                            : "Take the setting out of the configuration.");
}

/* Whoever wants no such file has nothing wrong. */
static void check_security_txt(struct checks *checks)
{
    bool absent;
    struct error *error = inspect_security_txt(checks->arena, checks->configuration, &absent);
    (void)check_tell(checks, "security.txt", absent ? CHECK_NOTE : CHECK_WARNING, error,
                     absent ? NULL : "Write the file as the guide to installing says.");
}

static void check_settings(struct checks *checks)
{
    const struct configuration *configuration = checks->configuration;
    struct arena *arena = checks->arena;
    struct error *misspelt = inspect_environment(arena, true);
    (void)check_tell(checks, "environment", misspelt != NULL ? CHECK_ERROR : CHECK_WARNING,
                     misspelt != NULL ? misspelt : inspect_environment(arena, false),
                     "Correct the name, or unset the variable.");
    (void)check_tell(checks, "addresses", CHECK_WARNING, inspect_addresses(arena, configuration),
                     "Give the web server a certificate, and write https.");
    (void)check_tell(checks, "accent", CHECK_WARNING, inspect_accent(arena, configuration),
                     "Take a darker colour: links in e-mails have it, those of the pages keep their own colour.");
    (void)check_tell(checks, "testing", CHECK_WARNING, inspect_testing(arena, configuration),
                     "Take the settings of the section [testing] out of the configuration.");
    check_sandbox(checks);
    check_security_txt(checks);
    (void)check_tell(checks, "users", CHECK_WARNING, inspect_users(arena, configuration),
                     "Name the user that the web server runs as; its connections are dropped.");
    (void)check_tell(checks, "user", CHECK_NOTE, check_user(checks),
                     "Run it as the workers' user: runuser -u gatehouse -- gatehousectl check.");
    (void)check_tell(
        checks, "secret files", CHECK_ERROR, inspect_secret_files(arena, configuration),
        "A file with a secret belongs to the workers' user with mode 0600, or to root and its group with mode 0640.");
    (void)check_tell(checks, "log", CHECK_ERROR, inspect_log(arena, configuration), NULL);
    (void)check_tell(
        checks, "cache", CHECK_WARNING, inspect_cache(arena, configuration),
        "Make the folder for the workers' user; without the cache each process asks the database for itself.");
    (void)check_tell(checks, "metrics", CHECK_WARNING, inspect_metrics(arena, configuration),
                     "Make the folder for the workers' user; without the file each process counts for itself.");
}

/* Whether a worker could have files examined. */
static struct error *try_sniffer(struct arena *arena, bool sandbox)
{
    struct sniff_process *process;
    struct sandbox_walls walls;
    TRY(sniff_process_fork(arena, NULL, &process));
    return sniff_process_start(process, arena, sandbox, &walls);
}

static void check_service(struct checks *checks)
{
    (void)check_tell(checks, "sniffer", CHECK_ERROR, try_sniffer(checks->arena, checks->configuration->service.sandbox),
                     "Install the database of libmagic (Debian: libmagic-mgc), or unset MAGIC.");
    struct error *error = service_open(checks->arena, checks->configuration, &checks->service);
    if (check_tell(checks, "service", CHECK_ERROR, error, NULL)) {
        check_database(checks);
        check_store(checks);
        (void)check_tell(checks, "bodies", CHECK_ERROR, inspect_bodies(checks->arena, checks->configuration),
                         "Make the folder as the guide to installing says.");
        if (checks->service.scanner != NULL)
            (void)check_tell(
                checks, "scanner", CHECK_ERROR, scanner_ping(checks->service.scanner, checks->arena),
                "Check that clamd runs, that [files] clamd_socket is its LocalSocket, and who may connect to it.");
    }
    check_mail(checks);
    service_close(&checks->service);
}

static void check_all(struct run *run, struct checks *checks)
{
    struct configuration *configuration;
    struct error *error = startup_load(run->arena, run->config, NULL, &configuration);
    checks->configuration = configuration;
    if (!check_tell(checks, "configuration", CHECK_ERROR, error, NULL))
        return;
    check_settings(checks);
    check_service(checks);
}

static int check(struct run *run)
{
    struct checks checks = {.arena = run->arena, .json = {.arena = run->arena}, .as_json = run->json};
    const char *to = ctl_value(run, "mail");
    if (to != NULL)
        return check_try_mail(run, to);
    if (checks.as_json) {
        ctl_json_open(&checks.json, NULL, '{');
        ctl_json_open(&checks.json, "items", '[');
    }
    check_all(run, &checks);
    if (checks.as_json) {
        ctl_json_close(&checks.json);
        ctl_json_text(&checks.json, "status", check_level_text(checks.worst == CHECK_NOTE ? CHECK_OK : checks.worst));
        ctl_json_close(&checks.json);
    }
    return checks.worst == CHECK_ERROR ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct ctl_option options[] = {
    {"mail", "ADDRESS", "send one mail there, as the job runner would, and check nothing else", false},
    {0},
};

const struct ctl_command ctl_check = {.name = "check",
                                      .summary = "check everything that the service needs",
                                      .options = options,
                                      .json = true,
                                      .run = check};
