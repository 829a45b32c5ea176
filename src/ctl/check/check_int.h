/* SPDX-License-Identifier: MIT */
/* What the files of `gatehousectl check` share. */
#ifndef GATEHOUSE_CTL_CHECK_CHECK_INT_H
#define GATEHOUSE_CTL_CHECK_CHECK_INT_H

#include <stdbool.h>

#include "ctl/ctl_int.h"
#include "service/runtime/service.h"

/*
 * An error: the service, or something that people expect of it, does not work. A warning: it works, but should not stay
 * so. A note is worth knowing, and nothing is wrong.
 */
enum check_level { CHECK_OK, CHECK_NOTE, CHECK_WARNING, CHECK_ERROR };

struct checks {
    struct arena *arena;
    const struct configuration *configuration;
    struct service service;
    enum check_level worst;
    struct ctl_json json;
    bool as_json;
};

/* "ok", "note", "warning", "error". */
const char *check_level_text(enum check_level level);

/* Reports a part. `level` and `advice` (may be NULL) count when there is an error. Returns whether there is none. */
bool check_tell(struct checks *checks, const char *part, enum check_level level, struct error *error,
                const char *advice);

/* Writes one part as an object of JSON. */
void check_write(struct ctl_json *json, const char *part, enum check_level level, struct error *error,
                 const char *advice);

/* Checks the database and what is in it. */
void check_database(struct checks *checks);

/* Checks the store of files. */
void check_store(struct checks *checks);

/* Checks templates, sender and transport of mail. */
void check_mail(struct checks *checks);

/* Sends one mail to `to` as configured, and prints the result. Returns the exit status. */
int check_try_mail(struct run *run, const char *to);

#endif
