/* SPDX-License-Identifier: MIT */
/*
 * The system settings document: what can be changed while the service runs. Each version is one row that is written
 * once. The newest row that reads as a valid document holds, so that a row that was damaged by hand gives way to the
 * last good one.
 */
#ifndef GATEHOUSE_DOMAIN_SETTINGS_H
#define GATEHOUSE_DOMAIN_SETTINGS_H

/* The highest version that the table takes: one less than what every JSON reader keeps exactly. */
#define SETTINGS_VERSION_MAX INT64_C(9007199254740990)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/log.h"

struct arena;
struct database;
struct error;

/* What a document says. */
struct settings {
    enum log_level level;
    const char *filter;       /* as it was sent, "" for none; see log_levels_read() */
    struct log_levels levels; /* both together */
};

/* A version of it. */
struct settings_row {
    int64_t version;
    const char *at;                  /* RFC 3339 */
    struct id user_id;               /* none: the operator's command */
    const struct settings *settings; /* NULL: the row is damaged */
    const char *damage;              /* what is wrong with it, for the log; NULL when nothing is */
};

/*
 * Reads a document. NULL, with a reason in *damage_out, for anything that is not strict JSON (codec/document.h), for
 * members that are missing, unknown or of another type, and for an invalid level or filter.
 */
const struct settings *settings_read(struct arena *arena, const char *bytes, size_t length, const char **damage_out);

/* The document's text, one line. */
const char *settings_text(struct arena *arena, const struct settings *settings);

/* The newest versions: the one that holds, and the newest row where it is another one. */
struct settings_state {
    const struct settings_row *good;    /* NULL: no row, or none that can be read */
    const struct settings_row *damaged; /* the newest row, when it is damaged; else NULL */
    int64_t newest;                     /* its version; 0 when there is no row */
};

struct error *settings_load(struct database *database, struct arena *arena, struct settings_state *state_out);

/* One version, damaged or not; NULL when there is none. */
struct error *settings_find(struct database *database, struct arena *arena, int64_t version,
                            struct settings_row **row_out);

/*
 * Writes `version`, which must be newer than all others. In a transaction that keeps other writers out
 * (change_log_append()). INTERNAL when the version exists already.
 */
struct error *settings_insert(struct database *database, struct arena *arena, int64_t version,
                              const struct settings *settings, struct id user);

struct settings_page {
    struct settings_row *items;
    size_t count;
    bool more;
};

/* The versions below `before` (0: all), newest first. */
struct error *settings_list(struct database *database, struct arena *arena, int64_t before, unsigned limit,
                            struct settings_page *page_out);

#endif
