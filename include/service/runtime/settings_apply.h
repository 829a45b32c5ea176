/* SPDX-License-Identifier: MIT */
/*
 * Applies the system settings to this process: reads which version is in force and sets the log's levels by it.
 * service/system/settings_update.h writes new versions, service/runtime/change_follower.h learns of them.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_SETTINGS_APPLY_H
#define GATEHOUSE_SERVICE_RUNTIME_SETTINGS_APPLY_H

#include "domain/settings.h"

struct arena;
struct error;
struct service;

/*
 * The row in force: the newest good one of `state`. Where there is none it is version 0, which has the configuration's
 * level and no filter.
 */
struct settings_row settings_apply_row(const struct service *service, struct arena *arena,
                                       const struct settings_state *state);

/*
 * For a process that starts: applies the settings in force. They are read through the host's cache, so of all processes
 * of the host one asks the database.
 */
struct error *settings_apply_cached(struct service *service, struct arena *arena);

/*
 * Reads the settings in force from the database and applies them. `announced` is the payload of the change that this
 * process follows, NULL where none is known. The first process of the host that meets a damaged newest version writes
 * that to the log; the others do not.
 */
struct error *settings_apply_change(struct service *service, struct arena *arena, const char *announced);

#endif
