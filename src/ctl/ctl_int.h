/* SPDX-License-Identifier: MIT */
/*
 * What the commands of gatehousectl share.
 *
 * A command is a row: its name, its operands, its options, its function. The row stands at the end of the command's own
 * file, and src/ctl/main.c lists all of them. From the row come the reading of the command line, --help, and the sentences
 * about what is wrong with it. The function finds options and operands read and counted, and looks them up by their names.
 */
#ifndef GATEHOUSE_CTL_CTL_INT_H
#define GATEHOUSE_CTL_CTL_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/id.h"
#include "base/text.h"

struct arena;
struct configuration;
struct error;
struct run;
struct service;
struct progress;

/* The command line is wrong. */
#define EXIT_USAGE 2

/* ---- a command's row ----------------------------------------------------------------------------- */

struct ctl_option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* what its value is called in the help, "ADDRESS"; NULL: it takes none */
    const char *help;  /* one line, without a full stop */
    bool required;
};

struct ctl_command {
    const char *name;     /* one or two words: "purge", "organisation set" */
    const char *operands; /* "ID", "[PREFIX]": those in brackets may be left out and stand last; NULL: there are none */
    const char *summary;  /* one line */
    const struct ctl_option *options; /* NULL: there are none */
    bool json;                        /* --json is understood, and run->json says whether it was given */
    int (*run)(struct run *run);      /* returns the exit status; errors were printed already, as sentences on stderr */
};

extern const struct ctl_command ctl_check, ctl_migrate, ctl_create_admin, ctl_jobs, ctl_unlock, ctl_mirror, ctl_fsck,
    ctl_grants,
    ctl_purge, ctl_backup, ctl_restore, ctl_organisation_list, ctl_organisation_show, ctl_organisation_set,
    ctl_user_list, ctl_user_show, ctl_user_enable, ctl_user_disable, ctl_user_set_roles, ctl_settings_get,
    ctl_settings_set, ctl_settings_rollback, ctl_settings_history, ctl_cache_keys, ctl_cache_evict, ctl_cache_flush,
    ctl_identity_setup, ctl_identity_export, ctl_identity_import, ctl_rotate_keys, ctl_rotate_secret, ctl_routes,
    ctl_scrub, ctl_scrub_status, ctl_openapi;

/* ---- one run of a command ------------------------------------------------------------------------ */

/* An option as it was given. */
struct ctl_given {
    const char *name;
    const char *value; /* NULL where the option takes none */
};

struct run {
    struct arena *arena;
    const char *config; /* the value of --config, NULL when not given */
    const struct ctl_command *command;
    const struct ctl_given *given; /* in the order given */
    size_t given_count;
    char **operands; /* as many as the row allows; operands[operand_count] is NULL */
    size_t operand_count;
    bool json;
};

/* Whether the option was given. */
bool ctl_has(const struct run *run, const char *name);

/* The option's value, the last one where it was given several times; NULL: it was not given. */
const char *ctl_value(const struct run *run, const char *name);

/*
 * The option's value as a whole number within minimum..maximum. Where the option was not given *number_out stays as it
 * is. False: it is none, and the operator was told.
 */
bool ctl_number(const struct run *run, const char *name, int64_t minimum, int64_t maximum, int64_t *number_out);

/* Operand number `at` (from 0) as an id. False: it is none, and the operator was told. */
bool ctl_id(const struct run *run, size_t at, struct id *id_out);

