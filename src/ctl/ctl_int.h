/* SPDX-License-Identifier: MIT */
/* What the sub-commands of gatehousectl share. */
#ifndef GATEHOUSE_CTL_CTL_INT_H
#define GATEHOUSE_CTL_CTL_INT_H

struct arena;
struct error;

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
int ctl_routes(struct run *run);
int ctl_openapi(struct run *run);

/* Prints an error for the operator: message, detail, entries. Returns EXIT_FAILURE. */
int ctl_fail(const struct error *error);

/* Prints "usage: gatehousectl <what>" on stderr and returns EXIT_USAGE. */
int ctl_usage(const char *what);

#endif
