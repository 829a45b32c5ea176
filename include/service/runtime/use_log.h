/* SPDX-License-Identifier: MIT */
/*
 * Notes which permissions let people in today, and writes it to the database outside of requests.
 *
 * Noting costs a look into memory. What was noted is written 45 seconds later ([testing] use_seconds), between two
 * requests or while the worker waits for one. What this process has written for today is remembered, so that somebody
 * who works all day costs one row a permission, day and process. A process that is killed loses what it has noted since
 * it wrote last; all else is exact to the day (domain/permission/permission_use.h).
 *
 * While a process is busy with one long request, nothing is written. So whoever begins one writes first: see
 * use_log_flush().
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_USE_LOG_H
#define GATEHOUSE_SERVICE_RUNTIME_USE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct service;
struct use_log;

/* An empty log that is written every `seconds` seconds, in `arena`, which lives as long as the process. */
struct use_log *use_log_new(struct arena *arena, int64_t seconds);

/*
 * Notes that on `day` (domain/permission/permission_use.h) a request of `user` needed `permission` (concrete; it lives
 * as long as the process) and was let in. It is dropped when nothing could be written for so long that the log is full;
 * the next request notes it again.
 */
void use_log_note(struct use_log *log, struct id user, const char *permission, int64_t day);

/* Writes what was noted, when there is something and it is time. A failure is logged, and tried again later. */
void use_log_flush_due(struct service *service, struct arena *arena);

/* Writes what was noted, when there is something: before a long request, and before the process ends. */
void use_log_flush(struct service *service, struct arena *arena);

#endif
