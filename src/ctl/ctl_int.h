/* SPDX-License-Identifier: MIT */
/*
 * What the commands of gatehousectl share.
 *
 * A command is a row: its name, its operands, its options, its function. The row stands at the end of the command's
 * file, and src/ctl/main.c lists all rows. The row drives the reading of the command line, --help, and the sentences
 * about a wrong command line. The function finds options and operands read and counted, and looks them up by their
 * names.
 */
#ifndef GATEHOUSE_CTL_CTL_INT_H
#define GATEHOUSE_CTL_CTL_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/id.h"
#include "base/text.h"
#include "service/maintenance/progress.h"

struct arena;
struct configuration;
struct error;
struct run;
struct service;

/* The command line is wrong. */
#define EXIT_USAGE 2

/* ---- a command's row ----------------------------------------------------------------------------- */

struct ctl_option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* the name of its value in the help, "ADDRESS"; NULL: it takes none */
    const char *help;  /* one line, without a full stop */
    bool required;
};

struct ctl_command {
    const char *name;                 /* one or two words: "purge", "organisation set" */
    const char *operands;             /* "ID", "[PREFIX]": those in brackets are optional and come last; NULL: none */
    const char *summary;              /* one line */
    const struct ctl_option *options; /* NULL: there are none */
    bool json;                        /* --json is known, and run->json says whether it was given */
    int (*run)(struct run *run);      /* returns the exit status, after it has printed errors on stderr */
};

extern const struct ctl_command ctl_check, ctl_migrate, ctl_create_admin, ctl_jobs, ctl_unlock, ctl_mirror, ctl_fsck,
    ctl_grants, ctl_purge, ctl_uploads_list, ctl_uploads_expire, ctl_backup, ctl_restore, ctl_organisation_list,
    ctl_organisation_show, ctl_organisation_set, ctl_user_list, ctl_user_show, ctl_user_enable, ctl_user_disable,
    ctl_user_set_roles, ctl_settings_get, ctl_settings_set, ctl_settings_rollback, ctl_settings_history, ctl_cache_keys,
    ctl_cache_evict, ctl_cache_flush, ctl_identity_setup, ctl_identity_export, ctl_identity_import, ctl_rotate_keys,
    ctl_rotate_secret, ctl_routes, ctl_scrub, ctl_scrub_status, ctl_openapi, ctl_permissions_unused, ctl_blobs_move;

/* ---- one run of a command ------------------------------------------------------------------------ */

/* An option that was given. */
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

/* The option's value, the last one of several; NULL: it was not given. */
const char *ctl_value(const struct run *run, const char *name);

/*
 * The option's value as a whole number within minimum..maximum. Without the option *number_out stays as it is. False:
 * it is not such a number, and the operator was told.
 */
bool ctl_number(const struct run *run, const char *name, int64_t minimum, int64_t maximum, int64_t *number_out);

/* Operand `at` (from 0) as an id. False: it is not an id, and the operator was told. */
bool ctl_id(const struct run *run, size_t at, struct id *id_out);

