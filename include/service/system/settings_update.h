/* SPDX-License-Identifier: MIT */
/*
 * Adjusting the running service: writing a new version of the settings document, and following the one that holds.
 *
 * A change is one transaction: the change log's row is locked, which lets one writer in at a time on all hosts, the
 * version that holds is read and compared with what the writer believed, the new version, its audit row and its line in
 * the change log, which says what state the rows are in now, are added. Every process learns of it by the change log's
 * version (service/runtime/change_follower.h).
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

/* What is asked for. */
struct settings_update {
    const char *level;    /* NULL: keeps its value; else a good one */
    const char *filter;   /* likewise */
    int64_t rollback;     /* not 0: the whole document of that version, and the two above are not looked at */
    const char *if_match; /* the value of If-Match; NULL: whatever the version is */
};

/* What holds: version 0, with the configuration's level and no filter, until somebody sets something. */
struct error *settings_update_current(struct service *service, struct arena *arena, struct settings_row *row_out);

/* The version's entity tag. */
const char *settings_update_etag(struct arena *arena, int64_t version);

/*
 * Writes the next version and applies it to this process; *row_out is what was written (without `at`).
 * SETTINGS_STALE where the condition does not hold; REQUEST_INVALID, path `version`, when there is no such version to go
 * back to or it is damaged.
 */
struct error *settings_update_write(struct service *service, struct arena *arena, const struct caller *caller,
                                    const struct settings_update *update, struct settings_row *row_out);

/*
 * For the job runner: looks whether the rows are still in the state that the last change to them announced, and appends
 * to the change log when somebody has changed them past it, at the database's prompt, so that every process follows.
 * (Not whether they are as this process has read them: others may have read them a moment earlier.)
 */
struct error *settings_update_announce(struct service *service, struct arena *arena);

#endif