/* Prints what is wrong with the command line, and how the command is used. Returns EXIT_USAGE. */
int ctl_usage(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- reading the command line (command.c) and helping with it (help.c) ---------------------------- */

/*
 * Finds the row whose name the words begin with, the longest name first; *words_out is how many words that is. NULL where
 * there is none.
 */
const struct ctl_command *ctl_find(const struct ctl_command *const *commands, char **words, int *words_out);

enum ctl_reading { CTL_READ, CTL_HELP, CTL_WRONG };

/*
 * Reads what stands behind the command's name: argv[1] to argv[argc - 1], with argv[0] free. CTL_HELP: --help was given.
 * CTL_WRONG: the command line is wrong, and the operator was told. --config is understood here, too.
 */
enum ctl_reading ctl_read(struct run *run, const struct ctl_command *command, int argc, char **argv);

/* Prints one command's usage, summary and options. */
void ctl_help(FILE *stream, const struct ctl_command *command);

/* Whether there are commands of several words that begin with this one. */
bool ctl_is_group(const struct ctl_command *const *commands, const char *word);

/* Prints the commands; where `group` is not NULL, those alone whose first word it is. */
void ctl_help_all(FILE *stream, const struct ctl_command *const *commands, const char *group);

/* "usage: gatehousectl [--config FILE] purge --older-than DAYS [--audit]" */
void ctl_help_usage(FILE *stream, const struct ctl_command *command);

/* ---- JSON on the standard output (json.c) --------------------------------------------------------- */

/*
 * Members are written one after the other. `name` is NULL inside an array. Arrays and objects are opened with '[' or '{',
 * and closed with ctl_json_close(). The outermost one ends the line when it is closed.
 */
#define CTL_JSON_DEPTH 8
struct ctl_json {
    struct arena *arena;
    char open[CTL_JSON_DEPTH]; /* what is to be closed, outermost first */
    size_t depth;
    bool comma;
};

void ctl_json_open(struct ctl_json *json, const char *name, char bracket);
void ctl_json_close(struct ctl_json *json);
void ctl_json_text(struct ctl_json *json, const char *name, const char *text); /* NULL: null */
void ctl_json_integer(struct ctl_json *json, const char *name, int64_t integer);
void ctl_json_boolean(struct ctl_json *json, const char *name, bool boolean);
void ctl_json_raw(struct ctl_json *json, const char *name, const char *text); /* that is JSON already */
void ctl_json_words(struct ctl_json *json, const char *name, const struct text_list *words);

/* ---- the rest ------------------------------------------------------------------------------------ */

/* What `migrate` does: secrets, migrations of that directory, the workers' account. */
struct error *ctl_make_ready(struct run *run, const char *sql);

/* Prints an error for the operator: message, detail, entries (fail.c). Returns EXIT_FAILURE. */
int ctl_fail(const struct error *error);

/* Reads the configuration and opens the service; service_close() is the caller's. */
struct error *ctl_open(struct run *run, struct service *service_out);

/*
 * Opens the service, does the work, closes the service and prints the error where there is one. `arena` is one for the
 * work, which may reset it. The exit status.
 */
int ctl_with_service(struct run *run, struct error *(*work)(struct service *service, struct arena *arena, void *context),
                     void *context);

/*
 * The same two with the account of [database] admin_user, for commands that do what the workers' account may not. A
 * sentence for the operator where that account does not let this user in.
 */
struct error *ctl_open_administrator(struct run *run, struct service *service_out);
int ctl_with_administrator(struct run *run,
                           struct error *(*work)(struct service *service, struct arena *arena, void *context),
                           void *context);

/*
 * For commands that open the workers' cache: root becomes the user whose the cache's folder is, for good. Others, and where the
 * folder is root's, stay who they are.
 */
struct error *ctl_become_workers(struct run *run);

/* From where the workers' account connects, as GRANT writes it: "localhost" or "%". */
const char *ctl_account_host(const struct configuration *configuration);

/*
 * The progress of a long command: a line on standard error where that is a terminal, an end in good order at SIGINT and
 * SIGTERM. ctl_progress_end() takes the progress line away.
 */
void ctl_progress_begin(struct progress *progress_out);
void ctl_progress_end(struct progress *progress);

/* A number of bytes for people, "1.5 GiB", in the run's arena. */
const char *ctl_bytes(struct arena *arena, int64_t bytes);

#endif
