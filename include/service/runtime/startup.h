/* SPDX-License-Identifier: MIT */
/* The first steps of every program of the house: configuration, log, metrics, and how a failure of them is told. */
#ifndef GATEHOUSE_SERVICE_RUNTIME_STARTUP_H
#define GATEHOUSE_SERVICE_RUNTIME_STARTUP_H

struct arena;
struct configuration;
struct error;

/*
 * Loads the configuration (`option` is the value of --config, NULL when not given) and opens the log and the file of
 * metrics that it asks for; without the latter the process counts for itself.
 * `program` is the name for syslog; NULL: an operator's command, which must not make log files under its own user: it
 * tells warnings and worse on stderr.
 */
struct error *startup_load(struct arena *arena, const char *option, const char *program,
                           struct configuration **configuration_out);

/* Logs a failure at start: its message, its entries, its detail. */
void startup_report(const struct error *error);

#endif