/* Prints what is wrong with the command line, and how the command is used. Returns EXIT_USAGE. */
int ctl_usage(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- reading the command line (command.c) and helping with it (help.c) ---------------------------- */

/*
 * Finds the row whose name the words begin with; the longest name wins. *words_out is the number of its words. NULL:
 * there is no such row.
 */
const struct ctl_command *ctl_find(const struct ctl_command *const *commands, char **words, int *words_out);

enum ctl_reading { CTL_READ, CTL_HELP, CTL_WRONG };

/*
 * Reads what follows the command's name: argv[1] to argv[argc - 1]; argv[0] is not used. CTL_HELP: --help was given.
 * CTL_WRONG: the command line is wrong, and the operator was told. --config may stand here, too.
 */
enum ctl_reading ctl_read(struct run *run, const struct ctl_command *command, int argc, char **argv);

/* Prints one command's usage, summary and options. */
void ctl_help(FILE *stream, const struct ctl_command *command);

/* Whether there are commands of several words that begin with this word. */
bool ctl_is_group(const struct ctl_command *const *commands, const char *word);

/* Prints the commands; where `group` is not NULL, those that begin with it. */
void ctl_help_all(FILE *stream, const struct ctl_command *const *commands, const char *group);

/* "usage: gatehousectl [--config FILE] purge --older-than DAYS [--audit]" */
void ctl_help_usage(FILE *stream, const struct ctl_command *command);

/*
 * Prints what may stand where the last of the words is, one candidate a line (complete.c). The words are those behind
 * "gatehousectl"; without any the first one is completed.
 */
void ctl_complete(const struct ctl_command *const *commands, int argc, char **argv);

/* ---- JSON on the standard output (json.c) --------------------------------------------------------- */

/*
 * Members are written one after the other. `name` is NULL inside an array. Arrays and objects are opened with '[' or
 * '{' and closed with ctl_json_close(). Closing the outermost one ends the line.
 */
#define CTL_JSON_DEPTH 8
struct ctl_json {
    struct arena *arena;
    char open[CTL_JSON_DEPTH]; /* brackets to close, outermost first */
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

/* What `migrate` has done. */
struct ctl_migrated {
    void (*applied)(void *context, const char *file_name); /* told of each migration; may be NULL */
    void *context;
    int64_t rights_repaired; /* users and roles whose stored rights were wrong */
    int64_t address_keys;    /* addresses whose keys were missing */
};

/* Does what `migrate` does: secrets, the migrations of the directory, the workers' account. */
struct error *ctl_make_ready(struct run *run, const char *directory, struct ctl_migrated *migrated);

/* Tells of it: as lines for people, or as members of the open object. */
void ctl_migrated_print(const struct ctl_migrated *migrated, struct ctl_json *json);

/* Where lost files are told (lost.c). */
struct ctl_lost {
    struct progress progress;
    struct ctl_json *json; /* NULL: as lines for people */
};

/* Tells of a lost file; `context` is a struct ctl_lost. */
void ctl_lost_tell(void *context, struct id id, const char *why);

/* Begins the object of JSON that tells of a run, with the list of lost files, which the caller closes. */
void ctl_lost_begin(struct ctl_lost *lost, struct ctl_json *json);

/* Prints an error for the operator: message, detail, entries (fail.c). Returns EXIT_FAILURE. */
int ctl_fail(const struct error *error);

/* Reads the configuration and opens the service. The caller calls service_close(). */
struct error *ctl_open(struct run *run, struct service *service_out);

/*
 * Opens the service, calls work(), closes the service, and prints the error if there is one. `arena` is for work(),
 * which may reset it. Returns the exit status.
 */
int ctl_with_service(struct run *run,
                     struct error *(*work)(struct service *service, struct arena *arena, void *context), void *context);

/*
 * As ctl_open(), with the account of [database] admin_user, for what the workers' account may not do. The error is a
 * sentence for the operator when that account does not let this user in.
 */
struct error *ctl_open_administrator(struct run *run, struct service *service_out);

/* As ctl_with_service(), with that account. */
int ctl_with_administrator(struct run *run,
                           struct error *(*work)(struct service *service, struct arena *arena, void *context),
                           void *context);

/*
 * For commands that open the workers' cache: root becomes the owner of the cache's folder, for good. Other users stay
 * who they are, and so does root when it owns the folder.
 */
struct error *ctl_become_workers(struct run *run);

/* The host that the workers' account connects from, as GRANT writes it: "localhost" or "%". */
const char *ctl_account_host(const struct configuration *configuration);

/*
 * Begins the progress of a long command: a line on standard error where that is a terminal, and an end in good order at
 * SIGINT and SIGTERM.
 */
void ctl_progress_begin(struct progress *progress_out);

/* Clears the line. */
void ctl_progress_end(struct progress *progress);

/* A number of bytes as text for people, "1.5 GiB", in the arena. */
const char *ctl_bytes(struct arena *arena, int64_t bytes);

#endif
