/* SPDX-License-Identifier: MIT */
/*
 * The first steps of every program: load the configuration, open the log and the metrics, and report a failure of
 * these.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_STARTUP_H
#define GATEHOUSE_SERVICE_RUNTIME_STARTUP_H

struct arena;
struct configuration;
struct error;

/*
 * Loads the configuration (`option` is the value of --config, NULL when it was not given), then opens the log and the
 * metrics file that it names. Without that file the process counts for itself. `program` is the name for syslog. NULL
 * is an operator's command: it must not make log files under its own user, and writes warnings and worse to stderr.
 */
struct error *startup_load(struct arena *arena, const char *option, const char *program,
                           struct configuration **configuration_out);

/* Logs a failure of the start: its message, its detail and its entries. */
void startup_report(const struct error *error);

#endif
