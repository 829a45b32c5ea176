/* SPDX-License-Identifier: MIT */
/* Shows the progress of long commands on a terminal, and opens the service for commands. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "service/maintenance/progress.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"
#include "store/database/database.h"

static volatile sig_atomic_t ending;

static void on_end(int signal_number)
{
    (void)signal_number;
    ending = 1;
}

static bool is_ending(void *context)
{
    (void)context;
    return ending != 0;
}

/* Divides a number of bytes by the largest unit that leaves at least one. */
static double in_unit(int64_t bytes, const char **unit_out)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        amount /= 1024;
    *unit_out = units[unit];
    return amount;
}

const char *ctl_bytes(struct arena *arena, int64_t bytes)
{
    const char *unit;
    double amount = in_unit(bytes, &unit);
    return arena_format(arena, bytes < 1024 ? "%.0f %s" : "%.1f %s", amount, unit);
}

static void show(void *context, const char *what, int64_t done, int64_t total, int64_t bytes)
{
    const char *unit;
    double amount = in_unit(bytes, &unit);
    (void)context;
    (void)fprintf(stderr, "\r\033[K%" PRId64, done);
    if (total > 0)
        (void)fprintf(stderr, " of about %" PRId64, total > done ? total : done);
    (void)fprintf(stderr, " %s, %.1f %s", what, amount, unit);
}

void ctl_progress_begin(struct progress *progress_out)
{
    struct sigaction end = {.sa_handler = on_end};
    (void)sigaction(SIGTERM, &end, NULL);
    (void)sigaction(SIGINT, &end, NULL);
    *progress_out = (struct progress){.ending = is_ending, .show = isatty(STDERR_FILENO) ? show : NULL};
}

void ctl_progress_end(struct progress *progress)
{
    if (progress->show != NULL)
        (void)fprintf(stderr, "\r\033[K");
}

struct error *ctl_open(struct run *run, struct service *service_out)
{
    struct configuration *configuration;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    return service_open(run->arena, configuration, service_out);
}

struct error *ctl_open_administrator(struct run *run, struct service *service_out)
{
    struct configuration *configuration;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    TRY(service_open_administrator(run->arena, configuration, service_out));
    struct error *error = database_ping(service_out->database, run->arena);
    if (error == NULL)
        return NULL;
    service_close(service_out);
    return error_message(
        error,
        "This command needs the database account %s ([database] admin_user), and cannot connect with it."
        " Run it as the user with that name, or as a user who may read the password file.",
        configuration->database.admin_user);
}

static int with(struct run *run, struct error *(*opens)(struct run *run, struct service *service_out),
                struct error *(*work)(struct service *service, struct arena *arena, void *context), void *context)
{
    struct service service;
    struct error *error = opens(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    struct arena *arena = arena_new();
    error = work(&service, arena, context);
    int status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    arena_free(&arena);
    service_close(&service);
    return status;
}

int ctl_with_service(struct run *run,
                     struct error *(*work)(struct service *service, struct arena *arena, void *context), void *context)
{
    return with(run, ctl_open, work, context);
}

int ctl_with_administrator(struct run *run,
                           struct error *(*work)(struct service *service, struct arena *arena, void *context),
                           void *context)
{
    return with(run, ctl_open_administrator, work, context);
}
