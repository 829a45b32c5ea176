/* SPDX-License-Identifier: MIT */
/* What the files of `gatehousectl check` share. */
#ifndef GATEHOUSE_CTL_CHECK_CHECK_INT_H
#define GATEHOUSE_CTL_CHECK_CHECK_INT_H

#include <stdbool.h>

#include "ctl/ctl_int.h"
#include "service/runtime/service.h"

/*
 * An error is what the service, or something that people expect of it, does not work with. A warning is what works, and should
 * not stay so. A note is worth knowing, and nothing is wrong.
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

/* Tells how a part is; `level` and `advice` (may be NULL) count where there is an error. Whether there is none. */
bool check_tell(struct checks *checks, const char *part, enum check_level level, struct error *error, const char *advice);

/* Writes one part as JSON. */
void check_write(struct ctl_json *json, const char *part, enum check_level level, struct error *error, const char *advice);

/* The database and what is in it; mail. */
void check_database(struct checks *checks);
void check_mail(struct checks *checks);

/* Sends one mail to `to` by the configured way, and says what became of it. The exit status. */
int check_try_mail(struct run *run, const char *to);

#endif
