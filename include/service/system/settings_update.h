/* SPDX-License-Identifier: MIT */
/*
 * Writes new versions of the settings document, and announces those that were written past it.
 *
 * A change is one transaction. It locks the row of the change log's version, so one writer on all hosts works at a
 * time. It reads the version in force and compares it with the one that the writer expected. Then it adds the new
 * version, its audit row, and a line in the change log that describes the state of the rows. Every process learns of it
 * by the version of the change log (service/runtime/change_follower.h).
 */
#ifndef GATEHOUSE_SERVICE_SYSTEM_SETTINGS_UPDATE_H
#define GATEHOUSE_SERVICE_SYSTEM_SETTINGS_UPDATE_H

#include <stdint.h>

#include "base/log.h"
#include "domain/settings.h"

struct arena;
struct caller;
struct error;
struct service;

/* A wanted change. */
struct settings_update {
    const char *level;    /* a valid level; NULL: keep */
    const char *filter;   /* a valid filter; NULL: keep */
    int64_t rollback;     /* not 0: take the whole document of this version, and neither of the two above */
    const char *if_match; /* the value of If-Match; NULL: any version */
};

/*
 * Finds the settings in force. They are version 0, with the configuration's level and no filter, until somebody sets
 * something.
 */
struct error *settings_update_current(struct service *service, struct arena *arena, struct settings_row *row_out);

/* The version's entity tag, in the arena. */
const char *settings_update_etag(struct arena *arena, int64_t version);

/*
 * Writes the next version and applies it to this process. *row_out is what was written, without `at`. SETTINGS_STALE
 * when the condition does not hold. REQUEST_INVALID, path `version`, when the version to go back to does not exist or
 * is damaged.
 */
struct error *settings_update_write(struct service *service, struct arena *arena, const struct caller *caller,
                                    const struct settings_update *update, struct settings_row *row_out);

/*
 * For the job runner: looks whether the rows are still in the state that the last change of them announced. When
 * somebody has changed them by hand, in the database, it appends to the change log, so that every process follows. (The
 * comparison is with the announced state, not with what this process has read: others may have read the rows a moment
 * earlier.)
 */
struct error *settings_update_announce(struct service *service, struct arena *arena);

#endif
