/* SPDX-License-Identifier: MIT */
/* What the sub-commands of gatehousectl share. */
#ifndef GATEHOUSE_CTL_CTL_INT_H
#define GATEHOUSE_CTL_CTL_INT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct error;
struct service;
struct watch;

#define EXIT_USAGE 2

/* One run of the command. argv[0] is the sub-command's name. */
struct run {
    struct arena *arena;
    const char *config; /* the value of --config, NULL when not given */
    int argc;
    char **argv;
};

/*
 * The sub-commands: each returns the exit status. Errors were printed already, as sentences on stderr.
 */
int ctl_check(struct run *run);
int ctl_migrate(struct run *run);
int ctl_create_admin(struct run *run);
int ctl_jobs(struct run *run);
int ctl_unlock(struct run *run);
int ctl_mirror(struct run *run);
int ctl_settings(struct run *run);
int ctl_cache(struct run *run);
int ctl_rotate_keys(struct run *run);
int ctl_identity(struct run *run);
int ctl_identity_export(struct run *run);
int ctl_identity_import(struct run *run);
int ctl_routes(struct run *run);
int ctl_openapi(struct run *run);
int ctl_fsck(struct run *run);
int ctl_purge(struct run *run);
int ctl_organisation(struct run *run);
int ctl_backup(struct run *run);
int ctl_restore(struct run *run);

/* What `migrate` does: secrets, migrations of that directory, the workers' account. */
struct error *ctl_make_ready(struct run *run, const char *sql);

/* Prints an error for the operator: message, detail, entries. Returns EXIT_FAILURE. */
int ctl_fail(const struct error *error);

/* Prints "usage: gatehousectl <what>" on stderr and returns EXIT_USAGE. */
int ctl_usage(const char *what);

/* Reads the configuration and opens the service; service_close() is the caller's. */
struct error *ctl_open(struct run *run, struct service *service_out);

/*
 * A watch for long commands: progress on standard error where that is a terminal, an end in good order at SIGINT and
 * SIGTERM. ctl_unwatch() takes the progress line away.
 */
void ctl_watch(struct watch *watch_out);
void ctl_unwatch(struct watch *watch);

/* A number of bytes for people, "1.5 GiB", in the run's arena. */
const char *ctl_bytes(struct arena *arena, int64_t bytes);

#endif
