/* SPDX-License-Identifier: MIT */
/*
 * The system settings document (specification, part 2): what the service can be told while it runs. Each version is one
 * row that is written once; the newest row that reads as a valid document is the one that holds, so that a row that
 * somebody damaged at the prompt steps back behind the last good one.
 */
#ifndef GATEHOUSE_DOMAIN_SETTINGS_H
#define GATEHOUSE_DOMAIN_SETTINGS_H

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
    const char *at; /* RFC 3339 */
    struct id user_id; /* none: the operator's command */
    const struct settings *settings; /* NULL: the row is damaged */
    const char *damage; /* what is wrong with it, for the log; NULL when nothing is */
};

/*
 * Reads a document. Refused, with a reason in *damage_out: what is not strict JSON (codec/document.h), members missing,
 * unknown or of another type, a level or filter that does not hold. NULL then.
 */
const struct settings *settings_read(struct arena *arena, const char *bytes, size_t length, const char **damage_out);

/* The document's text, one line. */
const char *settings_text(struct arena *arena, const struct settings *settings);

/* The newest versions: the one that holds and, where that is not the newest at all, the newest. */
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
 * Writes `version`, which must be newer than all there are. Inside a transaction that keeps other writers out
 * (change_log_append()); INTERNAL when the version is there already.
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
